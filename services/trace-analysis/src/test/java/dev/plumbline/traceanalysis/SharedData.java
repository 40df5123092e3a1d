package dev.plumbline.traceanalysis;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Assumptions;

/** Real input beside the repository, which is not part of it. */
final class SharedData {

  private SharedData() {}

  /** A file of it; the calling test is skipped where there is none. */
  static Path file(String name) {
    Path root = root();
    Assumptions.assumeTrue(
        root != null,
        "no shared/data folder beside the repository and PLUMBLINE_SHARED_DATA is not set");
    return root.resolve(name);
  }

  private static Path root() {
    String told = System.getenv("PLUMBLINE_SHARED_DATA");
    if (told != null) {
      return Path.of(told);
    }
    for (Path at = Path.of("").toAbsolutePath(); at != null; at = at.getParent()) {
      Path found = at.resolve("shared").resolve("data");
      if (Files.isDirectory(found)) {
        return found;
      }
    }
    return null;
  }

  /** A trace of the test resources. */
  static Path resource(String name) {
    return Path.of("src", "test", "resources", "h200", name);
  }
}
