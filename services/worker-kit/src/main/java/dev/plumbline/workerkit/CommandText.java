package dev.plumbline.workerkit;

import java.util.ArrayList;
import java.util.List;

/** What every command gets before it: a locale in which the words of tools are known. */
final class CommandText {

  /**
   * Printed before the output of a command, so that what a shell's rc files print can be told from
   * it.
   */
  static final String BEGIN = "--plumbline-output-begins--";

  private CommandText() {}

  /**
   * Some tools look at LANGUAGE before LC_ALL.
   *
   * @return the command behind {@code env}, which answers 127 for a program that does not exist
   */
  static List<String> environment(List<String> argv) {
    List<String> all = new ArrayList<>(List.of("env", "LC_ALL=C", "LANGUAGE=C"));
    all.addAll(argv);
    return all;
  }

  /** The same as one line for the login shell of an SSH host. */
  static String line(List<String> argv) {
    return "echo " + BEGIN + "; exec " + Shell.commandLine(environment(argv));
  }

  /** The output without what came before the command's own. */
  static String output(String stdout) {
    int begin = stdout.indexOf(BEGIN + "\n");
    return begin < 0 ? stdout : stdout.substring(begin + BEGIN.length() + 1);
  }
}
