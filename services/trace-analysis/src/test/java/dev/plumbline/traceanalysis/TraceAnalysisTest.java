package dev.plumbline.traceanalysis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import dev.plumbline.schemas.attribution.StepSample;
import dev.plumbline.schemas.trace.Component;
import dev.plumbline.schemas.trace.StepKind;
import dev.plumbline.schemas.trace.TraceReport;
import dev.plumbline.schemas.trace.TraceReport.ExposedTimes;
import dev.plumbline.schemas.trace.TraceReport.IdleCauses;
import dev.plumbline.schemas.trace.TraceReport.Rank;
import dev.plumbline.schemas.trace.TraceReport.RankWait;
import dev.plumbline.schemas.trace.TraceReport.StepTime;
import java.time.Instant;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Small traces whose figures are worked out by hand. */
class TraceAnalysisTest {

  private static final AnalysisOptions DEFAULTS = AnalysisOptions.defaults();

  private static TraceReport analyse(TraceInput... inputs) {
    return TraceAnalysis.analyse(List.of(inputs), DEFAULTS);
  }

  private static Rank rank(TraceJson trace) {
    return analyse(trace.input("test.json")).ranks().getFirst();
  }

  /**
   * Two decode steps as vLLM records them, each one graph launch that runs after its annotation.
   */
  private static TraceJson twoGraphSteps() {
    return new TraceJson()
        .annotation("execute_context_0(0)_generation_4(4)", "0", "10", 5)
        .call("cudaGraphLaunch", "2", "1", 5, 11)
        .annotation("execute_context_0(0)_generation_4(4)", "20", "10", 5)
        .call("cudaGraphLaunch", "22", "1", 5, 12)
        .kernel("some_gemm_kernel", "15", "4", 7, 11)
        .kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", "19", "3", 7, 11)
        .kernel("some_gemm_kernel", "30", "4", 7, 12)
        .kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", "35", "5", 7, 12);
  }

  @Test
  void kernelsOfAGraphBelongToTheStepThatLaunchedIt() {
    Rank rank = rank(twoGraphSteps());

    assertThat(rank.integrity().stepsFoundBy()).isEqualTo("vllm");
    assertThat(rank.steps()).hasSize(2);
    StepTime first = rank.steps().get(0);
    assertThat(first.kind()).isEqualTo(StepKind.DECODE);
    assertThat(first.batch()).isEqualTo(4);
    assertThat(first.startNs()).isZero();
    assertThat(first.windowNs()).isEqualTo(15_000);
    assertThat(first.exposedNs()).isEqualTo(new ExposedTimes(4_000, 3_000, 0, 8_000));
    StepTime second = rank.steps().get(1);
    assertThat(second.windowNs()).isEqualTo(10_000);
    assertThat(second.exposedNs()).isEqualTo(new ExposedTimes(4_000, 5_000, 0, 1_000));
    // The gap before step 2 (22 to 30) was launched at 22, so it is latency; the one inside is the
    // graph's own.
    assertThat(first.idleCausesNs()).isEqualTo(new IdleCauses(0, 0, 8_000, 0, 0));
    assertThat(second.idleCausesNs()).isEqualTo(new IdleCauses(0, 0, 0, 1_000, 0));
    assertThat(rank.integrity().graphLaunches()).isEqualTo(2);
    assertThat(rank.integrity().unlinkedShare()).isZero();
  }

  @Test
  void summaryBottleneckAndGainsComeFromExposedTime() {
    TraceReport report = analyse(twoGraphSteps().input("test.json"));

    TraceReport.StepSummary.Kind decode = report.stepSummary().kinds().getFirst();
    assertThat(decode.steps()).isEqualTo(2);
    assertThat(decode.batch()).isEqualTo(4);
    assertThat(decode.windowNs().median()).isEqualTo(15_000);
    // Of 25 µs: GEMM 8, all-reduce 8, launch latency 8, inside the graph 1.
    assertThat(report.bottleneck().share()).isEqualTo(8.0 / 25);
    assertThat(report.bottleneck().margin()).isZero();
    assertThat(report.bottleneck().verdict()).isEqualTo("inconclusive");
    assertThat(report.bottleneck().reasons()).hasSize(1);
    TraceReport.WhatIf gain = report.whatIf().getFirst();
    assertThat(gain.speedups().get(2).factor()).isEqualTo(2);
    assertThat(gain.speedups().get(2).stepSpeedup()).isCloseTo(25.0 / 21, within(1e-12));
    assertThat(gain.upperBound()).isCloseTo(25.0 / 17, within(1e-12));
  }

