package dev.plumbline.traceanalysis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.plumbline.schemas.trace.StepKind;
import dev.plumbline.schemas.trace.TraceComparison;
import dev.plumbline.schemas.trace.TraceComparison.Change;
import dev.plumbline.schemas.trace.TraceComparison.KernelChange;
import dev.plumbline.schemas.trace.TraceComparison.KindChange;
import dev.plumbline.schemas.trace.TraceReport;
import dev.plumbline.schemas.trace.TraceReport.OutlierStep;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Decode steps that begin 100 µs apart; figures by hand. */
class ComparingTest {

  private static TraceReport report(String second, int secondNs, int... gemmMicros) {
    TraceJson trace = new TraceJson();
    for (int k = 0; k < gemmMicros.length; k++) {
      int at = 100 * k;
      trace
          .annotation("execute_context_0(0)_generation_4(4)", "" + at, "50", 5)
          .call("cudaGraphLaunch", "" + (at + 1), "1", 5, k + 1)
          .kernel("a_gemm", "" + (at + 10), "" + gemmMicros[k], 7, k + 1);
      if (second != null) {
        trace.kernel(second, "" + (at + 30), secondNs / 1e3 + "", 7, k + 1);
      }
    }
    return TraceAnalysis.analyse(
        List.of(trace.input("t.json")), new AnalysisOptions(null, null, true));
  }

  private static KindChange decode(TraceReport report, TraceReport baseline) {
    TraceComparison comparison = Comparing.against(report, baseline).comparison();
    assertThat(comparison.baseline()).containsExactly("t.json");
    assertThat(comparison.kinds()).hasSize(1);
    return comparison.kinds().getFirst();
  }

  private static Change part(KindChange kind, String component) {
    return kind.parts().stream().filter(c -> c.component().equals(component)).findFirst().get();
  }

  @Test
  void saysWhatAppearedVanishedAndGrew() {
    KindChange decode =
        decode(
            report("rms_norm_kernel", 1_000, 6, 6, 6, 6, 6),
            report("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 2_000, 4, 4, 4, 4, 4));

    // Steady steps have no spread: what is left is 0.2 % of the 100 µs of a step.
    assertThat(decode.parts())
        .contains(
            new Change("gemm", "compute", "grew", 6_000, 4_000, 2_000, 200L, true),
            new Change("norm", "compute", "appeared", 1_000, 0, 1_000, 200L, true),
            new Change("all_reduce", "communication", "vanished", 0, 2_000, -2_000, 200L, true),
            new Change(
                "idle:graph_internal", "idle", "shrank", 14_000, 16_000, -2_000, 200L, true));
    assertThat(decode.window())
        .isEqualTo(new Change("window", "window", "same", 100_000, 100_000, 0, 200L, false));
    // The last step of each side has no next one and is left out.
    assertThat(decode.steps()).isEqualTo(4);
  }

  @Test
  void aDifferenceWithinTheSpreadBetweenStepsIsCalledSo() {
    KindChange decode =
        decode(report(null, 0, 5, 7, 9, 5, 9, 7), report(null, 0, 4, 6, 8, 4, 8, 6));
    // Medians 7 and 6 of five steps, both median absolute deviations 2 µs:
    // 3 × √2 × 1.4826 × 2 µs = 12.580 µs.
    assertThat(part(decode, "gemm"))
        .isEqualTo(new Change("gemm", "compute", "grew", 7_000, 6_000, 1_000, 12_580L, false));
  }

  @Test
  void twoStepsHaveNoSpreadToSpeakOf() {
    Change gemm = part(decode(report(null, 0, 6, 6), report(null, 0, 4, 4, 4, 4)), "gemm");
    assertThat(gemm.differenceNs()).isEqualTo(2_000);
    assertThat(gemm.spreadNs()).isNull();
    assertThat(gemm.beyondSpread()).isNull();
  }

  @Test
  void aKindOfStepThatOneSideLacksIsNotCompared() {
    TraceReport prefill =
        TraceAnalysis.analyse(
            List.of(
                new TraceJson()
                    .annotation("execute_context_1(64)_generation_0(0)", "0", "10", 5)
                    .call("cudaLaunchKernel", "1", "1", 5, 1)
                    .kernel("a_gemm", "20", "30", 7, 1)
                    .input("p.json")),
            AnalysisOptions.defaults());
    TraceReport compared = Comparing.against(report(null, 0, 6, 6), prefill);
    assertThat(compared.comparison().kinds())
        .containsExactly(
            new KindChange(StepKind.PREFILL, 0, 1, null, List.of()),
            new KindChange(StepKind.DECODE, 1, 0, null, List.of()));
    assertThat(TraceText.render(compared))
        .contains("Only the baseline has prefill steps (1)")
        .contains("Only this analysis has decode steps (1)");
  }

  @Test
  void kernelsAreComparedByTheirTimePerStep() {
    // Five steps of 6 µs against three of 4 µs.
    TraceComparison comparison =
        Comparing.against(report(null, 0, 6, 6, 6, 6, 6), report(null, 0, 4, 4, 4)).comparison();
    KernelChange gemm = comparison.kernels().getFirst();
    assertThat(gemm.name()).isEqualTo("a_gemm");
    assertThat(gemm.perStepNs()).isEqualTo(6_000);
    assertThat(gemm.baselinePerStepNs()).isEqualTo(4_000);
    assertThat(comparison.kernels()).hasSize(1);
  }

  @Test
  void theTextSaysWhetherTheStepChanged() {
    assertThat(
            TraceText.render(
                Comparing.against(report(null, 0, 6, 6, 6, 6), report(null, 0, 4, 4, 4, 4))))
        .contains(
            "a decode step takes 100.0 µs instead of 100.0 µs (+0.0 %), which is within the spread")
        .contains("3 x sqrt(a^2 + b^2)");
  }

  @Test
  void aStepFarLongerThanTheOthersIsAnOutlier() {
    // Starts at 0, 100, 200, 300, 400 and then 550: the fifth of five windows is 150 µs.
    TraceJson trace = new TraceJson();
    int[] starts = {0, 100, 200, 300, 400, 550};
    for (int k = 0; k < starts.length; k++) {
      trace
          .annotation("execute_context_0(0)_generation_4(4)", "" + starts[k], "50", 5)
          .call("cudaGraphLaunch", "" + (starts[k] + 1), "1", 5, k + 1)
          .kernel("a_gemm", "" + (starts[k] + 10), "20", 7, k + 1);
    }
    TraceReport report =
        TraceAnalysis.analyse(List.of(trace.input("rank3.json")), AnalysisOptions.defaults());
    assertThat(report.stepSummary().kinds().getFirst().outliers())
        .containsExactly(
            new OutlierStep(3, 4, "execute_context_0(0)_generation_4(4)", 150_000, 1.5));
    assertThat(TraceText.render(report)).contains("Outlier steps").contains("1.50x");
  }
}
