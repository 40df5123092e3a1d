package dev.plumbline.standalone;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** One service's process: started again when it ends, unless it ends too often. */
final class SupervisedProcess {

  /** More restarts than this within {@link #WITHIN} would not help. */
  static final int RESTARTS = 5;

  static final Duration WITHIN = Duration.ofMinutes(10);

  /** Before the first restart; doubles with each further one within {@link #WITHIN}. */
  private static final Duration PAUSE = Duration.ofSeconds(1);

  private static final Duration PATIENCE = Duration.ofSeconds(15);

  /** Starts the service. */
  @FunctionalInterface
  interface Launcher {
    Process launch() throws IOException;
  }

  private final String name;
  private final Path log;
  private final Launcher launcher;
  private final Consumer<String> say;
  private final Deque<Instant> ends = new ArrayDeque<>();
  private Process process;
  private Instant startAt;

  SupervisedProcess(String name, Path log, Launcher launcher, Consumer<String> say)
      throws IOException {
    this.name = name;
    this.log = log;
    this.launcher = launcher;
    this.say = say;
    this.process = launcher.launch();
  }

  String name() {
    return name;
  }

  Path log() {
    return log;
  }

  ProcessHandle handle() {
    return process.toHandle();
  }

  boolean alive() {
    return process.isAlive();
  }

  /**
   * Looks after it.
   *
   * @return false when it has ended too often
   */
  boolean tend(Instant now) throws IOException {
    if (process.isAlive()) {
      return true;
    }
    if (startAt == null) {
      ends.removeIf(end -> end.plus(WITHIN).isBefore(now));
      ends.add(now);
      String ended = "Service %s ended with exit code %d".formatted(name, process.exitValue());
      if (ends.size() > RESTARTS) {
        say.accept(
            "%s, for the %dth time within %d minutes; see %s."
                .formatted(ended, ends.size(), WITHIN.toMinutes(), log));
        return false;
      }
      Duration pause = PAUSE.multipliedBy(1L << (ends.size() - 1));
      startAt = now.plus(pause);
      say.accept(
          "%s; it is started again in %d s; see %s.".formatted(ended, pause.toSeconds(), log));
    }
    if (!now.isBefore(startAt)) {
      startAt = null;
      process = launcher.launch();
    }
    return true;
  }

  /** Asks it to end. */
  void end() {
    process.destroy();
  }

  /** Waits for its end for a while, then forces it. */
  void awaitEnd() {
    try {
      if (!process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