  @Test
  void theKindOfStepThatTakesMostOfTheTimeIsJudged() {
    TraceReport report =
        analyse(
            new TraceJson()
                .annotation("execute_context_1(64)_generation_0(0)", "0", "10", 5)
                .call("cudaLaunchKernel", "1", "1", 5, 1)
                .kernel("flash_fwd_kernel", "20", "30", 7, 1)
                .annotation("execute_context_0(0)_generation_1(1)", "60", "10", 5)
                .call("cudaGraphLaunch", "61", "1", 5, 2)
                .kernel("a_gemm", "70", "60", 7, 2)
                .kernel("rms_norm_kernel", "130", "40", 7, 2)
                .input("t"));
    // Prefill has 30 of its 50 µs in attention, decode 60 of 100 in GEMM.
    assertThat(report.bottleneck().component()).isEqualTo("gemm");
    assertThat(report.bottleneck().share()).isEqualTo(0.6);
    assertThat(report.stepSummary().kinds()).hasSize(2);
  }

  @Test
  void idleCauses() {
    Rank rank =
        rank(
            new TraceJson()
                // launched at once
                .call("cudaLaunchKernel", "0", "1", 5, 1)
                .kernel("k", "10", "5", 7, 1)
                // 15 to 20: launched at 3, before the gap began
                .call("cudaLaunchKernel", "3", "1", 5, 2)
                .kernel("k", "20", "5", 7, 2)
                // 25 to 40: launched at 38; nobody waited at 25
                .call("cudaLaunchKernel", "38", "1", 5, 3)
                .kernel("k", "40", "5", 7, 3)
                // 45 to 60: the launching thread waited from 41 to 46
                .call("cudaStreamSynchronize", "41", "5", 5, 90)
                .call("cudaLaunchKernel", "58", "1", 5, 4)
                .kernel("k", "60", "5", 7, 4)
                // 65 to 70: another thread waited, so it is the host
                .call("cudaDeviceSynchronize", "61", "5", 6, 91)
                .call("cudaLaunchKernel", "67", "1", 5, 5)
                .kernel("k", "70", "5", 7, 5)
                // 75 to 77: no launch record
                .kernel("k", "77", "1", 7, 99));
    assertThat(rank.idleCausesNs())
        .isEqualTo(new IdleCauses(15_000 + 5_000, 15_000, 5_000, 0, 2_000));
    assertThat(rank.idleCausesNs().total()).isEqualTo(rank.exposedNs().idle());
    assertThat(rank.integrity().unlinkedShare()).isCloseTo(1.0 / 26, within(1e-12));
  }

  @Test
  void aCopyThatReturnedOnlyAfterItEndedBlocks() {
    Rank rank =
        rank(
            new TraceJson()
                .call("cudaMemcpyAsync", "0", "12", 5, 1)
                .raw(
                    "{\"ph\": \"X\", \"cat\": \"gpu_memcpy\", \"name\": \"Memcpy DtoH\", \"ts\": 2,"
                        + " \"dur\": 9, \"args\": {\"stream\": 7, \"correlation\": 1}}")
                .call("cudaLaunchKernel", "15", "1", 5, 2)
                .kernel("k", "20", "5", 7, 2));
    assertThat(rank.idleCausesNs()).isEqualTo(new IdleCauses(0, 9_000, 0, 0, 0));
    assertThat(rank.exposedNs()).isEqualTo(new ExposedTimes(5_000, 0, 9_000, 9_000));
  }

