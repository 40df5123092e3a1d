package dev.plumbline.workerkit;

import java.util.List;
import java.util.stream.Collectors;

/** Turns argument lists into text that a POSIX shell reads as exactly these arguments. */
public final class Shell {

  private Shell() {}

  /**
   * One argument in single quotes.
   *
   * @throws IllegalArgumentException when it holds a NUL, which no argument can
   */
  public static String quote(String argument) {
    if (argument.indexOf('\0') >= 0) {
      throw new IllegalArgumentException("an argument of a command must not hold a NUL character");
    }
    return "'" + argument.replace("'", "'\\''") + "'";
  }

  /** The arguments, each quoted, with blanks between. */
  public static String commandLine(List<String> argv) {
    return argv.stream().map(Shell::quote).collect(Collectors.joining(" "));
  }
}
