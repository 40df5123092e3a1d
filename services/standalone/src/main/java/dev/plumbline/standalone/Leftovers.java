package dev.plumbline.standalone;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

/**
 * The processes that a Plumbline on this data folder has started, in a file: one that was killed
 * could not end them, and they would hold ports and consumer groups against its successor. A
 * process is known by pid and start time, since pids are used again.
 */
record Leftovers(Path file) {

  private static final Duration PATIENCE = Duration.ofSeconds(10);

  /** Writes down who runs now, the starter first. */
  void remember(List<ProcessHandle> started) throws IOException {
    List<String> lines = new ArrayList<>();
    lines.add(line(ProcessHandle.current()));
    started.forEach(process -> lines.add(line(process)));
    Path part = file.resolveSibling(file.getFileName() + ".part");
    Files.write(part, lines);
    Files.move(part, file, StandardCopyOption.REPLACE_EXISTING);
  }

  /**
   * Ends what a dead starter left behind.
   *
   * @return how many there were
   * @throws UserError when the starter lives: the data folder is its own
   */
  int end() throws IOException {
    if (!Files.exists(file)) {
      return 0;
    }
    List<String> lines = Files.readAllLines(file);
    Optional<ProcessHandle> starter = lines.stream().limit(1).flatMap(Leftovers::alive).findFirst();
    if (starter.isPresent() && starter.get().pid() != ProcessHandle.current().pid()) {
      throw UserError.badInput(
          "Another Plumbline (process %d) runs its services on this data folder; choose another with --data."
              .formatted(starter.get().pid()));
    }
    List<ProcessHandle> left = lines.stream().skip(1).flatMap(Leftovers::alive).toList();
    left.forEach(ProcessHandle::destroyForcibly);
    left.forEach(Leftovers::awaitEnd);
    return left.size();
  }

  private static void awaitEnd(ProcessHandle process) {
    try {
      process.onExit().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    } catch (TimeoutException | ExecutionException e) {
      System.err.println("Process " + process.pid() + " of an earlier run does not end.");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static String line(ProcessHandle process) {
    return process.pid() + " " + process.info().startInstant().map(Instant::toString).orElse("-");
  }

  /** The process of a line, if it is still the same one. */
  private static Stream<ProcessHandle> alive(String line) {
    String pid = line.replaceFirst(" .*", "");
    return pid.matches("[0-9]{1,18}")
        ? ProcessHandle.of(Long.parseLong(pid)).filter(p -> line(p).equals(line)).stream()
        : Stream.empty();
  }
}