  @Test
  void anEventWithoutLaunchCountsInTheRankAndInNoStep() {
    Rank rank =
        rank(
            new TraceJson()
                .annotation("ProfilerStep#3", "0", "50", 5)
                .call("cudaLaunchKernel", "1", "1", 5, 1)
                .kernel("a_gemm", "10", "5", 7, 1)
                .kernel("b_gemm", "2", "4", 7, 77)
                .call("cudaLaunchKernel", "3", "1", 6, 2)
                .kernel("c_gemm", "20", "5", 7, 2));
    assertThat(rank.deviceEvents()).isEqualTo(3);
    assertThat(rank.steps()).hasSize(1);
    assertThat(rank.steps().getFirst().windowNs()).isEqualTo(5_000);
    assertThat(rank.steps().getFirst().components().getFirst().events()).isEqualTo(1);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      nullValues = "-",
      value = {
        "ProfilerStep#12 | UNKNOWN | -",
        "execute_context_2(640)_generation_0(0) | PREFILL | 2",
        "execute_context_0(0)_generation_8(8) | DECODE | 8",
        "execute_context_1(5)_generation_7(7) | MIXED | 8",
        "execute_model context_1(5)_generation_7(7) | MIXED | 8",
        "execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk53) | DECODE | 32",
        "gpu_model_runner: forward | UNKNOWN | -",
        "step[DECODE bs=32] | DECODE | 32",
        "step[EXTEND bs=2 toks=900] | PREFILL | 2",
        "step[MIXED bs=3] | MIXED | 3",
        "decode[bs=117/128 d=1] | DECODE | 117",
        "prefill[bs=2 tok=99] | PREFILL | 2",
      })
  void stepNamesTellKindAndBatch(String name, StepKind kind, Integer batch) {
    StepName step = StepName.parse(name, null).orElseThrow();
    assertThat(step.kind()).isEqualTo(kind);
    assertThat(step.batch()).isEqualTo(batch);
  }

  @Test
  void otherAnnotationsAreNoSteps() {
    assertThat(StepName.parse("nccl:all_reduce", null)).isEmpty();
    assertThat(StepName.parse("## Call CompiledFxGraph x ##", null)).isEmpty();
    assertThat(StepName.parse("my_step 4", Pattern.compile("^my_step"))).isPresent();
  }

  @Test
  void theUsersPatternComesFirstAndAProfilerStepLearnsItsKindFromInside() {
    TraceJson trace =
        new TraceJson()
            .annotation("ProfilerStep#3", "0", "50", 5)
            .annotation("execute_context_0(0)_generation_2(2)", "1", "40", 5)
            .annotation("mine", "2", "30", 5)
            .call("cudaLaunchKernel", "3", "1", 5, 1)
            .kernel("a_gemm", "10", "5", 7, 1);
    StepTime step = rank(trace).steps().getFirst();
    assertThat(step.name()).isEqualTo("ProfilerStep#3");
    assertThat(step.kind()).isEqualTo(StepKind.DECODE);
    assertThat(step.batch()).isEqualTo(2);
    AnalysisOptions mine = new AnalysisOptions(null, Pattern.compile("^mine$"), false);
    Rank rank = TraceAnalysis.analyse(List.of(trace.input("t")), mine).ranks().getFirst();
    assertThat(rank.integrity().stepsFoundBy()).isEqualTo("user");
    assertThat(rank.steps().getFirst().name()).isEqualTo("mine");
  }

  private static String collective(String name, String ts, String dur, String args) {
    return """
        {"ph": "X", "cat": "kernel", "name": "%s", "pid": 0, "tid": 7, "ts": %s, "dur": %s,
         "args": {"device": 0, "stream": 7, "correlation": 0, %s}}"""
        .formatted(name, ts, dur, args);
  }

  private static TraceJson rankOf(int rank) {
    return new TraceJson()
        .metadata("\"distributedInfo\": {\"rank\": %d, \"world_size\": 2}".formatted(rank));
  }

