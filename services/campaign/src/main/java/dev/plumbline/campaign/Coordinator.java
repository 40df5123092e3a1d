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
import dev.plumbline.schemas.event.CampaignEvent.CampaignFailed;
import dev.plumbline.schemas.event.CampaignEvent.CampaignRejected;
import dev.plumbline.schemas.event.StepEvent;
import dev.plumbline.schemas.event.StepEvent.GpusFreed;
import dev.plumbline.schemas.event.StepEvent.HostInspected;
import dev.plumbline.schemas.event.StepEvent.ScriptsChecked;
import dev.plumbline.schemas.event.StepEvent.ServerRestored;
import dev.plumbline.schemas.event.StepEvent.StepFailed;
import dev.plumbline.schemas.event.StepEvent.StepProgress;
import dev.plumbline.schemas.event.StepEvent.StepStarted;
import java.time.Instant;
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
 *
 * <p>It is longer than a class should be, so that the story is in one place; see {@code DESIGN.md}
 * for the reasons of its turns.
 */
final class Coordinator {

  /**
   * What one input leads to.
   *
   * @param campaign null when there is none, still
   */
  record Decision(Campaign campaign, Host host, List<Output> outputs) {}

  private final Move move;

  private Coordinator(Move move) {
    this.move = move;
  }

  /**
   * @param campaign null when the input's id is not known
   * @param host the campaign's host; for a request, the host it names
   */
  static Decision decide(Limits limits, Campaign campaign, Host host, Input input, Instant now) {
    Move move = new Move(limits, campaign, host, now);
    Coordinator story = new Coordinator(move);
    switch (input) {
      case Input.Request i -> story.request(i.request());
      case Input.BadRequest i -> story.badRequest(i);
      case Input.Cancel i when campaign == null ->
          move.ignore("cancel: no campaign has the id " + i.campaignId());
      case Input.Cancel i -> story.cancel(i.reason());
      case Input.Told i when campaign == null ->
          move.ignore("event of a campaign that is not known: " + i.event().id());
      case Input.Told i -> story.told(i.event());
      case Input.Tick i -> story.tick(i.listeningSince());
      case Input.HostChanged i -> story.hostChanged();
    }
    return new Decision(move.campaign(), move.host(), move.outputs());
  }

  // Requested: everything that can be known before the host is touched

  private void request(CampaignRequested request) {
    if (campaign() != null) {
      if (campaign().request().equals(request)) {
        move.tellAgain();
      } else {
        conflict(request.campaignId());
      }
      return;
    }
    move.begin(request, new Requested(null, List.of()));
    if (!campaign().needsHost()) {
      accept(1);
      analyse();
    } else if (move.host().closed() != null) {
      reject(List.of(new Fault("host", move.host().closed())));
    } else {
      move.issue(Step.INSPECT, 1);
    }
  }

  private void badRequest(Input.BadRequest bad) {
    if (campaign() != null) {
      conflict(bad.campaignId());
      return;
    }
    // Not remembered: the corrected request may use the same id.
    move.publish(new CampaignRejected(bad.campaignId(), move.now, bad.faults(), false));
    move.tell(Statuses.refused(bad.campaignId(), bad.faults(), move.now));
  }

  private void conflict(String id) {
    String why = "The id " + id + " belongs to another request already; choose another id.";
    List<Fault> faults = List.of(new Fault("campaignId", why));
    move.publish(new CampaignRejected(id, move.now, faults, true));
  }

  /** Both checks are made, so that all faults are told at once. */
  private void checked(Requested state, Step step, List<Fault> more) {
    List<Fault> faults = Stream.concat(state.faults().stream(), more.stream()).toList();
    move.remain(new Requested(state.attempt(), faults));
    if (step == Step.INSPECT && campaign().request().plan().freesGpus()) {
      move.issue(Step.CHECK_SCRIPTS, 1);
    } else if (!faults.isEmpty()) {
      reject(faults);
    } else {
      move.host(host -> host.enqueue(campaign().id()));
      move.to(new Queued());
      accept(move.host().position(campaign().id()));
      hostChanged();
    }
  }

  private void accept(int position) {
    move.accepted();
    String host = campaign().request().host();
    move.publish(new CampaignAccepted(campaign().id(), move.now, host, position));
  }

  private void reject(List<Fault> faults) {
    move.publish(new CampaignRejected(campaign().id(), move.now, faults, false));
    move.ended(new Ended(CampaignState.REJECTED, null, faults), null);
  }

  // Queued: one campaign at a time per host, first come first

  private void hostChanged() {
    if (campaign().state() instanceof Queued) {
      if (move.host().next(campaign().id())) {
        move.lease();
        move.issue(Step.LEASE, 1);
      } else {
        move.tell();
      }
    }
  }

