package dev.plumbline.microbench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import dev.plumbline.schemas.Step;
import dev.plumbline.schemas.campaign.ServiceUnderTest;
import dev.plumbline.schemas.campaign.ServiceUnderTest.Strategy;
import dev.plumbline.schemas.command.Command;
import dev.plumbline.schemas.command.Job;
import dev.plumbline.schemas.micro.MicroOperation;
import dev.plumbline.schemas.micro.MicroReport;
import dev.plumbline.schemas.micro.MicroReport.Result;
import dev.plumbline.schemas.micro.MicroSpec;
import dev.plumbline.schemas.micro.TraceSpec;
import dev.plumbline.schemas.trace.TraceFile;
import dev.plumbline.workerkit.HostAccess;
import dev.plumbline.workerkit.HostInventory;
import dev.plumbline.workerkit.Hosts;
import dev.plumbline.workerkit.StepContext;
import dev.plumbline.workerkit.StepFailure;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntUnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Real processes and a real HTTP server on this machine. */
class LocalHostIT {

  private static final Path PROBE = Path.of("probe/plumbline_probe.py").toAbsolutePath();

  @TempDir Path dir;
  private final AtomicBoolean cancelled = new AtomicBoolean();

  /** Whether the server is under its profiler. */
  private final AtomicBoolean profiling = new AtomicBoolean();

  /** Number of the last trace that the server wrote: the first is 7. */
  private final AtomicInteger stops = new AtomicInteger(6);

  private final List<String> calls = new CopyOnWriteArrayList<>();
  private HostAccess host;
  private HttpServer server;

  @BeforeEach
  void connect() throws Exception {
    Path inventory =
        Files.writeString(
            dir.resolve("hosts.yaml"),
            "hosts:\n  here:\n    transport: local\n    workDir: " + dir.resolve("work") + "\n");
    host = new Hosts(() -> HostInventory.read(inventory)).connect("here");
  }

  @AfterEach
  void end() {
    host.close();
    if (server != null) {
      server.stop(0);
    }
  }

  private static Job job(Step step, int attempt) {
    return new Job("c1", step, attempt, "here", 5L, Instant.now().plusSeconds(60));
  }

  private StepContext context(Job job) {
    return new StepContext() {
      @Override
      public Job job() {
        return job;
      }

      @Override
      public Instant now() {
        return Instant.now();
      }

      @Override
      public void progress(long done, Long total, String note) {
        calls.add("progress " + note);
      }

      @Override
      public boolean cancelled() {
        return cancelled.get();
      }

      @Override
      public void onCancel(Runnable action) {}

      @Override
      public void checkCancelled() throws StepFailure {
        if (cancelled()) {
          throw new StepFailure("cancelled", "cancelled", false);
        }
      }
    };
  }

  private static MicroOperation copy(String name, long elements) {
    return new MicroOperation(name, "copy", Map.of("elements", elements), "int8", 2, "memcpy");
  }

  private MicroReport measure(Path script, Double limit, int attempt, MicroOperation... operations)
      throws StepFailure {
    Job job = job(Step.MICRO, attempt);
    MicroSpec micro = new MicroSpec("cpu", null, null, 3, limit, List.of(operations));
    return new MicroBench(Duration.ofSeconds(10), Clock.systemUTC())
        .run(host, new Command.RunMicroBench(job, script.toString(), micro), context(job))
        .report();
  }

  private Path script(String text) throws IOException {
    return Files.writeString(dir.resolve("script.py"), text);
  }

  @Test
  void measuresForReal() throws Exception {
    Python.assumePresent();
    MicroReport report =
        measure(
            PROBE,
            30.0,
            1,
            copy("c", 1 << 16),
            new MicroOperation("none", "teleport", Map.of(), "bf16", null, null));
    assertThat(report.partial()).isFalse();
    assertThat(report.probe()).containsKeys("probe", "python", "torch");
    Result copied = report.results().getFirst();
    assertThat(copied.medianUs()).isPositive();
    assertThat(copied.gbPerS()).isPositive();
    assertThat(report.results().get(1).unavailable()).isNotBlank();
    assertThat(calls).contains("progress c");
  }

