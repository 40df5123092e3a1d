package dev.plumbline.gpulifecycle;

import dev.plumbline.workerkit.Exec;
import dev.plumbline.workerkit.HostAccess;
import dev.plumbline.workerkit.HostException;
import dev.plumbline.workerkit.StepFailure;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;

/** Runs {@code lifecycle.sh} on a host; the file explains its verbs. */
final class HostScript {

  private static final OptionalInt REFUSED = OptionalInt.of(44);
  private static final String RESOURCE = "/gpu-lifecycle/lifecycle.sh";

  private HostScript() {}

  static byte[] text() {
    try (InputStream in = HostScript.class.getResourceAsStream(RESOURCE)) {
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + RESOURCE + " of this program", e);
    }
  }

  /**
   * Runs one verb; the script travels on standard input, so nothing need lie on the host.
   *
   * @return what it printed
   * @throws StepFailure with code {@code refused} when the fence or the guard said no
   */
  static String run(HostAccess host, Duration timeout, List<String> arguments)
      throws HostException, StepFailure {
    return run(host, timeout, arguments.getFirst(), arguments);
  }

  /**
   * @param what how a message calls it
   */
  static String run(HostAccess host, Duration timeout, String what, List<String> arguments)
      throws HostException, StepFailure {
    List<String> argv = new ArrayList<>(List.of("sh", "-s", "--"));
    argv.addAll(arguments);
    return answer(host, what, host.exec(argv, text(), timeout));
  }

  /** Reads the outcome of a verb. */
  static String answer(HostAccess host, String verb, Exec exec) throws HostException, StepFailure {
    String where = "host " + host.entry().name();
    if (exec.ok()) {
      return exec.stdout().strip();
    }
    if (exec.exit().equals(REFUSED)) {
      throw new StepFailure("refused", where + " refused: " + exec.stdout().strip(), false);
    }
    if (exec.exit().isEmpty()) {
      throw new HostException(
          "lost", "the outcome of `" + verb + "` on " + where + " is unknown", true);
    }
    throw new HostException(
        "failed",
        "`"
            + verb
            + "` on "
            + where
            + " failed with status "
            + exec.exit().getAsInt()
            + ": "
            + (exec.stderr() + " " + exec.stdout()).strip(),
        true);
  }
}
