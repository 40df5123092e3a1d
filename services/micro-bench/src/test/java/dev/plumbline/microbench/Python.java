package dev.plumbline.microbench;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Assumptions;

/** Whether this machine has the interpreter that the probe needs. */
final class Python {

  private Python() {}

  static void assumePresent() {
    Assumptions.assumeTrue(
        Arrays.stream(System.getenv("PATH").split(File.pathSeparator))
            .anyMatch(folder -> Files.isExecutable(Path.of(folder, "python3"))),
        "no python3 in the PATH: the probe was not tried");
  }
}
