package dev.plumbline.campaign;

import dev.plumbline.schemas.Topic;
import dev.plumbline.schemas.campaign.CampaignReport;
import dev.plumbline.schemas.campaign.CampaignRequested;
import dev.plumbline.schemas.event.StepEvent.GpusFreed;
import dev.plumbline.schemas.event.StepEvent.HostInspected;
import dev.plumbline.schemas.event.StepEvent.MacroLoadMeasured;
import dev.plumbline.schemas.event.StepEvent.MicroBenchMeasured;
import dev.plumbline.schemas.event.StepEvent.ServerRestored;
import dev.plumbline.schemas.event.StepEvent.TracesAnalysed;
import dev.plumbline.schemas.host.GpuState;
import dev.plumbline.schemas.host.HostSnapshot;
import dev.plumbline.schemas.load.LoadReport;
import dev.plumbline.schemas.micro.MicroReport;
import dev.plumbline.schemas.trace.TraceFile;
import dev.plumbline.schemas.trace.TraceReport;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Builds the report of a campaign from what its steps found, be it all or a part. */
final class Reports {

  private Reports() {}

  static CampaignReport of(Campaign campaign, Instant finishedAt) {
    CampaignRequested request = campaign.request();
    Findings found = campaign.findings();
    LoadReport macro =
        found.last(MacroLoadMeasured.class).map(MacroLoadMeasured::report).orElse(null);
    MicroReport micro =
        found.last(MicroBenchMeasured.class).map(MicroBenchMeasured::report).orElse(null);
    TraceReport trace = found.last(TracesAnalysed.class).map(TracesAnalysed::report).orElse(null);
    List<TraceFile> traces =
        found.captured().isEmpty() ? request.plan().traces() : found.captured();
    List<String> notes = new ArrayList<>(found.notes());
    notes.addAll(notes(campaign, macro, micro, trace));
    return new CampaignReport(
        campaign.id(),
        request.host(),
        Commands.model(request),
        campaign.requestedAt(),
        finishedAt,
        macro,
        serving(found),
        found.last(GpusFreed.class).map(e -> gpus(e.after())).orElse(null),
        found.last(ServerRestored.class).map(e -> gpus(e.after())).orElse(null),
        micro,
        trace,
        traces == null ? List.of() : traces,
        Reconciliations.of(concurrency(request, trace), macro, micro, trace),
        Verdicts.of(trace, request.plan()),
        downtimeNs(found, finishedAt),
        references(found),
        notes);
  }

  /** From the stop to a proven completion; still down: until now. 0 when it was never stopped. */
  private static long downtimeNs(Findings found, Instant now) {
    Instant stopped = found.stoppedAt();
    Instant restored =
        found.last(ServerRestored.class).map(ServerRestored::restoredAt).orElse(null);
    boolean back = found.last(ServerRestored.class).isPresent();
    if (!found.mayBeDown() || (back && restored == null)) {
      return 0;
    }
    if (stopped == null) {
      boolean wasNotRunning = found.last(GpusFreed.class).isPresent();
      return wasNotRunning || restored == null ? 0 : nanos(found.freeIssuedAt(), restored);
    }
    return nanos(stopped, restored == null ? now : restored);
  }

  private static long nanos(Instant from, Instant to) {
    return Math.max(0, Duration.between(from, to).toNanos());
  }

  private static List<String> notes(
      Campaign campaign, LoadReport macro, MicroReport micro, TraceReport trace) {
    List<String> notes = new ArrayList<>();
    Findings found = campaign.findings();
    boolean live = found.captured().stream().anyMatch(t -> "live".equals(t.origin()));
    boolean freed = found.captured().stream().anyMatch(t -> "freed".equals(t.origin()));
    if (trace != null && live && freed) {
      notes.add(
          "The analysis is of the running server's traces; those of the probe are listed for"
              + " plumbline analyze.");
    } else if (trace != null && freed) {
      notes.add(
          "The traces are of the probe's decode step on the freed GPUs, not of the running"
              + " server.");
    }
    if (macro != null && macro.levels().stream().anyMatch(LoadReport.Level::clientBound)) {
      notes.add("At some levels the load generator itself was the limit; see clientBound.");
    }
    if (macro != null && macro.levels().stream().anyMatch(LoadReport.Level::partial)) {
      notes.add("Some levels of load were cut short; see partial.");
    }
    if (micro != null && micro.partial()) {
      notes.add("The probe was cut short; operations are missing.");
    }
    boolean stopUnseen =
        found.mayBeDown()
            && found.stoppedAt() == null
            && found.last(GpusFreed.class).isEmpty()
            && found.last(ServerRestored.class).map(ServerRestored::restoredAt).isPresent();
    if (stopUnseen) {
      notes.add("When the server stopped was not told; the downtime is an upper bound.");
    }
    return notes;
  }

  private static int concurrency(CampaignRequested request, TraceReport trace) {
    TraceReport.StepSummary.Kind decode = Verdicts.decode(trace).orElse(null);
    if (decode != null && decode.batch() != null) {
      return decode.batch();
    }
    Integer batch = request.plan().trace() == null ? null : request.plan().trace().batch();
    return batch == null ? 1 : batch;
  }

  private static Map<String, String> references(Findings found) {
    Map<String, String> references = new LinkedHashMap<>();
    found
        .last(TracesAnalysed.class)
        .map(TracesAnalysed::reference)
        .ifPresent(r -> references.put("analysis", r));
    references.put("events", "Kafka topic " + Topic.CAMPAIGN_EVENTS.topicName());
    references.put("status", "Kafka topic " + Topic.CAMPAIGN_STATUS.topicName());
    return references;
  }

  private static List<GpuState> serving(Findings found) {
    List<GpuState> before = found.last(GpusFreed.class).map(e -> gpus(e.before())).orElse(null);
    return before != null && !before.isEmpty()
        ? before
        : found.last(HostInspected.class).map(e -> gpus(e.snapshot())).orElse(null);
  }

  private static List<GpuState> gpus(HostSnapshot snapshot) {
    return snapshot == null ? null : snapshot.gpus();
  }
}
