package dev.plumbline.workerkit;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A long command on a host that outlives the connection: it has a directory of its own, which is
 * claimed in one step, and is found again by the directory's name. The protocol is in {@code
 * job.sh}; the host needs {@code sh}, {@code setsid}, {@code flock} and a Linux {@code /proc}.
 *
 * <p>The command's standard input is empty and its working directory is the job's.
 */
public final class RemoteJob {

  /** What is known of a job. */
  public enum State {
    NOT_FOUND,
    /** The directory is there; nothing was started in it, yet or ever. */
    CLAIMED,
    RUNNING,
    /** Whoever would write the exit status is gone, the command is not. */
    ORPHANED,
    /** The exit status is known. */
    DONE,
    /** It ended and nobody knows how: neither success nor failure. */
    LOST,
    CANCELLED
  }

  private static final Duration CALL = Duration.ofSeconds(30);
  private static final Duration CANCEL_CALL = Duration.ofSeconds(60);
  private static final Duration START_WINDOW = Duration.ofSeconds(20);
  private static final Duration GRACE = Duration.ofSeconds(60);
  private static final int START_TRIES = 3;
  private static final int CANCEL_TRIES = 4;
  private static final int STDERR_BYTES = 4000;

  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9._-]*");
  private static final Pattern ATTEMPT = Pattern.compile("(.+)-([0-9]{1,4})");

  private final HostAccess host;
  private final String directory;
  private final JobScript script;
  private final Duration limit;
  private final ByteArrayOutputStream line = new ByteArrayOutputStream();
  private long offset;
  private OptionalInt exit = OptionalInt.empty();
  private boolean timedOut;

  private RemoteJob(HostAccess host, String directory, Duration limit) {
    this.host = host;
    this.directory = directory;
    this.script = new JobScript(host, directory);
    this.limit = limit;
  }

  /**
   * Starts the command in {@code <workDir>/runs/<name>}, or attaches to it when the directory is
   * there already. When the name ends in {@code -N}, what still runs of the attempts before N is
   * ended first: two attempts must not share the GPUs.
   *
   * @param argv absolute program and arguments, passed as they are
   * @param limit enforced on the host itself, even when nobody connects any more
   */
  public static RemoteJob start(
      HostAccess host, String jobDirectoryName, List<String> argv, Duration limit)
      throws HostException {
    if (!NAME.matcher(jobDirectoryName).matches()) {
      throw new HostException(
          HostException.FAILED,
          "'" + jobDirectoryName + "' is not fit as the name of a directory: use A-Z a-z 0-9 . _ -",
          false);
    }
    endOlderAttempts(host, jobDirectoryName);
    RemoteJob job = new RemoteJob(host, path(host, jobDirectoryName), limit);
    List<String> arguments = new ArrayList<>();
    arguments.add(Long.toString(Math.max(1, limit.toSeconds())));
    arguments.addAll(argv);
    // Claimed by name: when the answer is lost, asking again attaches.
    for (int attempt = 1; ; attempt++) {
      try {
        job.script.call("start", CALL, arguments);
        return job;
      } catch (HostException e) {
        if (!e.retryable() || attempt == START_TRIES) {
          throw e;
        }
      }
    }
  }

  /** Absolute path of the job's directory on the host. */
  public String directory() {
    return directory;
  }

  /** Looks once. */
  public State state() throws HostException {
    // An offset beyond any file: no output comes along.
    return look(Long.MAX_VALUE / 2).state();
  }

  /** The exit status as last seen; 124 when the limit ended it; empty while it is not known. */
  public OptionalInt exit() {
    return exit;
  }

  /**
   * Reads the output from where the last call stopped, line by line, until the job has ended.
   * Connections that are lost on the way are made anew.
   *
   * @param stdoutLine gets each line, without its end, exactly once
   * @param cancelled asked at each poll; true cancels the job
   * @return the exit status
   * @throws HostException {@code cancelled}; {@code time-out} when the job's limit ended it; {@code
   *     lost} when its outcome is unknown
   */
  public int follow(Consumer<String> stdoutLine, BooleanSupplier cancelled, Duration poll)
      throws HostException {
    long begin = System.nanoTime();
    long giveUp = begin + limit.plus(GRACE).toNanos();
    while (true) {
      if (cancelled.getAsBoolean() || Thread.currentThread().isInterrupted()) {
        throw cancelAndSay();
      }
      Optional<JobScript.Look> seen = tryLook(giveUp);
      seen.ifPresent(look -> deliver(look.output(), stdoutLine));
      boolean more = seen.isPresent() && seen.get().full();
      if (seen.isPresent() && !more && ended(seen.get().state(), System.nanoTime() - begin)) {
        if (line.size() > 0) {
          deliverRest(stdoutLine);
        }
        return exit.getAsInt();
      }
      if (!more) {
        pause(poll);
      }
    }
  }

  /**
   * Ends every process of the job, first by SIGTERM, after 10 s by SIGKILL, and returns when none
   * is left. A job that is done or absent stays as it is; one that was claimed will not start.
   *
   * @throws HostException {@code failed} when processes are left, which are named
   */
  public void cancel() throws HostException {
    for (int attempt = 1; ; attempt++) {
      try {
        script.call("cancel", CANCEL_CALL, List.of());
        return;
      } catch (HostException e) {
        if (!isConnection(e) || attempt == CANCEL_TRIES) {
          throw e;
        }
        pause(Duration.ofSeconds(attempt));
      }
    }
  }

  /** The end of what the command wrote to standard error, for a message. */
  public String stderrTail() {
    try {
      return host.exec(
              List.of("tail", "-c", Integer.toString(STDERR_BYTES), "--", directory + "/stderr"),
              CALL)
          .stdout()
          .strip();
    } catch (HostException e) {
      return "(its standard error cannot be read: " + e.getMessage() + ")";
    }
  }

  private boolean ended(State state, long nanosSinceBegin) throws HostException {
    switch (state) {
      case RUNNING, ORPHANED -> {
        return false;
      }
      case CLAIMED -> {
        if (nanosSinceBegin < START_WINDOW.toNanos()) {
          return false;
        }
        throw lost("was claimed but never started");
      }
      case NOT_FOUND -> throw lost("is gone from the host");
      case LOST -> throw lost("ended without leaving its exit status");
      case CANCELLED ->
          throw new HostException(
              HostException.CANCELLED, "job " + directory + " was cancelled", false);
      case DONE -> {
        if (timedOut) {
          throw new HostException(
              HostException.TIME_OUT,
              "job %s was ended at its limit of %d s".formatted(directory, limit.toSeconds()),
              true);
        }
        return true;
      }
    }
    throw new AssertionError(state);
  }

  private HostException cancelAndSay() throws HostException {
    // A pending interrupt would end the very call that cancels.
    boolean interrupted = Thread.interrupted();
    try {
      cancel();
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
    return new HostException(HostException.CANCELLED, "job " + directory + " was cancelled", false);
  }

  /** Empty when the connection failed and there is still time to make a new one. */
  private Optional<JobScript.Look> tryLook(long giveUpNanos) throws HostException {
    try {
      return Optional.of(look(offset));
    } catch (HostException e) {
      if (Thread.currentThread().isInterrupted()) {
        return Optional.empty();
      }
      if (!isConnection(e) || System.nanoTime() - giveUpNanos > 0) {
        throw e;
      }
      return Optional.empty();
    }
  }

  private JobScript.Look look(long from) throws HostException {
    JobScript.Look seen = script.look(from);
    exit = seen.exit();
    timedOut = seen.timedOut();
    return seen;
  }

  private void deliver(byte[] output, Consumer<String> stdoutLine) {
    int begin = 0;
    for (int i = 0; i < output.length; i++) {
      if (output[i] == '\n') {
        line.write(output, begin, i - begin);
        begin = i + 1;
        deliverRest(stdoutLine);
      }
    }
    line.write(output, begin, output.length - begin);
    offset += output.length;
  }

  private void deliverRest(Consumer<String> stdoutLine) {
    String text = line.toString(StandardCharsets.UTF_8);
    line.reset();
    stdoutLine.accept(text);
  }

  private HostException lost(String what) {
    return new HostException(HostException.LOST, "job " + directory + " " + what, true);
  }

  private static void endOlderAttempts(HostAccess host, String name) throws HostException {
    Matcher attempt = ATTEMPT.matcher(name);
    if (!attempt.matches()) {
      return;
    }
    for (int older = 1; older < Integer.parseInt(attempt.group(2)); older++) {
      new RemoteJob(host, path(host, attempt.group(1) + "-" + older), Duration.ZERO).cancel();
    }
  }

  private static String path(HostAccess host, String name) {
    return host.workDir() + "/runs/" + name;
  }

  private static boolean isConnection(HostException e) {
    return switch (e.code()) {
      case HostException.LOST, HostException.UNREACHABLE, HostException.TIME_OUT -> e.retryable();
      default -> false;
    };
  }

  private static void pause(Duration time) {
    try {
      Thread.sleep(time);
    } catch (InterruptedException e) {
      // Seen at the next look at the cancellation.
      Thread.currentThread().interrupt();
    }
  }
}
