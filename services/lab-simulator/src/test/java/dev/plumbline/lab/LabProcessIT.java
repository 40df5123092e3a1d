package dev.plumbline.lab;

import static org.assertj.core.api.Assertions.assertThat;

import dev.plumbline.schemas.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The lab as a process of its own. */
class LabProcessIT {

  @TempDir Path dir;

  private Process lab(String... args) throws IOException {
    List<String> command =
        new java.util.ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                "dev.plumbline.lab.Lab"));
    command.addAll(List.of(args));
    return new ProcessBuilder(command)
        .redirectError(ProcessBuilder.Redirect.DISCARD)
        .redirectErrorStream(false)
        .start();
  }

  private static String firstLine(Process process) throws IOException {
    BufferedReader out = process.inputReader();
    return out.readLine();
  }

  @Test
  void aKilledLabIsFoundAgainWithItsServiceStopped() throws Exception {
    String[] args = {"--data", dir.toString(), "--scenario", "llama-70b-fp16-2x-nvlink"};
    Process first = lab(args);
    String url = firstLine(first);
    assertThat(url).startsWith("lab llama-70b-fp16-2x-nvlink on http://127.0.0.1:");
    ProcessBuilder stop =
        new ProcessBuilder(dir.resolve("bin/systemctl").toString(), "stop", "vllm-llama");
    assertThat(stop.start().waitFor()).isZero();
    first.destroyForcibly().waitFor();
    // Without the lab the host's commands fail as over a dead connection.
    assertThat(stop.start().waitFor()).isEqualTo(255);

    Process second = lab(args);
    try {
      assertThat(firstLine(second)).isEqualTo(url);
      Process active =
          new ProcessBuilder(dir.resolve("bin/systemctl").toString(), "is-active", "vllm-llama")
              .start();
      assertThat(active.inputReader().readLine()).isEqualTo("inactive");
      assertThat(Files.readString(dir.resolve("hosts.yaml"))).contains("lab-1");
      assertThat(Json.mapper().readTree(dir.resolve("state.json").toFile()).get("active").asText())
          .isEqualTo("INACTIVE");
    } finally {
      second.destroyForcibly().waitFor(10, TimeUnit.SECONDS);
    }
  }

  @Test
  void aWrongOptionGetsTheUsageAndExitTwo() throws Exception {
    Process process = lab("--nonsense", "1");

    assertThat(process.waitFor()).isEqualTo(2);
  }
}
