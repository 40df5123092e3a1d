package dev.plumbline.campaign;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.plumbline.schemas.trace.Component;
import dev.plumbline.schemas.trace.TraceReport;
import dev.plumbline.schemas.trace.TraceReport.Bottleneck;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class VerdictsTest {

  @Test
  void theLargestShareOfTheDecodeStepsIsTheBottleneck() {
    TraceReport trace =
        Reportings.decodeTrace(
            1,
            900,
            1000,
            List.of(
                Reportings.component(Component.GEMM, 385, 1000),
                Reportings.component(Component.ALL_REDUCE, 515, 1000)),
            Map.of("hostBound", 0.1));
    Bottleneck verdict = Verdicts.of(trace, Requests.full("c1", "a").plan());
    assertThat(verdict.component()).isEqualTo("all_reduce");
    assertThat(verdict.deviceClass()).isEqualTo("communication");
    assertThat(verdict.share()).isEqualTo(0.515);
    assertThat(verdict.margin()).isCloseTo(0.13, within(1e-9));
    assertThat(verdict.verdict()).isEqualTo("conclusive");
  }

  @Test
  void anIdleCauseCanBeTheBottleneck() {
    TraceReport trace =
        Reportings.decodeTrace(
            1,
            300,
            1000,
            List.of(Reportings.component(Component.GEMM, 300, 1000)),
            Map.of("hostBound", 0.6, "launchLatency", 0.1));
    Bottleneck verdict = Verdicts.of(trace, Requests.full("c1", "a").plan());
    assertThat(verdict.component()).isEqualTo("idle:host_bound");
    assertThat(verdict.deviceClass()).isEqualTo("idle");
  }

  @Test
  void withoutATraceNothingIsNamed() {
    assertThat(Verdicts.of(null, Requests.full("c1", "a").plan()).reasons())
        .containsExactly("The campaign ended before a trace was analysed.");
    assertThat(Verdicts.of(null, Requests.full("c1", "a").plan()).verdict())
        .isEqualTo("inconclusive");
  }
}