  @Test
  void collectivesMatchBySequenceNumberWhateverTheirOrder() {
    String group = "\"Collective name\": \"allreduce\", \"Process Group Name\": \"0\", \"Seq\": ";
    TraceJson zero =
        rankOf(0)
            .raw(collective("ncclDevKernel_Generic", "10", "9", group + 1))
            .raw(collective("ncclDevKernel_Generic", "30", "5", group + 2))
            .raw(collective("ncclDevKernel_Generic", "50", "5", group + 3));
    TraceJson one =
        rankOf(1)
            .raw(collective("ncclDevKernel_Generic", "16", "3", group + 1))
            .raw(collective("ncclDevKernel_Generic", "28", "7", group + 2));

    TraceReport report = analyse(zero.input("a"), one.input("b"));

    assertThat(report.collectives().matched()).isEqualTo(2);
    assertThat(report.collectives().unmatched()).isEqualTo(1);
    assertThat(report.collectives().transferNs()).isEqualTo(3_000 + 5_000);
    assertThat(report.collectives().ranks())
        .containsExactly(new RankWait(0, 6_000, 1), new RankWait(1, 2_000, 1));
    assertThat(report.collectives().straggler()).isNull();
    assertThat(report.ranks().getFirst().components().getFirst().component())
        .isEqualTo(Component.ALL_REDUCE);
  }

  @Test
  void withoutArgumentsTheOrderWithinTheStepCounts() {
    TraceReport report =
        analyse(customAllReduces(0, 100, 2).input("a"), customAllReduces(1, 104, 2).input("b"));
    assertThat(report.collectives().matched()).isEqualTo(2);
    assertThat(report.collectives().transferNs()).isEqualTo(2 * 6_000);
    assertThat(report.collectives().ranks())
        .containsExactly(new RankWait(0, 8_000, 0), new RankWait(1, 0, 2));

    TraceReport unequal =
        analyse(customAllReduces(0, 100, 2).input("a"), customAllReduces(1, 104, 3).input("b"));
    assertThat(unequal.collectives().matched()).isZero();
    assertThat(unequal.collectives().unmatched()).isEqualTo(5);
  }

  /** All-reduces that end at 110, 130, …; the first begins at a given time, the others alike. */
  private static TraceJson customAllReduces(int rank, int begin, int count) {
    TraceJson trace =
        rankOf(rank)
            .annotation("step[DECODE bs=1]", "0", "500", 5)
            .call("cudaGraphLaunch", "1", "1", 5, 9);
    for (int i = 0; i < count; i++) {
      trace.kernel(
          "void vllm::cross_device_reduce_1stage<__half, 2>",
          Integer.toString(begin + 20 * i),
          Integer.toString(110 - begin),
          7,
          9);
    }
    return trace;
  }

  @Test
  void clocksOfDifferentHostsAreAlignedOnTheEnds() {
    // Rank 1's clock is a second ahead; it arrives 4 µs late at each of 20 collectives.
    TraceJson ahead = customAllReduces(1, 104, 20);
    String base = ", \"baseTimeNanoseconds\": 1000000000";
    TraceReport report =
        analyse(
            customAllReduces(0, 100, 20).input("a"),
            ahead.metadata("\"distributedInfo\": {\"rank\": 1}" + base).input("b"));
    assertThat(report.collectives().matched()).isEqualTo(20);
    assertThat(report.collectives().straggler()).isEqualTo(new TraceReport.Straggler(1, 1.0));
  }

  @Test
  void theRankIsToldByMetadataThenFileNameThenCaller() {
    TraceJson plain = new TraceJson().kernel("k", "1", "1", 7, 1);
    assertThat(analyse(rankOf(3).kernel("k", "1", "1", 7, 1).input("rank5.json")).ranks())
        .first()
        .satisfies(
            r -> {
              assertThat(r.rank()).isEqualTo(3);
              assertThat(r.integrity().rankFrom()).isEqualTo("metadata");
            });
    for (String name :
        List.of(
            "/x/rank12.1694.pt.trace.json.gz",
            "dp0_pp0_tp4_dcp0_ep0_rank12.1.pt.trace.json.gz",
            "1700-TP-12-DECODE.trace.json.gz",
            "worker12_step_3.json")) {
      assertThat(analyse(plain.input(name)).ranks().getFirst().rank()).as(name).isEqualTo(12);
    }
    TraceInput unnamed = plain.input("x.json");
    assertThat(analyse(new TraceInput("x.json", 4, unnamed.bytes())).ranks().getFirst().rank())
        .isEqualTo(4);
    assertThat(analyse(unnamed).ranks().getFirst().rank()).isNull();
    TraceReport twice =
        analyse(
            rankOf(1).kernel("k", "1", "1", 7, 1).input("a"),
            rankOf(1).kernel("k", "1", "1", 7, 1).input("b"));
    assertThat(twice.ranks()).hasSize(2);
    assertThat(twice.ranks().getFirst().integrity().warnings())
        .contains("Several files say that they are rank 1.");
  }

