package dev.plumbline.standalone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Processes that end are started again, within bounds; those of a dead run are ended. */
class SupervisedProcessTest {

  @TempDir Path folder;

  private final List<Process> launched = new ArrayList<>();
  private final List<String> said = new ArrayList<>();
  private Instant now = Instant.parse("2026-01-01T00:00:00Z");

  @AfterEach
  void end() throws InterruptedException {
    for (Process process : launched) {
      process.destroyForcibly().waitFor();
    }
  }

  private Process launch(String... command) throws IOException {
    launched.add(new ProcessBuilder(command).start());
    return launched.getLast();
  }

  private SupervisedProcess supervised(String... command) throws IOException {
    return new SupervisedProcess(
        "worker", folder.resolve("worker.log"), () -> launch(command), said::add);
  }

  private void killLast() throws InterruptedException {
    launched.getLast().destroyForcibly().waitFor();
  }

  @Test
  void whatEndsIsStartedAgainAfterAPause() throws Exception {
    SupervisedProcess service = supervised("sleep", "600");
    assertThat(service.tend(now)).isTrue();
    killLast();
    assertThat(service.tend(now)).isTrue();
    assertThat(launched).hasSize(1);
    assertThat(said)
        .containsExactly(
            "Service worker ended with exit code 137; it is started again in 1 s; see "
                + folder.resolve("worker.log")
                + ".");
    now = now.plusSeconds(1);
    assertThat(service.tend(now)).isTrue();
    assertThat(launched).hasSize(2);
    assertThat(service.alive()).isTrue();
  }

  @Test
  void whatEndsAgainAndAgainIsGivenUp() throws Exception {
    SupervisedProcess service = supervised("false");
    boolean kept = true;
    for (int seconds = 0; seconds < 120 && kept; seconds++) {
      launched.getLast().waitFor();
      kept = service.tend(now);
      now = now.plusSeconds(1);
    }
    assertThat(kept).isFalse();
    assertThat(launched).hasSize(1 + SupervisedProcess.RESTARTS);
    assertThat(said.getLast()).contains("exit code 1, for the 6th time within 10 minutes");
  }

  @Test
  void endsThatLieFarApartAreForgiven() throws Exception {
    SupervisedProcess service = supervised("sleep", "600");
    for (int i = 0; i < 2 * SupervisedProcess.RESTARTS; i++) {
      killLast();
      assertThat(service.tend(now)).isTrue();
      now = now.plus(SupervisedProcess.WITHIN);
      assertThat(service.tend(now)).isTrue();
    }
    assertThat(service.alive()).isTrue();
  }

  @Test
  void whatADeadRunLeftIsEndedAndNobodyElse() throws Exception {
    Process left = launch("sleep", "600");
    Process other = launch("sleep", "600");
    Process starter = launch("true");
    starter.waitFor();
    Path file = folder.resolve("services.pids");
    // The pid of the other one, noted with another start time: it was used again.
    Files.writeString(
        file,
        starter.pid()
            + " 2020-01-01T00:00:00Z\n"
            + left.pid()
            + " "
            + left.info().startInstant().orElseThrow()
            + "\n"
            + other.pid()
            + " 2020-01-01T00:00:00Z\n");
    assertThat(new Leftovers(file).end()).isEqualTo(1);
    assertThat(left.isAlive()).isFalse();
    assertThat(other.isAlive()).isTrue();
  }

  @Test
  void theServicesOfALivingRunAreLeftAlone() throws Exception {
    Process starter = launch("sleep", "600");
    Process service = launch("sleep", "600");
    Path file = folder.resolve("services.pids");
    new Leftovers(file).remember(List.of(service.toHandle()));
    List<String> lines = new ArrayList<>(Files.readAllLines(file));
    lines.set(0, starter.pid() + " " + starter.info().startInstant().orElseThrow());
    Files.write(file, lines);
    assertThatThrownBy(() -> new Leftovers(file).end())
        .isInstanceOf(UserError.class)
        .hasMessageContaining("Another Plumbline (process " + starter.pid() + ")");
    assertThat(service.isAlive()).isTrue();
  }
}
