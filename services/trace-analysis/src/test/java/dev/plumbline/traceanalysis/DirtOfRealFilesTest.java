package dev.plumbline.traceanalysis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.plumbline.schemas.trace.Component;
import dev.plumbline.schemas.trace.TraceReport;
import dev.plumbline.schemas.trace.TraceReport.Rank;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * What has been reported against other readers of these files, each with its own minimal input.
 * Where the test stands:
 *
 * <table>
 * <caption>Reported faults</caption>
 * <tr><th>fault</th><th>first reported in</th><th>test</th></tr>
 * <tr><td>bare quote in a name</td><td>pytorch#146900</td><td>{@code TraceReaderTest.anUnescapedQuote…}</td></tr>
 * <tr><td>control characters</td><td>pytorch#130622</td><td>{@code TraceReaderTest.controlCharacters…}</td></tr>
 * <tr><td>bandwidth inf, nan, N/A</td><td>kineto#105</td><td>{@code TraceReaderTest.anOddValue…}</td></tr>
 * <tr><td>kernels at time 0</td><td>kineto#109</td><td>here</td></tr>
 * <tr><td>overlap on one stream</td><td>kineto#136</td><td>here, and {@code ExposedSweepTest}</td></tr>
 * <tr><td>duration overflows</td><td>TraceLens#669</td><td>{@code TraceReaderTest.aDurationThatOverflowed…}</td></tr>
 * <tr><td>gaps between nodes of a graph</td><td>TraceLens#728</td><td>{@code TraceAnalysisTest.idleCauses}</td></tr>
 * <tr><td>kernels of a graph launch</td><td>TraceLens#827, HTA#290</td><td>{@code TraceAnalysisTest.kernelsOfAGraph…}</td></tr>
 * <tr><td>graph launches without kernels</td><td>Hyperloom PR#1047</td><td>{@code TraceAnalysisTest.missingDeviceEvents…}</td></tr>
 * <tr><td>kernels without launch record</td><td>measured</td><td>{@code TraceAnalysisTest.anEventWithoutLaunch…}</td></tr>
 * <tr><td>new names of NCCL, generic RCCL</td><td>HTA#208, roctracer#101</td><td>here</td></tr>
 * <tr><td>sync events as work</td><td>HTA PR#162</td><td>here</td></tr>
 * <tr><td>kernels only, host only</td><td>HTA#16, #148, kineto#996</td><td>here</td></tr>
 * <tr><td>numbers past 2^63</td><td>HTA</td><td>{@code TraceReaderTest.numbersMayBeStrings…}</td></tr>
 * <tr><td>host spans that cross</td><td>pytorch#174555, kineto#269</td><td>here</td></tr>
 * <tr><td>frames that all end together</td><td>pytorch#193440</td><td>here</td></tr>
 * <tr><td>cut files, gzip by another name</td><td>pytorch#167707</td><td>{@code TraceReaderTest.aCut…}, {@code gzipIsTold…}</td></tr>
 * <tr><td>collectives without arguments</td><td>pytorch#131462</td><td>{@code TraceAnalysisTest.withoutArguments…}</td></tr>
 * <tr><td>ids of any type</td><td>kineto PR#1002</td><td>here</td></tr>
 * <tr><td>five bad events</td><td>torch-spyre#3274</td><td>{@code TraceReaderTest.badEventsAreCounted…}</td></tr>
 * <tr><td>kernels below a microsecond</td><td>HTA</td><td>here</td></tr>
 * <tr><td>times as strings</td><td>bluepill#437</td><td>{@code TraceReaderTest.numbersMayBeStrings…}</td></tr>
 * </table>
 */
class DirtOfRealFilesTest {

  private static TraceReport analyse(TraceJson json) {
    return TraceAnalysis.analyse(List.of(json.input("test.json")), AnalysisOptions.defaults());
  }

  private static Rank rank(TraceJson json) {
    return analyse(json).ranks().getFirst();
  }

  @Test
  void kernelsAtTimeZeroStretchNothing() {
    TraceJson json = new TraceJson();
    for (int i = 0; i < 1_000; i++) {
      json.kernel("k", Integer.toString(1_000_000 + 10 * i), "5", 7, i);
    }
    for (int i = 0; i < 5; i++) {
      json.kernel("k", "0", "0", 7, 2_000 + i);
    }
    Rank rank = rank(json);
    assertThat(rank.deviceEvents()).isEqualTo(1_000);
    assertThat(rank.spanNs()).isEqualTo(999 * 10_000 + 5_000);
    assertThat(rank.integrity().eventsBad()).containsEntry("zero-time", 5L);
  }

  @Test
  void overlapOnOneStreamIsBusyOnce() {
    Rank rank = rank(new TraceJson().kernel("a", "10", "6", 7, 1).kernel("b", "14", "4", 7, 2));
    assertThat(rank.deviceEvents()).isEqualTo(2);
    assertThat(rank.spanNs()).isEqualTo(8_000);
    assertThat(rank.idleCausesNs().total()).isZero();
    assertThat(rank.components().stream().mapToLong(c -> c.exposedNs()).sum()).isEqualTo(8_000);
    assertThat(rank.components().stream().mapToLong(c -> c.summedNs()).sum()).isEqualTo(10_000);
  }

