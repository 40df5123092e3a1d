package dev.plumbline.schemas.trace;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * An analysis held against another, the baseline: per step, so that runs of different length
 * compare. Differences are this minus baseline. Times are nanoseconds.
 *
 * @param baseline the files of the baseline
 * @param test how {@code beyondSpread} is decided, in words
 * @param kinds one for each kind of step that either has
 * @param kernels the 20 largest differences by kernel name
 */
public record TraceComparison(
    List<String> baseline, String test, List<KindChange> kinds, List<KernelChange> kernels) {

  /**
   * Steps of one kind. Where one side has none, there is nothing to compare.
   *
   * @param steps compared steps of all ranks, without the last of each rank where there are others
   * @param window the whole step; null where one side has none
   * @param parts components and idle causes, the largest difference first
   */
  public record KindChange(
      StepKind kind, long steps, long baselineSteps, Change window, List<Change> parts) {}

  /**
   * The exposed time of one part of the step, as medians over the steps.
   *
   * @param component {@code window}, a component, or {@code idle:} and a cause
   * @param deviceClass {@code compute}, {@code communication}, {@code memory}, {@code idle} or
   *     {@code window}
   * @param change {@code appeared}, {@code vanished}, {@code grew}, {@code shrank} or {@code same}
   * @param spreadNs what the difference must exceed; null with fewer than three steps on a side
   * @param beyondSpread whether it does; null likewise
   */
  public record Change(
      String component,
      @JsonProperty("class") String deviceClass,
      String change,
      long perStepNs,
      long baselinePerStepNs,
      long differenceNs,
      Long spreadNs,
      Boolean beyondSpread) {}

  /**
   * A kernel by name: summed time of all ranks ÷ steps of all ranks.
   *
   * @param change as in {@link Change}
   */
  public record KernelChange(
      String name,
      Component component,
      String change,
      long perStepNs,
      long baselinePerStepNs,
      long differenceNs) {}
}
