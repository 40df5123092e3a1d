package dev.plumbline.bottleneckattribution;

import static dev.plumbline.bottleneckattribution.Samples.T0;
import static dev.plumbline.schemas.trace.Component.ALL_REDUCE;
import static dev.plumbline.schemas.trace.Component.GEMM;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.plumbline.schemas.attribution.Attribution;
import dev.plumbline.schemas.attribution.StepSample;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

class SeriesWindowsTest {

  private static final WindowSpec SPEC =
      new WindowSpec(Duration.ofMinutes(5), Duration.ofSeconds(30), Duration.ofMinutes(2));
  private static final long START = T0.toEpochMilli();

  @Test
  void aWindowHoldsTheSharesOfAllItsSamples() {
    SeriesWindows windows = windows();
    // 40 + 50 of all-reduce, 50 + 20 of gemm, 10 + 30 idle, in 100 + 100 ns.
    add(windows, Samples.at(0, 0, 10, Map.of(ALL_REDUCE, 40L, GEMM, 50L)));
    add(windows, Samples.at(31, 1, 30, Map.of(ALL_REDUCE, 50L, GEMM, 20L)));

    Attribution both = startingAt(windows.takeUpdates(), -60);

    assertThat(both.samples()).isEqualTo(2);
    assertThat(both.windowEnd()).isEqualTo(T0.plusSeconds(240));
    assertThat(both.shares())
        .isEqualTo(Map.of("all_reduce", 0.45, "gemm", 0.35, "idle:host_bound", 0.20));
    assertThat(both.bottleneck()).isEqualTo("all_reduce");
    assertThat(both.bottleneckShare()).isEqualTo(0.45);
    assertThat(both.margin()).isEqualTo(0.10, within(1e-12));
    assertThat(both.windowP50Ns()).isEqualTo(100);
    assertThat(both.campaignId()).isEqualTo("c-1");
    assertThat(both.closed()).isFalse();
  }

  @Test
  void aSampleBelongsToTheTenWindowsThatHoldItAndToNoOther() {
    SeriesWindows windows = windows();
    add(windows, Samples.at(29.999, 0, 10, Map.of(GEMM, 90L)));

    List<Attribution> updates = windows.takeUpdates();

    assertThat(updates)
        .extracting(a -> Duration.between(T0, a.windowStart()).toSeconds())
        .containsExactly(-270L, -240L, -210L, -180L, -150L, -120L, -90L, -60L, -30L, 0L);
  }

  @Test
  void onlyWindowsThatChangedAreUpdated() {
    SeriesWindows windows = windows();
    add(windows, Samples.at(0, 0, 10, Map.of(GEMM, 90L)));
    windows.takeUpdates();
    add(windows, Samples.at(300, 1, 10, Map.of(GEMM, 90L)));

    assertThat(windows.takeUpdates())
        .extracting(a -> Duration.between(T0, a.windowStart()).toSeconds())
        .containsExactly(30L, 60L, 90L, 120L, 150L, 180L, 210L, 240L, 270L, 300L);
    assertThat(windows.takeUpdates()).isEmpty();
  }

  @Test
  void aWindowClosesWhenEventTimeReachesItsEndPlusGrace() {
    SeriesWindows windows = windows();
    add(windows, Samples.at(0, 0, 10, Map.of(GEMM, 90L)));

    // The window of -270 s ends at 30 s and takes samples until 150 s.
    assertThat(windows.close(START + 149_999).windows()).isEmpty();
    List<Attribution> closed = windows.close(START + 150_000).windows();

    assertThat(closed).singleElement().matches(Attribution::closed);
    assertThat(closed.get(0).windowStart()).isEqualTo(T0.minusSeconds(270));
    assertThat(windows.close(START + 150_000).windows()).isEmpty();
  }

  @Test
  void aJumpOfEventTimeClosesEveryWindowThatHoldsSamplesAndForgetsThePanes() {
    SeriesWindows windows = windows();
    add(windows, Samples.at(0, 0, 10, Map.of(GEMM, 90L)));

    SeriesWindows.Closed closed = windows.close(START + Duration.ofDays(400).toMillis());

    assertThat(closed.windows()).hasSize(10);
    assertThat(closed.expiredPanes()).containsExactly(START);
    assertThat(windows.isEmpty()).isTrue();
  }

  @Test
  void aSampleWithinTheGraceCountsAndOneAfterAllItsWindowsDoesNot() {
    SeriesWindows windows = windows();
    add(windows, Samples.at(500, 0, 10, Map.of(GEMM, 90L)));

    // At 500 s the windows that end by 380 s are closed; the pane of 60 s is in none after 360 s.
    assertThat(add(windows, Samples.at(380, 1, 10, Map.of(GEMM, 90L))))
        .isEqualTo(SeriesWindows.Outcome.COUNTED);
    assertThat(add(windows, Samples.at(60, 2, 10, Map.of(GEMM, 90L))))
        .isEqualTo(SeriesWindows.Outcome.LATE);
  }

  @Test
  void theSameIdCountsOnce() {
    SeriesWindows windows = windows();
    StepSample sample = Samples.at(0, 7, 10, Map.of(GEMM, 90L));
    add(windows, sample);

    assertThat(add(windows, sample)).isEqualTo(SeriesWindows.Outcome.DUPLICATE);
    assertThat(startingAt(windows.takeUpdates(), 0).samples()).isEqualTo(1);
  }