  @ParameterizedTest
  @CsvSource({
    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>), all_reduce",
    "ncclSymkDevKernel_AllReduce_RSxLD_AGxST_sum_bf16(ncclSymkDevWorkArgs4K), all_reduce",
    "ncclKernel_AllReduce_RING_LL_Sum_half(ncclWorkElem), all_reduce",
    "ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>), collective_other",
    "rcclGenericKernel<1>(ncclDevKernelArgsStorage), collective_other",
  })
  void collectivesOfAnyAgeAreCommunication(String name, String component) {
    Rank rank = rank(new TraceJson().kernel(name, "10", "6", 7, 1));
    assertThat(rank.components()).extracting(c -> c.component().id()).containsExactly(component);
  }

  @Test
  void syncEventsAreNoWork() {
    Rank rank =
        rank(
            new TraceJson()
                .kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", "10", "6", 7, 1)
                .raw(
                    """
                    {"ph": "X", "cat": "cuda_sync", "name": "Stream Sync", "pid": 0, "tid": 7,
                     "ts": 5, "dur": 10000, "args": {"stream": 7, "correlation": 9}}"""));
    assertThat(rank.deviceEvents()).isEqualTo(1);
    assertThat(rank.spanNs()).isEqualTo(6_000);
  }

  @Test
  void kernelsAloneAndHostAloneAreResultsWithAReason() {
    TraceReport kernels = analyse(new TraceJson().kernel("a_gemm", "10", "6", 7, 1));
    assertThat(kernels.ranks().getFirst().deviceEvents()).isEqualTo(1);
    assertThat(kernels.ranks().getFirst().integrity().unlinkedShare()).isEqualTo(1.0);
    TraceReport host =
        analyse(
            new TraceJson()
                .raw(
                    """
                    {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1,
                     "ts": 5, "dur": 100, "args": {"External id": 1}}"""));
    assertThat(host.ranks().getFirst().integrity().status()).isEqualTo("no-device-events");
    assertThat(host.ranks().getFirst().idleCausesNs().total()).isZero();
    assertThat(host.bottleneck().verdict()).isEqualTo("inconclusive");
  }

  @Test
  void crossingHostSpansKeepTheirStep() {
    TraceJson json = new TraceJson();
    for (int i = 0; i < 500; i++) {
      int at = 100 * i;
      json.annotation("ProfilerStep#" + i, Integer.toString(at), "100.3", 5)
          .call("cudaLaunchKernel", at + 99 + ".9", "0.8", 5, i + 1)
          .kernel("a_gemm", at + 101 + ".5", "2", 7, i + 1);
    }
    Rank rank = rank(json);
    assertThat(rank.integrity().steps()).isEqualTo(500);
    assertThat(rank.integrity().eventsBad()).isEmpty();
    assertThat(rank.steps())
        .allSatisfy(step -> assertThat(step.components().getFirst().events()).isEqualTo(1));
  }

  @Test
  void framesThatAllEndTogetherArePassedOver() {
    TraceJson json = new TraceJson().kernel("a_gemm", "10", "6", 7, 1);
    for (int i = 0; i < 10_000; i++) {
      json.raw(
          """
          {"ph": "X", "cat": "python_function", "name": "f.py(%d): f", "pid": 1, "tid": 1,
           "ts": %d, "dur": %d, "args": {"Python parent id": null, "Python id": %d}}"""
              .formatted(i, i, 20_000 - i, i));
    }
    Rank rank = rank(json);
    assertThat(rank.integrity().eventsRead()).isEqualTo(10_001);
    assertThat(rank.spanNs()).isEqualTo(6_000);
  }

  @Test
  void idsMayBeOfAnyType() {
    Trace trace =
        TraceJson.read(
            """
            [{"ph": "X", "cat": "kernel", "name": "a", "pid": 0, "tid": "stream 7", "ts": 1, "dur": 1},
             {"ph": "X", "cat": "kernel", "name": "b", "pid": "0", "tid": -7, "ts": 3, "dur": 1},
             {"ph": "X", "cat": "kernel", "name": "c", "pid": -1, "tid": 7.0, "ts": 5, "dur": 1},
             {"ph": "X", "cat": "kernel", "name": "d", "pid": null, "tid": {}, "ts": 7, "dur": 1},
             {"ph": "X", "cat": "Trace", "name": "e", "pid": "Spans", "tid": "PyTorch Profiler",
              "ts": 0, "dur": 99}]""");
    assertThat(trace.events().count()).isEqualTo(4);
    assertThat(trace.eventsBad()).isEmpty();
    assertThat(trace.events().streams()).isEqualTo(4);
  }

  @Test
  void aKernelBelowAMicrosecondKeepsItsTime() {
    Rank rank = rank(new TraceJson().kernel("a_gemm", "1.2", "0.5", 7, 1));
    assertThat(rank.components()).hasSize(1);
    assertThat(rank.components().getFirst().component()).isNotEqualTo(Component.OTHER);
    assertThat(rank.components().getFirst().summedNs()).isEqualTo(500);
    assertThat(rank.spanNs()).isEqualTo(500);
  }
}
