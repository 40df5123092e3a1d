package dev.plumbline.standalone;

import dev.plumbline.schemas.campaign.CampaignCancelRequested;
import dev.plumbline.schemas.campaign.CampaignRequest;
import dev.plumbline.schemas.campaign.CampaignRequested;
import dev.plumbline.schemas.campaign.CampaignState;
import dev.plumbline.schemas.campaign.CampaignStatus;
import dev.plumbline.schemas.event.CampaignEvent.CampaignRejected;
import dev.plumbline.standalone.CampaignClient.Heard;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Publishes one request and follows its campaign to the end. The first interrupt cancels the
 * campaign and waits until the server is back; the second leaves at once.
 */
final class Follow {

  private final CampaignClient client;
  private final ProgressLine progress;
  private final AtomicInteger interrupts = new AtomicInteger();

  Follow(CampaignClient client, ProgressLine progress) {
    this.client = client;
    this.progress = progress;
  }

  /** The campaign's last status. */
  CampaignStatus run(CampaignRequest request) throws InterruptedException {
    onInterrupt();
    client.publish(request);
    boolean cancelAsked = false;
    boolean begun = false;
    while (true) {
      for (Heard heard : client.poll(request.campaignId(), Duration.ofMillis(100))) {
        switch (heard) {
          case Heard.Status(CampaignStatus status) -> {
            progress.show(status);
            if (status.state().terminal()) {
              progress.end();
              if (!begun && status.state() != CampaignState.REJECTED) {
                progress.note(
                    "this request ran before, this is its outcome; run it anew with another --id");
              }
              return status;
            }
            begun = true;
          }
          case Heard.Event(CampaignRejected rejected) when rejected.conflict() -> {
            progress.end();
            throw UserError.badInput("The request was rejected:", rejected.faults());
          }
          case Heard.Event event -> {}
        }
      }
      progress.tick();
      if (interrupts.get() > 1) {
        throw new InterruptedException();
      }
      if (interrupts.get() == 1 && !cancelAsked && request instanceof CampaignRequested) {
        cancelAsked = true;
        progress.note(
            "cancelling; the server is put back first (interrupt again to leave at once)");
        client.publish(
            new CampaignCancelRequested(request.campaignId(), "interrupted", "command line"));
      }
    }
  }

  boolean interrupted() {
    return interrupts.get() > 0;
  }

  private void onInterrupt() {
    sun.misc.Signal.handle(new sun.misc.Signal("INT"), signal -> interrupts.incrementAndGet());
  }
}
