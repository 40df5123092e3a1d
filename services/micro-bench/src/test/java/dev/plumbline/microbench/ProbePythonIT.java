package dev.plumbline.microbench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The probe's own tests, in the probe's own language. */
class ProbePythonIT {

  @Test
  void theProbesTestsPass() throws IOException, InterruptedException {
    Python.assumePresent();
    Process process =
        new ProcessBuilder("python3", "-B", "-m", "unittest", "discover", "-s", "src/test/python")
            .directory(Path.of("").toAbsolutePath().toFile())
            .redirectErrorStream(true)
            .start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(120, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).as(output).isZero();
    assertThat(output).contains("\nOK");
  }
}
