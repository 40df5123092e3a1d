package dev.plumbline.campaign;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import dev.plumbline.schemas.Fault;
import dev.plumbline.schemas.Step;
import dev.plumbline.schemas.campaign.CampaignRequested;
import dev.plumbline.schemas.campaign.CampaignState;
import dev.plumbline.schemas.campaign.CampaignStatus;
import dev.plumbline.schemas.campaign.Plan;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * One campaign as the coordinator knows it.
 *
 * @param acceptedAt null before
 * @param token fencing token of its lease; null before
 * @param progress of the running step, null when it told none
 */
record Campaign(
    CampaignRequested request,
    Instant requestedAt,
    Instant acceptedAt,
    Long token,
    State state,
    Instant stateSince,
    CampaignStatus.Progress progress,
    Findings findings) {

  /** Where a campaign stands; each state carries only what its moves need. */
  @JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "is")
  @JsonSubTypes({
    @JsonSubTypes.Type(value = Requested.class, name = "requested"),
    @JsonSubTypes.Type(value = Queued.class, name = "queued"),
    @JsonSubTypes.Type(value = Working.class, name = "working"),
    @JsonSubTypes.Type(value = Restoring.class, name = "restoring"),
    @JsonSubTypes.Type(value = Analysing.class, name = "analysing"),
    @JsonSubTypes.Type(value = Owing.class, name = "owing"),
    @JsonSubTypes.Type(value = Ended.class, name = "ended")
  })
  sealed interface State {
    /** The attempt that is on its way or will be repeated; null where nothing is. */
    Attempt attempt();

    /** The same state with that attempt. */
    State with(Attempt attempt);
  }

  /**
   * Being checked: the host first, then the scripts; nothing is changed.
   *
   * @param faults found so far
   */
  record Requested(Attempt attempt, List<Fault> faults) implements State {
    @Override
    public Requested with(Attempt other) {
      return new Requested(other, faults);
    }
  }

  /** Accepted; waits for its host. */
  record Queued() implements State {
    @Override
    public Attempt attempt() {
      return null;
    }

    @Override
    public Queued with(Attempt attempt) {
      throw new IllegalStateException("nothing is done for a queued campaign");
    }
  }

  /**
   * Holds the host: leased, macro, freeing, deploying, micro or tracing, as its attempt's step
   * says.
   *
   * @param ending null while all is well; else how it will end, once this attempt has ended
   */
  record Working(Attempt attempt, Ending ending) implements State {
    @Override
    public Working with(Attempt other) {
      return new Working(other, ending);
    }
  }

  /**
   * The server is put back and the lease given back.
   *
   * @param ending null: goes on to the analysis
   * @param until when a restore that did not succeed is told as failed
   */
  record Restoring(Attempt attempt, Ending ending, Instant until) implements State {
    @Override
    public Restoring with(Attempt other) {
      return new Restoring(other, ending, until);
    }
  }

  record Analysing(Attempt attempt) implements State {
    @Override
    public Analysing with(Attempt other) {
      return new Analysing(other);
    }
  }

  /**
   * Told as failed with the server down; the restore is tried on, and the host stays closed to
   * others until it succeeds.
   */
  record Owing(Attempt attempt, Ending ending) implements State {
    @Override
    public Owing with(Attempt other) {
      return new Owing(other, ending);
    }
  }

  /** Its terminal event is told, nothing is owed. Kept to answer the same request again. */
  record Ended(CampaignState outcome, String reason, List<Fault> faults) implements State {
    @Override
    public Attempt attempt() {
      return null;
    }

    @Override
    public Ended with(Attempt attempt) {
      throw new IllegalStateException("nothing is done for a campaign that has ended");
    }
  }

  /**
   * How a campaign will end after its restore.
   *
   * @param outcome failed or cancelled
   * @param step where it failed; null when it did not fail in a step
   */
  record Ending(CampaignState outcome, Step step, String reason) {}

  String id() {
    return request.campaignId();
  }

  boolean ended() {
    return state instanceof Ended;
  }

  /** True when it takes the host; an analysis of given traces does not. */
  boolean needsHost() {
    Plan plan = request.plan();
    return plan.macro() != null || plan.micro() != null || plan.trace() != null;
  }

  /** The steps taken under the lease, in their order. */
  List<Step> stepsOnHost() {
    Plan plan = request.plan();
    List<Step> steps = new ArrayList<>(List.of(Step.LEASE));
    if (plan.macro() != null) {
      steps.add(Step.MACRO);
    }
    if (plan.trace() != null && plan.trace().live()) {
      steps.add(Step.LIVE_TRACE);
    }
    if (plan.freesGpus()) {
      steps.addAll(List.of(Step.FREE, Step.DEPLOY));
    }
    if (plan.micro() != null) {
      steps.add(Step.MICRO);
    }
    if (plan.trace() != null && plan.trace().freed()) {
      steps.add(Step.TRACE);
    }
    return steps;
  }

  Campaign in(State next, Instant now) {
    return new Campaign(request, requestedAt, acceptedAt, token, next, now, null, findings);
  }

  /** The attempt moved on; the state did not. */
  Campaign with(Attempt attempt) {
    return new Campaign(
        request,
        requestedAt,
        acceptedAt,
        token,
        state.with(attempt),
        stateSince,
        progress,
        findings);
  }

  Campaign with(Findings found) {
    return new Campaign(
        request, requestedAt, acceptedAt, token, state, stateSince, progress, found);
  }

  Campaign with(CampaignStatus.Progress told) {
    return new Campaign(request, requestedAt, acceptedAt, token, state, stateSince, told, findings);
  }

  Campaign accepted(Instant now) {
    return new Campaign(request, requestedAt, now, token, state, stateSince, progress, findings);
  }

  Campaign leased(long granted) {
    return new Campaign(
        request, requestedAt, acceptedAt, granted, state, stateSince, progress, findings);
  }
}