  @Test
  void filesOfSeveralRunsHaveNoVerdictInCommon() {
    UnaryOperator<TraceJson> step =
        trace ->
            trace
                .annotation("ProfilerStep#1", "0", "100", 5)
                .call("cudaLaunchKernel", "1", "1", 5, 1)
                .kernel("a_gemm", "10", "80", 7, 1);
    TraceReport doubled =
        analyse(step.apply(rankOf(1)).input("a"), step.apply(rankOf(1)).input("b"));
    assertThat(doubled.bottleneck().verdict()).isEqualTo("inconclusive");
    assertThat(doubled.bottleneck().reasons())
        .singleElement(STRING)
        .contains("rank 1")
        .contains("several runs");
    TraceReport nameless =
        analyse(
            step.apply(new TraceJson()).input("x.json"),
            step.apply(new TraceJson()).input("y.json"));
    assertThat(nameless.bottleneck().reasons()).singleElement(STRING).contains("2 files");
    TraceReport ranks = analyse(step.apply(rankOf(0)).input("a"), step.apply(rankOf(1)).input("b"));
    assertThat(ranks.bottleneck().verdict()).isEqualTo("conclusive");
  }

  @Test
  void missingDeviceEventsAreNeverIdleTime() {
    TraceJson empty = new TraceJson().call("cudaLaunchKernel", "1", "1", 5, 1);
    assertThat(rank(empty).integrity().status()).isEqualTo("incomplete");
    assertThat(rank(empty).exposedNs().total()).isZero();

    TraceJson graphs = new TraceJson().kernel("a_gemm", "1", "2", 7, 1);
    for (int i = 1; i <= 10; i++) {
      graphs.call("cudaGraphLaunch", Integer.toString(10 * i), "1", 5, i);
    }
    TraceReport report = analyse(graphs.input("g"));
    assertThat(report.ranks().getFirst().integrity().status()).isEqualTo("incomplete");
    assertThat(report.ranks().getFirst().integrity().graphLaunchesWithoutKernels()).isEqualTo(9);
    assertThat(report.bottleneck().verdict()).isEqualTo("inconclusive");

    TraceJson hostOnly = new TraceJson().annotation("ProfilerStep#1", "0", "5", 5);
    TraceReport none = analyse(hostOnly.input("host.async_llm.1.pt.trace.json"));
    assertThat(none.ranks().getFirst().integrity().status()).isEqualTo("no-device-events");
    assertThat(none.bottleneck().component()).isNull();
    assertThat(none.whatIf()).isEmpty();
  }

  @Test
  void aHostBoundStepGainsNothingFromAFasterKernel() {
    TraceJson trace = new TraceJson();
    for (int i = 0; i < 4; i++) {
      trace.annotation("ProfilerStep#" + i, Integer.toString(i * 100), "90", 5);
      trace.call("cudaLaunchKernel", Integer.toString(i * 100 + 5), "1", 5, i + 1);
      trace.kernel("a_gemm", Integer.toString(i * 100 + 8), "20", 7, i + 1);
    }
    TraceReport report = analyse(trace.input("h"));
    assertThat(report.bottleneck().component()).isEqualTo("idle:host_bound");
    assertThat(report.bottleneck().verdict()).isEqualTo("conclusive");
    assertThat(report.whatIf())
        .filteredOn(gain -> gain.component().equals("gemm"))
        .first()
        .satisfies(gain -> assertThat(gain.note()).contains("gains nothing"));

    TraceReport slowed = analyse(trace.metadata("\"with_stack\": 1").input("h"));
    assertThat(slowed.bottleneck().verdict()).isEqualTo("inconclusive");
    assertThat(slowed.bottleneck().reasons())
        .containsExactly("the profiler recorded Python stacks, which slows the host");
  }

