package dev.plumbline.traceanalysis;

import dev.plumbline.schemas.trace.StepKind;
import dev.plumbline.schemas.trace.TraceReport;
import dev.plumbline.schemas.trace.TraceReport.Bottleneck;
import dev.plumbline.schemas.trace.TraceReport.Collectives;
import dev.plumbline.schemas.trace.TraceReport.ComponentTime;
import dev.plumbline.schemas.trace.TraceReport.Integrity;
import dev.plumbline.schemas.trace.TraceReport.Rank;
import dev.plumbline.schemas.trace.TraceReport.RankWait;
import dev.plumbline.schemas.trace.TraceReport.StepSummary;
import dev.plumbline.schemas.trace.TraceReport.WhatIf;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;

/** A report for people, as titled tables; text and HTML draw the same ones. */
final class ReportTables {

  static final String INTEGRITY = "Integrity";

  /**
   * @param columns headings; those after the first {@code words} ones are figures
   * @param words how many leading columns hold words
   */
  record Table(String title, int words, List<String> columns, List<List<String>> rows) {}

  private ReportTables() {}

  /** The verdict in one sentence, then one sentence for each reason against it. */
  static List<String> verdict(TraceReport report) {
    Bottleneck bottleneck = report.bottleneck();
    List<String> lines = new ArrayList<>();
    if (bottleneck.component() == null) {
      lines.add("No verdict: " + String.join("; ", bottleneck.reasons()) + ".");
      return lines;
    }
    lines.add(
        "%s takes %s of the %s time, %.1f points more than the next: %s."
            .formatted(
                bottleneck.component(),
                percent(bottleneck.share()),
                steps(report),
                bottleneck.margin() * 100,
                bottleneck.verdict()));
    bottleneck.reasons().forEach(reason -> lines.add("Inconclusive because " + reason + "."));
    if (report.comparison() != null) {
      lines.addAll(ComparisonTables.sentences(report.comparison()));
    }
    return lines;
  }

  private static String steps(TraceReport report) {
    StepKind kind = Verdict.kind(report.ranks());
    return kind == null || kind == StepKind.UNKNOWN ? "step" : word(kind) + " step";
  }

  static List<Table> of(TraceReport report) {
    List<Table> tables = new ArrayList<>();
    if (report.comparison() != null) {
      tables.addAll(ComparisonTables.of(report.comparison()));
    }
    if (report.stepSummary() != null) {
      report.stepSummary().kinds().forEach(kind -> tables.add(step(kind)));
      tables.add(outliers(report.stepSummary()));
    }
    tables.add(ranks(report.ranks()));
    if (report.stepSummary() == null) {
      report.ranks().stream().filter(r -> r.deviceEvents() > 0).forEach(r -> tables.add(whole(r)));
    }
    tables.add(idle(report.ranks()));
    if (report.collectives().matched() + report.collectives().unmatched() > 0) {
      tables.add(collectives(report.collectives()));
    }
    tables.add(whatIf(report.whatIf()));
    report.ranks().stream()
        .filter(rank -> !rank.kernels().isEmpty())
        .findFirst()
        .ifPresent(rank -> tables.add(kernels(rank)));
    tables.add(integrity(report.ranks()));
    return tables;
  }

  /** What every reader must see beside the figures. */
  static List<String> warnings(TraceReport report) {
    List<String> lines = new ArrayList<>();
    for (Rank rank : report.ranks()) {
      rank.integrity().warnings().forEach(w -> lines.add(label(rank) + ": " + w));
    }
    return lines;
  }

