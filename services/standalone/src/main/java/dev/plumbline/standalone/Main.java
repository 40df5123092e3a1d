package dev.plumbline.standalone;

import io.quarkus.runtime.annotations.QuarkusMain;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ParameterException;

/**
 * The command line. Machine output goes to standard output, everything else to standard error. Exit
 * codes: 0 done, 1 failed, 2 usage or bad input, 3 inconclusive, 130 interrupted.
 */
@QuarkusMain
@Command(
    name = "plumbline",
    description =
        "Finds what limits a served large language model, from one request to a verdict with evidence.",
    mixinStandardHelpOptions = true,
    version = "plumbline 0.1.0",
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {
      DemoCommand.class,
      ServeCommand.class,
      RunCommand.class,
      AnalyzeCommand.class,
      LoadCommand.class,
      HostsCommand.class,
      CampaignCommands.Status.class,
      CampaignCommands.Watch.class,
      CampaignCommands.Report.class,
      CampaignCommands.Cancel.class,
      CommandLine.HelpCommand.class
    },
    footer = {"", "`plumbline test` runs all tests, as CI does."})
public final class Main {

  static final int DONE = 0;
  static final int FAILED = 1;
  static final int USAGE = 2;
  static final int INCONCLUSIVE = 3;
  static final int INTERRUPTED = 130;

  private Main() {}

  public static void main(String... args) {
    System.exit(commandLine().execute(arguments(args)));
  }

  /** What is meant: help without a command, and {@code help hosts inspect} below one. */
  static String[] arguments(String... args) {
    if (args.length == 0) {
      return new String[] {"help"};
    }
    if (args.length > 2 && args[0].equals("help")) {
      String[] asked = Arrays.copyOfRange(args, 1, args.length + 1);
      asked[asked.length - 1] = "--help";
      return asked;
    }
    return args;
  }

  /**
   * The command line with the project's manners: one sentence for a user's mistake, never a stack
   * trace.
   */
  static CommandLine commandLine() {
    return new CommandLine(new Main())
        .setParameterExceptionHandler(Main::usage)
        .setExecutionExceptionHandler((e, line, result) -> failed(e, line.getErr()));
  }

  private static int usage(ParameterException e, String[] args) {
    CommandLine line = e.getCommandLine();
    line.getErr().println(e.getMessage());
    CommandLine.UnmatchedArgumentException.printSuggestions(e, line.getErr());
    line.getErr().println("Try `" + line.getCommandSpec().qualifiedName() + " --help`.");
    return USAGE;
  }

  private static int failed(Exception e, PrintWriter err) {
    if (e instanceof UserError mistake) {
      err.println(mistake.getMessage());
      return mistake.exitCode();
    }
    if (e instanceof InterruptedException) {
      return INTERRUPTED;
    }
    err.println("Internal error: " + e + " Please report it, with " + kept(e) + ".");
    return FAILED;
  }

  /** Where the stack trace lies: it helps who repairs, not who reads the screen. */
  private static String kept(Exception e) {
    try {
      Path file = Files.createTempFile("plumbline-error", ".txt");
      try (PrintWriter out = new PrintWriter(Files.newBufferedWriter(file))) {
        e.printStackTrace(out);
      }
      return file.toString();
    } catch (IOException full) {
      return "what you did";
    }
  }
}
