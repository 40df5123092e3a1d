package dev.plumbline.campaign;

import dev.plumbline.schemas.campaign.CampaignReport;
import dev.plumbline.schemas.campaign.Reconciliation;
import dev.plumbline.schemas.host.GpuState;
import dev.plumbline.schemas.host.Reading;
import dev.plumbline.schemas.load.LoadReport;
import dev.plumbline.schemas.load.LoadReport.Latency;
import dev.plumbline.schemas.load.LoadReport.Level;
import dev.plumbline.schemas.micro.MicroReport;
import dev.plumbline.schemas.trace.TraceReport;
import dev.plumbline.schemas.trace.TraceReport.Bottleneck;
import dev.plumbline.schemas.trace.TraceReport.StepSummary.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** The report of a campaign as a page of text for a terminal: the verdict first and last. */
public final class ReportText {

  private static final int BAR = 24;

  private final Page page = new Page();
  private final CampaignReport report;

  private ReportText(CampaignReport report) {
    this.report = report;
  }

  /** At most {@value Page#WIDTH} columns; parts that were not reached are left out. */
  public static String render(CampaignReport report) {
    ReportText text = new ReportText(report);
    text.verdict();
    text.about();
    text.macro();
    text.gpus();
    text.micro();
    text.attribution();
    text.reconciliation();
    text.whatIf();
    text.rest();
    text.page.line("");
    text.verdict();
    return text.page.toString();
  }

  private void verdict() {
    Bottleneck verdict = report.verdict();
    if (verdict == null || verdict.component() == null) {
      page.sentence("VERDICT  ", "Inconclusive. " + reasons(verdict));
      return;
    }
    boolean conclusive = "conclusive".equals(verdict.verdict());
    page.sentence(
        "VERDICT  ",
        "%s%s takes %s of the decode step%s, %.1f points more than the next.%s"
            .formatted(
                conclusive ? "" : "Inconclusive: ",
                verdict.component(),
                Page.percent(verdict.share()),
                verdict.deviceClass() == null ? "" : " (" + verdict.deviceClass() + ")",
                100 * verdict.margin(),
                conclusive ? "" : " " + reasons(verdict)));
  }

  private static String reasons(Bottleneck verdict) {
    return verdict == null || verdict.reasons() == null
        ? ""
        : verdict.reasons().stream()
            .map(r -> r.endsWith(".") ? r : r + ".")
            .collect(Collectors.joining(" "));
  }

  private void about() {
    String model = report.model() == null ? "" : ", model " + report.model();
    Duration took = Duration.between(report.requestedAt(), report.finishedAt());
    page.sentence(
        "         ",
        "Campaign %s on %s%s; took %s; %s."
            .formatted(
                report.campaignId(),
                report.host(),
                model,
                Page.time(took.toNanos()),
                report.downtimeNs() == 0
                    ? "the server was never down"
                    : "the server was down for " + Page.time(report.downtimeNs())));
  }

  private void macro() {
    LoadReport macro = report.macro();
    if (macro == null || macro.levels() == null) {
      return;
    }
    page.heading("Macro: what users get", macro.url());
    double best = macro.levels().stream().mapToDouble(Level::outputThroughput).max().orElse(1);
    Integer saturation = macro.saturation() == null ? null : macro.saturation().concurrency();
    List<List<String>> rows = new ArrayList<>();
    for (Level level : macro.levels()) {
      long failed = level.failed() == null ? 0 : sum(level.failed());
      boolean saturated = saturation != null && saturation.equals(level.concurrency());
      rows.add(
          List.of(
              level.concurrency() == null
                  ? Page.number(level.rate(), 1) + "/s"
                  : level.concurrency() + "",
              Page.number(level.outputThroughput(), 1),
              Page.bar(level.outputThroughput() / best, 16),
              p50(level.ttftNs()),
              p99(level.ttftNs()),
              p50(level.tpotNs()),
              p99(level.tpotNs()),
              level.completed() + (failed == 0 ? "" : " (+" + failed + " failed)"),
              (saturated ? "◄ saturated " : "")
                  + (level.clientBound() ? "client-bound " : "")
                  + (level.partial() ? "partial" : "")));
    }
    page.table(
        List.of("load", "tok/s", "", "TTFT p50", "p99", "TPOT p50", "p99 ", "requests", " "),
        List.of("", " "),
        rows);
    if (macro.saturation() != null) {
      page.sentence(
          "  ",
          "Saturation point: concurrency %d with %s tok/s; at least 95 %% of the best measured.%s"
              .formatted(
                  macro.saturation().concurrency(),
                  Page.number(macro.saturation().outputThroughput(), 0),
                  usl(macro)));
    }
  }

