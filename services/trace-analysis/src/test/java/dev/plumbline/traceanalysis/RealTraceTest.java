package dev.plumbline.traceanalysis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import dev.plumbline.schemas.Json;
import dev.plumbline.schemas.trace.Component;
import dev.plumbline.schemas.trace.StepKind;
import dev.plumbline.schemas.trace.TraceReport;
import dev.plumbline.schemas.trace.TraceReport.ExposedTimes;
import dev.plumbline.schemas.trace.TraceReport.Rank;
import dev.plumbline.schemas.trace.TraceReport.RankWait;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Real traces against figures that the profiler itself and independent scripts gave. */
class RealTraceTest {

  private static final AnalysisOptions ALL = new AnalysisOptions(null, null, true);

  private static TraceReport analyse(Path... files) {
    return TraceAnalysis.analyse(List.of(files).stream().map(TraceInput::of).toList(), ALL);
  }

  private static JsonNode json(Path file) throws IOException {
    return Json.mapper().readTree(Files.readAllBytes(file));
  }

  @ParameterizedTest
  @ValueSource(strings = {"moe-decode-b1-cudagraph", "moe-decode-b32-compiled"})
  void kernelTotalsEqualTheProfilersOwn(String name) throws IOException {
    meets(
        SharedData.resource(name + ".pt.trace.json.gz"),
        json(SharedData.resource(name + ".truth.json")));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "llama-prefill-decode.pt.trace.json.gz",
        "moe-decode-b1-eager-stack-shapes.pt.trace.json.gz"
      })
  void largerTracesToo(String name) throws IOException {
    Path trace = SharedData.file("h200/" + name);
    meets(trace, json(Path.of(trace.toString().replace(".pt.trace.json.gz", ".truth.json"))));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 8})
  void aTraceRecordedWhileServingHasItsStepsAndBatch(int batch) throws IOException {
    Path trace = SharedData.file("h200/campaign/served-b" + batch + ".pt.trace.json.gz");
    JsonNode truth = json(SharedData.file("h200/campaign/served-b" + batch + ".json"));

    TraceReport report = meets(trace, truth);

    TraceReport.StepSummary.Kind decode = report.stepSummary().kinds().getFirst();
    assertThat(decode.kind()).isEqualTo(StepKind.DECODE);
    assertThat(decode.batch()).isEqualTo(batch);
    assertThat(decode.steps()).isEqualTo(truth.get("stepsWithDeviceEvents").asLong());
    assertThat(decode.windowNs().median()).isEqualTo(truth.get("medianWindowNs").asLong());
  }

  private static TraceReport meets(Path trace, JsonNode truth) {
    TraceReport report = analyse(trace);
    Rank rank = report.ranks().getFirst();
    assertThat(rank.deviceEvents()).isEqualTo(truth.get("deviceEvents").asLong());
    assertThat(rank.streams()).isEqualTo(truth.get("streams").asInt());
    assertThat(rank.spanNs()).isEqualTo(truth.get("spanNs").asLong());
    assertThat(rank.summedNs().compute()).isEqualTo(truth.at("/summedNs/compute").asLong());
    assertThat(rank.summedNs().communication()).isEqualTo(truth.at("/summedNs/comm").asLong());
    assertThat(rank.summedNs().memory()).isEqualTo(truth.at("/summedNs/memory").asLong());
    assertThat(rank.exposedNs()).isEqualTo(exposed(truth.get("exposedNs")));
    if (truth.has("profilerTotalsByKernelUs")) {
      assertThat(totals(rank)).isEqualTo(totals(truth.get("profilerTotalsByKernelUs")));
    }
    return report;
  }

  private static ExposedTimes exposed(JsonNode truth) {
    return new ExposedTimes(
        truth.get("compute").asLong(),
        truth.get("comm").asLong(),
        truth.get("memory").asLong(),
        truth.get("idle").asLong());
  }

  private record Total(long calls, long ns) {}

  private static Map<String, Total> totals(Rank rank) {
    Map<String, Total> totals = new TreeMap<>();
    rank.kernels().forEach(k -> totals.put(k.name(), new Total(k.events(), k.summedNs())));
    return totals;
  }

  private static Map<String, Total> totals(JsonNode truth) {
    Map<String, Total> totals = new TreeMap<>();
    truth
        .properties()
        .forEach(
            kernel -> {
              BigDecimal micros = new BigDecimal(kernel.getValue().get("total_us").asText());
              totals.put(
                  kernel.getKey(),
                  new Total(
                      kernel.getValue().get("calls").asLong(),
                      micros.movePointRight(3).longValueExact()));
            });
    return totals;
  }

  @ParameterizedTest
  @ValueSource(strings = {"eager", "graph"})
  void transferWaitAndStragglerOfTwoRanks(String kind) throws IOException {
    JsonNode truth = json(SharedData.resource("nccl-" + kind + ".truth.json"));

    TraceReport report =
        analyse(
            SharedData.resource("nccl-" + kind + "-rank1.pt.trace.json.gz"),
            SharedData.resource("nccl-" + kind + "-rank0.pt.trace.json.gz"));

    assertThat(report.collectives().matched()).isEqualTo(truth.get("collectives").asLong());
    assertThat(report.collectives().unmatched()).isZero();
    assertThat(report.collectives().transferNs()).isEqualTo(truth.get("transferNs").asLong());
    for (int r = 0; r < 2; r++) {
      assertThat(report.collectives().ranks().get(r))
          .isEqualTo(
              new RankWait(
                  r,
                  truth.get("waitNsByRank").get(r).asLong(),
                  truth.get("lastToArriveCounts").get(r).asLong()));
      assertThat(report.ranks().get(r).exposedNs()).isEqualTo(exposed(truth.get("exposed").get(r)));
      assertThat(report.ranks().get(r).steps()).hasSize(truth.get("steps").asInt());
    }
    assertThat(report.collectives().straggler()).isEqualTo(new TraceReport.Straggler(1, 1.0));
    assertThat(report.bottleneck().component()).isEqualTo("all_reduce");
  }

  /** Times that were worked out by hand from this file when the formats were studied, in ms. */
  @Test
  void componentsOfARealDecodeStepOfAMixtureOfExperts() {
    Rank rank =
        analyse(SharedData.file("traces/tracelens/vllm-decode-full-graph/graph_execution.json.gz"))
            .ranks()
            .getFirst();
    Map<Component, Double> expected =
        Map.of(
            Component.MOE_GEMM, 7.03,
            Component.GEMM, 1.23,
            Component.ATTENTION, 0.72,
            Component.NORM, 0.33,
            Component.MOE_ROUTING, 0.63,
            Component.KV_CACHE, 0.14,
            Component.ROPE, 0.15,
            Component.MEMCPY, 0.043);
    Map<Component, Double> found = new TreeMap<>();
    rank.components().forEach(c -> found.put(c.component(), c.exposedNs() / 1e6));
    expected.forEach(
        (component, ms) ->
            assertThat(found.get(component)).as(component.id()).isCloseTo(ms, within(0.01)));
  }

  /** Rows of public traces: another program computed them from the same definitions. */
  @Test
  void everyRowOfThePublicTraces() throws IOException {
    List<String> rows = Files.readAllLines(SharedData.file("traces/EXPECTED.tsv"));
    for (String row : rows.subList(1, rows.size())) {
      String[] cells = row.split("\t", -1);
      Rank rank = analyse(SharedData.file("traces/" + cells[0])).ranks().getFirst();
      assertThat(Long.toString(rank.deviceEvents())).as(cells[0]).isEqualTo(cells[1]);
      if (rank.deviceEvents() > 0) {
        assertThat(
                List.of(
                    Integer.toString(rank.streams()),
                    Long.toString(rank.spanNs()),
                    Long.toString(rank.summedNs().compute()),
                    Long.toString(rank.summedNs().communication()),
                    Long.toString(rank.summedNs().memory()),
                    Long.toString(rank.exposedNs().compute()),
                    Long.toString(rank.exposedNs().communication()),
                    Long.toString(rank.exposedNs().memory()),
                    Long.toString(rank.exposedNs().idle())))
            .as(cells[0])
            .isEqualTo(List.of(cells).subList(2, 11));
      }
      rank.steps()
          .forEach(
              step -> {
                assertThat(step.exposedNs().total()).isEqualTo(step.windowNs());
                assertThat(step.idleCausesNs().total()).isEqualTo(step.exposedNs().idle());
              });
    }
  }
}