  private static Table step(StepSummary.Kind kind) {
    List<List<String>> rows = new ArrayList<>();
    for (ComponentTime time : kind.components()) {
      rows.add(
          List.of(
              time.component().id(),
              word(time.deviceClass()),
              Long.toString(time.events()),
              micros(time.summedNs()),
              micros(time.exposedNs()),
              percent(time.share())));
    }
    kind.idleShares()
        .forEach(
            (cause, share) -> {
              if (share > 0) {
                rows.add(List.of("idle: " + spaced(cause), "idle", "", "", "", percent(share)));
              }
            });
    String title =
        "%s steps: %d, batch %s, window median %s µs (p95 %s), busy median %s µs"
            .formatted(
                word(kind.kind()),
                kind.steps(),
                kind.batch() == null ? "unknown" : kind.batch(),
                micros(kind.windowNs().median()),
                micros(kind.windowNs().p95()),
                micros(kind.busyNs().median()));
    return new Table(
        title,
        2,
        List.of("component", "class", "events", "summed µs", "exposed µs", "share"),
        rows);
  }

  private static Table outliers(StepSummary summary) {
    List<List<String>> rows = new ArrayList<>();
    for (StepSummary.Kind kind : summary.kinds()) {
      for (TraceReport.OutlierStep step : kind.outliers()) {
        rows.add(
            List.of(
                step.rank() == null ? "?" : step.rank().toString(),
                shortened(step.name()),
                word(kind.kind()),
                Integer.toString(step.index()),
                micros(step.windowNs()),
                String.format(Locale.ROOT, "%.2fx", step.ratio())));
      }
    }
    return new Table(
        "Outlier steps, far longer than the median of their kind",
        3,
        List.of("rank", "step", "kind", "place", "window µs", "of median"),
        rows);
  }

  private static Table whole(Rank rank) {
    List<List<String>> rows =
        rank.components().stream()
            .map(
                time ->
                    List.of(
                        time.component().id(),
                        word(time.deviceClass()),
                        Long.toString(time.events()),
                        micros(time.summedNs()),
                        micros(time.exposedNs()),
                        percent(time.share())))
            .toList();
    return new Table(
        label(rank) + ": whole trace",
        2,
        List.of("component", "class", "events", "summed µs", "exposed µs", "share"),
        rows);
  }

  private static Table ranks(List<Rank> ranks) {
    List<List<String>> rows = new ArrayList<>();
    for (Rank rank : ranks) {
      rows.add(
          List.of(
              rank.rank() == null ? "?" : rank.rank().toString(),
              fileName(rank),
              Long.toString(rank.deviceEvents()),
              Integer.toString(rank.streams()),
              millis(rank.spanNs()),
              part(rank.exposedNs().compute(), rank),
              part(rank.exposedNs().communication(), rank),
              part(rank.exposedNs().memory(), rank),
              part(rank.exposedNs().idle(), rank),
              rank.overlap() == null ? "-" : percent(rank.overlap())));
    }
    return new Table(
        "Ranks: exposed time as a share of the span",
        2,
        List.of(
            "rank",
            "file",
            "events",
            "streams",
            "span ms",
            "compute",
            "communic.",
            "memory",
            "idle",
            "overlap"),
        rows);
  }

  private static Table idle(List<Rank> ranks) {
    List<String> columns = new ArrayList<>(List.of("rank"));
    Map<String, ToLongFunction<TraceReport.IdleCauses>> causes = StepStatistics.causes();
    causes.keySet().forEach(cause -> columns.add(spaced(cause)));
    List<List<String>> rows = new ArrayList<>();
    for (Rank rank : ranks) {
      List<String> row = new ArrayList<>(List.of(rank.rank() == null ? "?" : "" + rank.rank()));
      causes.values().forEach(cause -> row.add(part(cause.applyAsLong(rank.idleCausesNs()), rank)));
      rows.add(row);
    }
    return new Table("Idle time by cause, as a share of the span", 1, columns, rows);
  }

  private static Table collectives(Collectives collectives) {
    List<List<String>> rows = new ArrayList<>();
    for (RankWait wait : collectives.ranks()) {
      rows.add(
          List.of(
              wait.rank() == null ? "?" : wait.rank().toString(),
              micros(wait.waitNs()),
              Long.toString(wait.lastCount()),
              wait.clockOffsetNs() == null ? "0" : micros(wait.clockOffsetNs())));
    }
    String straggler =
        collectives.straggler() == null
            ? "no straggler"
            : "straggler: rank %s, last in %s"
                .formatted(
                    collectives.straggler().rank(), percent(collectives.straggler().share()));
    return new Table(
        "Collectives: %d matched, %d not; transfer %s µs; %s"
            .formatted(
                collectives.matched(),
                collectives.unmatched(),
                micros(collectives.transferNs()),
                straggler),
        1,
        List.of("rank", "wait µs", "times last", "clock ahead µs"),
        rows);
  }

