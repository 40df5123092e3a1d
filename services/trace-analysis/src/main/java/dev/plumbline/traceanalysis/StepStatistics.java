package dev.plumbline.traceanalysis;

import dev.plumbline.schemas.trace.Component;
import dev.plumbline.schemas.trace.StepKind;
import dev.plumbline.schemas.trace.TraceReport.ComponentTime;
import dev.plumbline.schemas.trace.TraceReport.IdleCauses;
import dev.plumbline.schemas.trace.TraceReport.OutlierStep;
import dev.plumbline.schemas.trace.TraceReport.Rank;
import dev.plumbline.schemas.trace.TraceReport.Spread;
import dev.plumbline.schemas.trace.TraceReport.StepSummary;
import dev.plumbline.schemas.trace.TraceReport.StepTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;

/** Medians and shares over the steps of all ranks, by kind. */
final class StepStatistics {

  private StepStatistics() {}

  private static final int MOST_OUTLIERS = 10;

  /**
   * A step, and whether another follows it on its rank.
   *
   * @param index place among the rank's steps
   */
  private record Placed(Integer rank, int index, StepTime step, boolean last) {}

  /** Null when no step was found. */
  static StepSummary of(List<Rank> ranks) {
    Map<StepKind, List<Placed>> byKind =
        byKind(
            ranks.stream()
                .filter(rank -> !rank.integrity().stepsFoundBy().equals("none"))
                .toList());
    return byKind.isEmpty()
        ? null
        : new StepSummary(
            byKind.entrySet().stream().map(e -> kind(e.getKey(), e.getValue())).toList());
  }

  private static Map<StepKind, List<Placed>> byKind(List<Rank> ranks) {
    Map<StepKind, List<Placed>> byKind = new EnumMap<>(StepKind.class);
    for (Rank rank : ranks) {
      for (int i = 0; i < rank.steps().size(); i++) {
        StepTime step = rank.steps().get(i);
        byKind
            .computeIfAbsent(step.kind(), k -> new ArrayList<>())
            .add(new Placed(rank.rank(), i, step, i + 1 == rank.steps().size()));
      }
    }
    return byKind;
  }

  /**
   * The steps whose windows compare, by kind. The last window of a rank ends with its last event,
   * where others hold the time up to the next step: it is left out where there are others.
   */
  static Map<StepKind, List<StepTime>> comparable(List<Rank> ranks) {
    Map<StepKind, List<StepTime>> steps = new EnumMap<>(StepKind.class);
    byKind(ranks)
        .forEach(
            (kind, placed) ->
                steps.put(kind, followed(placed).stream().map(Placed::step).toList()));
    return steps;
  }

  private static List<Placed> followed(List<Placed> placed) {
    List<Placed> followed = placed.stream().filter(p -> !p.last).toList();
    return followed.isEmpty() ? placed : followed;
  }

  private static StepSummary.Kind kind(StepKind kind, List<Placed> placed) {
    List<StepTime> steps = placed.stream().map(Placed::step).toList();
    List<Placed> followed = followed(placed);
    return new StepSummary.Kind(
        kind,
        steps.size(),
        mostFrequentBatch(steps),
        spread(followed.stream().map(Placed::step).toList(), StepTime::windowNs),
        spread(steps, step -> step.exposedNs().total() - step.exposedNs().idle()),
        components(steps),
        idleShares(steps),
        outliers(followed));
  }

  /** Far longer than the median, as the schema defines it. */
  private static List<OutlierStep> outliers(List<Placed> placed) {
    Robust windows = Robust.of(placed.stream().mapToLong(p -> p.step.windowNs()).toArray());
    double least = windows.median() + Math.max(0.05 * windows.median(), 5 * windows.deviation());
    return placed.stream()
        .filter(p -> p.step.windowNs() > least)
        .sorted(Comparator.comparingLong((Placed p) -> p.step.windowNs()).reversed())
        .limit(MOST_OUTLIERS)
        .map(
            p ->
                new OutlierStep(
                    p.rank,
                    p.index,
                    p.step.name(),
                    p.step.windowNs(),
                    (double) p.step.windowNs() / windows.median()))
        .toList();
  }

  private static Integer mostFrequentBatch(List<StepTime> steps) {
    Map<Integer, Long> counts =
        steps.stream()
            .map(StepTime::batch)
            .filter(Objects::nonNull)
            .collect(Collectors.groupingBy(Function.identity(), Collectors.counting()));
    return counts.entrySet().stream()
        .max(Map.Entry.<Integer, Long>comparingByValue().thenComparing(Map.Entry.comparingByKey()))
        .map(Map.Entry::getKey)
        .orElse(null);
  }

  private static List<ComponentTime> components(List<StepTime> steps) {
    long window = steps.stream().mapToLong(StepTime::windowNs).sum();
    List<ComponentTime> result = new ArrayList<>();
    for (Component component : Component.values()) {
      List<ComponentTime> times =
          steps.stream()
              .flatMap(step -> step.components().stream())
              .filter(time -> time.component() == component)
              .toList();
      if (!times.isEmpty()) {
        long exposed = times.stream().mapToLong(ComponentTime::exposedNs).sum();
        result.add(
            new ComponentTime(
                component,
                component.deviceClass(),
                median(times, steps.size(), ComponentTime::events),
                median(times, steps.size(), ComponentTime::summedNs),
                median(times, steps.size(), ComponentTime::exposedNs),
                window == 0 ? 0 : (double) exposed / window));
      }
    }
    result.sort(Comparator.comparingDouble(ComponentTime::share).reversed());
    return result;
  }

  /** A step without the component counts as zero. */
  private static long median(
      List<ComponentTime> times, int steps, ToLongFunction<ComponentTime> value) {
    long[] values = new long[steps];
    for (int i = 0; i < times.size(); i++) {
      values[i] = value.applyAsLong(times.get(i));
    }
    Arrays.sort(values);
    return median(values);
  }

  /** Sum of each idle cause ÷ sum of the windows, by the cause's name in JSON. */
  static Map<String, Double> idleShares(List<StepTime> steps) {
    double window = steps.stream().mapToLong(StepTime::windowNs).sum();
    Map<String, Double> shares = new LinkedHashMap<>();
    causes()
        .forEach(
            (name, value) -> {
              long sum = steps.stream().mapToLong(s -> value.applyAsLong(s.idleCausesNs())).sum();
              shares.put(name, window == 0 ? 0 : sum / window);
            });
    return shares;
  }

  /** The idle causes by their names in JSON. */
  static Map<String, ToLongFunction<IdleCauses>> causes() {
    Map<String, ToLongFunction<IdleCauses>> causes = new LinkedHashMap<>();
    causes.put("hostBound", IdleCauses::hostBound);
    causes.put("synchronisation", IdleCauses::synchronisation);
    causes.put("launchLatency", IdleCauses::launchLatency);
    causes.put("graphInternal", IdleCauses::graphInternal);
    causes.put("unknown", IdleCauses::unknown);
    return causes;
  }

  private static Spread spread(List<StepTime> steps, ToLongFunction<StepTime> value) {
    long[] sorted = steps.stream().mapToLong(value).sorted().toArray();
    int p95 = (int) Math.ceil(0.95 * sorted.length) - 1;
    return new Spread(median(sorted), sorted[p95], sorted[0], sorted[sorted.length - 1]);
  }

  /** A value that occurred: of an even number the upper of the middle two. */
  private static long median(long[] sorted) {
    return sorted[sorted.length / 2];
  }
}
