package dev.plumbline.campaign;

import dev.plumbline.campaign.Campaign.Analysing;
import dev.plumbline.campaign.Campaign.Ended;
import dev.plumbline.campaign.Campaign.Ending;
import dev.plumbline.campaign.Campaign.Owing;
import dev.plumbline.campaign.Campaign.Queued;
import dev.plumbline.campaign.Campaign.Requested;
import dev.plumbline.campaign.Campaign.Restoring;
import dev.plumbline.campaign.Campaign.State;
import dev.plumbline.campaign.Campaign.Working;
import dev.plumbline.schemas.Fault;
import dev.plumbline.schemas.Step;
import dev.plumbline.schemas.campaign.CampaignReport;
import dev.plumbline.schemas.campaign.CampaignRequested;
import dev.plumbline.schemas.campaign.CampaignState;
import dev.plumbline.schemas.campaign.CampaignStatus;
import dev.plumbline.schemas.event.CampaignEvent.CampaignAccepted;
import dev.plumbline.schemas.event.CampaignEvent.CampaignCancelled;
import dev.plumbline.schemas.event.CampaignEvent.CampaignCompleted;
import dev.plumbline.schemas.event.CampaignEvent.CampaignFailed;
import dev.plumbline.schemas.event.CampaignEvent.CampaignRejected;
import dev.plumbline.schemas.event.StepEvent;
import dev.plumbline.schemas.event.StepEvent.GpusFreed;
import dev.plumbline.schemas.event.StepEvent.ServerRestored;
import dev.plumbline.schemas.event.StepEvent.StepFailed;
import dev.plumbline.schemas.event.StepEvent.StepProgress;
import dev.plumbline.schemas.event.StepEvent.StepStarted;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The whole story of a campaign, one move at a time: {@code (campaign, host, input, now) →
 * (campaign, host, outputs)}, a pure function.
 *
 * <pre>
 * Requested → Queued → Working (lease, macro, live-trace, free, deploy, micro, trace as planned)
 *     → Restoring → Analysing → Ended
 * </pre>
 *
 * Whatever goes wrong while Working leads through Restoring; from Restoring only a server that is
 * back, or hours of failure, lead on. Every campaign gets one terminal event.
 */
final class Coordinator {

  /**
   * One move.
   *
   * @param campaign null when there is none, still
   */
  record Decision(Campaign campaign, Host host, List<Output> outputs) {}

  private final Limits limits;
  private final Instant now;
  private Campaign campaign;
  private Host host;
  private final List<Output> outputs = new ArrayList<>();

  private Coordinator(Limits limits, Instant now, Campaign campaign, Host host) {
    this.limits = limits;
    this.now = now;
    this.campaign = campaign;
    this.host = host;
  }

  /**
   * @param campaign null when the input's id is not known
   * @param host the campaign's host; for a request, the host it names
   */
  static Decision decide(Limits limits, Campaign campaign, Host host, Input input, Instant now) {
    Coordinator story = new Coordinator(limits, now, campaign, host);
    switch (input) {
      case Input.Request i -> story.request(i.request());
      case Input.BadRequest i -> story.badRequest(i);
      case Input.Cancel i when campaign == null ->
          story.ignore("cancel: no campaign has the id " + i.campaignId());
      case Input.Cancel i -> story.cancel(i.reason());
      case Input.Told i when campaign == null ->
          story.ignore("event of a campaign that is not known: " + i.event().id());
      case Input.Told i -> story.told(i.event());
      case Input.Tick i -> story.tick(i.listeningSince());
      case Input.HostChanged i -> story.hostChanged();
    }
    return new Decision(story.campaign, story.host, List.copyOf(story.outputs));
  }

  // Requested: everything that can be known before the host is touched

  private void request(CampaignRequested request) {
    if (campaign != null) {
      if (campaign.request().equals(request)) {
        outputs.add(new Output.TellAgain(campaign.id()));
      } else {
        conflict(request.campaignId());
      }
      return;
    }
    Requested checking = new Requested(null, List.of());
    campaign = new Campaign(request, now, null, null, checking, now, null, Findings.NONE);
    if (!campaign.needsHost()) {
      accept(1);
      analyse();
    } else if (host.closed() != null) {
      reject(List.of(new Fault("host", host.closed())));
    } else {
      issue(Step.INSPECT, 1);
    }
  }

  private void badRequest(Input.BadRequest bad) {
    if (campaign != null) {
      conflict(bad.campaignId());
      return;
    }
    // Not remembered: the corrected request may use the same id.
    outputs.add(publish(new CampaignRejected(bad.campaignId(), now, bad.faults(), false)));
    outputs.add(new Output.Tell(Statuses.refused(bad.campaignId(), bad.faults(), now)));
  }

