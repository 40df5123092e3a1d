package dev.plumbline.traceanalysis;

import dev.plumbline.schemas.attribution.StepSample;
import dev.plumbline.schemas.command.Command.AnalyseTraces;
import dev.plumbline.schemas.command.Job;
import dev.plumbline.schemas.event.StepEvent;
import dev.plumbline.schemas.trace.TraceReport;
import dev.plumbline.schemas.trace.TraceReport.Rank;
import dev.plumbline.workerkit.HostException;
import dev.plumbline.workerkit.Hosts;
import dev.plumbline.workerkit.StepContext;
import dev.plumbline.workerkit.StepFailure;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/** Does one {@link AnalyseTraces}: read, analyse, keep the report, publish the samples. */
final class AnalyseWork {

  /**
   * Samples live for three days on their topic. A trace recorded earlier, or by a clock that runs
   * ahead, is placed at the time of its analysis, as windows of that time are long closed.
   */
  private static final Duration LIFE_OF_A_SAMPLE = Duration.ofDays(3);

  private final Hosts hosts;
  private final SampleSink samples;
  private final ReportStore reports;
  private final Path userRules;

  /**
   * The analysis with what it needs from outside.
   *
   * @param userRules null for none
   */
  AnalyseWork(Hosts hosts, SampleSink samples, ReportStore reports, Path userRules) {
    this.hosts = hosts;
    this.samples = samples;
    this.reports = reports;
    this.userRules = userRules;
  }

  StepEvent run(AnalyseTraces command, StepContext context)
      throws StepFailure, InterruptedException {
    Job job = command.job();
    if (command.traces() == null || command.traces().isEmpty()) {
      throw invalid("There is no trace to analyse: the campaign recorded and named none.");
    }
    AnalysisOptions options = new AnalysisOptions(userRules, pattern(command), false);
    TraceAnalysis.Dated result = analyse(command, options, context);
    context.checkCancelled();
    String reference = reports.keep(job.directory(), result.report());
    List<StepSample> facts =
        StepSamples.from(
            result.report(),
            job.campaignId(),
            job.host(),
            command.model() == null ? "unknown" : command.model(),
            job.attempt(),
            time(result.recordedAt(), context.now()));
    publish(facts);
    return new StepEvent.TracesAnalysed(
        job.campaignId(),
        job.step(),
        job.attempt(),
        context.now(),
        withoutSteps(result.report()),
        reference,
        facts.size());
  }

  private void publish(List<StepSample> facts) throws StepFailure, InterruptedException {
    try {
      samples.publish(facts).toCompletableFuture().get();
    } catch (ExecutionException e) {
      throw new StepFailure(
          "lost", "The step samples could not be published: " + e.getCause().getMessage(), true);
    }
  }

  private TraceAnalysis.Dated analyse(
      AnalyseTraces command, AnalysisOptions options, StepContext context) throws StepFailure {
    String host = command.job().host();
    try (HostTraces traces = HostTraces.open(hosts, command.traces(), host, context::cancelled)) {
      context.progress(0, traces.bytesTotal(), "reading " + command.traces().size() + " traces");
      TraceAnalysis.Dated result = TraceAnalysis.dated(traces.inputs(), options);
      context.progress(traces.bytesRead(), traces.bytesTotal(), "analysed");
      return result;
    } catch (HostException e) {
      throw StepFailure.of(e);
    } catch (UnreadableTrace e) {
      context.checkCancelled();
      throw failure(e);
    } catch (IllegalArgumentException e) {
      throw invalid(e.getMessage());
    }
  }

  /** A connection that broke may hold the next time; a file that is no trace stays none. */
  private static StepFailure failure(UnreadableTrace e) {
    if (e.getCause() instanceof IOException io) {
      return io.getCause() instanceof HostException host
          ? StepFailure.of(host)
          : new StepFailure("lost", e.getMessage(), true);
    }
    return invalid(e.getMessage());
  }

  private static StepFailure invalid(String reason) {
    return new StepFailure("invalid", reason, false);
  }

  private static Pattern pattern(AnalyseTraces command) throws StepFailure {
    try {
      return command.stepPattern() == null ? null : Pattern.compile(command.stepPattern());
    } catch (PatternSyntaxException e) {
      throw invalid(
          "The step pattern is not a regular expression: %s in %s."
              .formatted(e.getDescription(), command.stepPattern()));
    }
  }

  private static Instant time(Instant recordedAt, Instant now) {
    boolean sensible =
        recordedAt != null
            && recordedAt.isAfter(now.minus(LIFE_OF_A_SAMPLE))
            && !recordedAt.isAfter(now);
    return sensible ? recordedAt : now;
  }

  /** The single steps are in the kept report; a message has no room for them. */
  private static TraceReport withoutSteps(TraceReport report) {
    return new TraceReport(
        report.ranks().stream().map(AnalyseWork::withoutSteps).toList(),
        report.collectives(),
        report.stepSummary(),
        report.bottleneck(),
        report.whatIf());
  }

  private static Rank withoutSteps(Rank rank) {
    return new Rank(
        rank.rank(),
        rank.source(),
        rank.deviceEvents(),
        rank.streams(),
        rank.spanNs(),
        rank.summedNs(),
        rank.exposedNs(),
        rank.overlap(),
        rank.components(),
        rank.idleCausesNs(),
        rank.kernels(),
        List.of(),
        rank.integrity());
  }
}
