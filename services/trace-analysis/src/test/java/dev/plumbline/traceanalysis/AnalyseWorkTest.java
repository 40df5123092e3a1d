package dev.plumbline.traceanalysis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.plumbline.schemas.Json;
import dev.plumbline.schemas.Step;
import dev.plumbline.schemas.attribution.StepSample;
import dev.plumbline.schemas.command.Command.AnalyseTraces;
import dev.plumbline.schemas.command.Job;
import dev.plumbline.schemas.event.StepEvent.TracesAnalysed;
import dev.plumbline.schemas.trace.TraceFile;
import dev.plumbline.schemas.trace.TraceReport;
import dev.plumbline.workerkit.HostInventory;
import dev.plumbline.workerkit.Hosts;
import dev.plumbline.workerkit.StepContext;
import dev.plumbline.workerkit.StepFailure;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The work of one command, on this machine's own files. */
class AnalyseWorkTest {

  private static final Instant NOW = Instant.parse("2026-12-01T10:00:00Z");

  @TempDir Path directory;
  private final List<StepSample> published = new ArrayList<>();
  private AnalyseWork work;

  @BeforeEach
  void work() {
    work =
        new AnalyseWork(
            new Hosts(() -> HostInventory.read(directory.resolve("none.yaml"))),
            samples -> {
              published.addAll(samples);
              return CompletableFuture.completedFuture(null);
            },
            new ReportStore(directory.resolve("reports")),
            null);
  }

  private record Context(Job job, boolean cancelled) implements StepContext {
    @Override
    public Instant now() {
      return NOW;
    }

    @Override
    public void progress(long done, Long total, String note) {
      assertThat(done).isBetween(0L, total);
    }

    @Override
    public void onCancel(Runnable action) {
      throw new AssertionError("not used");
    }

    @Override
    public void checkCancelled() throws StepFailure {
      if (cancelled) {
        throw new StepFailure("cancelled", "somebody asked for it", false);
      }
    }
  }

  private static Job job() {
    return new Job("c1", Step.ANALYSE, 1, "local", null, NOW.plusSeconds(600));
  }

  private static TraceFile file(Path path) {
    return new TraceFile(null, path.toAbsolutePath().toString(), null, null, null, "given");
  }

  private TracesAnalysed run(List<TraceFile> traces, String stepPattern, boolean cancelled)
      throws StepFailure, InterruptedException {
    AnalyseTraces command = new AnalyseTraces(job(), traces, "m", stepPattern);
    return (TracesAnalysed) work.run(command, new Context(job(), cancelled));
  }

  private static List<TraceFile> ranks() {
    return List.of(
        file(SharedData.resource("nccl-graph-rank0.pt.trace.json.gz")),
        file(SharedData.resource("nccl-graph-rank1.pt.trace.json.gz")));
  }

  @Test
  void theEventHoldsTheVerdictTheFileTheStepsAndTheTopicTheSamples() throws Exception {
    TracesAnalysed event = run(ranks(), null, false);

    assertThat(event.report().bottleneck().component()).isEqualTo("all_reduce");
    assertThat(event.report().ranks()).allSatisfy(rank -> assertThat(rank.steps()).isEmpty());
    assertThat(event.samples()).isEqualTo(12);
    assertThat(published).hasSize(12);
    assertThat(published.getFirst().fingerprint().id()).isEqualTo("decode-b4-tp2");
    TraceReport kept =
        Json.read(Files.readAllBytes(Path.of(URI.create(event.reference()))), TraceReport.class);
    assertThat(kept.ranks().getFirst().steps()).hasSize(6);
    assertThat(kept.bottleneck()).isEqualTo(event.report().bottleneck());
  }

  @Test
  void anotherAttemptReplacesNothingAndTheSameOneItself() throws Exception {
    assertThat(run(ranks(), null, false).reference())
        .isEqualTo(run(ranks(), null, false).reference())
        .endsWith("c1-analyse-1.json");
    try (var files = Files.list(directory.resolve("reports"))) {
      assertThat(files).hasSize(1);
    }
  }

  @Test
  void aSampleIsPlacedWhenItWasRecordedUnlessThatIsLongAgo() throws Exception {
    long nowNs = NOW.minusSeconds(60).getEpochSecond() * 1_000_000_000L;
    TraceJson trace =
        new TraceJson()
            .annotation("step[DECODE bs=1]", "0", "5", 5)
            .call("cudaLaunchKernel", "1", "1", 5, 1)
            .kernel("a_gemm", "7", "2", 7, 1);
    Path recent = directory.resolve("recent.json");
    Files.writeString(recent, trace.metadata("\"baseTimeNanoseconds\": " + nowNs).text());
    run(List.of(file(recent)), null, false);
    assertThat(published.getFirst().at()).isEqualTo(NOW.minusSeconds(60).plusNanos(7_000));

    Path old = directory.resolve("old.json");
    Files.writeString(old, trace.metadata("\"baseTimeNanoseconds\": 1000000000").text());
    run(List.of(file(old)), null, false);
    assertThat(published.getLast().at()).isEqualTo(NOW);
  }

  @Test
  void badInputIsOneSentenceAndLeavesNothing() throws IOException {
    Path text = Files.writeString(directory.resolve("notes.json"), "hello");
    refused(List.of(), null, "invalid", "no trace to analyse");
    refused(null, null, "invalid", "no trace to analyse");
    refused(ranks(), "(", "invalid", "The step pattern is not a regular expression");
    refused(List.of(file(text)), null, "invalid", "has no \"traceEvents\"");
    refused(List.of(file(directory.resolve("none"))), null, "not-found", "there is no trace");
    refused(List.of(file(directory)), null, "not-found", "there is no trace");
    refused(
        List.of(new TraceFile("lokal", "/x", null, null, null, "given")),
        null,
        "unknown-host",
        "did you mean 'local'?");
    assertThat(published).isEmpty();
    assertThat(directory.resolve("reports")).doesNotExist();
  }

  private void refused(List<TraceFile> traces, String pattern, String code, String sentence) {
    assertThatThrownBy(() -> run(traces, pattern, false))
        .isInstanceOfSatisfying(
            StepFailure.class,
            failure -> {
              assertThat(failure.code()).isEqualTo(code);
              assertThat(failure.retryable()).isFalse();
            })
        .hasMessageContaining(sentence);
  }

  @Test
  void aCancelledAnalysisLeavesNothing() {
    assertThatThrownBy(() -> run(ranks(), null, true))
        .isInstanceOfSatisfying(
            StepFailure.class, failure -> assertThat(failure.code()).isEqualTo("cancelled"));
    assertThat(published).isEmpty();
    assertThat(directory.resolve("reports")).doesNotExist();
  }
}
