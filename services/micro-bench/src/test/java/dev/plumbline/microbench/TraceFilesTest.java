package dev.plumbline.microbench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.plumbline.schemas.trace.TraceFile;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class TraceFilesTest {

  @Test
  void theNameTellsTheRank() {
    for (String[] expected :
        new String[][] {
          {"dp0_pp0_tp3_dcp0_ep3_rank3.1758000000000.pt.trace.json.gz", "3"},
          {"rank12.1758000000000.pt.trace.json.gz", "12"},
          {"rank-0.Jul_15_10_52_41.1074.pt.trace.json.gz", "0"},
          {"1758000000.5-TP-7.trace.json.gz", "7"},
          {"dp0_pp0_tp5_dcp0_ep0_.123.pt.trace.json.gz", "5"},
          {"worker2_step_12.1694128201554.pt.trace.json.gz", "2"},
          {"decode-rank1.pt.trace.json.gz", "1"},
          {"host_4242.1758000000000.pt.trace.json.gz", null},
          {"bankrank.json", null},
        }) {
      assertThat(TraceFiles.rank(expected[0]))
          .as(expected[0])
          .isEqualTo(expected[1] == null ? null : Integer.valueOf(expected[1]));
    }
  }

  @Test
  void notEveryFileIsATraceOfARank() {
    assertThat(TraceFiles.isTrace("rank0.1.pt.trace.json.gz")).isTrue();
    assertThat(TraceFiles.isTrace("a.json")).isTrue();
    assertThat(TraceFiles.isTrace("host_1.async_llm.17.pt.trace.json.gz")).isFalse();
    assertThat(TraceFiles.isTrace("profiler_out_0.txt")).isFalse();
  }

  private static TraceFile trace(Integer rank, long bytes) {
    return new TraceFile("h", "/t/" + rank, rank, bytes, null, "live");
  }

  @Test
  void sortedByRankWithinTheLimit() throws Exception {
    List<TraceFile> given = Arrays.asList(trace(null, 1), trace(10, 1), trace(2, 1));
    assertThat(TraceFiles.accepted(given, 3L))
        .extracting(TraceFile::rank)
        .containsExactly(2, 10, null);
    assertThatThrownBy(() -> TraceFiles.accepted(given, 2L))
        .hasMessageContaining("3 bytes, more than the limit of 2");
    assertThatThrownBy(() -> TraceFiles.accepted(List.of(), null))
        .hasMessage("no trace was written");
  }
}