  private static String usl(LoadReport macro) {
    return macro.usl() == null
        ? ""
        : String.format(
            Locale.ROOT,
            " USL fit: σ %.4f, κ %.6f, R² %.3f.",
            macro.usl().sigma(),
            macro.usl().kappa(),
            macro.usl().r2());
  }

  private void gpus() {
    Map<String, GpuState> free = byUuid(report.gpusFree());
    Map<String, GpuState> restored = byUuid(report.gpusRestored());
    Map<String, GpuState> serving = byUuid(report.gpusServing());
    if (serving.isEmpty() && free.isEmpty()) {
      return;
    }
    page.heading("GPUs: memory used and power", "serving → freed → restored");
    Map<String, GpuState> all = new LinkedHashMap<>(free);
    all.putAll(serving);
    List<List<String>> rows = new ArrayList<>();
    all.forEach(
        (uuid, gpu) ->
            rows.add(
                List.of(
                    gpu.index() == null ? uuid : gpu.index() + "",
                    gpu.name() == null ? "" : gpu.name(),
                    memory(serving.get(uuid)),
                    power(serving.get(uuid)),
                    memory(free.get(uuid)),
                    power(free.get(uuid)),
                    memory(restored.get(uuid)),
                    power(restored.get(uuid)))));
    page.table(
        List.of("GPU", "name", "serving", "  ", "freed", "   ", "restored", "    "),
        List.of("name"),
        rows);
  }

  private void micro() {
    MicroReport micro = report.micro();
    if (micro == null || micro.results() == null || micro.results().isEmpty()) {
      return;
    }
    page.heading("Micro: operations alone on the freed GPUs", micro.partial() ? "cut short" : "");
    List<List<String>> rows = new ArrayList<>();
    for (MicroReport.Result r : micro.results()) {
      rows.add(
          List.of(
              r.name(),
              r.operation() + (r.dtype() == null ? "" : " " + r.dtype()),
              r.countPerStep() == null ? "" : r.countPerStep() + "×",
              r.medianUs() == null ? "–" : Page.number(r.medianUs(), 1) + " µs",
              r.p95Us() == null ? "–" : Page.number(r.p95Us(), 1) + " µs",
              rate(r),
              r.unavailable() != null
                  ? "unavailable: " + r.unavailable()
                  : r.valid() ? "" : "not valid: " + String.join("; ", list(r.reasons()))));
    }
    page.table(
        List.of("operation", "kind", "per step", "median", "p95", "rate", " "),
        List.of("operation", "kind", " "),
        rows.stream().map(ReportText::cut).toList());
  }

  private static List<String> cut(List<String> row) {
    List<String> shorter = new ArrayList<>(row);
    String last = shorter.getLast();
    shorter.set(row.size() - 1, last.length() > 30 ? last.substring(0, 29) + "…" : last);
    return shorter;
  }

  private static String rate(MicroReport.Result r) {
    if (r.busGbPerS() != null) {
      return Page.number(r.busGbPerS(), 1) + " GB/s bus";
    }
    return r.tflopPerS() != null
        ? Page.number(r.tflopPerS(), 1) + " TFLOP/s"
        : r.gbPerS() == null ? "" : Page.number(r.gbPerS(), 1) + " GB/s";
  }

  private void attribution() {
    Kind decode = Verdicts.decode(report.trace()).orElse(null);
    if (decode == null) {
      return;
    }
    page.heading(
        "Attribution: exposed time of a " + decode.kind().name().toLowerCase(Locale.ROOT) + " step",
        "%d steps of %d ranks%s; median %s, busy %s"
            .formatted(
                decode.steps(),
                report.trace().ranks().size(),
                decode.batch() == null ? "" : ", batch " + decode.batch(),
                Page.time(decode.windowNs().median()),
                Page.time(decode.busyNs().median())));
    for (TraceReport.ComponentTime c : decode.components()) {
      if (c.share() >= 0.001) {
        share(c.component().id(), c.share(), Page.time(c.exposedNs()) + " in " + c.events());
      }
    }
    Map<String, Double> idle = decode.idleShares() == null ? Map.of() : decode.idleShares();
    idle.entrySet().stream()
        .filter(e -> e.getValue() >= 0.001)
        .sorted(Map.Entry.<String, Double>comparingByValue().reversed())
        .forEach(e -> share("idle: " + e.getKey(), e.getValue(), ""));
    TraceReport.Collectives collectives = report.trace().collectives();
    if (collectives != null && collectives.straggler() != null) {
      page.sentence(
          "  ",
          "Straggler: rank %d came last in %s of %d matched collectives."
              .formatted(
                  collectives.straggler().rank(),
                  Page.percent(collectives.straggler().share()),
                  collectives.matched()));
    }
  }

