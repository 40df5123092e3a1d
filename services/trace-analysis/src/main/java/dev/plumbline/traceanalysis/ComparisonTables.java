package dev.plumbline.traceanalysis;

import dev.plumbline.schemas.trace.TraceComparison;
import dev.plumbline.schemas.trace.TraceComparison.Change;
import dev.plumbline.schemas.trace.TraceComparison.KernelChange;
import dev.plumbline.schemas.trace.TraceComparison.KindChange;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** A comparison for people, as titled tables. */
final class ComparisonTables {

  private ComparisonTables() {}

  static List<ReportTables.Table> of(TraceComparison comparison) {
    List<ReportTables.Table> tables = new ArrayList<>();
    comparison.kinds().forEach(kind -> tables.add(kind(kind)));
    tables.add(kernels(comparison.kernels()));
    return tables;
  }

  /** One sentence on each kind of step, and the test behind "beyond spread". */
  static List<String> sentences(TraceComparison comparison) {
    List<String> lines = new ArrayList<>();
    for (KindChange kind : comparison.kinds()) {
      lines.add(sentence(kind));
    }
    lines.add("Test: " + comparison.test() + ".");
    return lines;
  }

  private static String sentence(KindChange kind) {
    String word = kind.kind().name().toLowerCase(Locale.ROOT);
    if (kind.window() == null) {
      return "Only %s has %s steps (%d): they cannot be compared."
          .formatted(
              kind.steps() > 0 ? "this analysis" : "the baseline",
              word,
              Math.max(kind.steps(), kind.baselineSteps()));
    }
    Change window = kind.window();
    return "Against the baseline a %s step takes %s µs instead of %s µs (%s %%), %s."
        .formatted(
            word,
            micros(window.perStepNs()),
            micros(window.baselinePerStepNs()),
            String.format(
                Locale.ROOT,
                "%+.1f",
                100.0 * window.differenceNs() / Math.max(1, window.baselinePerStepNs())),
            window.beyondSpread() == null
                ? "with too few steps to tell whether that is chance"
                : window.beyondSpread()
                    ? "which is more than the spread between steps"
                    : "which is within the spread between steps");
  }

  private static ReportTables.Table kind(KindChange kind) {
    List<List<String>> rows = new ArrayList<>();
    if (kind.window() != null) {
      rows.add(row(kind.window()));
      kind.parts().forEach(part -> rows.add(row(part)));
    }
    return new ReportTables.Table(
        "Difference of %s steps, exposed time per step (medians of %d and %d steps)"
            .formatted(
                kind.kind().name().toLowerCase(Locale.ROOT), kind.steps(), kind.baselineSteps()),
        2,
        List.of("part", "change", "this µs", "baseline µs", "difference µs", "spread µs", "beyond"),
        rows);
  }

  private static List<String> row(Change change) {
    return List.of(
        change.component(),
        change.change(),
        micros(change.perStepNs()),
        micros(change.baselinePerStepNs()),
        signed(change.differenceNs()),
        change.spreadNs() == null ? "?" : micros(change.spreadNs()),
        change.beyondSpread() == null ? "?" : change.beyondSpread() ? "yes" : "no");
  }

  private static ReportTables.Table kernels(List<KernelChange> kernels) {
    return new ReportTables.Table(
        "Difference by kernel, summed time per step",
        3,
        List.of("kernel", "component", "change", "this µs", "baseline µs", "difference µs"),
        kernels.stream()
            .map(
                kernel ->
                    List.of(
                        ReportTables.shortened(kernel.name()),
                        kernel.component().id(),
                        kernel.change(),
                        micros(kernel.perStepNs()),
                        micros(kernel.baselinePerStepNs()),
                        signed(kernel.differenceNs())))
            .toList());
  }

  private static String micros(long ns) {
    return String.format(Locale.ROOT, "%.1f", ns / 1e3);
  }

  private static String signed(long ns) {
    return String.format(Locale.ROOT, "%+.1f", ns / 1e3);
  }
}
