package dev.plumbline.traceanalysis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import dev.plumbline.schemas.Json;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;

/** The page, the trace for Perfetto and the line of progress. */
class OutputsTest {

  private static TraceJson steps(int rank) {
    return new TraceJson()
        .metadata(
            "\"baseTimeNanoseconds\": 1700000000000000000,"
                + " \"distributedInfo\": {\"rank\": %d, \"world_size\": 2}".formatted(rank))
        .annotation("execute_context_0(0)_generation_4(4)", "0", "10", 5)
        .call("cudaGraphLaunch", "2", "1", 5, 11)
        .annotation("execute_context_0(0)_generation_4(4)", "20", "10", 5)
        .call("cudaGraphLaunch", "22", "1", 5, 12)
        .kernel("a_gemm<&>", "15", "4", 7, 11)
        .kernel("b_gemm", "18", "2", 7, 11)
        .kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", "19", "3", 9, 11)
        .kernel("rms_norm_kernel", "30", "4", 7, 12)
        .kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", "35", "5", 9, 12);
  }

  private static Analysed analysed() {
    return TraceAnalysis.analysed(
        List.of(steps(0).input("a.json"), steps(1).input("b.json")), AnalysisOptions.defaults());
  }

  private static JsonNode perfetto(Analysed analysed) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    PerfettoTrace.write(analysed, out);
    return Json.mapper().readTree(out.toByteArray()).get("traceEvents");
  }

  private static List<String> track(JsonNode events, int pid, String name) {
    int tid = -1;
    List<String> slices = new ArrayList<>();
    for (JsonNode event : events) {
      if (event.path("pid").asInt() == pid && event.at("/args/name").asText().equals(name)) {
        tid = event.get("tid").asInt();
      }
    }
    for (JsonNode event : events) {
      if (event.get("ph").asText().equals("X")
          && event.get("pid").asInt() == pid
          && event.get("tid").asInt() == tid) {
        slices.add(event.get("name").asText() + " " + event.get("ts") + " " + event.get("dur"));
      }
    }
    return slices;
  }

  @Test
  void perfettoGetsStepsIdleAndComponentsOfEachRank() throws IOException {
    JsonNode events = perfetto(analysed());

    // Times from the first device event, at 15 µs. The two GEMMs overlap and become one slice.
    for (int rank = 0; rank < 2; rank++) {
      assertThat(track(events, rank, "stream 0")).containsExactly("gemm 0.0 5.0", "norm 15.0 4.0");
      assertThat(track(events, rank, "stream 1"))
          .containsExactly("all_reduce 4.0 3.0", "all_reduce 20.0 5.0");
      assertThat(track(events, rank, "idle"))
          .containsExactly("idle:launch_latency 7.0 8.0", "idle:graph_internal 19.0 1.0");
      assertThat(track(events, rank, "steps"))
          .containsExactly(
              "execute_context_0(0)_generation_4(4) 0.0 15.0",
              "execute_context_0(0)_generation_4(4) 15.0 10.0");
    }
  }

  @Test
  void slicesOfOneTrackNeverOverlap() throws IOException {
    TraceJson trace =
        new TraceJson()
            .kernel("a_gemm", "0", "10", 7, 1)
            .kernel("rms_norm_kernel", "6", "8", 7, 2)
            .kernel("softmax_kernel", "7", "2", 7, 3);
    JsonNode events =
        perfetto(
            TraceAnalysis.analysed(List.of(trace.input("a.json")), AnalysisOptions.defaults()));
    assertThat(track(events, 0, "stream 0")).containsExactly("gemm 0.0 10.0", "norm 10.0 4.0");
  }

  @Test
  void theClockOffsetOfAnotherHostIsFoundSaidAndTakenOut() throws IOException {
    // Rank 1 counts 5 ms more, far beyond the length of a collective.
    TraceJson one = new TraceJson().metadata("\"distributedInfo\": {\"rank\": 1}");
    TraceJson zero = new TraceJson().metadata("\"distributedInfo\": {\"rank\": 0}");
    for (int k = 0; k < 5; k++) {
      zero.kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", "" + (100 + 50 * k), "9", 7, k + 1);
      one.kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", "" + (5106 + 50 * k), "3", 7, k + 1);
    }
    Analysed analysed =
        TraceAnalysis.analysed(
            List.of(zero.input("a.json"), one.input("b.json")), AnalysisOptions.defaults());
    // Both end at 109 µs of rank 0's clock; rank 1 came last, each time.
    assertThat(analysed.report().collectives().ranks())
        .extracting("clockOffsetNs")
        .containsExactly(null, 5_000_000L);
    assertThat(analysed.report().collectives().ranks())
        .extracting("lastCount")
        .containsExactly(0L, 5L);
    assertThat(track(perfetto(analysed), 1, "stream 0").getFirst()).isEqualTo("all_reduce 6.0 3.0");
    assertThat(TraceText.render(analysed.report())).contains("clock ahead µs").contains("5000.0");
  }

  @Test
  void thePageHoldsAllPlotsAndNeedsNothingElse() throws Exception {
    String page = TraceHtml.render(analysed(), null);

    assertThat(page)
        .contains("Share of exposed time by step")
        .contains("Step times")
        .contains("Timeline of step 0, a typical one")
        .contains("rank 0, stream 1")
        .contains("rank 1, stream 0")
        .contains("transfer and wait by rank")
        .contains("Idle time by cause")
        .contains("Top kernels of rank 0")
        .contains("a_gemm&lt;&amp;&gt;")
        .doesNotContain("<script", "http:", "https:", "src=", "url(");
    assertThat(page.indexOf("Integrity")).isLessThan(page.indexOf("<svg"));
    // Each drawing is well-formed XML.
    String rest = page;
    int drawings = 0;
    while (rest.contains("<svg")) {
      int end = rest.indexOf("</svg>") + 6;
      byte[] svg = rest.substring(rest.indexOf("<svg"), end).getBytes(StandardCharsets.UTF_8);
      DocumentBuilderFactory.newInstance()
          .newDocumentBuilder()
          .parse(new ByteArrayInputStream(svg));
      drawings++;
      rest = rest.substring(end);
    }
    assertThat(drawings).isEqualTo(6);
  }

  @Test
  void theStepOfTheTimelineCanBeChosen() {
    assertThat(TraceHtml.render(analysed(), 1)).contains("Timeline of step 1:");
    assertThatThrownBy(() -> TraceHtml.render(analysed(), 2))
        .hasMessage("There is no step 2: give one from 0 to 1.");
  }

  @Test
  void aTraceWithoutDeviceEventsStillMakesAPage() {
    Analysed nothing =
        TraceAnalysis.analysed(
            List.of(new TraceJson().call("cudaLaunchKernel", "1", "1", 5, 1).input("cpu.json")),
            AnalysisOptions.defaults());
    assertThat(TraceHtml.render(nothing, null)).contains("Integrity").contains("No verdict");
    assertThatThrownBy(() -> TraceHtml.render(nothing, 0))
        .hasMessage("There is no step to draw: no rank has device events.");
  }

  @Test
  void progressTellsBytesRateAndTimeLeft() throws IOException {
    byte[] bytes = new byte[4_000_000];
    ReadProgress progress =
        new ReadProgress(
            List.of(new TraceInput("t", null, () -> new ByteArrayInputStream(bytes))), 4_000_000);
    try (InputStream in = progress.inputs().getFirst().bytes().open()) {
      assertThat(in.readNBytes(1_000_000)).hasSize(1_000_000);
      assertThat(progress.line(Duration.ofSeconds(2)))
          .isEqualTo("1.0 of 4.0 MB, 0.5 MB/s, 6 s left");
      in.readAllBytes();
      assertThat(progress.line(Duration.ofSeconds(4))).isEqualTo("4.0 of 4.0 MB, 1.0 MB/s, read");
    }
    assertThat(new ReadProgress(List.of(), -1).line(Duration.ZERO)).isEqualTo("0.0 MB, 0.0 MB/s");
  }
}