  @Test
  void percentilesAreNearestRank() {
    SeriesWindows windows = windows();
    for (int i = 1; i <= 20; i++) {
      add(windows, Samples.at(1, i, 0, Map.of(GEMM, 10L * i)));
    }

    Attribution window = startingAt(windows.takeUpdates(), 0);

    assertThat(window.windowP50Ns()).isEqualTo(100);
    assertThat(window.windowP95Ns()).isEqualTo(190);
  }

  @Test
  void windowsThatDoNotFitAreRefused() {
    assertThatThrownBy(
            () -> new WindowSpec(Duration.ofSeconds(50), Duration.ofSeconds(30), Duration.ZERO))
        .hasMessage("window size PT50S must be a multiple of the advance PT30S");
  }

  @Property(tries = 200)
  void theOrderOfArrivalWithinTheGraceDoesNotMatter(
      @ForAll("campaign") List<StepSample> samples, @ForAll Random random) {
    List<StepSample> inOrder = new ArrayList<>(samples);
    inOrder.sort(Comparator.comparing(StepSample::at));
    List<StepSample> shuffled = new ArrayList<>(samples);
    // Every sample is late by less than the grace: sorted by time plus a delay of up to 2 min.
    Map<String, Long> arrival = new java.util.HashMap<>();
    samples.forEach(s -> arrival.put(s.id(), s.at().toEpochMilli() + random.nextInt(120_000)));
    shuffled.sort(Comparator.comparing((StepSample s) -> arrival.get(s.id())));

    assertThat(finalWindows(shuffled)).isEqualTo(finalWindows(inOrder));
  }

  @Property(tries = 200)
  void sharesSumToOneAndEverySampleIsInTenWindows(@ForAll("campaign") List<StepSample> samples) {
    List<StepSample> inOrder = new ArrayList<>(samples);
    inOrder.sort(Comparator.comparing(StepSample::at));

    List<Attribution> windows = finalWindows(inOrder);

    assertThat(windows)
        .allSatisfy(
            w ->
                assertThat(w.shares().values().stream().mapToDouble(x -> x).sum())
                    .isEqualTo(1.0, within(1e-9)));
    assertThat(windows.stream().mapToLong(Attribution::samples).sum())
        .isEqualTo(10L * samples.size());
  }

  @Property(tries = 100)
  void aRestartBetweenTwoSamplesChangesNothing(@ForAll("campaign") List<StepSample> samples) {
    List<StepSample> inOrder = new ArrayList<>(samples);
    inOrder.sort(Comparator.comparing(StepSample::at));
    List<Attribution> closed = new ArrayList<>();
    SeriesWindows windows = windows();
    for (StepSample sample : inOrder) {
      closed.addAll(offer(windows, sample));
      SeriesWindows restored =
          new SeriesWindows(
              SPEC, windows.series(), windows.firstOpenWindowMs(), windows.eventTimeMs());
      for (StepSample known : inOrder) {
        long pane = SPEC.paneOf(known.at().toEpochMilli());
        if (windows.pane(pane) != null) {
          byte[] stored = dev.plumbline.schemas.Json.bytes(windows.pane(pane));
          restored.restore(pane, dev.plumbline.schemas.Json.read(stored, Pane.class));
        }
      }
      windows = restored;
    }
    closed.addAll(windows.close(Long.MAX_VALUE / 2).windows());

    assertThat(closed).isEqualTo(finalWindows(inOrder));
  }

  @Provide
  Arbitrary<List<StepSample>> campaign() {
    Arbitrary<double[]> one =
        Combinators.combine(
                Arbitraries.integers().between(0, 900_000),
                Arbitraries.integers().between(0, 5_000_000),
                Arbitraries.integers().between(1, 5_000_000),
                Arbitraries.integers().between(0, 5_000_000))
            .as((ms, idle, gemm, reduce) -> new double[] {ms / 1000.0, idle, gemm, reduce});
    return one.list()
        .ofMinSize(1)
        .ofMaxSize(60)
        .map(
            drawn -> {
              List<StepSample> samples = new ArrayList<>();
              for (double[] d : drawn) {
                samples.add(
                    Samples.at(
                        d[0],
                        samples.size(),
                        (long) d[1],
                        Map.of(GEMM, (long) d[2], ALL_REDUCE, (long) d[3])));
              }
              return samples;
            });
  }

  private static List<Attribution> finalWindows(List<StepSample> samples) {
    SeriesWindows windows = windows();
    List<Attribution> closed = new ArrayList<>();
    samples.forEach(sample -> closed.addAll(offer(windows, sample)));
    closed.addAll(windows.close(Long.MAX_VALUE / 2).windows());
    return closed;
  }

  private static List<Attribution> offer(SeriesWindows windows, StepSample sample) {
    windows.observe(sample.at().toEpochMilli());
    List<Attribution> closed = windows.close(windows.eventTimeMs()).windows();
    assertThat(windows.add(sample)).isEqualTo(SeriesWindows.Outcome.COUNTED);
    return closed;
  }

  private static SeriesWindows.Outcome add(SeriesWindows windows, StepSample sample) {
    windows.observe(sample.at().toEpochMilli());
    windows.close(windows.eventTimeMs());
    return windows.add(sample);
  }

  private static SeriesWindows windows() {
    return SeriesWindows.of(SPEC, new Series("gpu-1", "kimi", Samples.DECODE));
  }

  private static Attribution startingAt(List<Attribution> windows, long second) {
    return windows.stream()
        .filter(w -> w.windowStart().equals(T0.plusSeconds(second)))
        .findFirst()
        .orElseThrow();
  }
}
