package dev.plumbline.campaign;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import dev.plumbline.schemas.Json;
import dev.plumbline.schemas.campaign.Reconciliation;
import dev.plumbline.schemas.load.LoadReport;
import dev.plumbline.schemas.micro.MicroReport;
import dev.plumbline.schemas.micro.MicroReport.Result;
import dev.plumbline.schemas.trace.TraceReport;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Held against a campaign done by hand on one H200 (campaign.json). */
class ReconciliationsTest {

  /** Median busy time and window of the 36 decode steps of that campaign's trace at batch 1. */
  private static final TraceReport TRACE = Reportings.decodeTrace(2_239_949, 3_311_420, 1);

  @Test
  void theRealCampaignAtBatchOne() throws IOException {
    JsonNode campaign = campaign();
    Reconciliation r = Reconciliations.of(1, macro(campaign), micro(campaign, 1, true), TRACE);

    // 8 × (12.766 + 5.042 + 5.462 + 29.971 + 124.883 + 22.786) + 17 × 6.360 + 78.610 = 1794.0 µs
    assertThat(r.predictedNs() / 1e6).isCloseTo(1.794, within(0.001));
    assertThat(r.tracedBusyNs()).isEqualTo(2_239_949);
    assertThat(r.macroStepNs()).isEqualTo(2_562_977);
    assertThat(r.explainedFraction()).isCloseTo(0.80, within(0.005));
    assertThat(r.profilingOverhead()).isCloseTo(1.29, within(0.005));
    // 2,562,977 − 2,239,949
    assertThat(r.idleInServiceNs()).isEqualTo(323_028);
    assertThat(r.predictedNs() + r.unexplainedNs()).isEqualTo(r.tracedBusyNs());
    assertThat(r.tracedBusyNs() + r.idleInServiceNs()).isEqualTo(r.macroStepNs());
    // 2.240 − 1.794 = 0.446 of 2.240: 19.9 %, just below the limit of 20 %.
    assertThat(r.findings()).isEmpty();
  }

  @Test
  void anOperationLeftOutIsNamedAndWhatItLeavesIsAFinding() throws IOException {
    List<Result> some = new ArrayList<>(micro(campaign(), 1, true).results());
    some.removeIf(r -> r.name().equals("lm_head"));
    some.add(result("broken", 8, 100.0, Map.of(), false, "gemm"));
    some.add(result("other-batch", 8, 100.0, Map.of("m", 8L), true, "gemm"));
    Reconciliation r =
        Reconciliations.of(
            1,
            macro(campaign()),
            new MicroReport(Map.of(), some, List.of(), List.of(), false),
            TRACE);

    assertThat(r.findings())
        .anyMatch(f -> f.startsWith("23 %"))
        .anyMatch(f -> f.startsWith("broken is left out: clocks drifted"))
        .anyMatch(f -> f.startsWith("other-batch is left out: it was measured at batch 8"));
    assertThat(r.missing()).contains("sampling").doesNotContain("gemm");
  }

  @Test
  void aMissingLevelIsAsked() throws IOException {
    Reconciliation r = Reconciliations.of(3, macro(campaign()), micro(campaign(), 1, false), TRACE);
    assertThat(r.macroStepNs()).isNull();
    assertThat(r.idleInServiceNs()).isNull();
    assertThat(r.findings()).anyMatch(f -> f.contains("concurrency 3"));
  }

  @Test
  void onePartAloneIsHeldAgainstNothing() throws IOException {
    assertThat(Reconciliations.of(1, macro(campaign()), null, null)).isNull();
  }

  private static JsonNode campaign() throws IOException {
    try (InputStream in = ReconciliationsTest.class.getResourceAsStream("/h200/campaign.json")) {
      return Json.mapper().readTree(in);
    }
  }

  private static LoadReport macro(JsonNode campaign) {
    List<LoadReport.Level> levels = new ArrayList<>();
    for (JsonNode level : campaign.get("levels")) {
      levels.add(
          Reportings.level(
              level.get("concurrency").asInt(),
              level.get("tok_per_s").asDouble(),
              Math.round(level.get("tpot_ms_p50").asDouble() * 1e6)));
    }
    return Reportings.load(levels);
  }

  private static MicroReport micro(JsonNode campaign, int batch, boolean withShape) {
    List<Result> results = new ArrayList<>();
    for (JsonNode op : campaign.get("micro_us")) {
      if (op.get("batch").asInt() == batch) {
        results.add(
            result(
                op.get("op").asText(),
                op.get("per_step").asInt(),
                op.get("us").get("median").asDouble(),
                withShape ? Map.of("m", (long) batch) : Map.of(),
                true,
                "gemm"));
      }
    }
    return new MicroReport(Map.of(), results, List.of(), List.of(), false);
  }

  private static Result result(
      String name,
      int count,
      double medianUs,
      Map<String, Long> shape,
      boolean valid,
      String operation) {
    return Reportings.micro(
        name,
        operation,
        shape,
        count,
        medianUs,
        valid,
        valid ? List.of() : List.of("clocks drifted"));
  }
}
