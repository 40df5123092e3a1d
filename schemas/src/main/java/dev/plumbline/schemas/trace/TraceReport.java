package dev.plumbline.schemas.trace;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;
import java.util.Map;

/**
 * The result of analysing the traces of one run, one file per rank: the output of {@code plumbline
 * analyze --format json}. Formulas: definitions, sections 1 to 4. Times are nanoseconds, shares are
 * fractions of 1.
 *
 * @param stepSummary null when no step was found
 * @param comparison with another analysis; null when none was asked for
 */
public record TraceReport(
    List<Rank> ranks,
    Collectives collectives,
    StepSummary stepSummary,
    Bottleneck bottleneck,
    List<WhatIf> whatIf,
    TraceComparison comparison) {

  /** A report that compares nothing. */
  public TraceReport(
      List<Rank> ranks,
      Collectives collectives,
      StepSummary stepSummary,
      Bottleneck bottleneck,
      List<WhatIf> whatIf) {
    this(ranks, collectives, stepSummary, bottleneck, whatIf, null);
  }

  public TraceReport withComparison(TraceComparison other) {
    return new TraceReport(ranks, collectives, stepSummary, bottleneck, whatIf, other);
  }

  /**
   * One rank.
   *
   * @param rank null when neither the metadata, the file name nor the caller tells it
   * @param source the file, as the caller named it
   * @param overlap time in which communication and compute both run ÷ busy(communication); null
   *     without communication
   * @param components ordered by exposed time, largest first
   * @param kernels ordered by summed time, largest first: the 20 largest, or all when asked for
   */
  public record Rank(
      Integer rank,
      String source,
      long deviceEvents,
      int streams,
      long spanNs,
      ClassTimes summedNs,
      ExposedTimes exposedNs,
      Double overlap,
      List<ComponentTime> components,
      IdleCauses idleCausesNs,
      List<KernelTime> kernels,
      List<StepTime> steps,
      Integrity integrity) {

    public Rank withKernels(List<KernelTime> other) {
      return new Rank(
          rank,
          source,
          deviceEvents,
          streams,
          spanNs,
          summedNs,
          exposedNs,
          overlap,
          components,
          idleCausesNs,
          other,
          steps,
          integrity);
    }

    public Rank withIntegrity(Integrity other) {
      return new Rank(
          rank,
          source,
          deviceEvents,
          streams,
          spanNs,
          summedNs,
          exposedNs,
          overlap,
          components,
          idleCausesNs,
          kernels,
          steps,
          other);
    }
  }

  /** Summed durations of each class. */
  public record ClassTimes(long compute, long communication, long memory) {}

  /** Each instant belongs to exactly one: the four sum exactly to the span or window. */
  public record ExposedTimes(long compute, long communication, long memory, long idle) {
    public long total() {
      return compute + communication + memory + idle;
    }
  }

  /**
   * @param share exposed time ÷ span of the rank, or ÷ window of the step
   */
  public record ComponentTime(
      Component component,
      @JsonProperty("class") DeviceClass deviceClass,
      long events,
      long summedNs,
      long exposedNs,
      double share) {}

  /** Sums exactly to the idle time. */
  public record IdleCauses(
      long hostBound, long synchronisation, long launchLatency, long graphInternal, long unknown) {
    public long total() {
      return hostBound + synchronisation + launchLatency + graphInternal + unknown;
    }
  }

  public record KernelTime(String name, Component component, long events, long summedNs) {}

  /**
   * One step of one rank.
   *
   * @param startNs start of the window, relative to the rank's first device event
   * @param batch sequences in the step, where the annotation tells; else null
   */
  public record StepTime(
      String name,
      StepKind kind,
      Integer batch,
      long startNs,
      long windowNs,
      ExposedTimes exposedNs,
      IdleCauses idleCausesNs,
      List<ComponentTime> components) {}

  /**
   * How far the rank can be trusted (definitions, section 4).
   *
   * @param eventsBad count by kind of fault
   * @param status {@code complete}, {@code truncated}, {@code incomplete} or {@code
   *     no-device-events}
   * @param unlinkedShare summed device time without a launch record ÷ summed device time
   * @param otherShare summed device time without a component rule ÷ summed device time
   * @param overlappedShare device time in which more than one event runs ÷ busy
   * @param stepsFoundBy {@code user}, {@code profiler-step}, {@code vllm}, {@code sglang}, {@code
   *     atom} or {@code none}
   * @param rankFrom {@code metadata}, {@code file-name}, {@code caller} or {@code unknown}
   * @param clockBaseNs {@code baseTimeNanoseconds} of the file, else null
   */
  public record Integrity(
      String status,
      long eventsRead,
      long eventsUsed,
      Map<String, Long> eventsBad,
      boolean truncated,
      double unlinkedShare,
      double otherShare,
      List<KernelTime> otherLargest,
      double overlappedShare,
      long graphLaunches,
      long graphLaunchesWithoutKernels,
      int steps,
      String stepsFoundBy,
      String rankFrom,
      Long clockBaseNs,
      List<String> warnings) {

    public Integrity withWarnings(List<String> other) {
      return new Integrity(
          status,
          eventsRead,
          eventsUsed,
          eventsBad,
          truncated,
          unlinkedShare,
          otherShare,
          otherLargest,
          overlappedShare,
          graphLaunches,
          graphLaunchesWithoutKernels,
          steps,
          stepsFoundBy,
          rankFrom,
          clockBaseNs,
          other);
    }
  }

  /**
   * Collectives matched across ranks; counts are zero for a single rank.
   *
   * @param transferNs minimum duration over ranks, summed over matched collectives
   * @param straggler null when no rank stands out
   */
  public record Collectives(
      long matched, long unmatched, long transferNs, List<RankWait> ranks, Straggler straggler) {}

  /**
   * @param waitNs duration − transfer, summed over matched collectives
   * @param lastCount how often this rank arrived last
   * @param clockOffsetNs by how much its clock is ahead of that of the first rank, from the ends of
   *     matched collectives; null when the clocks agree
   */
  public record RankWait(Integer rank, long waitNs, long lastCount, Long clockOffsetNs) {

    /** A rank whose clock agrees with the others'. */
    public RankWait(Integer rank, long waitNs, long lastCount) {
      this(rank, waitNs, lastCount, null);
    }
  }

  /**
   * @param share how often it arrived last ÷ matched collectives
   */
  public record Straggler(Integer rank, double share) {}

  /** Steps of all ranks, by kind. Windows and component times are medians over steps and ranks. */
  public record StepSummary(List<Kind> kinds) {

    /**
     * @param steps number of steps of this kind over all ranks
     * @param batch the most frequent batch, null when unknown
     * @param busyNs median of compute + communication + memory per step
     * @param components per component: {@code exposedNs} and {@code summedNs} are medians per step,
     *     {@code events} the median count per step, {@code share} = Σ exposed ÷ Σ window over all
     *     steps of this kind
     * @param idleShares Σ idle cause ÷ Σ window, keyed by the cause's name in JSON
     * @param outliers steps far longer than the median: by more than 5 % of it and by more than 5 ×
     *     1.4826 × the median absolute deviation; the longest first, ten at most
     */
    public record Kind(
        StepKind kind,
        long steps,
        Integer batch,
        Spread windowNs,
        Spread busyNs,
        List<ComponentTime> components,
        Map<String, Double> idleShares,
        List<OutlierStep> outliers) {

      /** Steps of which none stands out. */
      public Kind(
          StepKind kind,
          long steps,
          Integer batch,
          Spread windowNs,
          Spread busyNs,
          List<ComponentTime> components,
          Map<String, Double> idleShares) {
        this(kind, steps, batch, windowNs, busyNs, components, idleShares, List.of());
      }
    }
  }

  /**
   * A step that took far longer than the others of its kind.
   *
   * @param rank null when unknown
   * @param index place in the rank's {@code steps}, from 0
   * @param ratio its window ÷ the median window
   */
  public record OutlierStep(Integer rank, int index, String name, long windowNs, double ratio) {}

  public record Spread(long median, long p95, long min, long max) {}

  /**
   * The component or idle cause with the largest share of exposed step time.
   *
   * @param component a component, or {@code idle:} and a cause such as {@code idle:host_bound};
   *     null without device time
   * @param deviceClass {@code compute}, {@code communication}, {@code memory} or {@code idle}
   * @param margin distance of the share to the second, as a fraction of 1
   * @param verdict {@code conclusive} or {@code inconclusive}
   * @param reasons why inconclusive; empty when conclusive
   */
  public record Bottleneck(
      String component,
      @JsonProperty("class") String deviceClass,
      double share,
      double margin,
      String verdict,
      List<String> reasons) {}

  /**
   * Speed-up of the step if one component became faster, from exposed time.
   *
   * @param share exposed share f of the step window
   * @param speedups step speed-up by factor k of the component
   * @param upperBound step speed-up for k → ∞
   * @param note why the gain is not to be had, else null
   */
  public record WhatIf(
      String component, double share, List<Speedup> speedups, double upperBound, String note) {}

  public record Speedup(double factor, double stepSpeedup) {}
}