  private void share(String name, double share, String aside) {
    page.line(
        String.format(
            Locale.ROOT,
            "  %-22s %7s  %-32s %s",
            name,
            Page.percent(share),
            Page.bar(share, 32),
            aside));
  }

  private void reconciliation() {
    Reconciliation r = report.reconciliation();
    if (r == null) {
      return;
    }
    page.heading("Reconciliation: one step at concurrency " + r.concurrency(), "");
    Waterfall waterfall = new Waterfall(r);
    waterfall.lines(BAR).forEach(page::line);
    List<String> ratios = new ArrayList<>();
    if (r.explainedFraction() != null) {
      ratios.add("explained " + Page.percent(r.explainedFraction()));
    }
    if (r.profilingOverhead() != null) {
      ratios.add(
          String.format(
              Locale.ROOT,
              "profiling overhead %.2f (window %s)",
              r.profilingOverhead(),
              Page.time(r.tracedWindowNs())));
    }
    if (!list(r.missing()).isEmpty()) {
      ratios.add("no operation measured for " + String.join(", ", r.missing()));
    }
    if (!ratios.isEmpty()) {
      page.sentence("  ", String.join("; ", ratios) + ".");
    }
    list(r.findings()).forEach(f -> page.sentence("  ! ", f));
  }

  private void whatIf() {
    if (report.trace() == null || list(report.trace().whatIf()).isEmpty()) {
      return;
    }
    page.heading("What if: the step would be faster by", "from exposed time");
    report.trace().whatIf().stream()
        .limit(4)
        .forEach(
            w ->
                page.sentence(
                    String.format(Locale.ROOT, "  %-22s ", w.component()),
                    w.speedups().stream()
                            .map(
                                s ->
                                    String.format(
                                        Locale.ROOT, "%.2f× if %s×", s.stepSpeedup(), plain(s)))
                            .collect(Collectors.joining(",  "))
                        + String.format(Locale.ROOT, ",  %.2f× at most", w.upperBound())
                        + (w.note() == null ? "" : " – " + w.note())));
  }

  private static String plain(TraceReport.Speedup s) {
    return s.factor() == Math.rint(s.factor())
        ? Long.toString((long) s.factor())
        : Double.toString(s.factor());
  }

  private void rest() {
    page.heading("Where everything is", "");
    list(report.traces()).stream()
        .limit(2)
        .forEach(t -> page.sentence("  trace      ", t.host() + ":" + t.path()));
    if (list(report.traces()).size() > 2) {
      page.line("             and " + (report.traces().size() - 2) + " more ranks beside them");
    }
    Map<String, String> references = report.references() == null ? Map.of() : report.references();
    references.forEach((name, where) -> page.sentence("  %-10s ".formatted(name), where));
    list(report.notes()).forEach(n -> page.sentence("  note       ", n));
  }

  private static Map<String, GpuState> byUuid(List<GpuState> gpus) {
    Map<String, GpuState> map = new LinkedHashMap<>();
    list(gpus).forEach(g -> map.put(g.uuid(), g));
    return map;
  }

  private static String memory(GpuState gpu) {
    return gpu == null ? "–" : reading(gpu.memoryUsedMiB(), "MiB");
  }

  private static String power(GpuState gpu) {
    return gpu == null ? "" : reading(gpu.powerW(), "W");
  }

  private static String reading(Reading reading, String unit) {
    return reading == null || reading.value() == null
        ? "–"
        : Page.number(reading.value(), 0) + " " + unit;
  }

  private static String p50(Latency latency) {
    return latency == null ? "–" : Page.time(latency.p50());
  }

  private static String p99(Latency latency) {
    return latency == null ? "–" : Page.time(latency.p99());
  }

  private static long sum(Map<String, Long> counts) {
    return counts.values().stream().mapToLong(Long::longValue).sum();
  }

  private static <T> List<T> list(List<T> list) {
    return list == null ? List.of() : list;
  }
}
