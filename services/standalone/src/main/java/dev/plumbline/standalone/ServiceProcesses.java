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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

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

  private static final Duration LOOK_EVERY = Duration.ofMillis(250);

  private final List<SupervisedProcess> services = new ArrayList<>();
  private final Leftovers leftovers;

  /** Completes when a service has ended for good. */
  private final CompletableFuture<Void> gaveUp = new CompletableFuture<>();

  private final AtomicBoolean closed = new AtomicBoolean();
  private Thread supervisor;

  private ServiceProcesses(Leftovers leftovers) {
    this.leftovers = leftovers;
  }

  /**
   * Starts all and waits until each says that it is ready; the coordinator's REST API gets {@code
   * port}. From then on a service that ends is started again.
   */
  static ServiceProcesses start(Platform platform, int port)
      throws IOException, InterruptedException {
    endLeftovers(platform.data());
    ServiceProcesses all = new ServiceProcesses(leftovers(platform.data()));
    // A signal ends this JVM without closing anything: the services would go on as orphans.
    Runtime.getRuntime().addShutdownHook(new Thread(() -> all.closeWith(platform)));
    try {
      Map<SupervisedProcess, Integer> ports = new LinkedHashMap<>();
      for (String name : SERVICES) {
        int own = name.equals("campaign") ? port : Platform.freePort();
        SupervisedProcess service = supervised(platform, name, own);
        all.services.add(service);
        all.remember();
        ports.put(service, own);
      }
      Instant limit = Instant.now().plus(READY_LIMIT);
      for (Map.Entry<SupervisedProcess, Integer> service : ports.entrySet()) {
        awaitReady(service.getKey(), service.getValue(), limit);
      }
      all.supervisor = Thread.ofVirtual().name("supervisor").start(all::supervise);
      return all;
    } catch (IOException | InterruptedException | RuntimeException e) {
      all.close();
      throw e;
    }
  }

  /**
   * Ends services that an earlier run on this data folder was killed away from; before any of its
   * ports is asked for.
   *
   * @throws UserError when that run lives
   */
  static void endLeftovers(Path data) throws IOException {
    int left = leftovers(data).end();
    if (left > 0) {
      System.err.println("Ended " + left + " services that an earlier run had left behind.");
    }
  }

  private static Leftovers leftovers(Path data) {
    return new Leftovers(data.resolve("services.pids"));
  }

  private void remember() throws IOException {
    leftovers.remember(services.stream().map(SupervisedProcess::handle).toList());
  }

  private static SupervisedProcess supervised(Platform platform, String name, int port)
      throws IOException {
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
            "-Dplumbline.starter=" + ProcessHandle.current().pid(),
            "-Dplumbline.hosts-file=" + System.getProperty("plumbline.hosts-file"),
            "-jar",
            jar.toString());
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
    return new SupervisedProcess(name, log, builder::start, System.err::println);
  }

  private static void awaitReady(SupervisedProcess service, int port, Instant limit)
      throws InterruptedException {
    HttpClient http = HttpClient.newHttpClient();
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/q/health/ready"))
            .timeout(Duration.ofSeconds(5))
            .build();
    while (Instant.now().isBefore(limit)) {
      if (!service.alive()) {
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

  private void supervise() {
    try {
      while (true) {
        for (SupervisedProcess service : services) {
          ProcessHandle before = service.handle();
          if (!service.tend(Instant.now())) {
            gaveUp.complete(null);
            return;
          }
          if (!before.equals(service.handle())) {
            remember();
          }
        }
        Thread.sleep(LOOK_EVERY);
      }
    } catch (IOException e) {
      System.err.println("A service cannot be started again: " + e.getMessage());
      gaveUp.complete(null);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Waits until one of them cannot be kept up, which is a failure. */
  int waitForEnd() throws InterruptedException {
    try {
      gaveUp.get();
    } catch (ExecutionException e) {
      throw new IllegalStateException(e);
    }
    return Main.FAILED;
  }

  private void closeWith(Platform platform) {
    if (closed.compareAndSet(false, true)) {
      endAll();
      platform.close();
    }
  }

  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      endAll();
    }
  }

  private void endAll() {
    if (supervisor != null) {
      // First of all: what ends now is meant to.
      supervisor.interrupt();
      try {
        supervisor.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
    services.forEach(SupervisedProcess::end);
    services.forEach(SupervisedProcess::awaitEnd);
  }
}
