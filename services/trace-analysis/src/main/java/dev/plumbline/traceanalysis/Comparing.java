package dev.plumbline.traceanalysis;

import dev.plumbline.schemas.trace.Component;
import dev.plumbline.schemas.trace.StepKind;
import dev.plumbline.schemas.trace.TraceComparison;
import dev.plumbline.schemas.trace.TraceComparison.Change;
import dev.plumbline.schemas.trace.TraceComparison.KernelChange;
import dev.plumbline.schemas.trace.TraceComparison.KindChange;
import dev.plumbline.schemas.trace.TraceReport;
import dev.plumbline.schemas.trace.TraceReport.ComponentTime;
import dev.plumbline.schemas.trace.TraceReport.KernelTime;
import dev.plumbline.schemas.trace.TraceReport.Rank;
import dev.plumbline.schemas.trace.TraceReport.StepTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.ToLongFunction;

/**
 * Holds one analysis against another: what of a step appeared, vanished, grew or shrank, and
 * whether by more than steps of one run differ among themselves.
 */
public final class Comparing {

  private static final int LARGEST = 20;

  /** With fewer steps there is no spread between them to speak of. */
  private static final int LEAST_STEPS = 3;

  /** Three standard deviations: one step in 370 lies that far out by chance. */
  private static final double DEVIATIONS = 3;

  /** What is less of the baseline's step is not worth a look, however steady it is. */
  private static final double LEAST_SHARE = 0.002;

  private static final String TEST =
      "beyond the spread between steps: the medians are further apart than 3 x sqrt(a^2 + b^2),"
          + " where a and b are the standard deviations of single steps on the two sides (1.4826 x"
          + " median absolute deviation), and than 0.2 % of the baseline's median step";

  private Comparing() {}

  /**
   * The report with the comparison in it.
   *
   * @param report its kernels, and the baseline's, are best all there: a kernel that one side does
   *     not list counts as absent from it
   */
  public static TraceReport against(TraceReport report, TraceReport baseline) {
    Map<StepKind, List<StepTime>> steps = StepStatistics.comparable(report.ranks());
    Map<StepKind, List<StepTime>> before = StepStatistics.comparable(baseline.ranks());
    Set<StepKind> kinds = EnumSet.noneOf(StepKind.class);
    kinds.addAll(steps.keySet());
    kinds.addAll(before.keySet());
    return report.withComparison(
        new TraceComparison(
            baseline.ranks().stream().map(Rank::source).toList(),
            TEST,
            kinds.stream()
                .map(
                    kind ->
                        kind(
                            kind,
                            steps.getOrDefault(kind, List.of()),
                            before.getOrDefault(kind, List.of())))
                .toList(),
            kernels(report.ranks(), baseline.ranks())));
  }

  /**
   * The same for reports that list all kernels.
   *
   * @param allKernels leave them all in the report; else its ranks keep the usual number
   */
  public static TraceReport against(TraceReport report, TraceReport baseline, boolean allKernels) {
    TraceReport compared = against(report, baseline);
    return allKernels
        ? compared
        : new TraceReport(
            compared.ranks().stream()
                .map(
                    rank ->
                        rank.withKernels(
                            rank.kernels().stream().limit(RankAnalysis.LARGEST).toList()))
                .toList(),
            compared.collectives(),
            compared.stepSummary(),
            compared.bottleneck(),
            compared.whatIf(),
            compared.comparison());
  }

  private static KindChange kind(StepKind kind, List<StepTime> steps, List<StepTime> before) {
    if (steps.isEmpty() || before.isEmpty()) {
      return new KindChange(kind, steps.size(), before.size(), null, List.of());
    }
    Sides sides =
        new Sides(
            steps,
            before,
            Math.round(LEAST_SHARE * Robust.of(values(before, StepTime::windowNs)).median()));
    List<Change> parts = new ArrayList<>();
    for (Component component : Component.values()) {
      String deviceClass = component.deviceClass().name().toLowerCase(Locale.ROOT);
      parts.add(sides.change(component.id(), deviceClass, step -> exposed(step, component)));
    }
    StepStatistics.causes()
        .forEach(
            (name, value) ->
                parts.add(
                    sides.change(
                        "idle:" + Verdict.underscored(name),
                        "idle",
                        step -> value.applyAsLong(step.idleCausesNs()))));
    parts.removeIf(part -> part.perStepNs() == 0 && part.baselinePerStepNs() == 0);
    parts.sort(Comparator.comparingLong((Change c) -> Math.abs(c.differenceNs())).reversed());
    return new KindChange(
        kind,
        steps.size(),
        before.size(),
        sides.change("window", "window", StepTime::windowNs),
        List.copyOf(parts));
  }

  private static long exposed(StepTime step, Component component) {
    return step.components().stream()
        .filter(time -> time.component() == component)
        .mapToLong(ComponentTime::exposedNs)
        .sum();
  }

  private static long[] values(List<StepTime> steps, ToLongFunction<StepTime> value) {
    return steps.stream().mapToLong(value).toArray();
  }

  /** The steps of one kind on both sides; neither is empty. */
  private record Sides(List<StepTime> steps, List<StepTime> before, long leastNs) {

    Change change(String name, String deviceClass, ToLongFunction<StepTime> value) {
      Robust here = Robust.of(values(steps, value));
      Robust there = Robust.of(values(before, value));
      long difference = here.median() - there.median();
      boolean enough = steps.size() >= LEAST_STEPS && before.size() >= LEAST_STEPS;
      long spread =
          Math.max(
              leastNs, Math.round(DEVIATIONS * Math.hypot(here.deviation(), there.deviation())));
      return new Change(
          name,
          deviceClass,
          word(here.median(), there.median()),
          here.median(),
          there.median(),
          difference,
          enough ? spread : null,
          enough ? Math.abs(difference) > spread : null);
    }
  }

  private static String word(long here, long there) {
    if (here == there) {
      return "same";
    } else if (there == 0) {
      return "appeared";
    } else if (here == 0) {
      return "vanished";
    }
    return here > there ? "grew" : "shrank";
  }

  private record Kernel(String name, Component component) {}

  private static List<KernelChange> kernels(List<Rank> ranks, List<Rank> baseline) {
    Map<Kernel, Long> here = perStep(ranks);
    Map<Kernel, Long> there = perStep(baseline);
    Map<Kernel, Long> all = new HashMap<>(there);
    all.putAll(here);
    return all.keySet().stream()
        .map(
            kernel -> change(kernel, here.getOrDefault(kernel, 0L), there.getOrDefault(kernel, 0L)))
        .filter(change -> change.differenceNs() != 0)
        .sorted(
            Comparator.comparingLong((KernelChange c) -> Math.abs(c.differenceNs()))
                .reversed()
                .thenComparing(KernelChange::name))
        .limit(LARGEST)
        .toList();
  }

  private static KernelChange change(Kernel kernel, long here, long there) {
    return new KernelChange(
        kernel.name, kernel.component, word(here, there), here, there, here - there);
  }

  private static Map<Kernel, Long> perStep(List<Rank> ranks) {
    Map<Kernel, Long> sums = new HashMap<>();
    for (Rank rank : ranks) {
      for (KernelTime time : rank.kernels()) {
        sums.merge(new Kernel(time.name(), time.component()), time.summedNs(), Long::sum);
      }
    }
    long steps = Math.max(1, ranks.stream().mapToLong(rank -> rank.steps().size()).sum());
    sums.replaceAll((kernel, sum) -> Math.round((double) sum / steps));
    return sums;
  }
}
