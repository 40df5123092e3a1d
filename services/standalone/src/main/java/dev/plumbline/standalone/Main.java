package dev.plumbline.standalone;

import io.quarkus.runtime.annotations.QuarkusMain;
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
    System.exit(commandLine().execute(args.length == 0 ? new String[] {"help"} : args));
  }

  /**
   * The command line with the project's manners: one sentence for a user's mistake, never a stack
   * trace.
   */
  static CommandLine commandLine() {
    return new CommandLine(new Main())
        .setParameterExceptionHandler(Main::usage)
        .setExecutionExceptionHandler((e, line, result) -> failed(e));
  }

  private static int usage(ParameterException e, String[] args) {
    CommandLine line = e.getCommandLine();
    line.getErr().println(e.getMessage());
    CommandLine.UnmatchedArgumentException.printSuggestions(e, line.getErr());
    line.getErr().println("Try `plumbline help " + topCommand(line) + "`.");
    return USAGE;
  }

  private static String topCommand(CommandLine line) {
    CommandLine command = line;
    while (command.getParent() != null && command.getParent().getParent() != null) {
      command = command.getParent();
    }
    return command.getParent() == null ? "" : command.getCommandName();
  }

  private static int failed(Exception e) {
    if (e instanceof UserError mistake) {
      System.err.println(mistake.getMessage());
      return mistake.exitCode();
    }
    if (e instanceof InterruptedException) {
      return INTERRUPTED;
    }
    System.err.println("Internal error: " + e + " (please report it, with this:)");
    e.printStackTrace(System.err);
    return FAILED;
  }
}
