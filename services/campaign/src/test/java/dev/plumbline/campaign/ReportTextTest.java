package dev.plumbline.campaign;

import static org.assertj.core.api.Assertions.assertThat;

import dev.plumbline.schemas.campaign.CampaignReport;
import dev.plumbline.schemas.host.GpuState;
import dev.plumbline.schemas.host.Reading;
import dev.plumbline.schemas.load.LoadReport;
import dev.plumbline.schemas.micro.MicroReport;
import dev.plumbline.schemas.trace.Component;
import dev.plumbline.schemas.trace.TraceFile;
import dev.plumbline.schemas.trace.TraceReport;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ReportTextTest {

  @Test
  void theWholeReportFitsThePageWithTheVerdictFirstAndLast() {
    String text = ReportText.render(report());
    assertThat(text.lines())
        .allMatch(l -> l.length() <= Page.WIDTH, "at most the width of the page");
    assertThat(text).startsWith("VERDICT  all_reduce: 51.5 % of the decode step");
    String verdict = text.substring(0, text.indexOf("         Campaign"));
    assertThat(text).endsWith("\n" + verdict);
    assertThat(text)
        .contains("Saturation point: concurrency 128 with 1,536 tok/s")
        .contains("server down for 23.0 s")
        .contains("predicted from micro")
        .contains("lab:/lab/rank0.json")
        .contains("plumbline.campaign.events.v1");
  }

  @Test
  void aReportOfNothingIsStillAReport() {
    CampaignReport nothing =
        new CampaignReport(
            "c1",
            "lab",
            null,
            Instant.EPOCH,
            Instant.EPOCH.plusSeconds(3),
            null,
            null,
            null,
            null,
            null,
            null,
            null,
            null,
            null,
            0,
            null,
            null);
    assertThat(ReportText.render(nothing)).contains("Inconclusive").contains("never down");
  }

  private static CampaignReport report() {
    LoadReport macro =
        new LoadReport(
            "http://lab:8000",
            "kimi",
            "chat",
            List.of(
                Reportings.level(1, 77.1, 12_960_000),
                Reportings.level(32, 1100, 29_000_000),
                Reportings.level(128, 1536, 83_000_000)),
            new LoadReport.Saturation(128, 1536),
            null);
    MicroReport micro =
        new MicroReport(
            Map.of(),
            List.of(
                Reportings.micro(
                    "all_reduce_7168", "all_reduce", Map.of(), 122, 50.0, true, List.of()),
                Reportings.micro("qkv", "gemm", Map.of("m", 1L), 61, 30.0, true, List.of()),
                Reportings.micro(
                    "moe_up", "moe", Map.of("m", 1L), 61, 40.0, false, List.of("clocks drifted"))),
            List.of(),
            List.of(),
            false);
    TraceReport bare =
        Reportings.decodeTrace(
            1,
            11_500_000,
            12_900_000,
            List.of(
                Reportings.component(Component.ALL_REDUCE, 6_643_500, 12_900_000),
                Reportings.component(Component.GEMM, 3_000_000, 12_900_000),
                Reportings.component(Component.MOE_GEMM, 1_856_500, 12_900_000)),
            Map.of("hostBound", 0.1085));
    TraceReport trace =
        new TraceReport(
            List.of(),
            new TraceReport.Collectives(976, 0, 0, List.of(), new TraceReport.Straggler(3, 0.71)),
            bare.stepSummary(),
            bare.bottleneck(),
            List.of(
                new TraceReport.WhatIf(
                    "all_reduce",
                    0.515,
                    List.of(new TraceReport.Speedup(2, 1.347), new TraceReport.Speedup(4, 1.629)),
                    2.06,
                    null)));
    return new CampaignReport(
        "demo-1",
        "lab",
        "kimi-k2.5-int4",
        Instant.EPOCH,
        Instant.EPOCH.plusSeconds(72),
        macro,
        gpus(96_900, 310),
        gpus(4, 60),
        gpus(96_900, 120),
        micro,
        trace,
        IntStream.range(0, 8)
            .mapToObj(i -> new TraceFile("lab", "/lab/rank" + i + ".json", i, 1L, null, "live"))
            .toList(),
        Reconciliations.of(1, macro, micro, trace),
        Verdicts.of(trace, Requests.full("c1", "a").plan()),
        23_000_000_000L,
        Map.of("events", "Kafka topic plumbline.campaign.events.v1"),
        List.of("The load came from one client."));
  }

  private static List<GpuState> gpus(double usedMiB, double watts) {
    return IntStream.range(0, 8)
        .mapToObj(
            i ->
                new GpuState(
                    "GPU-" + i,
                    i,
                    "NVIDIA RTX PRO 6000 Blackwell",
                    null,
                    null,
                    Reading.of(97_887),
                    Reading.of(usedMiB),
                    null,
                    null,
                    null,
                    null,
                    Reading.of(watts),
                    null,
                    null,
                    null))
        .toList();
  }
}
