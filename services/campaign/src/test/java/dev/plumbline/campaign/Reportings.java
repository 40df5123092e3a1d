package dev.plumbline.campaign;

import dev.plumbline.schemas.Json;
import dev.plumbline.schemas.load.LoadReport;
import dev.plumbline.schemas.load.LoadReport.Latency;
import dev.plumbline.schemas.micro.MicroReport;
import dev.plumbline.schemas.trace.Component;
import dev.plumbline.schemas.trace.StepKind;
import dev.plumbline.schemas.trace.TraceReport;
import dev.plumbline.schemas.trace.TraceReport.Bottleneck;
import dev.plumbline.schemas.trace.TraceReport.ComponentTime;
import dev.plumbline.schemas.trace.TraceReport.Spread;
import dev.plumbline.schemas.trace.TraceReport.StepSummary.Kind;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/** Parts of reports for tests. */
final class Reportings {

  private Reportings() {}

  /** A trace of 36 decode steps: mostly gemm, a little sampling. */
  static TraceReport decodeTrace(long busyNs, long windowNs, int batch) {
    return decodeTrace(
        batch,
        busyNs,
        windowNs,
        List.of(
            component(Component.GEMM, busyNs - 50_000, windowNs),
            component(Component.SAMPLING, 50_000, windowNs)),
        Map.of("hostBound", (double) (windowNs - busyNs) / windowNs));
  }

  static TraceReport decodeTrace(
      int batch,
      long busyNs,
      long windowNs,
      List<ComponentTime> components,
      Map<String, Double> idle) {
    Kind decode =
        new Kind(
            StepKind.DECODE,
            36,
            batch,
            new Spread(windowNs, windowNs, windowNs, windowNs),
            new Spread(busyNs, busyNs, busyNs, busyNs),
            components,
            idle);
    return new TraceReport(
        List.of(),
        null,
        new TraceReport.StepSummary(List.of(decode)),
        new Bottleneck(null, null, 0, 0, "conclusive", List.of()),
        List.of());
  }

  static ComponentTime component(Component component, long exposedNs, long windowNs) {
    return new ComponentTime(
        component,
        component.deviceClass(),
        122,
        exposedNs,
        exposedNs,
        (double) exposedNs / windowNs);
  }

  static LoadReport load(List<LoadReport.Level> levels) {
    return new LoadReport("http://lab:8000", "kimi", "chat", levels, null, null);
  }

  /** Read from JSON, so that further optional fields of the record do not matter here. */
  static LoadReport.Level level(int concurrency, double throughput, long tpotNs) {
    String json =
        """
        {"concurrency": %d, "completed": 64, "failed": {}, "windowNs": 1000000000,
         "outputTokens": 100, "outputThroughput": %s, "requestThroughput": 1.0,
         "meanInFlight": 1.0}
        """
            .formatted(concurrency, throughput);
    LoadReport.Level bare =
        Json.read(json.getBytes(StandardCharsets.UTF_8), LoadReport.Level.class);
    Latency tpot =
        new Latency(64, (double) tpotNs, tpotNs, tpotNs, tpotNs, tpotNs, tpotNs, tpotNs, tpotNs);
    var node = Json.mapper().valueToTree(bare);
    ((com.fasterxml.jackson.databind.node.ObjectNode) node)
        .set("tpotNs", Json.mapper().valueToTree(tpot));
    return Json.mapper().convertValue(node, LoadReport.Level.class);
  }

  static MicroReport.Result micro(
      String name,
      String operation,
      Map<String, Long> shape,
      Integer count,
      Double medianUs,
      boolean valid,
      List<String> reasons) {
    return new MicroReport.Result(
        name, operation, shape, "bf16", null, count, null, 10, 3, medianUs, medianUs, medianUs,
        medianUs, null, null, null, null, valid, reasons);
  }
}
