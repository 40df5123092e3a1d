package dev.plumbline.gpulifecycle;

import dev.plumbline.schemas.Json;
import dev.plumbline.workerkit.Exec;
import dev.plumbline.workerkit.HostAccess;
import dev.plumbline.workerkit.HostException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Small files of a host: read whole, or put in place at once. */
final class HostFiles {

  private static final int OWNER_ONLY = 0600;
  private static final int PATHS_PER_CALL = 200;

  private HostFiles() {}

  static Optional<byte[]> read(HostAccess host, String path) throws HostException {
    if (host.stat(path).isEmpty()) {
      return Optional.empty();
    }
    try (InputStream in = host.read(path)) {
      return Optional.of(in.readAllBytes());
    } catch (IOException e) {
      throw new HostException(
          "lost",
          "reading " + path + " on host " + host.entry().name() + " broke off: " + e.getMessage(),
          true);
    }
  }

  static <T> Optional<T> readJson(HostAccess host, String path, Class<T> type)
      throws HostException {
    Optional<byte[]> bytes = read(host, path);
    try {
      return bytes.map(b -> Json.read(b, type));
    } catch (IllegalArgumentException e) {
      throw new HostException(
          "failed", path + " on host " + host.entry().name() + " is " + e.getMessage(), false);
    }
  }

  /** A reader sees the old content or the new one, never half. */
  static void put(HostAccess host, String path, byte[] content) throws HostException {
    host.write(path + ".new", new ByteArrayInputStream(content), OWNER_ONLY);
    host.rename(path + ".new", path);
  }

  /**
   * Reads many small files of {@code /proc} in few calls; those that cannot be read are left out.
   * Files there show a size of 0, so they are printed and not transferred.
   */
  static Map<String, String> printed(HostAccess host, Collection<String> paths, Duration timeout)
      throws HostException {
    Map<String, String> contents = new HashMap<>();
    List<String> all = List.copyOf(paths);
    for (int from = 0; from < all.size(); from += PATHS_PER_CALL) {
      List<String> part = all.subList(from, Math.min(all.size(), from + PATHS_PER_CALL));
      List<String> argv = new ArrayList<>(List.of("head", "-v", "-c", "4096", "--"));
      argv.addAll(part);
      Exec exec = host.exec(argv, timeout);
      String path = null;
      for (String line : exec.stdout().split("\n", -1)) {
        if (line.startsWith("==> ")
            && line.endsWith(" <==")
            && part.contains(line.substring(4, line.length() - 4))) {
          path = line.substring(4, line.length() - 4);
          contents.put(path, "");
        } else if (path != null && !line.isEmpty()) {
          contents.merge(path, line + "\n", String::concat);
        }
      }
    }
    return contents;
  }
}
