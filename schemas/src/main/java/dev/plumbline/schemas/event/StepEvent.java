package dev.plumbline.schemas.event;

import dev.plumbline.schemas.Fault;
import dev.plumbline.schemas.Step;
import dev.plumbline.schemas.host.HostLease;
import dev.plumbline.schemas.host.HostSnapshot;
import dev.plumbline.schemas.load.LoadReport;
import dev.plumbline.schemas.micro.MicroReport;
import dev.plumbline.schemas.trace.TraceFile;
import dev.plumbline.schemas.trace.TraceReport;
import java.time.Instant;
import java.util.List;

/** What a worker says of one attempt of one step. */
public sealed interface StepEvent extends CampaignEvent {

  Step step();

  int attempt();

  @Override
  default String id() {
    return campaignId() + "/" + step().id() + "/" + attempt() + "/" + kind();
  }

  /** The message was accepted; the work begins. */
  record StepStarted(String campaignId, Step step, int attempt, Instant at) implements StepEvent {}

  /**
   * A sign of life, at most 10 s after the last one.
   *
   * @param sequence grows with each
   * @param total null when unknown
   */
  record StepProgress(
      String campaignId,
      Step step,
      int attempt,
      Instant at,
      long sequence,
      long done,
      Long total,
      String note)
      implements StepEvent {
    @Override
    public String id() {
      return campaignId + "/" + step.id() + "/" + attempt + "/" + kind() + "/" + sequence;
    }
  }

  /**
   * @param code such as {@code invalid}, {@code unreachable}, {@code refused}, {@code time-out},
   *     {@code cancelled}, {@code interrupted}, {@code lost}, {@code internal}
   * @param reason one sentence
   */
  record StepFailed(
      String campaignId,
      Step step,
      int attempt,
      Instant at,
      String code,
      String reason,
      boolean retryable)
      implements StepEvent {}

  /**
   * @param snapshot null when the host could not be looked at
   * @param faults empty when the campaign can go on
   */
  record HostInspected(
      String campaignId,
      Step step,
      int attempt,
      Instant at,
      HostSnapshot snapshot,
      List<Fault> faults)
      implements StepEvent {}

  record ScriptsChecked(String campaignId, Step step, int attempt, Instant at, List<Fault> faults)
      implements StepEvent {}

  record LeaseAcquired(String campaignId, Step step, int attempt, Instant at, HostLease lease)
      implements StepEvent {}

  record MacroLoadMeasured(String campaignId, Step step, int attempt, Instant at, LoadReport report)
      implements StepEvent {}

  /**
   * @param before while serving
   * @param after proven free
   * @param stoppedAt when the service stopped answering; null when it was not running
   * @param actions what was done to the host, in order
   */
  record GpusFreed(
      String campaignId,
      Step step,
      int attempt,
      Instant at,
      HostSnapshot before,
      HostSnapshot after,
      Instant stoppedAt,
      List<String> actions)
      implements StepEvent {}

  record ScriptsDeployed(
      String campaignId, Step step, int attempt, Instant at, List<Deployed> scripts)
      implements StepEvent {

    /**
     * @param path absolute path on the host
     * @param preflight what the script said of itself, null when it has no self-test
     */
    public record Deployed(
        String script, String path, long bytes, String sha256, String preflight) {}
  }

  record MicroBenchMeasured(
      String campaignId, Step step, int attempt, Instant at, MicroReport report)
      implements StepEvent {}

  record TraceCaptured(
      String campaignId, Step step, int attempt, Instant at, List<TraceFile> traces)
      implements StepEvent {}

  /**
   * @param restoredAt when a real completion answered; null when the service was never down
   * @param proof the completion's text, shortened; null when the service was never down
   */
  record ServerRestored(
      String campaignId,
      Step step,
      int attempt,
      Instant at,
      Instant restoredAt,
      HostSnapshot after,
      String proof,
      List<String> actions)
      implements StepEvent {}

  /**
   * @param report without the single steps
   * @param reference where the whole report lies; null when it was not kept
   * @param samples step samples published
   */
  record TracesAnalysed(
      String campaignId,
      Step step,
      int attempt,
      Instant at,
      TraceReport report,
      String reference,
      long samples)
      implements StepEvent {}
}
