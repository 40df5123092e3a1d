package dev.plumbline.gpulifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.plumbline.schemas.Step;
import dev.plumbline.schemas.campaign.ServiceUnderTest;
import dev.plumbline.schemas.campaign.ServiceUnderTest.Strategy;
import dev.plumbline.schemas.command.Command;
import dev.plumbline.schemas.command.Job;
import dev.plumbline.schemas.event.StepEvent.GpusFreed;
import dev.plumbline.schemas.event.StepEvent.ServerRestored;
import dev.plumbline.schemas.host.HostLease;
import dev.plumbline.workerkit.HostAccess;
import dev.plumbline.workerkit.HostInventory;
import dev.plumbline.workerkit.Hosts;
import dev.plumbline.workerkit.StepFailure;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.http.HttpClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A real server process on this machine, stopped and put back by the real shell and kernel. */
class LocalHostIT {

  private static final String SERVER =
      """
      import http.server, json, sys
      class Handler(http.server.BaseHTTPRequestHandler):
          def answer(self, body):
              data = json.dumps(body).encode()
              self.send_response(200)
              self.send_header("Content-Length", str(len(data)))
              self.end_headers()
              self.wfile.write(data)
          def do_GET(self):
              self.answer({"data": [{"id": "tiny"}]})
          def do_POST(self):
              self.rfile.read(int(self.headers["Content-Length"]))
              self.answer({"choices": [{"message": {"content": "Ready from " + sys.argv[2]}}]})
          def log_message(self, *args):
              pass
      http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
      """;

  @TempDir Path dir;
  private final List<HostLease> published = new ArrayList<>();
  private ServiceUnderTest service;
  private HostAccess host;
  private Hosts hosts;
  private Path pidFile;
  private Process server;

  @BeforeEach
  void startServer() throws Exception {
    Assumptions.assumeTrue(
        Files.isExecutable(Path.of("/usr/bin/python3"))
            || Files.isExecutable(Path.of("/usr/local/bin/python3")),
        "no python3 on this machine");
    Path script = Files.writeString(dir.resolve("server.py"), SERVER);
    int port;
    try (ServerSocket socket = new ServerSocket(0)) {
      port = socket.getLocalPort();
    }
    pidFile = dir.resolve("server.pid");
    // The last argument would do harm if any shell ever looked at it.
    List<String> command =
        List.of(
            "python3",
            script.toString(),
            Integer.toString(port),
            "a 'quoted' $(touch " + dir.resolve("harm") + ") \"name\"");
    service =
        new ServiceUnderTest(
            Strategy.PROCESS,
            null,
            pidFile.toString(),
            command,
            "http://127.0.0.1:" + port,
            "tiny",
            30.0);
    server = new ProcessBuilder(command).directory(dir.toFile()).redirectErrorStream(true).start();
    Files.writeString(pidFile, server.pid() + "\n");
    Path inventory =
        Files.writeString(
            dir.resolve("hosts.yaml"),
            "hosts:\n  here:\n    transport: local\n    workDir: " + dir.resolve("work") + "\n");
    hosts = new Hosts(() -> HostInventory.read(inventory));
    host = new WithoutGpu(hosts.connect("here"));
    await().until(() -> answer().isPresent());
  }

  @AfterEach
  void endServer() throws Exception {
    Path switchDir = dir.resolve("work/restore/c1.switch");
    if (Files.isDirectory(switchDir)) {
      Files.writeString(switchDir.resolve("disarmed"), "test over\n");
    }
    server.destroyForcibly();
    serverProcess().ifPresent(ProcessHandle::destroyForcibly);
    // The watchdog looks once a second; it must not outlive the folder it works in.
    await().until(() -> ProcessHandle.allProcesses().noneMatch(this::isWatchdog));
    host.close();
  }

  private boolean isWatchdog(ProcessHandle process) {
    return process.info().commandLine().filter(line -> line.contains(dir.toString())).isPresent()
        && process.isAlive();
  }

  private Optional<ProcessHandle> serverProcess() throws IOException {
    return Files.exists(pidFile)
        ? ProcessHandle.of(Long.parseLong(Files.readString(pidFile).strip()))
            .filter(ProcessHandle::isAlive)
        : Optional.empty();
  }

