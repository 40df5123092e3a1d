package dev.plumbline.gpulifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.plumbline.gpulifecycle.ProcessTable.HostProcess;
import org.junit.jupiter.api.Test;

class ProcessTableTest {

  private static final String REST =
      " 1 1 0 -1 4194560 0 0 0 0 1 1 0 0 20 0 8 0 %d 1000 100 18446744073709551615 1 1 0\n";

  @Test
  void readsNamesThatHoldAnything() {
    ProcessTable table =
        ProcessTable.parse(
            "7 (a) b (c) S 1"
                + REST.formatted(70)
                + "8 (x\n9 (y) R) S 7"
                + REST.formatted(80)
                + "10 () Z 8"
                + REST.formatted(90));
    assertThat(table.byPid().values())
        .containsExactly(
            new HostProcess(7, "a) b (c", "S", 1, 70),
            new HostProcess(8, "x\n9 (y) R", "S", 7, 80),
            new HostProcess(10, "", "Z", 8, 90));
    assertThat(table.tree(7)).extracting(HostProcess::pid).containsExactly(7L, 8L, 10L);
    assertThat(table.survivors(table.tree(7))).extracting(HostProcess::pid).containsExactly(7L, 8L);
  }

  @Test
  void anotherStartTimeIsAnotherProcess() {
    ProcessTable before = ProcessTable.parse("7 (a) S 1" + REST.formatted(70));
    ProcessTable after = ProcessTable.parse("7 (a) S 1" + REST.formatted(71));
    assertThat(after.survivors(before.tree(7))).isEmpty();
  }
}
