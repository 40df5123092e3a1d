package dev.plumbline.traceanalysis;

import dev.plumbline.schemas.trace.Component;
import dev.plumbline.schemas.trace.StepKind;
import dev.plumbline.schemas.trace.TraceReport.Bottleneck;
import dev.plumbline.schemas.trace.TraceReport.ComponentTime;
import dev.plumbline.schemas.trace.TraceReport.Rank;
import dev.plumbline.schemas.trace.TraceReport.StepTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * What limits the steps: the component or idle cause with the largest share of exposed step time,
 * summed over the steps of all ranks and divided by their summed windows. Prefill and decode have
 * different limits, so where a trace holds several kinds of step, that counts which takes most of
 * the time.
 */
final class Verdict {

  /** Below this distance to the second, the first place is not worth naming alone. */
  private static final double LEAST_MARGIN = 0.02;

  /** What one candidate takes of the steps. */
  record Share(String name, String deviceClass, double share) {}

  private Verdict() {}

  /** The kind of step that takes most of the time; null without steps. */
  static StepKind kind(List<Rank> ranks) {
    Map<StepKind, Long> windows = new EnumMap<>(StepKind.class);
    for (Rank rank : ranks) {
      rank.steps().forEach(step -> windows.merge(step.kind(), step.windowNs(), Long::sum));
    }
    return windows.entrySet().stream()
        .max(Map.Entry.comparingByValue())
        .map(Map.Entry::getKey)
        .orElse(null);
  }

  /** All candidates, the largest first. */
  static List<Share> shares(List<Rank> ranks) {
    StepKind kind = kind(ranks);
    List<StepTime> steps =
        ranks.stream()
            .flatMap(rank -> rank.steps().stream())
            .filter(step -> step.kind() == kind)
            .toList();
    double window = steps.stream().mapToLong(StepTime::windowNs).sum();
    List<Share> shares = new ArrayList<>();
    if (window == 0) {
      return shares;
    }
    for (Component component : Component.values()) {
      long exposed =
          steps.stream()
              .flatMap(step -> step.components().stream())
              .filter(time -> time.component() == component)
              .mapToLong(ComponentTime::exposedNs)
              .sum();
      if (exposed > 0) {
        String name = component.deviceClass().name().toLowerCase(Locale.ROOT);
        shares.add(new Share(component.id(), name, exposed / window));
      }
    }
    for (Map.Entry<String, Double> idle : StepStatistics.idleShares(steps).entrySet()) {
      if (idle.getValue() > 0) {
        shares.add(new Share("idle:" + underscored(idle.getKey()), "idle", idle.getValue()));
      }
    }
    shares.sort(Comparator.comparingDouble(Share::share).reversed());
    return shares;
  }

  static String underscored(String camelCase) {
    return camelCase.replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT);
  }

  /**
   * The verdict and what speaks against it.
   *
   * @param stacks Python stacks were recorded, which slows the host
   */
  static Bottleneck bottleneck(List<Rank> ranks, List<Share> shares, boolean stacks) {
    if (shares.isEmpty()) {
      return new Bottleneck(
          null, null, 0, 0, "inconclusive", List.of("there is no device time to attribute"));
    }
    Share first = shares.getFirst();
    double margin = first.share - (shares.size() > 1 ? shares.get(1).share : 0);
    List<String> reasons = reasons(ranks, shares, first, margin, stacks);
    return new Bottleneck(
        first.name,
        first.deviceClass,
        first.share,
        margin,
        reasons.isEmpty() ? "conclusive" : "inconclusive",
        reasons);
  }

  private static List<String> reasons(
      List<Rank> ranks, List<Share> shares, Share first, double margin, boolean stacks) {
    List<String> reasons = new ArrayList<>();
    if (margin < LEAST_MARGIN) {
      reasons.add(
          "the second, %s, is only %.1f points behind".formatted(shares.get(1).name, margin * 100));
    }
    undecided(shares, "other", "device time that no component rule knows", margin, reasons);
    undecided(shares, "idle:unknown", "idle time of unknown cause", margin, reasons);
    for (Rank rank : ranks) {
      String where = ranks.size() == 1 ? "the trace" : "the trace of rank " + rank.rank();
      if (rank.integrity().status().equals("incomplete")) {
        reasons.add(where + " lacks device events of its launches, so its idle time is not real");
      }
    }
    severalRuns(ranks, reasons);
    if (ranks.stream().allMatch(rank -> rank.integrity().stepsFoundBy().equals("none"))) {
      reasons.add("no step annotations were found: the whole trace counts as one step");
    }
    if (first.name.equals("idle:graph_internal")) {
      reasons.add("gaps inside a replayed graph may come from the recording itself");
    }
    if (stacks && first.name.equals("idle:host_bound")) {
      reasons.add("the profiler recorded Python stacks, which slows the host");
    }
    if (first.deviceClass.equals("idle") && ranks.stream().allMatch(r -> r.steps().size() == 1)) {
      reasons.add("only one step was recorded, which may hold the start of the profiler");
    }
    return List.copyOf(reasons);
  }

  /** Files of several runs, such as a folder of unlike traces, have no bottleneck in common. */
  private static void severalRuns(List<Rank> ranks, List<String> reasons) {
    Set<Integer> seen = new HashSet<>();
    Set<Integer> doubled = new TreeSet<>();
    long nameless = 0;
    for (Rank rank : ranks) {
      if (rank.rank() == null) {
        nameless++;
      } else if (!seen.add(rank.rank())) {
        doubled.add(rank.rank());
      }
    }
    if (!doubled.isEmpty()) {
      reasons.add(
          "several files say that they are rank "
              + doubled.stream().map(String::valueOf).collect(Collectors.joining(", "))
              + ", so these are several runs: analyse the files of one run at a time");
    }
    if (nameless > 1) {
      reasons.add(
          nameless
              + " files do not say which rank they are, so they may be several runs: analyse the"
              + " files of one run at a time");
    }
  }

  private static void undecided(
      List<Share> shares, String name, String what, double margin, List<String> reasons) {
    for (Share share : shares) {
      if (share.name.equals(name)) {
        if (share.equals(shares.getFirst())) {
          reasons.add("the largest share is " + what);
        } else if (share.share > margin) {
          reasons.add("%s (%.1f %%) exceeds the margin".formatted(what, share.share * 100));
        }
      }
    }
  }
}
