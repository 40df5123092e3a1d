package dev.plumbline.macroload;

import static dev.plumbline.macroload.Streams.MS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.plumbline.schemas.load.LoadReport;
import java.util.List;
import java.util.Map;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;

/**
 * The window, on the plain stream: sent at 1000 ms, tokens at 1200, 1210 … 1390 ms, end at 1390.
 */
class LevelRecorderTest {

  private static LoadReport.Level report(long openMs, long closeMs, Exchange... exchanges) {
    LevelRecorder recorder = new LevelRecorder(openMs * MS, false);
    recorder.closeBy(closeMs * MS);
    for (Exchange exchange : exchanges) {
      recorder.take(exchange);
    }
    return recorder.report(
        new LoadPlan.Closed(1, null, null, 0), new ClientHealth(), 0, false, Map.of());
  }

  private static Exchange plain() {
    return new Streams().tokens(0, 20).finish().played();
  }

  @Test
  void tokensInTheWindowAreCountedByTheirArrival() {
    // Tokens at 1200 … 1250 are the six inside; 250 of 390 ms of the request; window 0.25 s.
    LoadReport.Level level = report(1000, 1250, plain());
    assertThat(level.outputTokens()).isEqualTo(6);
    assertThat(level.outputThroughput()).isCloseTo(6 / 0.25, within(1e-9));
    assertThat(level.requestThroughput()).isCloseTo(250.0 / 390 / 0.25, within(1e-9));
    assertThat(level.meanInFlight()).isCloseTo(1, within(1e-12));
    assertThat(level.completed()).isEqualTo(1);
  }

  @Test
  void tokensUnequallyOverChunksAreCountedWhereTheyCame() {
    Streams stream = new Streams();
    int[] total = {1, 9, 10};
    for (int i = 0; i < 3; i++) {
      stream.event(
          100L * i,
          "{\"choices\":[{\"delta\":{\"content\":\"x\"}}],\"usage\":{\"completion_tokens\":"
              + total[i]
              + "}}");
    }
    // Arrivals at 1000, 1100, 1200 with 1, 8, 1 tokens: nine by 1150.
    Exchange exchange = stream.event(200, Streams.FINISH).played();
    assertThat(report(1000, 1150, exchange).outputTokens()).isEqualTo(9);
  }

  @Test
  void twoUsersOfWhomOneIsHalfInTheWindow() {
    LoadReport.Level level = report(1000, 2000, plain(), plain());
    assertThat(level.meanInFlight()).isCloseTo(2 * 0.39, within(1e-12));
    assertThat(level.outputThroughput()).isCloseTo(40, within(1e-9));
    assertThat(level.requestThroughput()).isCloseTo(2, within(1e-9));
  }

  @Test
  void failedRequestsAreInFlightAndNothingElse() {
    Exchange failed = new Streams().tokens(0, 20).event(395, "{\"error\":\"x\"}").played();
    LoadReport.Level level = report(1000, 2000, failed);
    assertThat(level.meanInFlight()).isCloseTo(0.395, within(1e-12));
    assertThat(level.outputThroughput()).isZero();
    assertThat(level.requestThroughput()).isZero();
    assertThat(level.failureExamples()).containsExactly(Map.entry("error", "x"));
  }

  @Test
  void anOpenLoopCountsFromTheIntendedTime() {
    Exchange late = new Exchange();
    late.start(900 * MS);
    late.sent(1_000 * MS);
    byte[] token = ("data: " + Streams.delta("content") + "\n\n").getBytes();
    byte[] finish = ("data: " + Streams.FINISH + "\n\n").getBytes();
    late.bytes(token, 0, token.length, 1_200 * MS);
    late.bytes(finish, 0, finish.length, 1_300 * MS);
    late.end(1_300 * MS);
    LevelRecorder recorder = new LevelRecorder(900 * MS, true);
    recorder.closeBy(2_000 * MS);
    recorder.take(late);
    LoadReport.Level level =
        recorder.report(
            new LoadPlan.Open(1, 1L, null, 0, true), new ClientHealth(), 0, false, Map.of());
    assertThat(level.ttftNs().max()).isEqualTo(300 * MS);
    assertThat(level.client().sendLatenessNs().max()).isEqualTo(100 * MS);
  }

  @Test
  void aLateEventLoopMarksTheClient() {
    ClientHealth health = new ClientHealth();
    for (int i = 0; i < 100; i++) {
      health.delayed(20 * MS);
    }
    assertThat(health.reasons(1_000 * MS, 10 * MS)).hasSize(1);
    // Against 100 ms between chunks, 20 ms are no more than a quarter.
    assertThat(health.reasons(1_000 * MS, 100 * MS)).isEmpty();
    health.used(900 * MS);
    assertThat(health.reasons(1_000 * MS, 100 * MS)).hasSize(1).first().asString().contains("90 %");
  }

  @Property(tries = 100)
  void percentilesAreThoseOfTheSortedValues(
      @ForAll @Size(min = 1, max = 200) List<@IntRange(max = 2_000_000_000) Integer> values) {
    LatencyRecorder recorder = new LatencyRecorder();
    values.forEach(recorder::record);
    List<Integer> sorted = values.stream().sorted().toList();
    for (double p : new double[] {50, 90, 95, 99, 99.9}) {
      // Nearest rank: the smallest value with at least p % of all at or below it.
      long rank = sorted.get(Math.max(0, (int) Math.ceil(p / 100 * sorted.size() - 1e-9) - 1));
      assertThat((double) recorder.percentile(p)).isCloseTo(rank, Percentage.withPercentage(0.11));
    }
    assertThat(recorder.latency().min()).isEqualTo((long) sorted.getFirst());
    assertThat(recorder.latency().max()).isEqualTo((long) sorted.getLast());
    assertThat(recorder.latency().mean())
        .isCloseTo(
            values.stream().mapToLong(Integer::longValue).average().orElseThrow(),
            Percentage.withPercentage(1e-9));
  }

  @Test
  void constantSendTimesDoNotDrift() {
    SendSchedule schedule = SendSchedule.of(new LoadPlan.Open(200, 10_000L, null, 0, false), 1);
    schedule.begin(7);
    for (int i = 0; i < 10_000; i++) {
      schedule.advance();
    }
    assertThat(schedule.nextNs()).isEqualTo(7 + 50_000_000_000L);
  }

  @Test
  void poissonGapsHaveTheirMeanAndSpread() {
    SendSchedule schedule = SendSchedule.of(new LoadPlan.Open(100, null, null, 0, true), 42);
    schedule.begin(0);
    int n = 100_000;
    double squares = 0;
    long before = 0;
    for (int i = 0; i < n; i++) {
      schedule.advance();
      double gap = (schedule.nextNs() - before) / 1e9;
      before = schedule.nextNs();
      squares += gap * gap;
    }
    // Exponential with mean 10 ms: standard error of the mean 0.03 ms; second moment 2 × mean².
    assertThat(before / 1e9 / n).isCloseTo(0.01, within(0.0002));
    assertThat(squares / n).isCloseTo(0.0002, within(0.00001));
  }
}
