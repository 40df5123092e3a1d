package dev.plumbline.campaign;

import dev.plumbline.schemas.campaign.CampaignReport;
import dev.plumbline.schemas.host.GpuState;
import dev.plumbline.schemas.host.Reading;
import dev.plumbline.schemas.load.LoadReport;
import dev.plumbline.schemas.load.LoadReport.Latency;
import dev.plumbline.schemas.load.LoadReport.Level;
import dev.plumbline.schemas.micro.MicroReport;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The tables of what was measured: load, GPUs, operations. */
record MeasurementText(Page page, CampaignReport report) {

  void write() {
    macro();
    gpus();
    micro();
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
                  : r.valid()
                      ? ""
                      : "not valid: " + String.join("; ", ReportText.list(r.reasons()))));
    }
    page.table(
        List.of("operation", "kind", "per step", "median", "p95", "rate", " "),
        List.of("operation", "kind", " "),
        rows.stream().map(MeasurementText::cut).toList());
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

  private static Map<String, GpuState> byUuid(List<GpuState> gpus) {
    Map<String, GpuState> map = new LinkedHashMap<>();
    ReportText.list(gpus).forEach(g -> map.put(g.uuid(), g));
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
}
