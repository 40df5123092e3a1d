package dev.plumbline.standalone;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Each service as a process of its own, from its own jar, against one broker; as they run in
 * containers.
 */
final class ServiceProcesses implements AutoCloseable {

  private static final Duration READY_LIMIT = Duration.ofSeconds(120);
  private static final List<String> SERVICES =
      List.of(
          "campaign",
          "gpu-lifecycle",
          "script-deployment",
          "macro-load",
          "micro-bench",
          "trace-analysis",
          "bottleneck-attribution");

  private record Service(String name, Process process, int port, Path log) {}

  private final List<Service> services = new ArrayList<>();

  private ServiceProcesses() {}

  /**
   * Starts all and waits until each says that it is ready; the coordinator's REST API gets {@code
   * port}.
   */
  static ServiceProcesses start(Platform platform, int port)
      throws IOException, InterruptedException {
    ServiceProcesses all = new ServiceProcesses();
    try {
      for (String name : SERVICES) {
        all.services.add(
            launch(platform, name, name.equals("campaign") ? port : Platform.freePort()));
      }
      Instant limit = Instant.now().plus(READY_LIMIT);
      for (Service service : all.services) {
        awaitReady(service, limit);
      }
      return all;
    } catch (IOException | InterruptedException | RuntimeException e) {
      all.close();
      throw e;
    }
  }

  private static Service launch(Platform platform, String name, int port) throws IOException {
    String home = System.getenv("PLUMBLINE_HOME");
    Path jar =
        Path.of(home == null ? "." : home, "services", name, "target/quarkus-app/quarkus-run.jar");
    if (!Files.exists(jar)) {
      throw UserError.badInput("There is no " + jar + "; start with ./plumbline, which builds it.");
    }
    Path logs = Files.createDirectories(platform.data().resolve("logs"));
    Path log = logs.resolve(name + ".log");
    List<String> command =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:+UseSerialGC",
            "-Xmx384m",
            "-XX:TieredStopAtLevel=1",
            "-XX:+IgnoreUnrecognizedVMOptions",
            "--sun-misc-unsafe-memory-access=allow",
            "--enable-native-access=ALL-UNNAMED",
            "-Dquarkus.http.port=" + port,
            "-Dquarkus.http.host=127.0.0.1",
            "-Dkafka.bootstrap.servers=" + platform.bootstrap(),
            "-Dquarkus.kafka-streams.bootstrap-servers=" + platform.bootstrap(),
            "-Dkafka-streams.state.dir=" + platform.data().resolve("streams-" + name),
            "-Dkafka-streams.replication.factor=1",
            "-Dplumbline.data-dir=" + platform.data(),
            "-Dplumbline.hosts-file=" + System.getProperty("plumbline.hosts-file"),
            "-jar",
            jar.toString());
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
            .start();
    return new Service(name, process, port, log);
  }

  private static void awaitReady(Service service, Instant limit) throws InterruptedException {
    HttpClient http = HttpClient.newHttpClient();
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + service.port() + "/q/health/ready"))
            .timeout(Duration.ofSeconds(5))
            .build();
    while (Instant.now().isBefore(limit)) {
      if (!service.process().isAlive()) {
        throw new UserError(
            Main.FAILED,
            "Service " + service.name() + " ended at its start; see " + service.log() + ".");
      }
      try {
        if (http.send(request, HttpResponse.BodyHandlers.discarding()).statusCode() == 200) {
          return;
        }
      } catch (IOException notYet) {
        // The port is not open yet: ask again until the limit.
      }
      TimeUnit.MILLISECONDS.sleep(200);
    }
    throw new UserError(
        Main.FAILED,
        "Service "
            + service.name()
            + " was not ready within "
            + READY_LIMIT.toSeconds()
            + " s; see "
            + service.log()
            + ".");
  }

  /** Waits until one of them ends by itself, which is a failure. */
  int waitForEnd() throws InterruptedException {
    while (true) {
      for (Service service : services) {
        if (service.process().waitFor(500, TimeUnit.MILLISECONDS)) {
          System.err.println("Service " + service.name() + " ended; see " + service.log() + ".");
          return Main.FAILED;
        }
      }
    }
  }

  @Override
  public void close() {
    services.forEach(service -> service.process().destroy());
    for (Service service : services) {
      try {
        if (!service.process().waitFor(15, TimeUnit.SECONDS)) {
          service.process().destroyForcibly();
        }
      } catch (InterruptedException e) {
        service.process().destroyForcibly();
        Thread.currentThread().interrupt();
      }
    }
  }
}