  private void leaveQueue(Ending ending) {
    move.host(host -> host.leave(campaign().id()));
    move.wakeQueue();
    move.end(ending);
  }

  // What the workers say

  private void told(StepEvent event) {
    State state = campaign().state();
    if (event instanceof GpusFreed freed && !campaign().ended()) {
      move.find(found -> found.withStopOf(freed));
    }
    // Whichever attempt put the server back, it is back: its proof is a completion. An attempt
    // that still runs is fenced off by the token of the next lease.
    boolean back =
        event instanceof ServerRestored && (state instanceof Restoring || state instanceof Owing);
    Attempt attempt = state.attempt();
    boolean current =
        attempt != null && attempt.step() == event.step() && attempt.number() == event.attempt();
    if (!back && !current) {
      move.ignore("event of an attempt that is over: " + event.id());
      return;
    }
    switch (event) {
      case StepStarted e -> move.attempt(attempt.heard(move.now));
      case StepProgress e -> {
        move.attempt(attempt.heard(move.now));
        move.progress(new CampaignStatus.Progress(e.done(), e.total(), e.note()));
        move.tell();
      }
      case StepFailed e when attempt.pausing() -> move.ignore("failure told twice: " + e.id());
      // What we gave up for being late failed for being late, whatever the worker calls it.
      case StepFailed e when attempt.ending() -> failed(attempt.trouble(), true);
      case StepFailed e -> failed(e.reason(), e.retryable());
      default -> succeeded(event);
    }
  }

  private void succeeded(StepEvent event) {
    move.find(found -> found.with(event));
    switch (campaign().state()) {
      case Requested s -> checked(s, event.step(), faultsOf(event));
      case Working s when s.ending() != null -> restore(s.ending());
      case Working s -> next(s.attempt().step());
      case Restoring s -> restored(s.ending());
      case Owing s -> paidBack(s.ending());
      case Analysing s -> move.end(null);
      case Queued s -> throw new IllegalStateException("no step runs while queued");
      case Ended s -> throw new IllegalStateException("no step runs after the end");
    }
  }

  /** The current attempt has failed: once more, or no further. */
  private void failed(String reason, boolean retryable) {
    Attempt attempt = campaign().state().attempt();
    boolean again = retryable && attempt.number() < move.limits.attempts();
    String times = attempt.number() == 1 ? "" : " %d times".formatted(attempt.number());
    String told = "%s failed%s: %s".formatted(attempt.step().id(), times, reason);
    switch (campaign().state()) {
      case Working s when s.ending() != null -> restore(s.ending());
      case Owing s -> move.retry(move.limits.owedRetry(), reason);
      case State s when again || owes(s) ->
          move.retry(move.limits.backOffAfter(attempt.number()), reason);
      case Requested s -> checked(s, attempt.step(), List.of(unchecked(attempt, reason)));
      case Working s -> restore(new Ending(CampaignState.FAILED, attempt.step(), told));
      case Restoring s -> {
        // Nothing was stopped; the token of the next lease outdates this one.
        move.find(found -> found.note("The lease was not given back: " + told));
        restored(s.ending());
      }
      case Analysing s -> move.end(new Ending(CampaignState.FAILED, Step.ANALYSE, told));
      case Queued s -> throw new IllegalStateException("no step runs while queued");
      case Ended s -> throw new IllegalStateException("no step runs after the end");
    }
  }

  // Working: the planned steps in their order

  private void next(Step done) {
    List<Step> steps = campaign().stepsOnHost();
    int index = steps.indexOf(done) + 1;
    if (index == steps.size()) {
      restore(null);
      return;
    }
    if (steps.get(index) == Step.FREE) {
      move.find(found -> found.askedToStop(move.now));
    }
    move.issue(steps.get(index), 1);
  }

  /** Ends what runs on the host, then restores. */
  private void stop(Working state, Ending ending) {
    Attempt attempt = state.attempt();
    if (attempt.pausing()) {
      restore(ending);
      return;
    }
    move.remain(new Working(attempt, ending));
    if (!attempt.ending()) {
      move.giveUp(attempt, ending.reason());
    }
    move.tell();
  }

  // Restoring: the only way on from the host

  private void restore(Ending ending) {
    move.to(new Restoring(null, ending, move.now.plus(move.limits.restore())));
    move.issue(Step.RESTORE, 1);
  }

  private boolean owes(State state) {
    return state instanceof Restoring && campaign().findings().mayBeDown();
  }

  private void restored(Ending ending) {
    move.host(Host::release);
    move.wakeQueue();
    if (ending == null && !Commands.toAnalyse(campaign()).isEmpty()) {
      analyse();
    } else {
      move.end(ending);
    }
  }

