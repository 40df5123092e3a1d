package dev.plumbline.workerkit;

import dev.plumbline.workerkit.RemoteJob.State;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.OptionalInt;

/** Calls {@code job.sh} on the host for one job directory, and reads its answers. */
final class JobScript {

  private static final Duration CALL = Duration.ofSeconds(30);

  /** As in job.sh. */
  private static final int CHUNK_BYTES = 262144;

  private static final String SCRIPT = script();

  private final HostAccess host;
  private final String directory;

  JobScript(HostAccess host, String directory) {
    this.host = host;
    this.directory = directory;
  }

  /** The state, and output that was written before the state was looked at. */
  @SuppressWarnings("ArrayRecordComponent") // Never compared.
  record Look(State state, OptionalInt exit, boolean timedOut, byte[] output) {

    /** There may be more output already. */
    boolean full() {
      return output.length == CHUNK_BYTES;
    }
  }

  Look look(long from) throws HostException {
    String answer = call("look", CALL, List.of(Long.toString(from)));
    String[] parts = answer.split("\\R", 2);
    String[] words = parts[0].split(" ", -1);
    try {
      State state = State.valueOf(words[0]);
      boolean done = state == State.DONE;
      return new Look(
          state,
          done ? OptionalInt.of(Integer.parseInt(words[1])) : OptionalInt.empty(),
          done && words.length > 2,
          Base64.getMimeDecoder().decode(parts.length < 2 ? "" : parts[1]));
    } catch (IllegalArgumentException | ArrayIndexOutOfBoundsException e) {
      throw new HostException(
          HostException.FAILED,
          "the host's answer about job %s makes no sense: %s".formatted(directory, parts[0]),
          true,
          e);
    }
  }

  String call(String action, Duration timeout, List<String> arguments) throws HostException {
    List<String> argv =
        new ArrayList<>(List.of("env", "JOB_SCRIPT=" + SCRIPT, "sh", "-c", "eval \"$JOB_SCRIPT\""));
    argv.addAll(List.of("plumbline-job", action, directory));
    argv.addAll(arguments);
    Exec done = host.exec(argv, timeout);
    if (done.ok()) {
      return done.stdout();
    }
    boolean unknown = done.exit().isEmpty();
    throw new HostException(
        unknown ? HostException.LOST : HostException.FAILED,
        "cannot %s job %s on host '%s': %s"
            .formatted(action, directory, host.entry().name(), done.complaint()),
        unknown);
  }

  private static String script() {
    try (InputStream in = JobScript.class.getResourceAsStream("job.sh")) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException("job.sh is missing in the jar", e);
    }
  }
}