  private void conflict(String id) {
    Fault fault =
        new Fault(
            "campaignId",
            "The id %s belongs to another request already; choose another id.".formatted(id));
    outputs.add(publish(new CampaignRejected(id, now, List.of(fault), true)));
  }

  /** Both checks are made, so that all faults are told at once. */
  private void checked(Requested state, Step step, List<Fault> more) {
    List<Fault> faults = Stream.concat(state.faults().stream(), more.stream()).toList();
    campaign = campaign.in(new Requested(state.attempt(), faults), now);
    if (step == Step.INSPECT && campaign.request().plan().freesGpus()) {
      issue(Step.CHECK_SCRIPTS, 1);
    } else if (!faults.isEmpty()) {
      reject(faults);
    } else {
      host = host.enqueue(campaign.id());
      campaign = campaign.in(new Queued(), now);
      accept(host.position(campaign.id()));
      hostChanged();
    }
  }

  private void accept(int position) {
    campaign = campaign.accepted(now);
    outputs.add(
        publish(new CampaignAccepted(campaign.id(), now, campaign.request().host(), position)));
  }

  private void reject(List<Fault> faults) {
    campaign = campaign.in(new Ended(CampaignState.REJECTED, null, faults), now);
    campaign = campaign.with(Findings.NONE);
    outputs.add(publish(new CampaignRejected(campaign.id(), now, faults, false)));
    tell();
  }

  // Queued: one campaign at a time per host, first come first

  private void hostChanged() {
    if (campaign.state() instanceof Queued) {
      if (host.next(campaign.id())) {
        host = host.lease(campaign.id(), now);
        campaign = campaign.leased(host.token());
        issue(Step.LEASE, 1);
      } else {
        tell();
      }
    }
  }

  private void leaveQueue(CampaignState outcome, String reason) {
    host = host.leave(campaign.id());
    wakeQueue();
    end(new Ending(outcome, null, reason), true);
  }

  private void wakeQueue() {
    host.queue().forEach(id -> outputs.add(new Output.Wake(id)));
  }

  // Working: the planned steps in their order

  private void told(StepEvent event) {
    State state = campaign.state();
    if (event instanceof GpusFreed freed) {
      campaign = campaign.with(campaign.findings().withStopOf(freed));
    }
    // Whichever attempt put the server back, it is back: its proof is a completion. An attempt
    // that still runs is fenced off by the token of the next lease.
    boolean back =
        event instanceof ServerRestored && (state instanceof Restoring || state instanceof Owing);
    Attempt attempt = state.attempt();
    boolean current =
        attempt != null && attempt.step() == event.step() && attempt.number() == event.attempt();
    if (!back && !current) {
      ignore("event of an attempt that is over: " + event.id());
      return;
    }
    switch (event) {
      case StepStarted e -> campaign = campaign.with(attempt.heard(now));
      case StepProgress e -> {
        campaign = campaign.with(attempt.heard(now));
        campaign = campaign.with(new CampaignStatus.Progress(e.done(), e.total(), e.note()));
        tell();
      }
      case StepFailed e when attempt.pausing() -> ignore("failure told twice: " + e.id());
      case StepFailed e -> {
        // What we cancelled for being late failed for being late, whatever the worker calls it.
        boolean ours = attempt.ending();
        failed(ours ? attempt.trouble() : e.reason(), ours || e.retryable());
      }
      default -> succeeded(event);
    }
  }

  private void succeeded(StepEvent event) {
    campaign = campaign.with(campaign.findings().with(event));
    switch (campaign.state()) {
      case Requested s -> checked(s, event.step(), faultsOf(event));
      case Working s when s.ending() != null -> restore(s.ending());
      case Working s -> next(s.attempt().step());
      case Restoring s -> restored(s.ending());
      case Owing s -> paidBack(s.ending());
      case Analysing s -> end(null, true);
      case Queued s -> throw new IllegalStateException("no step runs while queued");
      case Ended s -> throw new IllegalStateException("no step runs after the end");
    }
  }

  private void next(Step done) {
    List<Step> steps = campaign.stepsOnHost();
    int index = steps.indexOf(done) + 1;
    if (index == steps.size()) {
      restore(null);
      return;
    }
    if (steps.get(index) == Step.FREE) {
      campaign = campaign.with(campaign.findings().askedToStop(now));
    }
    issue(steps.get(index), 1);
  }