  private void restoreOverdue(Restoring state) {
    String trouble =
        state.attempt().trouble() == null ? "" : " (" + state.attempt().trouble() + ")";
    String why =
        "The server on %s could not be put back within %s%s; it must be started by hand."
            .formatted(move.host().name(), Attempt.text(move.limits.restore()), trouble);
    String before = state.ending() == null ? "" : " Before that: " + state.ending().reason();
    String id = campaign().id();
    move.host(host -> host.close("Campaign " + id + " is still owed a restore. " + why));
    move.to(
        new Owing(state.attempt(), new Ending(CampaignState.FAILED, Step.RESTORE, why + before)));
    CampaignReport report = Reports.of(campaign(), move.now);
    move.publish(new CampaignFailed(id, move.now, Step.RESTORE, why + before, false, report));
    move.tell();
    move.wakeQueue();
  }

  /** The terminal event is told already; now the host is free again. */
  private void paidBack(Ending ending) {
    move.host(Host::release);
    String reason = ending.reason() + " It came back at " + move.now + ".";
    CampaignReport report = Reports.of(campaign(), move.now);
    move.ended(new Ended(CampaignState.FAILED, reason, null), report);
    move.wakeQueue();
  }

  private void analyse() {
    move.to(new Analysing(null));
    move.issue(Step.ANALYSE, 1);
  }

  // Cancellation and time

  private void cancel(String why) {
    String reason = why == null || why.isBlank() ? "Cancelled on request." : "Cancelled: " + why;
    Ending ending = new Ending(CampaignState.CANCELLED, null, reason);
    switch (campaign().state()) {
      case Requested s -> cancelReading(s, ending);
      case Queued s -> leaveQueue(ending);
      case Working s when s.ending() == null -> stop(s, ending);
      case Restoring s when s.ending() == null -> {
        move.remain(new Restoring(s.attempt(), ending, s.until()));
        move.tell();
      }
      case Analysing s -> cancelReading(s, ending);
      // It is ending or has ended: the first reason counts.
      case Working s -> move.tellAgain();
      case Restoring s -> move.tellAgain();
      case Owing s -> move.tellAgain();
      case Ended s -> move.tellAgain();
    }
  }

  /** A step that only reads need not be waited for. */
  private void cancelReading(State state, Ending ending) {
    if (!state.attempt().pausing()) {
      move.giveUp(state.attempt(), ending.reason());
    }
    move.end(ending);
  }

  private void tick(Instant listeningSince) {
    Instant now = move.now;
    switch (campaign().state()) {
      case Queued s when !now.isBefore(move.deadline()) -> {
        String why = "The campaign's time limit passed while it waited for the host.";
        String closed = move.host().closed() == null ? "" : " " + move.host().closed();
        leaveQueue(new Ending(CampaignState.FAILED, null, why + closed));
      }
      case Working s when s.ending() == null && !now.isBefore(move.deadline()) -> {
        String why = "The campaign's time limit passed during %s.";
        Step step = s.attempt().step();
        stop(s, new Ending(CampaignState.FAILED, step, why.formatted(step.id())));
      }
      case Restoring s when owes(s) && !now.isBefore(s.until()) -> restoreOverdue(s);
      case State s when s.attempt() != null -> tick(s.attempt(), listeningSince);
      case State s -> {}
    }
  }

  private void tick(Attempt attempt, Instant listeningSince) {
    Instant now = move.now;
    if (attempt.pausing()) {
      if (!now.isBefore(attempt.retryAt())) {
        move.issue(attempt.step(), attempt.number() + 1);
      }
    } else if (attempt.ending()) {
      if (!now.isBefore(attempt.endsBy())) {
        failed(attempt.trouble(), true);
      }
    } else {
      Optional<String> overdue = attempt.overdue(now, listeningSince, move.limits.silence());
      if (overdue.isPresent()) {
        move.giveUp(attempt, overdue.get());
        move.tell();
      } else if (attempt.forgotten(now, listeningSince, move.limits.signsOfLife())) {
        move.askAgain(attempt);
      }
    }
  }

  private Campaign campaign() {
    return move.campaign();
  }

  private static Fault unchecked(Attempt attempt, String reason) {
    return new Fault(attempt.step() == Step.INSPECT ? "host" : "plan.scripts", reason);
  }

  private static List<Fault> faultsOf(StepEvent event) {
    List<Fault> faults =
        switch (event) {
          case HostInspected e -> e.faults();
          case ScriptsChecked e -> e.faults();
          default -> List.of();
        };
    return faults == null ? List.of() : faults;
  }
}