  @Test
  void whatWasMeasuredBeforeTheProbeDiedIsKept() throws Exception {
    Python.assumePresent();
    Path script =
        script(
            """
            import os, sys
            print('{"kind":"result","name":"a","operation":"copy","medianUs":5.0,"valid":true}', flush=True)
            print("Segmentation fault in a library", file=sys.stderr, flush=True)
            os.kill(os.getpid(), 9)
            """);
    MicroReport report = measure(script, 30.0, 1, copy("a", 4), copy("b", 4));
    assertThat(report.partial()).isTrue();
    assertThat(report.results().get(0).medianUs()).isEqualTo(5.0);
    assertThat(report.results().get(1).unavailable())
        .contains("before it was done")
        .contains("Segmentation fault in a library");
  }

  @Test
  void aProbeThatMeasuredNothingIsAFailureInItsOwnWords() throws Exception {
    Python.assumePresent();
    Path script = script("import nothing_like_that\n");
    assertThatThrownBy(() -> measure(script, 30.0, 1, copy("a", 4)))
        .isInstanceOf(StepFailure.class)
        .hasMessageContaining("No module named 'nothing_like_that'");
    Path missing = dir.resolve("missing.py");
    assertThatThrownBy(() -> measure(missing, 30.0, 2, copy("a", 4)))
        .isInstanceOf(StepFailure.class)
        .hasMessageContaining("missing.py");
  }

  @Test
  void theLimitEndsAProbeThatHangs() throws Exception {
    Python.assumePresent();
    Path script =
        script(
            """
            import time
            print('{"kind":"result","name":"a","operation":"copy","medianUs":5.0,"valid":true}', flush=True)
            time.sleep(600)
            """);
    MicroReport report = measure(script, 2.0, 1, copy("a", 4), copy("b", 4));
    assertThat(report.partial()).isTrue();
    assertThat(report.results().get(1).unavailable()).contains("did not end within 2 s");
  }

  @Test
  void cancellationEndsTheProcess() throws Exception {
    Python.assumePresent();
    Path pid = dir.resolve("pid");
    Path script =
        script(
            """
            import os, time
            print('{"kind":"progress","done":0,"total":1,"note":"running"}', flush=True)
            open(%s, "w").write(str(os.getpid()))
            time.sleep(600)
            """
                .formatted("'" + pid + "'"));
    Thread canceller =
        Thread.ofVirtual()
            .start(
                () -> {
                  await().until(() -> Files.exists(pid) && Files.size(pid) > 0);
                  cancelled.set(true);
                });
    assertThatThrownBy(() -> measure(script, 60.0, 1, copy("a", 4)))
        .isInstanceOf(StepFailure.class)
        .hasMessageContaining("cancelled");
    canceller.join();
    long number = Long.parseLong(Files.readString(pid));
    assertThat(ProcessHandle.of(number).filter(ProcessHandle::isAlive)).isEmpty();
  }

  @Test
  void aHostLeasedToSomebodyElseIsLeftAlone() throws Exception {
    Files.createDirectories(dir.resolve("work"));
    Files.writeString(dir.resolve("work/lease.json"), "{\"token\":6,\"holder\":\"c2\"}\n");
    assertThatThrownBy(() -> measure(PROBE, 30.0, 1, copy("a", 4)))
        .isInstanceOf(StepFailure.class)
        .hasMessageContaining("leased anew: the token there is 6, ours is 5");
    assertThat(dir.resolve("work/runs")).doesNotExist();
  }

  @Test
  void gpusWhoseServiceTheHostStartedAgainAreNotUsed() throws Exception {
    Path switched = Files.createDirectories(dir.resolve("work/restore/c1.switch"));
    Files.writeString(switched.resolve("fired"), "2026-01-01T00:00:00Z\n");
    assertThatThrownBy(() -> measure(PROBE, 30.0, 1, copy("a", 4)))
        .isInstanceOf(StepFailure.class)
        .hasMessageContaining("started its service again by itself");
    assertThat(dir.resolve("work/runs")).doesNotExist();
  }

  @Test
  void aTraceThatTheProbeClaimsAndDidNotWriteIsNone() throws Exception {
    Python.assumePresent();
    Path script =
        script(
            """
            print('{"kind":"trace","rank":0,"path":"/nowhere/t.json.gz","bytes":9}')
            print('{"kind":"done","results":0}')
            """);
    Job job = job(Step.TRACE, 1);
    MicroSpec micro = new MicroSpec("cpu", null, null, 1, 30.0, List.of(copy("a", 4)));
    TraceCapture capture =
        new TraceCapture(
            new LiveProfile(Duration.ofSeconds(5), Clock.systemUTC()), Clock.systemUTC());
    assertThatThrownBy(
            () ->
                capture.run(
                    host,
                    new Command.CaptureTrace(
                        job,
                        new TraceSpec(false, true, 1, 2, null, null),
                        script.toString(),
                        micro,
                        null),
                    context(job)))
        .isInstanceOf(StepFailure.class)
        .hasMessageContaining("there is no such file");
  }

