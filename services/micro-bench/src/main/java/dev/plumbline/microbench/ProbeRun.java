package dev.plumbline.microbench;

import dev.plumbline.schemas.Json;
import dev.plumbline.schemas.command.Job;
import dev.plumbline.workerkit.HostAccess;
import dev.plumbline.workerkit.HostException;
import dev.plumbline.workerkit.RemoteJob;
import dev.plumbline.workerkit.StepContext;
import dev.plumbline.workerkit.StepFailure;
import java.io.ByteArrayInputStream;
import java.time.Duration;
import java.util.List;

/**
 * One run of the deployed probe on a host, as a job that outlives the connection: a second start
 * with the same name attaches to the first.
 */
final class ProbeRun {

  private static final Duration POLL = Duration.ofMillis(500);
  private static final int OWNER_ONLY = 0600;

  /**
   * @param trouble why it did not end well, in one sentence; null when it did
   */
  record Outcome(ProbeOutput output, String trouble) {}

  private ProbeRun() {}

  /**
   * @param python interpreter on the host
   * @param script absolute path of the probe there
   * @param limit after it the host ends the probe
   * @throws StepFailure when it was cancelled, or when its outcome is unknown
   */
  static Outcome of(
      HostAccess host,
      String python,
      String script,
      ProbeRequest request,
      Duration limit,
      StepContext context)
      throws HostException, StepFailure {
    Job job = context.job();
    String folder = host.workDir() + "/requests";
    String path = folder + "/" + job.directory() + ".json";
    host.makeDirectories(folder);
    host.write(path, new ByteArrayInputStream(Json.bytes(request)), OWNER_ONLY);
    List<String> argv =
        request.decode() == null
            ? List.of(python, "-u", script, "--request", path)
            : List.of(
                python,
                "-u",
                script,
                "--request",
                path,
                "--trace-dir",
                request.decode().traceDir());
    RemoteJob run = RemoteJob.start(host, job.directory(), argv, limit);
    ProbeOutput output = new ProbeOutput(context::progress);
    try {
      int exit = run.follow(output::accept, context::cancelled, POLL);
      return new Outcome(output, trouble(run, output, exit));
    } catch (HostException e) {
      switch (e.code()) {
        case HostException.CANCELLED ->
            throw new StepFailure("cancelled", "the probe was cancelled", false);
        case HostException.TIME_OUT -> {
          return new Outcome(
              output, "the probe did not end within %d s".formatted(limit.toSeconds()));
        }
        default -> throw e;
      }
    }
  }

  private static String trouble(RemoteJob run, ProbeOutput output, int exit) {
    if (output.error() != null) {
      return "the probe says: " + output.error();
    }
    if (exit == 0 && output.done()) {
      return null;
    }
    String words = run.stderrTail();
    return "the probe ended with status %d before it was done%s"
        .formatted(exit, words.isEmpty() ? "" : ": " + lastLine(words));
  }

  private static String lastLine(String text) {
    String line = text.strip().lines().reduce((first, second) -> second).orElse("");
    return line.length() <= 300 ? line : line.substring(0, 300) + "…";
  }
}
