package dev.plumbline.lab;

import dev.plumbline.schemas.trace.Component;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What was planted in one set of traces: shares of the window of the decode steps, summed over the
 * steps of each rank, then the median over ranks. Percent.
 *
 * @param decodeSteps steps without a prompt in them; if there is none, all steps are taken
 * @param windowNs median over ranks of the summed windows of those steps
 * @param sharesPercent by component, median over ranks
 * @param ranks sharesPercent of each rank
 */
record TraceTruth(
    String scenario,
    int rank,
    int decodeSteps,
    long windowNs,
    Map<String, Double> sharesPercent,
    double idlePercent,
    List<Map<String, Double>> ranks) {

  static TraceTruth of(Scenario scenario, List<List<TracePlan.RankStep>> plan) {
    boolean anyDecode = plan.getFirst().stream().anyMatch(s -> s.step().decodeOnly());
    List<Map<String, Double>> ranks = new ArrayList<>();
    List<Double> windows = new ArrayList<>();
    int steps = 0;
    for (List<TracePlan.RankStep> rank : plan) {
      List<TracePlan.RankStep> decode =
          rank.stream().filter(s -> s.step().decodeOnly() || !anyDecode).toList();
      long window = decode.stream().mapToLong(TracePlan.RankStep::windowNs).sum();
      Map<String, Double> shares = new TreeMap<>();
      for (TracePlan.RankStep step : decode) {
        for (int i = 0; i < step.kernel().length; i++) {
          String component = component(scenario, step.kernel()[i]);
          shares.merge(component, 100.0 * step.durationNs()[i] / window, Double::sum);
        }
      }
      ranks.add(shares);
      windows.add((double) window);
      steps = decode.size();
    }
    Map<String, Double> medians = new TreeMap<>();
    for (String component : ranks.getFirst().keySet()) {
      medians.put(component, median(ranks.stream().map(r -> r.get(component)).toList()));
    }
    double idle =
        median(
            ranks.stream()
                .map(r -> 100 - r.values().stream().mapToDouble(Double::doubleValue).sum())
                .toList());
    return new TraceTruth(
        scenario.name(), 0, steps, Math.round(median(windows)), medians, idle, ranks);
  }

  TraceTruth forRank(int which) {
    return new TraceTruth(
        scenario, which, decodeSteps, windowNs, sharesPercent, idlePercent, ranks);
  }

  private static String component(Scenario scenario, int kernel) {
    return kernel < 0 ? Component.MEMCPY.id() : scenario.trace().kernels().get(kernel).component();
  }

  private static double median(List<Double> values) {
    List<Double> sorted = new ArrayList<>(values);
    Collections.sort(sorted);
    int half = sorted.size() / 2;
    return sorted.size() % 2 == 1
        ? sorted.get(half)
        : (sorted.get(half - 1) + sorted.get(half)) / 2;
  }
}
