package dev.plumbline.campaign;

import dev.plumbline.schemas.command.Job;
import dev.plumbline.schemas.event.StepEvent;
import dev.plumbline.schemas.host.HostLease;
import dev.plumbline.schemas.host.HostSnapshot;
import dev.plumbline.schemas.load.LoadReport;
import dev.plumbline.schemas.micro.MicroReport;
import dev.plumbline.schemas.trace.TraceFile;
import dev.plumbline.schemas.trace.TraceReport;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/** Plain results of each step. */
final class Results {

  private Results() {}

  static StepEvent of(Job job, Instant at) {
    String id = job.campaignId();
    int attempt = job.attempt();
    return switch (job.step()) {
      case INSPECT ->
          new StepEvent.HostInspected(id, job.step(), attempt, at, snapshot(job), List.of());
      case CHECK_SCRIPTS -> new StepEvent.ScriptsChecked(id, job.step(), attempt, at, List.of());
      case LEASE ->
          new StepEvent.LeaseAcquired(
              id,
              job.step(),
              attempt,
              at,
              new HostLease(job.host(), id, job.token(), false, null, at));
      case MACRO ->
          new StepEvent.MacroLoadMeasured(
              id,
              job.step(),
              attempt,
              at,
              new LoadReport("http://lab", "m", "chat", List.of(), null, null));
      case FREE -> freed(job, at, at);
      case DEPLOY ->
          new StepEvent.ScriptsDeployed(
              id,
              job.step(),
              attempt,
              at,
              List.of(
                  new StepEvent.ScriptsDeployed.Deployed(
                      "plumbline_probe.py", "/lab/plumbline_probe.py", 10, "00", null)));
      case MICRO ->
          new StepEvent.MicroBenchMeasured(
              id,
              job.step(),
              attempt,
              at,
              new MicroReport(Map.of(), List.of(), List.of(), List.of(), false));
      case LIVE_TRACE, TRACE ->
          new StepEvent.TraceCaptured(
              id,
              job.step(),
              attempt,
              at,
              List.of(
                  new TraceFile(
                      job.host(),
                      "/lab/" + job.directory() + ".json",
                      0,
                      1L,
                      null,
                      job.step().id().equals("trace") ? "freed" : "live")));
      case RESTORE ->
          new StepEvent.ServerRestored(
              id, job.step(), attempt, at, at, snapshot(job), "Hello", List.of());
      case ANALYSE ->
          new StepEvent.TracesAnalysed(
              id,
              job.step(),
              attempt,
              at,
              new TraceReport(List.of(), null, null, null, List.of()),
              "lab:/lab/analysis.json",
              0);
      case UNKNOWN -> throw new IllegalArgumentException();
    };
  }

  static StepEvent.GpusFreed freed(Job job, Instant at, Instant stoppedAt) {
    return new StepEvent.GpusFreed(
        job.campaignId(),
        job.step(),
        job.attempt(),
        at,
        snapshot(job),
        snapshot(job),
        stoppedAt,
        List.of());
  }

  private static HostSnapshot snapshot(Job job) {
    return new HostSnapshot(job.host(), List.of(), null, List.of(), null);
  }
}