  private static Table whatIf(List<WhatIf> gains) {
    List<String> columns = new ArrayList<>(List.of("if faster", "share"));
    if (!gains.isEmpty()) {
      gains.getFirst().speedups().forEach(s -> columns.add("by " + factor(s.factor())));
    }
    columns.add("at most");
    List<List<String>> rows = new ArrayList<>();
    for (WhatIf gain : gains) {
      List<String> row = new ArrayList<>(List.of(gain.component(), percent(gain.share())));
      gain.speedups().forEach(s -> row.add(times(s.stepSpeedup())));
      row.add(times(gain.upperBound()));
      rows.add(row);
    }
    return new Table("What if: speed-up of the step, from exposed time", 1, columns, rows);
  }

  private static Table kernels(Rank rank) {
    List<List<String>> rows =
        rank.kernels().stream()
            .map(
                kernel ->
                    List.of(
                        shortened(kernel.name()),
                        kernel.component().id(),
                        Long.toString(kernel.events()),
                        micros(kernel.summedNs())))
            .toList();
    return new Table(
        "Kernels of " + label(rank) + " by summed time",
        2,
        List.of("kernel", "component", "events", "summed µs"),
        rows);
  }

  static Table integrity(List<Rank> ranks) {
    List<List<String>> rows = new ArrayList<>();
    for (Rank rank : ranks) {
      Integrity i = rank.integrity();
      String bad =
          i.eventsBad().isEmpty()
              ? "0"
              : i.eventsBad().entrySet().stream()
                  .map(e -> e.getValue() + " " + e.getKey())
                  .collect(Collectors.joining(", "));
      rows.add(
          List.of(
              rank.rank() == null ? "?" : rank.rank().toString(),
              i.status(),
              i.rankFrom(),
              i.stepsFoundBy(),
              Integer.toString(i.steps()),
              Long.toString(i.eventsRead()),
              bad,
              percent(i.unlinkedShare()),
              percent(i.otherShare()),
              percent(i.overlappedShare()),
              i.graphLaunchesWithoutKernels() + "/" + i.graphLaunches()));
    }
    return new Table(
        INTEGRITY,
        4,
        List.of(
            "rank",
            "status",
            "rank from",
            "steps by",
            "steps",
            "read",
            "bad",
            "unlinked",
            "other",
            "overlap",
            "empty graphs"),
        rows);
  }

  static String label(Rank rank) {
    return rank.rank() == null ? fileName(rank) : "rank " + rank.rank();
  }

  private static String fileName(Rank rank) {
    Path name = Path.of(rank.source()).getFileName();
    return shortened(name == null ? rank.source() : name.toString());
  }

  static String shortened(String name) {
    return name.length() <= 60 ? name : name.substring(0, 57) + "...";
  }

  private static String part(long ns, Rank rank) {
    return rank.spanNs() == 0 ? "-" : percent((double) ns / rank.spanNs());
  }

  private static String percent(double share) {
    return String.format(Locale.ROOT, "%.1f %%", share * 100);
  }

  private static String micros(long ns) {
    return String.format(Locale.ROOT, "%.1f", ns / 1e3);
  }

  private static String millis(long ns) {
    return String.format(Locale.ROOT, "%.3f", ns / 1e6);
  }

  private static String factor(double factor) {
    return BigDecimal.valueOf(factor).stripTrailingZeros().toPlainString() + "x";
  }

  private static String times(double speedup) {
    return speedup > 1e6 ? "no bound" : String.format(Locale.ROOT, "%.2fx", speedup);
  }

  private static String word(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }

  private static String spaced(String camelCase) {
    return camelCase.replaceAll("([A-Z])", " $1").toLowerCase(Locale.ROOT);
  }
}
