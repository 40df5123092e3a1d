package dev.plumbline.macroload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.plumbline.schemas.load.LoadReport.Level;
import dev.plumbline.schemas.load.LoadReport.Saturation;
import dev.plumbline.schemas.load.LoadReport.UniversalScalability;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.Scale;
import org.junit.jupiter.api.Test;

class ScalingFitTest {

  private static Level level(int concurrency, double throughput) {
    return level(concurrency, throughput, false, false);
  }

  private static Level level(int concurrency, double throughput, boolean bound, boolean partial) {
    return new Level(
        concurrency,
        null,
        1,
        Map.of(),
        1,
        1,
        throughput,
        1,
        1,
        null,
        null,
        null,
        null,
        null,
        false,
        false,
        bound,
        partial,
        Map.of());
  }

  @Test
  void saturationIsTheSmallestWithNinetyFivePercentOfTheBest() {
    // 95 % of 1600 is 1520: 32 is just below, 64 just at it.
    List<Level> levels =
        List.of(level(256, 1600), level(1, 77), level(64, 1520), level(128, 1536), level(32, 1519));
    assertThat(ScalingFit.saturation(levels)).isEqualTo(new Saturation(64, 1520));
  }

  @Test
  void aClientBoundOrPartialLevelIsNeverThePlateau() {
    List<Level> levels =
        List.of(
            level(1, 100), level(2, 150), level(4, 900, true, false), level(8, 900, false, true));
    assertThat(ScalingFit.saturation(levels)).isEqualTo(new Saturation(2, 150));
  }

  @Test
  void nothingCompletedGivesNothing() {
    assertThat(ScalingFit.saturation(List.of())).isNull();
    assertThat(ScalingFit.saturation(List.of(level(1, 0)))).isNull();
    assertThat(ScalingFit.usl(List.of(level(1, 0), level(2, 0), level(4, 0)))).isNull();
  }

  @Test
  void lawThroughThreePointsComputedByHand() {
    // λ=100, σ=0.1, κ=0.01: X(1)=100, X(2)=200/(1+.1+.02)=200/1.12, X(10)=1000/(1+.9+.9)=1000/2.8;
    // peak = √(0.9/0.01) = √90.
    UniversalScalability law =
        ScalingFit.usl(List.of(level(1, 100), level(2, 200 / 1.12), level(10, 1000 / 2.8)));
    assertThat(law.lambda()).isCloseTo(100, within(1e-6));
    assertThat(law.sigma()).isCloseTo(0.1, within(1e-8));
    assertThat(law.kappa()).isCloseTo(0.01, within(1e-8));
    assertThat(law.peak()).isCloseTo(Math.sqrt(90), within(1e-5));
    assertThat(law.r2()).isCloseTo(1, within(1e-12));
  }

  @Test
  void perfectScalingHasNeitherTerm() {
    UniversalScalability law = ScalingFit.usl(List.of(level(1, 50), level(2, 100), level(4, 200)));
    assertThat(law.lambda()).isCloseTo(50, within(1e-9));
    assertThat(law.sigma()).isCloseTo(0, within(1e-9));
    assertThat(law.kappa()).isCloseTo(0, within(1e-9));
  }

  @Test
  void betterThanLinearIsHeldAtNoContention() {
    UniversalScalability law = ScalingFit.usl(List.of(level(1, 50), level(2, 110), level(4, 260)));
    assertThat(law.sigma()).isZero();
    assertThat(law.kappa()).isZero();
    assertThat(law.peak()).isNull();
  }

  @Test
  void twoDifferentConcurrenciesAreTooFew() {
    assertThat(ScalingFit.usl(List.of(level(1, 50), level(2, 90), level(2, 91)))).isNull();
  }

  @Property(tries = 200)
  void exactDataGivesTheirLaw(
      @ForAll @DoubleRange(min = 1, max = 5000) double lambda,
      @ForAll @Scale(5) @DoubleRange(min = 0.001, max = 0.9) double sigma,
      @ForAll @Scale(5) @DoubleRange(min = 0.00001, max = 0.1) double kappa) {
    List<Level> levels = new ArrayList<>();
    for (int n = 1; n <= 256; n *= 2) {
      levels.add(level(n, lambda * n / (1 + sigma * (n - 1) + kappa * n * (n - 1))));
    }
    UniversalScalability law = ScalingFit.usl(levels);
    assertThat(law.lambda()).isCloseTo(lambda, within(lambda * 1e-5));
    assertThat(law.sigma()).isCloseTo(sigma, within(1e-4));
    assertThat(law.kappa()).isCloseTo(kappa, within(kappa * 1e-4));
  }
}