  private Optional<String> answer() throws Exception {
    try {
      return Optional.of(endPoints().at(service.url()).complete("tiny", Duration.ofSeconds(2)));
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  private EndPoint.Source endPoints() {
    HttpClient client = HttpEndPoint.client(Duration.ofSeconds(5));
    return url -> HttpEndPoint.at(client, url);
  }

  private Job job(Step step, long token) {
    return new Job("c1", step, 1, "here", token, Instant.now().plusSeconds(60));
  }

  private Settings settings(long ttlSeconds) {
    Settings s = Settings.defaults();
    return new Settings(
        Duration.ofSeconds(ttlSeconds),
        s.maxDown(),
        s.toolTimeout(),
        s.stopTimeout(),
        s.signalTimeout(),
        s.startTimeout(),
        s.freeTimeout(),
        3,
        Duration.ofMillis(50),
        s.idleLimitMiB(),
        s.toleranceMiB(),
        Duration.ofSeconds(5),
        Duration.ofMillis(200));
  }

  private GpusFreed free(Settings settings, LeaseRenewal renewal) throws Exception {
    Job lease = job(Step.LEASE, 5);
    new Leasing(settings, Clock.systemUTC(), published::add, endPoints())
        .run(host, new Command.AcquireLease(lease));
    Job job = job(Step.FREE, 5);
    return new Freeing(settings, Clock.systemUTC(), Thread::sleep, published::add, renewal)
        .run(host, new Command.FreeGpus(job, service, true), new Given().context(job));
  }

  private ServerRestored restore(Settings settings) throws Exception {
    Job job = job(Step.RESTORE, 5);
    return new Restoring(settings, Clock.systemUTC(), Thread::sleep, published::add, endPoints())
        .run(host, new Command.RestoreServer(job, service), new Given().context(job));
  }

  private LeaseRenewal renewal(Settings settings) {
    return new LeaseRenewal(
        name -> hosts.connect(name), settings, Clock.systemUTC(), Thread::sleep);
  }

  @Test
  void stopsProvesRestoresAndProves() throws Exception {
    long before = serverProcess().orElseThrow().pid();
    Settings settings = settings(300);
    try (LeaseRenewal renewal = renewal(settings)) {
      GpusFreed freed = free(settings, renewal);
      assertThat(freed.before().service().mainPid()).isEqualTo(before);
      assertThat(freed.after().service().active()).isEqualTo("inactive");
      assertThat(serverProcess()).isEmpty();
      assertThat(answer()).isEmpty();

      ServerRestored restored = restore(settings);
      assertThat(restored.proof()).startsWith("Ready from a 'quoted' $(touch");
      assertThat(restored.restoredAt()).isAfter(freed.stoppedAt());
      assertThat(restored.after().service().mainPid()).isNotEqualTo(before);
    }
    assertThat(dir.resolve("harm")).doesNotExist();
    assertThat(published).extracting(HostLease::restoreOwed).containsExactly(false, true, false);
    assertThat(published.getLast().holder()).isNull();
    // Everything of the switch ended by itself after the disarm.
    assertThat(restore(settings).restoredAt()).isNotNull();
    // The working directory is the one it had.
    assertThat(
            Files.readSymbolicLink(
                Path.of("/proc/" + serverProcess().orElseThrow().pid() + "/cwd")))
        .isEqualTo(dir.toRealPath());
  }

  @Test
  void theHostRestoresItselfWhenNobodyRenews() throws Exception {
    Settings settings = settings(2);
    LeaseRenewal dead = new Given().renewal();
    free(settings, dead);
    assertThat(answer()).isEmpty();
    Process probe = jobProcess("c1-micro-1");
    Process other = jobProcess("c9-micro-1");
    // Nobody does anything from here on.
    try {
      await().atMost(Duration.ofSeconds(30)).until(() -> answer().isPresent());
      assertThat(probe.isAlive()).as("the probe, which held the GPUs").isFalse();
      assertThat(other.isAlive()).as("a process of another campaign").isTrue();
    } finally {
      probe.destroyForcibly();
      other.destroyForcibly();
    }
    assertThat(dir.resolve("work/restore/c1.switch/fired")).exists();
    // The worker comes back, finds it, and proves it.
    ServerRestored restored = restore(settings);
    assertThat(restored.actions()).anyMatch(a -> a.contains("by itself"));
    assertThat(restored.actions()).noneMatch(a -> a.startsWith("started"));
  }

  /** As a job's processes are marked. */
  private Process jobProcess(String name) throws IOException {
    ProcessBuilder builder = new ProcessBuilder("sleep", "600");
    builder.environment().put("PLUMBLINE_JOB", dir.resolve("work/runs").resolve(name).toString());
    return builder.start();
  }

  @Test
  void aNewWorkerGoesOnRenewing() throws Exception {
    Settings settings = settings(3);
    free(settings, new Given().renewal());
    try (LeaseRenewal second = renewal(settings)) {
      second.resume(List.of("here"));
      Path renewed = dir.resolve("work/restore/c1.switch/renewed");
      String first = Files.readString(renewed);
      await().until(() -> !Files.readString(renewed).equals(first));
      Path idle = dir.resolve("work/restore/c1.switch/idle");
      // It has looked often enough to have fired without the renewals.
      int[] looks = {0};
      long[] seen = {0};
      await()
          .atMost(Duration.ofSeconds(30))
          .pollInterval(Duration.ofMillis(50))
          .until(
              () -> {
                long at = Files.exists(idle) ? Files.getLastModifiedTime(idle).toMillis() : 0;
                if (at != seen[0]) {
                  seen[0] = at;
                  looks[0]++;
                }
                return looks[0] > 5;
              });
      assertThat(dir.resolve("work/restore/c1.switch/fired")).doesNotExist();
      assertThat(answer()).isEmpty();
      restore(settings);
    }
  }

  @Test
  void anOlderTokenChangesNothing() throws Exception {
    Job newer = new Job("c2", Step.LEASE, 1, "here", 9L, Instant.now().plusSeconds(60));
    new Leasing(settings(300), Clock.systemUTC(), published::add, endPoints())
        .run(host, new Command.AcquireLease(newer));
    LeaseRenewal none = new Given().renewal();
    assertThatThrownBy(() -> free(settings(300), none))
        .isInstanceOf(StepFailure.class)
        .hasMessageContaining("a newer lease is present (token 9, campaign c2)");
    assertThat(answer()).isPresent();
  }

  @Test
  void aPidFileOfAnotherProcessIsNotBelieved() throws Exception {
    Process innocent = new ProcessBuilder("sleep", "600").start();
    try {
      Files.writeString(pidFile, innocent.pid() + "\n");
      // Written long before that process began.
      Files.setLastModifiedTime(
          pidFile, java.nio.file.attribute.FileTime.from(Instant.now().minusSeconds(3600)));
      assertThat(new HostInspection(settings(300)).inspect(host, service).service().mainPid())
          .isNull();
    } finally {
      innocent.destroyForcibly();
    }
  }
}
