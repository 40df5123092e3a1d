package dev.plumbline.workerkit;

import java.io.ByteArrayInputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import org.apache.sshd.client.channel.ChannelExec;
import org.apache.sshd.client.channel.ClientChannelEvent;
import org.apache.sshd.client.session.ClientSession;
import org.apache.sshd.sftp.client.SftpClient;
import org.apache.sshd.sftp.client.SftpClient.OpenMode;
import org.apache.sshd.sftp.client.SftpClientFactory;
import org.apache.sshd.sftp.common.SftpConstants;
import org.apache.sshd.sftp.common.SftpException;

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
  private String home;
  private SftpClient sftp;

  private SshAccess(HostEntry entry) {
    this.entry = entry;
    this.connection = new SshConnection(entry);
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
      long leftMillis = Math.max(1, (end - System.nanoTime()) / 1_000_000);
      Set<ClientChannelEvent> events =
          channel.waitFor(EnumSet.of(ClientChannelEvent.CLOSED), leftMillis);
      if (events.contains(ClientChannelEvent.TIMEOUT)) {
        throw timeOut(program, timeout, null);
      }
      OptionalInt exit = exit(channel);
      // A drop closes the channel without a status and without an exception.
      if (exit.isEmpty() && !session.isOpen()) {
        throw lost(program, null);
      }
      return new Exec(exit, CommandText.output(out.text(program)), err.text(program));
    } catch (IOException e) {
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
    ClientSession session = connection.session();
    InputStream content = files("read", path, client -> client.read(path));
    StallWatch watch = new StallWatch(SHORT, () -> connection.drop(session));
    return new FilterInputStream(content) {
      @Override
      public int read() throws IOException {
        watch.begin();
        try {
          return super.read();
        } finally {
          watch.end();
        }
      }

      @Override
      public int read(byte[] bytes, int offset, int length) throws IOException {
        watch.begin();
        try {
          return super.read(bytes, offset, length);
        } finally {
          watch.end();
        }
      }

      @Override
      public void close() throws IOException {
        try {
          super.close();
        } finally {
          watch.close();
        }
      }
    };
  }

  @Override
  public Optional<FileStat> stat(String path) throws HostException {
    try {
      SftpClient.Attributes found = files("look at", path, client -> client.stat(path));
      return Optional.of(
          new FileStat(found.getSize(), found.getPermissions() & 07777, found.isDirectory()));
    } catch (HostException e) {
      if (e.code().equals(HostException.NOT_FOUND)) {
        return Optional.empty();
      }
      throw e;
    }
  }

  @Override
  public void write(String path, InputStream content, int mode) throws HostException {
    files(
        "write",
        path,
        client -> {
          ClientSession session = client.getSession();
          try (StallWatch watch = new StallWatch(SHORT, () -> connection.drop(session));
              OutputStream out =
                  client.write(
                      path, EnumSet.of(OpenMode.Create, OpenMode.Write, OpenMode.Truncate))) {
            client.setStat(path, new SftpClient.Attributes().perms(mode));
            byte[] chunk = new byte[32 << 10];
            for (int n = content.read(chunk); n >= 0; n = content.read(chunk)) {
              watch.begin();
              out.write(chunk, 0, n);
              watch.end();
            }
            // The last chunks are written, and refused, at the close.
            watch.begin();
          }
          return null;
        });
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
  public List<String> list(String directory) throws HostException {
    return files(
        "list",
        directory,
        client -> {
          List<String> names = new ArrayList<>();
          for (SftpClient.DirEntry found : client.readDir(directory)) {
            names.add(found.getFilename());
          }
          names.removeIf(name -> name.equals(".") || name.equals(".."));
          return names.stream().sorted().toList();
        });
  }

  @Override
  public void delete(String path) throws HostException {
    Optional<FileStat> there = stat(path);
    if (there.isEmpty()) {
      return;
    }
    files(
        "delete",
        path,
        client -> {
          if (there.get().directory()) {
            client.rmdir(path);
          } else {
            client.remove(path);
          }
          return null;
        });
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

  @FunctionalInterface
  private interface FileCall<T> {
    T call(SftpClient client) throws IOException;
  }

  private <T> T files(String verb, String path, FileCall<T> call) throws HostException {
    String what = "cannot %s %s on host '%s': ".formatted(verb, path, entry.name());
    ClientSession session = connection.session();
    try (StallWatch watch = new StallWatch(SHORT, () -> connection.drop(session))) {
      // A write may last long and watches itself.
      if (!verb.equals("write")) {
        watch.begin();
      }
      return call.call(sftp(session));
    } catch (SftpException e) {
      throw refused(what, e);
    } catch (IOException e) {
      if (session.isOpen()) {
        throw new HostException(HostException.FAILED, what + e.getMessage(), true, e);
      }
      throw new HostException(
          HostException.LOST, what + "the connection was lost, it may be done in part", true, e);
    }
  }

  private synchronized SftpClient sftp(ClientSession session) throws IOException {
    if (sftp == null || !sftp.isOpen() || sftp.getSession() != session) {
      sftp = SftpClientFactory.instance().createSftpClient(session);
    }
    return sftp;
  }

  private static HostException refused(String what, SftpException e) {
    return switch (e.getStatus()) {
      case SftpConstants.SSH_FX_NO_SUCH_FILE ->
          new HostException(
              HostException.NOT_FOUND, what + "there is no such file or directory", false, e);
      case SftpConstants.SSH_FX_PERMISSION_DENIED ->
          new HostException(HostException.DENIED, what + "permission denied", false, e);
      // All that a server says of a full disk or a quota is "Failure".
      case SftpConstants.SSH_FX_FAILURE ->
          new HostException(
              HostException.FAILED,
              what
                  + "the host says only '"
                  + e.getMessage()
                  + "', as it does for a full disk or a quota: look at df there",
              false,
              e);
      default -> new HostException(HostException.FAILED, what + e.getMessage(), false, e);
    };
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
