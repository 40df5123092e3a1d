package dev.plumbline.campaign;

import dev.plumbline.schemas.campaign.CampaignStatus;
import dev.plumbline.schemas.command.Command;
import dev.plumbline.schemas.event.CampaignEvent;

/** What the coordinator wants done. */
sealed interface Output {

  /** To the worker of the command's step. */
  record Send(Command command) implements Output {}

  record Publish(CampaignEvent event) implements Output {}

  record Tell(CampaignStatus status) implements Output {}

  /** The status as it was told last, for somebody who asks again. */
  record TellAgain(String campaignId) implements Output {}

  /** Let that campaign see that its host changed. */
  record Wake(String campaignId) implements Output {}

  /** Nothing was done, for that reason. */
  record Ignored(String reason) implements Output {}
}
