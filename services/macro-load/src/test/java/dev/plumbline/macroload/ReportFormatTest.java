package dev.plumbline.macroload;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.plumbline.schemas.Json;
import dev.plumbline.schemas.load.LoadReport;
import dev.plumbline.schemas.load.LoadReport.Latency;
import dev.plumbline.schemas.load.LoadReport.Level;
import dev.plumbline.schemas.load.LoadReport.Saturation;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ReportFormatTest {

  private static final Latency NONE =
      new Latency(0, null, null, null, null, null, null, null, null);

  private static Latency all(long ms) {
    long ns = ms * 1_000_000;
    return new Latency(8, (double) ns, ns, ns, ns, ns, ns, ns, ns);
  }

  private static final LoadReport REPORT =
      new LoadReport(
          "http://gpu-1:8000",
          "org/m,\"7b\" <x>",
          "chat",
          List.of(
              new Level(
                  8,
                  null,
                  8,
                  Map.of("http_429", 2L),
                  2_000_000_000L,
                  160,
                  80,
                  4,
                  7.5,
                  all(200),
                  all(10),
                  all(40),
                  all(11),
                  all(390),
                  false,
                  true,
                  true,
                  false,
                  Map.of(),
                  10L,
                  all(210),
                  800L,
                  null,
                  null,
                  Map.of("http_429", "HTTP 429: busy")),
              new Level(
                  null, 5.0, 0, Map.of(), 0, 0, 0, 0, 0, NONE, NONE, NONE, NONE, NONE, false, false,
                  false, true, Map.of())),
          new Saturation(8, 80),
          null);

  @ParameterizedTest
  @EnumSource(ReportFormat.class)
  void everyFormatSurvivesALevelWithoutSamples(ReportFormat format) {
    assertThat(format.write(REPORT)).endsWith("\n").doesNotContain("NaN", "Infinity");
    assertThat(ReportFormat.named(format.id())).contains(format);
  }

  @Test
  void jsonIsTheReport() {
    byte[] json = ReportFormat.JSON.write(REPORT).getBytes(java.nio.charset.StandardCharsets.UTF_8);
    assertThat(Json.read(json, LoadReport.class)).isEqualTo(REPORT);
  }

  @Test
  void textSaysWhatMustBeKnown() {
    assertThat(ReportFormat.TEXT.write(REPORT))
        .contains("8 users", "80.0", "200.00", "client-bound itl-from-chunks")
        .contains("8 users: 2 × http_429 (HTTP 429: busy)")
        .contains("Saturation: 8 users with 80.0 tokens/s, the largest level")
        .contains("5.0/s", "partial");
  }

  @Test
  void csvHasOneLinePerLevelOfEqualWidth() {
    List<String> lines = ReportFormat.CSV.write(REPORT).lines().toList();
    assertThat(lines).hasSize(3);
    // 14 columns and 5 metrics of 9 statistics.
    assertThat(lines.get(0).split(",", -1)).hasSize(14 + 45).contains("ttft_p99_ms", "e2e_count");
    assertThat(lines.get(1))
        .startsWith("\"org/m,\"\"7b\"\" <x>\",8,,8,2,2.0,160,80.0,4.0,7.5,true,");
    assertThat(lines.get(2).split(",", -1)).hasSize(14 + 45 + 1);
  }

  @Test
  void vllmKeysHaveItsMeaning() throws Exception {
    List<String> lines = ReportFormat.VLLM.write(REPORT).lines().toList();
    JsonNode closed = Json.mapper().readTree(lines.get(0));
    assertThat(closed.get("request_rate").asText()).isEqualTo("inf");
    assertThat(closed.get("max_concurrency").asInt()).isEqualTo(8);
    assertThat(closed.get("num_prompts").asInt()).isEqualTo(10);
    assertThat(closed.get("duration").asDouble()).isEqualTo(2);
    assertThat(closed.get("mean_itl_ms").asDouble()).as("its ITL is the chunk gap").isEqualTo(40);
    assertThat(closed.get("p99_ttft_ms").asDouble()).isEqualTo(200);
    assertThat(closed.get("median_e2el_ms").asDouble()).isEqualTo(390);
    // 4 requests/s of 800/8 prompt tokens each, and 80 output tokens/s.
    assertThat(closed.get("total_token_throughput").asDouble()).isEqualTo(480);
    JsonNode open = Json.mapper().readTree(lines.get(1));
    assertThat(open.get("request_rate").asDouble()).isEqualTo(5);
    assertThat(open.get("mean_ttft_ms").asDouble()).isZero();
  }

  @Test
  void htmlEscapesWhatTheServerSays() {
    assertThat(ReportFormat.HTML.write(REPORT))
        .contains("org/m,&quot;7b&quot; &lt;x&gt;")
        .doesNotContain("<x>", "http-equiv", "<script");
  }
}
