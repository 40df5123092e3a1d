package dev.plumbline.campaign;

import dev.plumbline.campaign.Campaign.Ended;
import dev.plumbline.campaign.Campaign.Ending;
import dev.plumbline.campaign.Campaign.Owing;
import dev.plumbline.campaign.Campaign.Queued;
import dev.plumbline.campaign.Campaign.State;
import dev.plumbline.campaign.Campaign.Working;
import dev.plumbline.schemas.Step;
import dev.plumbline.schemas.campaign.CampaignReport;
import dev.plumbline.schemas.campaign.CampaignRequested;
import dev.plumbline.schemas.campaign.CampaignState;
import dev.plumbline.schemas.campaign.CampaignStatus;
import dev.plumbline.schemas.event.CampaignEvent;
import dev.plumbline.schemas.event.CampaignEvent.CampaignCancelled;
import dev.plumbline.schemas.event.CampaignEvent.CampaignCompleted;
import dev.plumbline.schemas.event.CampaignEvent.CampaignFailed;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/** One move of the {@link Coordinator} while it is made: state so far, outputs so far. */
final class Move {

  final Limits limits;
  final Instant now;
  private final List<Output> outputs = new ArrayList<>();
  private Campaign campaign;
  private Host host;

  Move(Limits limits, Campaign campaign, Host host, Instant now) {
    this.limits = limits;
    this.now = now;
    this.campaign = campaign;
    this.host = host;
  }

  Campaign campaign() {
    return campaign;
  }

  Host host() {
    return host;
  }

  List<Output> outputs() {
    return List.copyOf(outputs);
  }

  // State

  void begin(CampaignRequested request, State state) {
    campaign = new Campaign(request, now, null, null, state, now, null, Findings.NONE);
  }

  void to(State state) {
    campaign = campaign.in(state, now);
  }

  /** Another shade of the state that it is in; it is there since when it was. */
  void remain(State state) {
    campaign = campaign.in(state, campaign.stateSince());
  }

  void attempt(Attempt attempt) {
    campaign = campaign.with(attempt);
  }

  void progress(CampaignStatus.Progress progress) {
    campaign = campaign.with(progress);
  }

  void accepted() {
    campaign = campaign.accepted(now);
  }

  void find(UnaryOperator<Findings> more) {
    campaign = campaign.with(more.apply(campaign.findings()));
  }

  void lease() {
    host = host.lease(campaign.id(), now);
    campaign = campaign.leased(host.token());
  }

  void host(UnaryOperator<Host> change) {
    host = change.apply(host);
  }

  Instant deadline() {
    return limits.campaignDeadline(campaign.request(), campaign.acceptedAt());
  }

  // Outputs

  /** Asks the step's worker, and waits for its answer in the state that it is in. */
  void issue(Step step, int number) {
    State state = campaign.state();
    Instant limit = now.plus(limits.of(campaign.request(), step));
    boolean underLease = campaign.stepsOnHost().contains(step);
    Attempt attempt =
        Attempt.issued(
            step, number, now, underLease && deadline().isBefore(limit) ? deadline() : limit);
    boolean again = state.attempt() != null && state.attempt().step() == step;
    State next = state instanceof Queued ? new Working(attempt, null) : state.with(attempt);
    campaign = campaign.in(next, again ? campaign.stateSince() : now);
    outputs.add(new Output.Send(Commands.of(campaign, attempt)));
    tell();
  }

  /** Sends the command of an attempt once more; who has it already only tells how it stands. */
  void askAgain(Attempt attempt) {
    outputs.add(new Output.Send(Commands.of(campaign, attempt)));
    attempt(attempt.askedAgain(now));
    String worker = attempt.step().worker().id();
    progress(
        new CampaignStatus.Progress(
            0, null, "asked " + worker + " again, of which nothing was heard since our restart"));
    tell();
  }

  void retry(Duration pause, String reason) {
    attempt(campaign.state().attempt().failed(now.plus(pause), reason));
    tell();
  }

  /** Tells the worker to end the attempt; its end is awaited for a while. */
  void giveUp(Attempt attempt, String reason) {
    outputs.add(new Output.Send(Commands.cancel(campaign, attempt, reason)));
    attempt(attempt.cancelled(now.plus(limits.cancelGrace()), reason));
  }

  void publish(CampaignEvent event) {
    outputs.add(new Output.Publish(event));
  }

  void tell() {
    CampaignReport report = campaign.state() instanceof Owing ? Reports.of(campaign, now) : null;
    tell(Statuses.of(campaign, host, report, now));
  }

  void tell(CampaignStatus status) {
    outputs.add(new Output.Tell(status));
  }

  void tellAgain() {
    outputs.add(new Output.TellAgain(campaign.id()));
  }

  void ignore(String reason) {
    outputs.add(new Output.Ignored(reason));
  }

  void wakeQueue() {
    host.queue().forEach(id -> outputs.add(new Output.Wake(id)));
  }

  /**
   * The terminal event of a campaign that owes nothing, with whatever it found.
   *
   * @param ending null: completed
   */
  void end(Ending ending) {
    CampaignReport report = Reports.of(campaign, now);
    String id = campaign.id();
    if (ending == null) {
      publish(new CampaignCompleted(id, now, report));
      ended(new Ended(CampaignState.COMPLETED, null, null), report);
      return;
    }
    publish(
        ending.outcome() == CampaignState.CANCELLED
            ? new CampaignCancelled(id, now, ending.reason(), true, report)
            : new CampaignFailed(id, now, ending.step(), ending.reason(), true, report));
    ended(new Ended(ending.outcome(), ending.reason(), null), report);
  }

  /**
   * Nothing more is to come. The report goes with the status; what is kept here only serves to know
   * the request again.
   */
  void ended(Ended end, CampaignReport report) {
    to(end);
    tell(Statuses.of(campaign, host, report, now));
    find(all -> Findings.NONE);
  }
}
