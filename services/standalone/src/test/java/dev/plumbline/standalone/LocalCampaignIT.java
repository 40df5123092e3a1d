package dev.plumbline.standalone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import dev.plumbline.schemas.Json;
import dev.plumbline.schemas.campaign.CampaignReport;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A campaign on this machine with real processes: a server that computes its tokens, a probe on the
 * CPU.
 */
class LocalCampaignIT {

  private static final Duration LIMIT = Duration.ofSeconds(180);

  @TempDir Path folder;
  private final int port = Platform.freePort();
  private Path pidFile;
  private Path request;

  @BeforeEach
  void startTheServerUnderTest() throws Exception {
    assumeThat(onPath("python3")).as("this machine has a python3").isTrue();
    assumeThat(onPath("nvidia-smi")).as("this machine has no GPU").isFalse();
    pidFile = folder.resolve("toy.pid");
    String text = Files.readString(Path.of("../../docs/examples/local-cpu.yaml"));
    request = folder.resolve("local-cpu.yaml");
    Files.writeString(
        request,
        text.replace("8017", "" + port).replace("/tmp/plumbline-toy.pid", pidFile.toString()));
    new ProcessBuilder(
            "python3",
            "../../docs/examples/toy_server.py",
            "--port",
            "" + port,
            "--pid-file",
            pidFile.toString())
        .redirectErrorStream(true)
        .redirectOutput(folder.resolve("toy.log").toFile())
        .start();
    await().atMost(Duration.ofSeconds(30)).until(this::serves);
  }

  @AfterEach
  void endTheServerUnderTest() throws IOException {
    if (pidFile != null && Files.exists(pidFile)) {
      ProcessHandle.of(pid()).ifPresent(ProcessHandle::destroyForcibly);
    }
  }

  @Test
  void withoutAGpuItIsRefusedAndNothingIsTouched() throws Exception {
    long before = pid();

    Packaged run =
        Packaged.run(
            folder,
            LIMIT,
            "run",
            "-f",
            request.toString(),
            "--data",
            folder.resolve("d").toString());

    assertThat(run.exit()).isEqualTo(2);
    assertThat(run.err()).contains("rejected").containsIgnoringCase("GPU").contains("nvidia-smi");
    assertThat(pid()).isEqualTo(before);
    assertThat(serves()).isTrue();
  }

  @Test
  void allowedWithoutAGpuItRunsToTheReportAndTheServerIsBack() throws Exception {
    long before = pid();
    Path data = folder.resolve("d");

    Packaged run =
        Packaged.run(
            folder,
            LIMIT,
            "run",
            "-f",
            request.toString(),
            "--allow-no-gpu",
            "--data",
            data.toString());

    assertThat(run.exit()).as(run.err()).isEqualTo(3);
    CampaignReport report =
        Json.read(Files.readAllBytes(data.resolve("reports/local-cpu.json")), CampaignReport.class);
    assertThat(report.macro().levels())
        .hasSize(4)
        .allSatisfy(level -> assertThat(level.completed()).isEqualTo(16));
    assertThat(report.micro().results())
        .hasSize(2)
        .allSatisfy(result -> assertThat(result.medianUs()).isPositive());
    assertThat(report.verdict().verdict()).isEqualTo("inconclusive");
    assertThat(report.downtimeNs()).isPositive();
    assertThat(serves()).isTrue();
    assertThat(pid()).isNotEqualTo(before);
  }

  private long pid() throws IOException {
    return Long.parseLong(Files.readString(pidFile).strip());
  }

  private boolean serves() {
    try {
      return HttpClient.newHttpClient()
              .send(
                  HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/health"))
                      .build(),
                  HttpResponse.BodyHandlers.discarding())
              .statusCode()
          == 200;
    } catch (IOException e) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private static boolean onPath(String tool) {
    return java.util.Arrays.stream(System.getenv("PATH").split(":"))
        .anyMatch(directory -> Files.isExecutable(Path.of(directory, tool)));
  }
}
