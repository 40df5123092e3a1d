package dev.plumbline.workerkit;

import dev.plumbline.schemas.event.CampaignEvent;
import java.util.concurrent.CompletionStage;

/** Where the facts of a campaign are made public. */
public interface Events {

  /**
   * Publishes one event; the stage completes when it is stored for good. Events of one caller keep
   * their order.
   *
   * @return fails with an {@link IllegalArgumentException} when the event can never be stored, such
   *     as one that is too large; any other failure may pass
   */
  CompletionStage<Void> publish(CampaignEvent event);
}
