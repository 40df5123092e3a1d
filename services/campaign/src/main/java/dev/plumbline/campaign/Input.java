package dev.plumbline.campaign;

import dev.plumbline.schemas.Fault;
import dev.plumbline.schemas.campaign.CampaignRequested;
import dev.plumbline.schemas.event.StepEvent;
import java.time.Instant;
import java.util.List;

/** What can happen to one campaign. */
sealed interface Input {

  /** Somebody asks for it. */
  record Request(CampaignRequested request) implements Input {}

  /** Somebody asked for it, wrongly. */
  record BadRequest(String campaignId, List<Fault> faults) implements Input {}

  record Cancel(String campaignId, String reason) implements Input {}

  /** A worker says something. */
  record Told(StepEvent event) implements Input {}

  /**
   * Time passes.
   *
   * @param listeningSince since when events have been read without a break
   */
  record Tick(Instant listeningSince) implements Input {}

  /** Its host was released, or its place in the queue changed. */
  record HostChanged() implements Input {}
}