  /** A server with a profiler; the operator gives the status of each path's call. */
  private ServiceUnderTest serve(Path profiles, IntUnaryOperator completionStatus)
      throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext(
        "/",
        exchange -> {
          String path = exchange.getRequestURI().getPath();
          exchange.getRequestBody().readAllBytes();
          calls.add(path);
          int status = path.endsWith("completions") ? completionStatus.applyAsInt(200) : 200;
          if (path.endsWith("_profile")) {
            boolean starts = path.equals("/start_profile");
            status = profiling.getAndSet(starts) == starts ? 400 : 200;
          }
          if (path.equals("/stop_profile")) {
            int run = stops.incrementAndGet();
            Files.writeString(profiles.resolve("rank1." + run + ".pt.trace.json.gz"), "one");
            Files.writeString(profiles.resolve("rank0." + run + ".pt.trace.json.gz"), "zero");
            Files.writeString(
                profiles.resolve("x.async_llm." + run + ".pt.trace.json.gz"), "front");
          }
          exchange.sendResponseHeaders(status, -1);
          exchange.close();
        });
    server.start();
    return new ServiceUnderTest(
        Strategy.NONE,
        null,
        null,
        null,
        "http://127.0.0.1:" + server.getAddress().getPort() + "/",
        "tiny",
        null);
  }

  private List<TraceFile> live(ServiceUnderTest service, Path profiles)
      throws StepFailure, InterruptedException {
    Job job = job(Step.LIVE_TRACE, 1);
    return new TraceCapture(
            new LiveProfile(Duration.ofSeconds(5), Clock.systemUTC()), Clock.systemUTC())
        .run(
            host,
            new Command.CaptureTrace(
                job,
                new TraceSpec(true, false, 3, 4, profiles.toString(), null),
                null,
                null,
                service),
            context(job))
        .traces();
  }

  @Test
  void profilesTheRunningServerAndFindsOnlyTheNewTraces() throws Exception {
    Path profiles = Files.createDirectory(dir.resolve("profiles"));
    Files.writeString(profiles.resolve("rank0.1.pt.trace.json.gz"), "old");
    assertThat(live(serve(profiles, status -> status), profiles))
        .containsExactly(
            new TraceFile(
                "here",
                profiles.resolve("rank0.7.pt.trace.json.gz").toString(),
                0,
                4L,
                null,
                "live"),
            new TraceFile(
                "here",
                profiles.resolve("rank1.7.pt.trace.json.gz").toString(),
                1,
                3L,
                null,
                "live"));
    assertThat(calls.stream().filter(c -> c.startsWith("/")))
        .containsExactly(
            "/start_profile",
            "/v1/completions",
            "/v1/completions",
            "/v1/completions",
            "/stop_profile");
  }

  @Test
  void theProfilerIsStoppedAlsoWhenTheRequestsFail() throws Exception {
    Path profiles = Files.createDirectory(dir.resolve("profiles"));
    ServiceUnderTest service = serve(profiles, status -> 500);
    assertThatThrownBy(() -> live(service, profiles))
        .isInstanceOf(StepFailure.class)
        .hasMessageContaining("status 500 under the profiler");
    assertThat(calls).contains("/stop_profile");
  }

  @Test
  void aProfileThatAKilledAttemptLeftOnIsEndedAndItsTraceIsNotOurs() throws Exception {
    Path profiles = Files.createDirectory(dir.resolve("profiles"));
    ServiceUnderTest service = serve(profiles, status -> status);
    profiling.set(true);
    assertThat(live(service, profiles))
        .extracting(TraceFile::path)
        .containsExactly(
            profiles.resolve("rank0.8.pt.trace.json.gz").toString(),
            profiles.resolve("rank1.8.pt.trace.json.gz").toString());
    assertThat(calls.stream().filter(c -> c.endsWith("_profile")))
        .containsExactly("/start_profile", "/stop_profile", "/start_profile", "/stop_profile");
    assertThat(profiling).isFalse();
  }
}
