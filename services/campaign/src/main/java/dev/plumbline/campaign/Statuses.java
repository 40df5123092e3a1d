package dev.plumbline.campaign;

import dev.plumbline.campaign.Campaign.Ended;
import dev.plumbline.campaign.Campaign.Ending;
import dev.plumbline.schemas.Fault;
import dev.plumbline.schemas.Step;
import dev.plumbline.schemas.campaign.CampaignReport;
import dev.plumbline.schemas.campaign.CampaignState;
import dev.plumbline.schemas.campaign.CampaignStatus;
import java.time.Instant;
import java.util.List;

/** What is told of where a campaign stands. */
final class Statuses {

  private Statuses() {}

  /**
   * @param report null before the end
   */
  static CampaignStatus of(Campaign campaign, Host host, CampaignReport report, Instant now) {
    Attempt attempt = campaign.state().attempt();
    int position = host.position(campaign.id());
    return new CampaignStatus(
        campaign.id(),
        campaign.request().host(),
        Commands.model(campaign.request()),
        state(campaign),
        attempt == null ? null : attempt.step(),
        attempt == null ? null : attempt.number(),
        campaign.progress(),
        position == 0 ? null : position,
        campaign.requestedAt(),
        campaign.stateSince(),
        now,
        campaign.state() instanceof Ended ended ? ended.faults() : null,
        reason(campaign, host),
        report);
  }

  /** Of a request that cannot be read as one. */
  static CampaignStatus refused(String campaignId, List<Fault> faults, Instant now) {
    return new CampaignStatus(
        campaignId,
        null,
        null,
        CampaignState.REJECTED,
        null,
        null,
        null,
        null,
        now,
        now,
        now,
        faults,
        null,
        null);
  }

  static CampaignState state(Campaign campaign) {
    return switch (campaign.state()) {
      case Campaign.Requested s -> CampaignState.REQUESTED;
      case Campaign.Queued s -> CampaignState.QUEUED;
      case Campaign.Working s -> working(s.attempt().step());
      case Campaign.Restoring s -> CampaignState.RESTORING;
      case Campaign.Analysing s -> CampaignState.ANALYSING;
      case Campaign.Owing s -> CampaignState.FAILED;
      case Ended s -> s.outcome();
    };
  }

  private static CampaignState working(Step step) {
    return switch (step) {
      case LEASE -> CampaignState.LEASED;
      case MACRO, LIVE_TRACE -> CampaignState.MACRO;
      case FREE -> CampaignState.FREEING;
      case DEPLOY -> CampaignState.DEPLOYING;
      case MICRO -> CampaignState.MICRO;
      case TRACE -> CampaignState.TRACING;
      case INSPECT, CHECK_SCRIPTS, RESTORE, ANALYSE, UNKNOWN -> CampaignState.UNKNOWN;
    };
  }

  private static String reason(Campaign campaign, Host host) {
    Attempt attempt = campaign.state().attempt();
    return switch (campaign.state()) {
      case Ended s -> s.reason();
      case Campaign.Owing s -> s.ending().reason();
      case Campaign.Queued s -> host.closed();
      case Campaign.Working s when s.ending() != null -> text(s.ending());
      case Campaign.Restoring s when s.ending() != null -> text(s.ending());
      case Campaign.State s -> attempt == null ? null : attempt.trouble();
    };
  }

  private static String text(Ending ending) {
    return ending.reason();
  }
}
