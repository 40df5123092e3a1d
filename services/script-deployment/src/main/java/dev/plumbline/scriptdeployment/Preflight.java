package dev.plumbline.scriptdeployment;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.plumbline.scriptdeployment.ScriptSource.Script;
import dev.plumbline.workerkit.Exec;
import dev.plumbline.workerkit.HostAccess;
import dev.plumbline.workerkit.HostException;
import dev.plumbline.workerkit.StepFailure;
import java.time.Duration;
import java.util.List;

/**
 * Proves that a deployed script can run on the host before anybody depends on it: interpreter,
 * syntax and, where the script knows {@code --self-test}, its imports.
 */
final class Preflight {

  /** Importing torch from a cold disk takes its time. */
  private static final Duration SELF_TEST = Duration.ofMinutes(2);

  private static final Duration CALL = Duration.ofSeconds(30);
  private static final int ANSWER_CHARACTERS = 300;

  /** Leaves no __pycache__ behind, as py_compile would. */
  private static final String PARSE =
      "import ast,sys;ast.parse(open(sys.argv[1],'rb').read(),sys.argv[1]);"
          + "print('syntax good for python '+sys.version.split()[0])";

  private final HostAccess host;

  Preflight(HostAccess host) {
    this.host = host;
  }

  /**
   * Runs the check that fits the script.
   *
   * @return what the script or the interpreter said, one line; null for a kind of script that
   *     cannot be checked without running it
   * @throws StepFailure when it cannot run there
   */
  String check(Script script, String path) throws HostException, StepFailure {
    if (script.name().endsWith(".sh")) {
      return answer(script, List.of(interpreter("sh"), "-n", path), CALL);
    }
    if (!script.name().endsWith(".py")) {
      return null;
    }
    String python = interpreter(host.entry().python());
    boolean testsItself = new String(script.content(), UTF_8).contains("--self-test");
    return testsItself
        ? answer(script, List.of(python, path, "--self-test"), SELF_TEST)
        : answer(script, List.of(python, "-c", PARSE, path), CALL);
  }

  private String answer(Script script, List<String> argv, Duration limit)
      throws HostException, StepFailure {
    Exec done = host.exec(argv, limit);
    if (!done.ok()) {
      throw new StepFailure(
          "refused",
          "script '%s' does not run on host '%s' by %s: %s"
              .formatted(
                  script.name(), host.entry().name(), argv.getFirst(), shorten(done.complaint())),
          done.exit().isEmpty());
    }
    String said = done.stdout().strip();
    return (said.isEmpty() ? "syntax good" : shorten(said.lines().findFirst().orElseThrow()))
        + " ("
        + argv.getFirst()
        + ")";
  }

  /** Absolute, so that the one that was checked is the one that is meant. */
  private String interpreter(String program) throws HostException, StepFailure {
    Exec found = host.exec(List.of("sh", "-c", "command -v -- \"$1\"", "sh", program), CALL);
    String path = found.stdout().strip();
    if (!found.ok() || !path.startsWith("/")) {
      throw new StepFailure(
          "refused",
          "host '%s' has no interpreter '%s': install it, or name one by 'python' in the host inventory"
              .formatted(host.entry().name(), program),
          false);
    }
    return path;
  }

  private static String shorten(String text) {
    return text.length() <= ANSWER_CHARACTERS
        ? text
        : "…" + text.substring(text.length() - ANSWER_CHARACTERS);
  }
}