  /** The current attempt has failed: once more, or no further. */
  private void failed(String reason, boolean retryable) {
    Attempt attempt = campaign.state().attempt();
    boolean again = retryable && attempt.number() < limits.attempts();
    String told =
        "%s failed%s: %s"
            .formatted(
                attempt.step().id(),
                attempt.number() == 1 ? "" : " %d times".formatted(attempt.number()),
                reason);
    switch (campaign.state()) {
      case Working s when s.ending() != null -> restore(s.ending());
      case Restoring s when again || campaign.findings().mayBeDown() ->
          retry(limits.backOffAfter(attempt.number()), reason);
      case Restoring s -> {
        // Nothing was stopped; the next lease's token outdates this one.
        campaign = campaign.with(campaign.findings().note("The lease was not given back: " + told));
        restored(s.ending());
      }
      case Owing s -> retry(limits.owedRetry(), reason);
      case State s when again -> retry(limits.backOffAfter(attempt.number()), reason);
      case Requested s -> checked(s, attempt.step(), List.of(new Fault("", told)));
      case Working s -> restore(new Ending(CampaignState.FAILED, attempt.step(), told));
      case Analysing s -> end(new Ending(CampaignState.FAILED, Step.ANALYSE, told), true);
      case Queued s -> throw new IllegalStateException("no step runs while queued");
      case Ended s -> throw new IllegalStateException("no step runs after the end");
    }
  }

  private void retry(Duration pause, String reason) {
    campaign = campaign.with(campaign.state().attempt().failed(now.plus(pause), reason));
    tell();
  }

  /** Ends what runs on the host, then restores. */
  private void stop(Working state, Ending ending) {
    Attempt attempt = state.attempt();
    if (attempt.pausing()) {
      restore(ending);
    } else {
      campaign = campaign.in(new Working(attempt, ending), campaign.stateSince());
      if (!attempt.ending()) {
        giveUp(attempt, ending.reason());
      }
      tell();
    }
  }

  private void giveUp(Attempt attempt, String reason) {
    outputs.add(new Output.Send(Commands.cancel(campaign, attempt, reason)));
    campaign = campaign.with(attempt.cancelled(now.plus(limits.cancelGrace()), reason));
  }

  // Restoring: the only way on from the host

  private void restore(Ending ending) {
    campaign = campaign.in(new Restoring(null, ending, now.plus(limits.restore())), now);
    issue(Step.RESTORE, 1);
  }

  private void restored(Ending ending) {
    host = host.release();
    wakeQueue();
    if (ending == null && !Commands.toAnalyse(campaign).isEmpty()) {
      analyse();
    } else {
      end(ending, true);
    }
  }

  private void restoreOverdue(Restoring state) {
    Attempt attempt = state.attempt();
    String why =
        "The server on %s could not be put back within %s%s; it must be started by hand."
            .formatted(
                host.name(),
                Attempt.text(limits.restore()),
                attempt.trouble() == null ? "" : " (" + attempt.trouble() + ")");
    host = host.close("Campaign %s is still owed a restore. %s".formatted(campaign.id(), why));
    String before = state.ending() == null ? "" : " Before that: " + state.ending().reason();
    Ending ending = new Ending(CampaignState.FAILED, Step.RESTORE, why + before);
    campaign = campaign.in(new Owing(attempt, ending), now);
    CampaignReport report = Reports.of(campaign, now);
    outputs.add(
        publish(
            new CampaignFailed(campaign.id(), now, Step.RESTORE, ending.reason(), false, report)));
    tell();
    wakeQueue();
  }

  /** The terminal event is told already; now the host is free again. */
  private void paidBack(Ending ending) {
    host = host.release();
    String reason = ending.reason() + " It came back at " + now + ".";
    CampaignReport report = Reports.of(campaign, now);
    campaign = campaign.in(new Ended(CampaignState.FAILED, reason, null), now);
    outputs.add(new Output.Tell(Statuses.of(campaign, host, report, now)));
    campaign = campaign.with(Findings.NONE);
    wakeQueue();
  }

  // Analysing and the end

  private void analyse() {
    campaign = campaign.in(new Analysing(null), now);
    issue(Step.ANALYSE, 1);
  }

  /**
   * @param ending null: completed
   */
  private void end(Ending ending, boolean restored) {
    CampaignReport report = Reports.of(campaign, now);
    CampaignState outcome = ending == null ? CampaignState.COMPLETED : ending.outcome();
    String reason = ending == null ? null : ending.reason();
    String id = campaign.id();
    outputs.add(
        publish(
            switch (outcome) {
              case COMPLETED -> new CampaignCompleted(id, now, report);
              case CANCELLED -> new CampaignCancelled(id, now, reason, restored, report);
              default -> new CampaignFailed(id, now, ending.step(), reason, restored, report);
            }));
    campaign = campaign.in(new Ended(outcome, reason, null), now);
    outputs.add(new Output.Tell(Statuses.of(campaign, host, report, now)));
    // The report is with the status; what is kept here only knows the request again.
    campaign = campaign.with(Findings.NONE);
  }

