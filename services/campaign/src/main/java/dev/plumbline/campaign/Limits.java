package dev.plumbline.campaign;

import dev.plumbline.schemas.Step;
import dev.plumbline.schemas.campaign.CampaignRequested;
import dev.plumbline.schemas.campaign.Deadlines;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.Map;

/**
 * How long the coordinator waits for what, unless a request says otherwise.
 *
 * @param steps limit of one attempt of each step
 * @param campaign from acceptance to the start of the restore, time in the queue included
 * @param silence without an event of a running attempt it is taken for lost
 * @param cancelGrace how long a cancelled attempt may take to end before the story goes on
 * @param attempts of a step that fails in a retryable way
 * @param backOff before the second attempt; doubles with each further one
 * @param backOffMax longest back-off
 * @param restore after this long without success the failed restore is told
 * @param owedRetry between attempts to restore after that
 */
public record Limits(
    Map<Step, Duration> steps,
    Duration campaign,
    Duration silence,
    Duration cancelGrace,
    int attempts,
    Duration backOff,
    Duration backOffMax,
    Duration restore,
    Duration owedRetry) {

  /** Time beyond the service's own start time that a restore may take for everything else. */
  private static final Duration RESTORE_MARGIN = Duration.ofMinutes(5);

  /** Start-up time of a service that does not tell its own: as documented in the request. */
  private static final Duration READY_DEFAULT = Duration.ofMinutes(15);

  public Limits {
    Map<Step, Duration> all = new EnumMap<>(defaultSteps());
    all.putAll(steps);
    steps = Map.copyOf(all);
  }

  /** The documented defaults. */
  public static Limits defaults() {
    return new Limits(
        Map.of(),
        Duration.ofHours(12),
        Duration.ofSeconds(30),
        Duration.ofSeconds(20),
        3,
        Duration.ofSeconds(2),
        Duration.ofMinutes(2),
        Duration.ofHours(4),
        Duration.ofMinutes(5));
  }

  private static Map<Step, Duration> defaultSteps() {
    Map<Step, Duration> limits = new EnumMap<>(Step.class);
    limits.put(Step.INSPECT, Duration.ofMinutes(1));
    limits.put(Step.CHECK_SCRIPTS, Duration.ofMinutes(1));
    limits.put(Step.LEASE, Duration.ofMinutes(1));
    limits.put(Step.MACRO, Duration.ofHours(2));
    limits.put(Step.LIVE_TRACE, Duration.ofMinutes(15));
    limits.put(Step.FREE, Duration.ofMinutes(10));
    limits.put(Step.DEPLOY, Duration.ofMinutes(5));
    limits.put(Step.MICRO, Duration.ofHours(1));
    limits.put(Step.TRACE, Duration.ofMinutes(15));
    limits.put(Step.RESTORE, READY_DEFAULT.plus(RESTORE_MARGIN));
    limits.put(Step.ANALYSE, Duration.ofMinutes(30));
    return limits;
  }

  /** Limit of one attempt: the request's own, else ours; a restore waits for a slow service. */
  Duration of(CampaignRequested request, Step step) {
    Deadlines own = request.deadlines();
    if (own != null && own.stepSeconds() != null && own.stepSeconds().get(step) != null) {
      return seconds(own.stepSeconds().get(step));
    }
    boolean tellsReady =
        step == Step.RESTORE
            && request.service() != null
            && request.service().readyTimeoutSeconds() != null;
    Duration ours = steps.get(step);
    if (!tellsReady) {
      return ours;
    }
    Duration wanted = seconds(request.service().readyTimeoutSeconds()).plus(RESTORE_MARGIN);
    return wanted.compareTo(ours) > 0 ? wanted : ours;
  }

  /** Within this time a worker that lives has been heard. */
  Duration signsOfLife() {
    return silence.dividedBy(3);
  }

  Instant campaignDeadline(CampaignRequested request, Instant acceptedAt) {
    Deadlines own = request.deadlines();
    return acceptedAt.plus(
        own == null || own.campaignSeconds() == null ? campaign : seconds(own.campaignSeconds()));
  }

  /** Back-off after the given attempt failed. */
  Duration backOffAfter(int attempt) {
    Duration doubled = backOff.multipliedBy(1L << Math.min(attempt - 1, 20));
    return doubled.compareTo(backOffMax) < 0 ? doubled : backOffMax;
  }

  private static Duration seconds(double seconds) {
    return Duration.ofMillis(Math.round(seconds * 1000));
  }
}