  @Test
  void speculativeDecodingGainsAcceptedTokensOverItsCost() {
    assertThat(Gains.speculative(2.4, 1.2)).isEqualTo(2.0);
    assertThat(Gains.stepSpeedup(0.5, 2)).isEqualTo(1 / 0.75);
  }

  @Test
  void samplesAreOnePerRankAndStepAndNamedForGood() {
    TraceReport report = analyse(twoGraphSteps().input("rank2.json"));
    Instant base = Instant.parse("2026-01-02T03:04:05Z");

    List<StepSample> samples = StepSamples.from(report, "c1", "lab-1", "m", 2, base);

    assertThat(samples).hasSize(2);
    StepSample second = samples.get(1);
    assertThat(second.id()).isEqualTo("c1/analyse/2/2/1");
    assertThat(second.key()).isEqualTo("lab-1/m");
    assertThat(second.fingerprint().id()).isEqualTo("decode-b4-tp1");
    assertThat(second.at()).isEqualTo(base.plusNanos(15_000));
    assertThat(second.componentsNs())
        .containsOnly(
            java.util.Map.entry(Component.GEMM, 4_000L),
            java.util.Map.entry(Component.ALL_REDUCE, 5_000L));
    assertThat(second.exposedNs().total()).isEqualTo(second.windowNs());
  }

  @Test
  void textAndHtmlSayTheVerdictFirstAndEscapeNames() {
    TraceReport report =
        analyse(twoGraphSteps().kernel("odd<script>&", "41", "1", 7, 12).input("rank0.json"));
    String text = TraceText.render(report);
    assertThat(text).startsWith("all_reduce takes 29.6 % of the decode step time");
    assertThat(text)
        .contains("decode steps: 2, batch 4", "all_reduce", "Integrity", "odd<script>&");
    String html = TraceHtml.render(report);
    assertThat(html).startsWith("<!doctype html>").contains("odd&lt;script&gt;&amp;");
    assertThat(html).doesNotContain("<script>").doesNotContain("http");
  }

  @Test
  void nothingToAnalyseIsSaid() {
    assertThatThrownBy(() -> TraceAnalysis.analyse(List.of(), DEFAULTS))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("no trace to analyse");
    assertThatThrownBy(
            () -> analyse(twoGraphSteps().input("good"), TraceJson.input("bad.json", "{}")))
        .isInstanceOf(UnreadableTrace.class)
        .hasMessageContaining("bad.json");
  }

  @Test
  void ranksMergedIntoOneFileAreRefusedNotSummed() {
    TraceJson merged = new TraceJson();
    for (int rank = 0; rank < 2; rank++) {
      merged.raw(
          """
          {"ph": "X", "cat": "kernel", "name": "k", "pid": "[TP0%d] 0", "tid": "[TP0%d] 7",
           "ts": 1, "dur": 2, "args": {"correlation": 1}}"""
              .formatted(rank, rank));
    }
    assertThatThrownBy(() -> analyse(merged.input("merged.json")))
        .isInstanceOf(UnreadableTrace.class)
        .hasMessageContaining("merged.json holds the traces of 2 ranks")
        .hasMessageContaining("TP00, TP01")
        .hasMessageContaining("give the file of each rank");
  }

  @Test
  void aFrontEndWithoutKernelsIsNoRankAndTakesNone() {
    TraceJson frontEnd =
        new TraceJson()
            .raw("{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a\", \"ts\": 1, \"dur\": 2}");
    TraceReport report =
        analyse(twoGraphSteps().input("x.rank3.json"), frontEnd.input("worker3_1.json"));
    assertThat(report.ranks()).hasSize(2);
    assertThat(report.bottleneck().reasons()).noneMatch(r -> r.contains("several"));
    Rank other =
        report.ranks().stream().filter(r -> r.deviceEvents() == 0).findFirst().orElseThrow();
    assertThat(other.integrity().status()).isEqualTo("no-device-events");
    assertThat(other.integrity().warnings())
        .containsExactly(
            "No kernel was launched and none recorded: this is a server's front end or another"
                + " process without device work, and no rank of the run.");
  }
}