  private void cancel(String why) {
    String reason = why == null || why.isBlank() ? "Cancelled on request." : "Cancelled: " + why;
    Ending ending = new Ending(CampaignState.CANCELLED, null, reason);
    switch (campaign.state()) {
      case Requested s -> cancelReading(s, ending);
      case Queued s -> leaveQueue(CampaignState.CANCELLED, reason);
      case Working s when s.ending() != null -> outputs.add(new Output.TellAgain(campaign.id()));
      case Working s -> stop(s, ending);
      case Restoring s when s.ending() == null ->
          campaign =
              campaign.in(new Restoring(s.attempt(), ending, s.until()), campaign.stateSince());
      case Analysing s -> cancelReading(s, ending);
      case Restoring s -> outputs.add(new Output.TellAgain(campaign.id()));
      case Owing s -> outputs.add(new Output.TellAgain(campaign.id()));
      case Ended s -> outputs.add(new Output.TellAgain(campaign.id()));
    }
  }

  /** A step that only reads need not be waited for. */
  private void cancelReading(State state, Ending ending) {
    if (!state.attempt().pausing()) {
      giveUp(state.attempt(), ending.reason());
    }
    end(ending, true);
  }

  // Time

  private void tick(Instant listeningSince) {
    Attempt attempt = campaign.state().attempt();
    if (pastDeadline()) {
      String why = "The campaign's time limit passed";
      switch (campaign.state()) {
        case Queued s ->
            leaveQueue(
                CampaignState.FAILED,
                host.closed() == null
                    ? why + " while it waited for the host."
                    : why + " while it waited for the host. " + host.closed());
        case Working s -> stop(s, new Ending(CampaignState.FAILED, attempt.step(), why + "."));
        case Requested s -> throw new IllegalStateException("not accepted yet");
        case State s -> throw new IllegalStateException("no limit holds in " + s);
      }
    } else if (campaign.state() instanceof Restoring s
        && campaign.findings().mayBeDown()
        && !now.isBefore(s.until())) {
      restoreOverdue(s);
    } else if (attempt != null) {
      tick(attempt, listeningSince);
    }
  }

  private void tick(Attempt attempt, Instant listeningSince) {
    if (attempt.pausing()) {
      if (!now.isBefore(attempt.retryAt())) {
        issue(attempt.step(), attempt.number() + 1);
      }
    } else if (attempt.ending()) {
      if (!now.isBefore(attempt.endsBy())) {
        failed(attempt.trouble(), true);
      }
    } else {
      Optional<String> overdue = attempt.overdue(now, listeningSince, limits.silence());
      overdue.ifPresent(reason -> giveUp(attempt, reason));
    }
  }

  private boolean pastDeadline() {
    boolean limited =
        campaign.state() instanceof Queued
            || (campaign.state() instanceof Working w && w.ending() == null);
    return limited && !now.isBefore(deadline());
  }

  private Instant deadline() {
    return limits.campaignDeadline(campaign.request(), campaign.acceptedAt());
  }

  // Outputs

  private void issue(Step step, int number) {
    Instant deadline = now.plus(limits.of(campaign.request(), step));
    State state = campaign.state();
    boolean underLease = campaign.stepsOnHost().contains(step);
    if (underLease && deadline().isBefore(deadline)) {
      deadline = deadline();
    }
    Attempt attempt = Attempt.issued(step, number, now, deadline);
    State next = state instanceof Queued ? new Working(attempt, null) : state.with(attempt);
    boolean same = state.attempt() != null && state.attempt().step() == step;
    campaign = campaign.in(next, same ? campaign.stateSince() : now);
    outputs.add(new Output.Send(Commands.of(campaign, attempt)));
    tell();
  }

  private void tell() {
    CampaignReport report = campaign.state() instanceof Owing ? Reports.of(campaign, now) : null;
    outputs.add(new Output.Tell(Statuses.of(campaign, host, report, now)));
  }

  private static Output publish(dev.plumbline.schemas.event.CampaignEvent event) {
    return new Output.Publish(event);
  }

  private void ignore(String reason) {
    outputs.add(new Output.Ignored(reason));
  }

  private static List<Fault> faultsOf(StepEvent event) {
    List<Fault> faults =
        switch (event) {
          case StepEvent.HostInspected e -> e.faults();
          case StepEvent.ScriptsChecked e -> e.faults();
          default -> List.of();
        };
    return faults == null ? List.of() : faults;
  }
}
