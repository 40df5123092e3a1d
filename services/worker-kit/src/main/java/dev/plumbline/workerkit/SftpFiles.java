package dev.plumbline.workerkit;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import org.apache.sshd.client.session.ClientSession;
import org.apache.sshd.sftp.client.SftpClient;
import org.apache.sshd.sftp.client.SftpClient.OpenMode;
import org.apache.sshd.sftp.client.SftpClientFactory;
import org.apache.sshd.sftp.common.SftpConstants;
import org.apache.sshd.sftp.common.SftpException;

/** The files of a host over SFTP, whose calls have no deadline of their own. */
final class SftpFiles {

  private static final Duration SHORT = Duration.ofSeconds(30);

  private final HostEntry entry;
  private final SshConnection connection;
  private SftpClient sftp;

  SftpFiles(HostEntry entry, SshConnection connection) {
    this.entry = entry;
    this.connection = connection;
  }

  InputStream read(String path) throws HostException {
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

  Optional<FileStat> stat(String path) throws HostException {
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

  void write(String path, InputStream content, int mode) throws HostException {
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

  List<String> list(String directory) throws HostException {
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

  void delete(String path) throws HostException {
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
    } catch (UncheckedIOException e) {
      throw failed(what, session, e.getCause());
    } catch (IOException e) {
      throw failed(what, session, e);
    }
  }

  private static HostException failed(String what, ClientSession session, IOException e) {
    if (e instanceof SftpException told) {
      return refused(what, told);
    }
    if (e instanceof InterruptedIOException) {
      return SshConnection.interrupted(what, e);
    }
    return session.isOpen()
        ? new HostException(HostException.FAILED, what + e.getMessage(), true, e)
        : new HostException(
            HostException.LOST, what + "the connection was lost, it may be done in part", true, e);
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
}
