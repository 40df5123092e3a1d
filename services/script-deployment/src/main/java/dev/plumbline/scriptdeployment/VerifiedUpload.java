package dev.plumbline.scriptdeployment;

import dev.plumbline.workerkit.Exec;
import dev.plumbline.workerkit.FileStat;
import dev.plumbline.workerkit.HostAccess;
import dev.plumbline.workerkit.HostException;
import dev.plumbline.workerkit.StepFailure;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;

/**
 * Puts a file on a host so that readers see the old one or the new one, never a part of one, and so
 * that it is the right one: a full disk may leave all the bytes, with other content.
 */
final class VerifiedUpload {

  /** Owner only: the script is run by nobody else. */
  static final int MODE = 0700;

  private static final Duration CALL = Duration.ofSeconds(30);

  /** Room for the part beside the old file, and for what else writes there. */
  private static final long SPARE_BYTES = 1 << 20;

  /** Refuses what somebody may have planted. */
  private static final String PREPARE =
      """
      umask 077
      mkdir -p -- "$1" || exit 73
      if [ -L "$1" ]; then echo "it is a symbolic link" >&2; exit 77; fi
      if [ ! -O "$1" ]; then echo "it belongs to another user" >&2; exit 77; fi
      chmod 700 -- "$1"
      """;

  private final HostAccess host;
  private final String directory;

  VerifiedUpload(HostAccess host, String directory) {
    this.host = host;
    this.directory = directory;
  }

  /** Makes the directory for the owner alone. */
  void prepare() throws HostException, StepFailure {
    Exec done = host.exec(List.of("sh", "-c", PREPARE, "sh", directory), CALL);
    if (!done.ok()) {
      throw new StepFailure(
          "refused",
          "the directory %s on host '%s' cannot be used: %s"
              .formatted(directory, host.entry().name(), done.complaint()),
          done.exit().isEmpty());
    }
  }

  /**
   * Uploads, or finds that the very same file is there.
   *
   * @param owner makes the name of the part unique; an attempt finds and replaces its own
   * @return the absolute path on the host
   */
  String put(String name, byte[] content, String owner) throws HostException, StepFailure {
    String path = directory + "/" + name;
    String sha256 = sha256(content);
    if (isThere(path, content.length, sha256)) {
      return path;
    }
    checkSpace(content.length);
    String part = directory + "/." + name + "." + owner + ".part";
    try {
      host.write(part, new ByteArrayInputStream(content), MODE);
      verify(part, content.length, sha256);
      host.rename(part, path);
    } catch (HostException | StepFailure e) {
      discard(part, e);
      throw e;
    }
    verify(path, content.length, sha256);
    return path;
  }

  static String sha256(byte[] content) {
    return HexFormat.of().formatHex(digest().digest(content));
  }

  private boolean isThere(String path, long bytes, String sha256) throws HostException {
    Optional<FileStat> found = host.stat(path);
    return found.isPresent()
        && found.get().equals(new FileStat(bytes, MODE, false))
        && hashOnHost(path).equals(sha256);
  }

  private void verify(String path, long bytes, String sha256) throws HostException, StepFailure {
    FileStat found =
        host.stat(path)
            .orElseThrow(() -> wrong(path, "it is not there, somebody removed it meanwhile"));
    if (found.bytes() != bytes) {
      throw wrong(path, "it has %d bytes instead of %d".formatted(found.bytes(), bytes));
    }
    String hash = hashOnHost(path);
    if (!hash.equals(sha256)) {
      throw wrong(path, "its SHA-256 is %s instead of %s".formatted(hash, sha256));
    }
    if (found.mode() != MODE) {
      throw wrong(path, "its mode is %o instead of %o".formatted(found.mode(), MODE));
    }
  }

  private StepFailure wrong(String path, String what) {
    return new StepFailure(
        "failed",
        "the upload of %s to host '%s' went wrong: %s; the disk may be full"
            .formatted(path, host.entry().name(), what),
        true);
  }

  /** By the host itself; where it has no sha256sum, by reading the file back. */
  private String hashOnHost(String path) throws HostException {
    Exec done = host.exec(List.of("sha256sum", "-b", path), CALL);
    // A name with a backslash or a line break makes the line begin with a backslash.
    String line = done.stdout().startsWith("\\") ? done.stdout().substring(1) : done.stdout();
    if (done.ok() && line.length() >= 64) {
      return line.substring(0, 64);
    }
    MessageDigest digest = digest();
    try (InputStream in = new DigestInputStream(host.read(path), digest)) {
      in.transferTo(java.io.OutputStream.nullOutputStream());
    } catch (IOException e) {
      throw new HostException(
          HostException.LOST,
          "cannot read back %s from host '%s': %s"
              .formatted(path, host.entry().name(), e.getMessage()),
          true,
          e);
    }
    return HexFormat.of().formatHex(digest.digest());
  }

  /** SFTP says of a full disk only "Failure". */
  private void checkSpace(long bytes) throws HostException, StepFailure {
    long needed = 2 * bytes + SPARE_BYTES;
    long free = 1024 * available(List.of("df", "-P", "-k", directory));
    if (free < needed) {
      throw new StepFailure(
          "refused",
          "host '%s' has %d bytes free for %s, needed are %d: make room there"
              .formatted(host.entry().name(), free, directory, needed),
          false);
    }
    if (available(List.of("df", "-P", "-i", directory)) < 2) {
      throw new StepFailure(
          "refused",
          "host '%s' has no free inodes for %s: delete files there"
              .formatted(host.entry().name(), directory),
          false);
    }
  }

  /** The column "available" of df; a file system that does not count says "-" or 0 of 0. */
  private long available(List<String> df) throws HostException {
    Exec done = host.exec(df, CALL);
    String[] lines = done.stdout().split("\\R", -1);
    String[] columns = lines.length < 2 ? new String[0] : lines[1].trim().split("\\s+", -1);
    if (!done.ok() || columns.length < 4) {
      throw new HostException(
          HostException.FAILED,
          "%s on host '%s' does not say what is free: %s"
              .formatted(String.join(" ", df), host.entry().name(), done.complaint()),
          false);
    }
    boolean uncounted = !columns[3].matches("[0-9]+") || columns[1].equals("0");
    return uncounted ? Long.MAX_VALUE / 1024 : Long.parseLong(columns[3]);
  }

  private void discard(String part, Exception failure) {
    try {
      host.delete(part);
    } catch (HostException e) {
      // The next attempt writes over it or leaves it: the final name was not touched.
      failure.addSuppressed(e);
    }
  }

  private static MessageDigest digest() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new UncheckedIOException(new IOException("this Java has no SHA-256", e));
    }
  }
}
