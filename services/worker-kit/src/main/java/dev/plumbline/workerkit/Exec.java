package dev.plumbline.workerkit;

import java.util.OptionalInt;

/**
 * How a command ended.
 *
 * @param exit exit status, 128 + signal when a signal ended it; empty when the host did not say:
 *     neither success nor failure
 */
public record Exec(OptionalInt exit, String stdout, String stderr) {

  /** The exit status is known and 0. */
  public boolean ok() {
    return exit.isPresent() && exit.getAsInt() == 0;
  }

  /** Standard error, or standard output when that is empty, in one line for a message. */
  public String complaint() {
    String text = stderr.isBlank() ? stdout : stderr;
    String line = text.strip().replaceAll("\\s*\\n\\s*", "; ");
    String status =
        exit.isPresent() ? "exit status " + exit.getAsInt() : "the exit status is unknown";
    return line.isEmpty() ? status : line + " (" + status + ")";
  }
}
