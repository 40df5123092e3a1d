package dev.plumbline.standalone;

import dev.plumbline.traceanalysis.ReadProgress;
import java.io.PrintStream;
import java.time.Duration;

/**
 * Says on standard error how far the reading of traces is: a line that is rewritten on a terminal,
 * a line every ten seconds elsewhere. What is read in half a second says nothing.
 */
final class ReadingLine implements AutoCloseable {

  private static final String ERASE = "\r\u001b[K";
  private static final Duration ON_TERMINAL = Duration.ofMillis(500);
  private static final Duration ELSEWHERE = Duration.ofSeconds(10);

  private final Thread thread;

  private ReadingLine(Thread thread) {
    this.thread = thread;
  }

  /** To standard error, as the launcher says it is. */
  static ReadingLine start(ReadProgress progress) {
    return start(progress, System.err, "1".equals(System.getenv("PLUMBLINE_TTY")));
  }

  static ReadingLine start(ReadProgress progress, PrintStream out, boolean terminal) {
    return new ReadingLine(
        Thread.ofVirtual().start(() -> show(progress, out, terminal, System.nanoTime())));
  }

  private static void show(ReadProgress progress, PrintStream out, boolean terminal, long startNs) {
    boolean drawn = false;
    try {
      while (true) {
        Thread.sleep(terminal ? ON_TERMINAL : ELSEWHERE);
        String line = progress.line(Duration.ofNanos(System.nanoTime() - startNs));
        if (terminal) {
          out.print(ERASE + line);
          out.flush();
          drawn = true;
        } else {
          out.println(line);
        }
      }
    } catch (InterruptedException done) {
      if (drawn) {
        out.print(ERASE);
        out.flush();
      }
    }
  }

  /** Ends and erases the line; what is printed next starts on a line of its own. */
  @Override
  public void close() {
    thread.interrupt();
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
