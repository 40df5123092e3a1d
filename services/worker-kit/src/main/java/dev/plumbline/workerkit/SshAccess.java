package dev.plumbline.workerkit;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.sshd.client.channel.ChannelExec;
import org.apache.sshd.client.session.ClientSession;

/** A host reached by SSH: commands by exec channels, files by SFTP, each wait with a deadline. */
final class SshAccess implements HostAccess {

  private static final Duration SHORT = Duration.ofSeconds(30);
  private static final int SIGNAL_BASE = 128;
  private static final Map<String, Integer> SIGNALS =
      Map.of(
          "HUP", 1, "INT", 2, "QUIT", 3, "ILL", 4, "ABRT", 6, "FPE", 8, "KILL", 9, "SEGV", 11,
          "PIPE", 13, "TERM", 15);

  private final HostEntry entry;
  private final SshConnection connection;
  private final SftpFiles files;
  private String home;

  private SshAccess(HostEntry entry) {
    this.entry = entry;
    this.connection = new SshConnection(entry);
    this.files = new SftpFiles(entry, connection);
  }

  static SshAccess connect(HostEntry entry) throws HostException {
    SshAccess access = new SshAccess(entry);
    try {
      Exec answer = access.exec(List.of("sh", "-c", "printf '%s' \"$HOME\""), SHORT);
      if (!answer.ok() || !answer.stdout().startsWith("/")) {
        throw new HostException(
            HostException.FAILED,
            "host '%s' does not run commands as a POSIX shell does: %s"
                .formatted(entry.name(), answer.complaint()),
            false);
      }
      access.home = answer.stdout();
      return access;
    } catch (HostException e) {
      access.close();
      throw e;
    }
  }

  @Override
  public HostEntry entry() {
    return entry;
  }

  @Override
  public String home() {
    return home;
  }

  @Override
  public String workDir() {
    return WorkDir.of(entry, home);
  }

  @Override
  public Exec exec(List<String> argv, Duration timeout) throws HostException {
    return exec(argv, null, timeout);
  }

  @Override
  public Exec exec(List<String> argv, byte[] stdin, Duration timeout) throws HostException {
    String program = argv.getFirst();
    String line = CommandText.line(argv) + (stdin == null ? " </dev/null" : "");
    long end = System.nanoTime() + timeout.toNanos();
    ClientSession session = connection.session();
    BoundedOutput out = new BoundedOutput();
    BoundedOutput err = new BoundedOutput();
    ChannelExec channel = null;
    try {
      channel = session.createExecChannel(line);
      channel.setOut(out);
      channel.setErr(err);
      if (stdin != null) {
        channel.setIn(new ByteArrayInputStream(stdin));
      }
      channel.open().verify(timeout);
      // Not channel.waitFor: it swallows an interrupt and waits on.
      CountDownLatch closed = new CountDownLatch(1);
      channel.addCloseFutureListener(future -> closed.countDown());
      if (!closed.await(Math.max(1, end - System.nanoTime()), TimeUnit.NANOSECONDS)) {
        throw timeOut(program, timeout, null);
      }
      OptionalInt exit = exit(channel);
      // A drop closes the channel without a status and without an exception.
      if (exit.isEmpty() && !session.isOpen()) {
        throw lost(program, null);
      }
      return new Exec(exit, CommandText.output(out.text(program)), err.text(program));
    } catch (InterruptedException e) {
      throw SshConnection.interrupted(program, e);
    } catch (IOException e) {
      if (e instanceof InterruptedIOException) {
        throw SshConnection.interrupted(program, e);
      }
      if (!session.isOpen()) {
        throw lost(program, e);
      }
      if (System.nanoTime() >= end) {
        throw timeOut(program, timeout, e);
      }
      throw new HostException(
          HostException.FAILED,
          "cannot run %s on host '%s': %s".formatted(program, entry.name(), e.getMessage()),
          true,
          e);
    } finally {
      if (channel != null) {
        channel.close(true);
      }
    }
  }

  private static OptionalInt exit(ChannelExec channel) {
    if (channel.getExitStatus() != null) {
      return OptionalInt.of(channel.getExitStatus());
    }
    return channel.getExitSignal() == null
        ? OptionalInt.empty()
        : OptionalInt.of(SIGNAL_BASE + SIGNALS.getOrDefault(channel.getExitSignal(), 0));
  }

  @Override
  public InputStream read(String path) throws HostException {
    return files.read(path);
  }

  @Override
  public Optional<FileStat> stat(String path) throws HostException {
    return files.stat(path);
  }

  @Override
  public void write(String path, InputStream content, int mode) throws HostException {
    files.write(path, content, mode);
  }

  @Override
  public List<String> list(String directory) throws HostException {
    return files.list(directory);
  }

  @Override
  public void delete(String path) throws HostException {
    files.delete(path);
  }

  @Override
  public void rename(String from, String to) throws HostException {
    // SFTP version 3 cannot rename over a file; mv does rename(2).
    change("rename", from, List.of("mv", "-f", "-T", "--", from, to));
  }

  @Override
  public void makeDirectories(String path) throws HostException {
    change("make the directory", path, List.of("mkdir", "-p", "--", path));
  }

  @Override
  public void close() {
    connection.close();
  }

  private void change(String verb, String path, List<String> argv) throws HostException {
    Exec done = exec(argv, SHORT);
    if (!done.ok()) {
      String words = done.complaint();
      throw new HostException(
          words.contains("No such file")
              ? HostException.NOT_FOUND
              : words.contains("Permission denied") ? HostException.DENIED : HostException.FAILED,
          "cannot %s %s on host '%s': %s".formatted(verb, path, entry.name(), words),
          done.exit().isEmpty());
    }
  }

  private HostException timeOut(String program, Duration timeout, Throwable cause) {
    return new HostException(
        HostException.TIME_OUT,
        "%s on host '%s' gave no answer within %d ms; it may still be running"
            .formatted(program, entry.name(), timeout.toMillis()),
        true,
        cause);
  }

  private HostException lost(String program, Throwable cause) {
    return new HostException(
        HostException.LOST,
        "the connection to host '%s' was lost while %s ran: how it ended is unknown"
            .formatted(entry.name(), program),
        true,
        cause);
  }
}
