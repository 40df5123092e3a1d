package dev.plumbline.schemas.campaign;

import dev.plumbline.schemas.Fault;
import dev.plumbline.schemas.Step;
import java.time.Instant;
import java.util.List;

/**
 * Where a campaign stands now. Compacted by campaignId.
 *
 * @param step the step being done, null between steps
 * @param queuePosition 1 = next; null when not queued
 * @param faults why it was rejected, else null
 * @param reason why it failed or was cancelled, else null
 * @param report once terminal, whatever was measured; else null
 */
public record CampaignStatus(
    String campaignId,
    String host,
    String model,
    CampaignState state,
    Step step,
    Integer attempt,
    Progress progress,
    Integer queuePosition,
    Instant requestedAt,
    Instant stateSince,
    Instant updatedAt,
    List<Fault> faults,
    String reason,
    CampaignReport report) {

  /**
   * @param total null when unknown
   */
  public record Progress(long done, Long total, String note) {}
}
