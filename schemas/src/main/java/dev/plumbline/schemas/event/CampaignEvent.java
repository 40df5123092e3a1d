package dev.plumbline.schemas.event;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import dev.plumbline.schemas.Fault;
import dev.plumbline.schemas.Step;
import dev.plumbline.schemas.campaign.CampaignReport;
import java.time.Instant;
import java.util.List;

/** Every fact of a campaign, on {@code plumbline.campaign.events.v1}. */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "type")
@JsonSubTypes({
  @JsonSubTypes.Type(value = StepEvent.StepStarted.class, name = "StepStarted"),
  @JsonSubTypes.Type(value = StepEvent.StepProgress.class, name = "StepProgress"),
  @JsonSubTypes.Type(value = StepEvent.StepFailed.class, name = "StepFailed"),
  @JsonSubTypes.Type(value = StepEvent.HostInspected.class, name = "HostInspected"),
  @JsonSubTypes.Type(value = StepEvent.ScriptsChecked.class, name = "ScriptsChecked"),
  @JsonSubTypes.Type(value = StepEvent.LeaseAcquired.class, name = "LeaseAcquired"),
  @JsonSubTypes.Type(value = StepEvent.MacroLoadMeasured.class, name = "MacroLoadMeasured"),
  @JsonSubTypes.Type(value = StepEvent.GpusFreed.class, name = "GpusFreed"),
  @JsonSubTypes.Type(value = StepEvent.ScriptsDeployed.class, name = "ScriptsDeployed"),
  @JsonSubTypes.Type(value = StepEvent.MicroBenchMeasured.class, name = "MicroBenchMeasured"),
  @JsonSubTypes.Type(value = StepEvent.TraceCaptured.class, name = "TraceCaptured"),
  @JsonSubTypes.Type(value = StepEvent.ServerRestored.class, name = "ServerRestored"),
  @JsonSubTypes.Type(value = StepEvent.TracesAnalysed.class, name = "TracesAnalysed"),
  @JsonSubTypes.Type(value = CampaignEvent.CampaignAccepted.class, name = "CampaignAccepted"),
  @JsonSubTypes.Type(value = CampaignEvent.CampaignRejected.class, name = "CampaignRejected"),
  @JsonSubTypes.Type(value = CampaignEvent.CampaignCompleted.class, name = "CampaignCompleted"),
  @JsonSubTypes.Type(value = CampaignEvent.CampaignFailed.class, name = "CampaignFailed"),
  @JsonSubTypes.Type(value = CampaignEvent.CampaignCancelled.class, name = "CampaignCancelled")
})
public sealed interface CampaignEvent
    permits StepEvent,
        CampaignEvent.CampaignAccepted,
        CampaignEvent.CampaignRejected,
        CampaignEvent.CampaignCompleted,
        CampaignEvent.CampaignFailed,
        CampaignEvent.CampaignCancelled {

  String campaignId();

  /** When it happened, by the clock of the service that says so. */
  Instant at();

  /** Deterministic, so that a consumer can deduplicate: the {@code ce_id}. */
  default String id() {
    return campaignId() + "/campaign/1/" + kind();
  }

  /** The {@code ce_type} and the {@code type} in JSON: the record's name. */
  default String kind() {
    return getClass().getSimpleName();
  }

  /** True for the four events of which every request gets exactly one. */
  default boolean terminal() {
    return switch (this) {
      case CampaignRejected r -> !r.conflict();
      case CampaignCompleted c -> true;
      case CampaignFailed f -> true;
      case CampaignCancelled c -> true;
      case CampaignAccepted a -> false;
      case StepEvent s -> false;
    };
  }

  /**
   * @param queuePosition 1 = next on its host
   */
  record CampaignAccepted(String campaignId, Instant at, String host, int queuePosition)
      implements CampaignEvent {}

  /**
   * Nothing on the host was changed.
   *
   * @param faults all that is wrong
   * @param conflict true when the id belongs to another request: this says nothing about that one
   */
  record CampaignRejected(String campaignId, Instant at, List<Fault> faults, boolean conflict)
      implements CampaignEvent {
    @Override
    public String id() {
      return campaignId + "/campaign/1/" + kind() + (conflict ? "/conflict" : "");
    }
  }

  record CampaignCompleted(String campaignId, Instant at, CampaignReport report)
      implements CampaignEvent {}

  /**
   * @param step where it failed; null when the campaign's own deadline passed between steps
   * @param restored false when the server could not be put back: somebody must act now
   * @param report whatever was measured before
   */
  record CampaignFailed(
      String campaignId,
      Instant at,
      Step step,
      String reason,
      boolean restored,
      CampaignReport report)
      implements CampaignEvent {}

  record CampaignCancelled(
      String campaignId, Instant at, String reason, boolean restored, CampaignReport report)
      implements CampaignEvent {}
}
