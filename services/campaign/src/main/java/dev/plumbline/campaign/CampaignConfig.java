package dev.plumbline.campaign;

import dev.plumbline.schemas.Step;
import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;

/** Settings of the coordinator; a request may set its own deadlines. */
@ConfigMapping(prefix = "plumbline.campaign")
public interface CampaignConfig {

  /** How often deadlines are looked at. */
  @WithDefault("PT0.5S")
  Duration tick();

  /** A running step that says nothing for this long is taken for lost and asked for again. */
  @WithDefault("PT30S")
  Duration silence();

  /** How long a cancelled step may take to end before the server is restored anyway. */
  @WithDefault("PT20S")
  Duration cancelGrace();

  /** How often a step that fails in a retryable way is tried. */
  @WithDefault("3")
  int attempts();

  /** Pause before the second attempt; doubles with each further one. */
  @WithDefault("PT2S")
  Duration backOff();

  /** Longest pause between two attempts. */
  @WithDefault("PT2M")
  Duration backOffMax();

  /** From acceptance to the start of the restore, time in the queue included. */
  @WithDefault("PT12H")
  Duration limit();

  /** After this long without success a restore is told as failed. */
  @WithDefault("PT4H")
  Duration restoreLimit();

  /** Pause between the attempts to restore after that; the host stays closed until one succeeds. */
  @WithDefault("PT5M")
  Duration owedRetry();

  /**
   * Limit of one attempt by step, such as {@code plumbline.campaign.step-limits.macro=PT2H}; the
   * others keep their defaults (see {@link Limits}).
   */
  Map<String, Duration> stepLimits();

  /** How long a finished campaign and its report are remembered. */
  @WithDefault("P30D")
  Duration retention();

  /** How many finished campaigns are remembered at most. */
  @WithDefault("1000")
  int kept();

  /** How long the REST API waits for Kafka to acknowledge a request. */
  @WithDefault("PT8S")
  Duration sendTimeout();

  /**
   * The same as the topology takes them.
   *
   * @throws IllegalArgumentException naming the key that cannot be used
   */
  default CampaignTopology.Settings settings() {
    positive("tick", tick());
    positive("silence", silence());
    positive("cancel-grace", cancelGrace());
    positive("back-off", backOff());
    positive("back-off-max", backOffMax());
    positive("limit", limit());
    positive("restore-limit", restoreLimit());
    positive("owed-retry", owedRetry());
    if (attempts() < 1 || kept() < 1) {
      throw new IllegalArgumentException(
          "plumbline.campaign.attempts and plumbline.campaign.kept must be at least 1");
    }
    Limits limits =
        new Limits(
            steps(),
            limit(),
            silence(),
            cancelGrace(),
            attempts(),
            backOff(),
            backOffMax(),
            restoreLimit(),
            owedRetry());
    return new CampaignTopology.Settings(limits, tick(), retention(), kept());
  }

  private Map<Step, Duration> steps() {
    Map<Step, Duration> steps = new EnumMap<>(Step.class);
    stepLimits()
        .forEach(
            (name, limit) -> {
              positive("step-limits." + name, limit);
              Step step =
                  Arrays.stream(Step.values())
                      .filter(s -> s != Step.UNKNOWN && s.id().equals(name))
                      .findFirst()
                      .orElseThrow(
                          () ->
                              new IllegalArgumentException(
                                  "plumbline.campaign.step-limits."
                                      + name
                                      + ": there is no such step; the steps are "
                                      + Arrays.stream(Step.values())
                                          .filter(s -> s != Step.UNKNOWN)
                                          .map(Step::id)
                                          .toList()));
              steps.put(step, limit);
            });
    return steps;
  }

  private static void positive(String key, Duration value) {
    if (value.isNegative() || value.isZero()) {
      throw new IllegalArgumentException(
          "plumbline.campaign." + key + " must be longer than nothing, but is " + value);
    }
  }
}
