package dev.plumbline.lab;

import dev.plumbline.schemas.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;

/**
 * Everything that is true of the simulated host: the unit, its processes, the memory of the GPUs.
 * All stubs and the inference server look here; it is written to {@code state.json} at each change,
 * so that the host is as it was when the lab is started again after it was killed.
 */
final class LabState implements AutoCloseable {

  /** Memory is still used for so long after its process ended (h200/release.json). */
  static final long RELEASE_MS = 200;

  private static final long FIRST_PID = 5_000_000;
  private static final long CONTEXT_MIB = 1_412;

  /** State of the unit as systemd names it. */
  enum Active {
    ACTIVE,
    DEACTIVATING,
    INACTIVE
  }

  /** Told when the server of the unit begins and ends to listen. */
  interface Listener {
    void started();

    void stopped();
  }

  /** What survives the lab's own end. */
  record Saved(
      Active active,
      long mainPid,
      String invocation,
      boolean masked,
      long readyMs,
      long bootMs,
      String bootId,
      long nextPid,
      int sshPort,
      int httpPort,
      List<HostProcess> processes) {}

  private record Release(int gpu, long memoryMiB, long heldUntilMs) {}

  private final Scenario scenario;
  private final LabOptions options;
  private final Clock clock;
  private final Path file;
  private final HostFiles files;
  private final List<HostProcess> probes = new ArrayList<>();
  private final List<Release> releases = new ArrayList<>();
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().daemon().name("lab-unit").factory());
  private Saved saved;
  private Listener listener;
  private IntSupplier batch = () -> 0;

  LabState(Path dataDir, Scenario scenario, LabOptions options, Clock clock) {
    this.scenario = scenario;
    this.options = options;
    this.clock = clock;
    this.file = dataDir.resolve("state.json");
    this.files = new HostFiles(dataDir, scenario.unit());
    this.saved = read().orElseGet(this::fresh);
    if (saved.active() == Active.DEACTIVATING) {
      finishStop(List.of());
    }
    boolean foreign = saved.processes().stream().anyMatch(p -> p.comm().equals("jupyter-lab"));
    if (options.faults().contains(LabOptions.Fault.FOREIGN_HOLDER) && !foreign) {
      addForeign();
    }
    changed();
  }

  private Optional<Saved> read() {
    if (!Files.exists(file)) {
      return Optional.empty();
    }
    try {
      return Optional.of(Json.read(Files.readAllBytes(file), Saved.class));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + file + ": " + e.getMessage(), e);
    }
  }

  private Saved fresh() {
    long now = clock.millis();
    long boot = now - TimeUnit.DAYS.toMillis(9);
    saved =
        new Saved(
            Active.INACTIVE,
            0,
            "",
            false,
            0,
            boot,
            UUID.randomUUID().toString(),
            FIRST_PID,
            0,
            0,
            List.of());
    // The host was up and serving long before anyone came to look at it.
    return started(boot + 60_000, boot + 200_000);
  }

  private Saved started(long startMs, long readyMs) {
    List<HostProcess> all = new ArrayList<>(saved.processes());
    long pid = saved.nextPid();
    String group = cgroup();
    String serve = "/opt/vllm/bin/python3 /opt/vllm/bin/vllm serve " + scenario.model();
    serve += " --tensor-parallel-size " + scenario.gpus().count() + " --port " + saved.httpPort();
    all.add(process(pid, 1, "vllm", serve, group, -1, 0, startMs, startMs));
    all.add(process(pid + 1, pid, "VLLM::EngineCor", "VLLM::EngineCore", group, -1, 0, startMs, 0));
    long memory = scenario.gpus().memoryServingMiB() - scenario.gpus().memoryIdleMiB();
    for (int r = 0; r < scenario.gpus().count(); r++) {
      String name = "VLLM::Worker_TP" + r;
      all.add(process(pid + 2 + r, pid + 1, name, name, group, r, memory, startMs, readyMs));
    }
    return with(Active.ACTIVE, pid, UUID.randomUUID().toString().replace("-", ""), readyMs, all);
  }

  private HostProcess process(
      long pid,
      long ppid,
      String comm,
      String args,
      String group,
      int gpu,
      long memory,
      long startMs,
      long loadedMs) {
    return new HostProcess(
        pid, ppid, scenario.user(), comm, args, group, gpu, memory, startMs, loadedMs, false);
  }

  private Saved with(
      Active active, long mainPid, String invocation, long readyMs, List<HostProcess> processes) {
    long next = processes.stream().mapToLong(HostProcess::pid).max().orElse(0) + 1;
    return new Saved(
        active,
        mainPid,
        invocation,
        saved.masked(),
        readyMs,
        saved.bootMs(),
        saved.bootId(),
        Math.max(saved.nextPid(), next),
        saved.sshPort(),
        saved.httpPort(),
        List.copyOf(processes));
  }

  private void addForeign() {
    long now = clock.millis();
    List<HostProcess> all = new ArrayList<>(saved.processes());
    all.add(
        new HostProcess(
            saved.nextPid(),
            1,
            "alice",
            "jupyter-lab",
            "/home/alice/venv/bin/python3 /home/alice/venv/bin/jupyter-lab --no-browser",
            "/user.slice/user-1001.slice/session-7.scope",
            0,
            2_048,
            now,
            now,
            false));
    saved =
        with(
            saved.active(), saved.mainPid(), saved.invocation(), saved.readyMs(), List.copyOf(all));
  }

  synchronized void observe(Listener newListener, IntSupplier activeBatch) {
    listener = newListener;
    batch = activeBatch;
  }

  synchronized void ports(int ssh, int http) {
    saved =
        new Saved(
            saved.active(),
            saved.mainPid(),
            saved.invocation(),
            saved.masked(),
            saved.readyMs(),
            saved.bootMs(),
            saved.bootId(),
            saved.nextPid(),
            ssh,
            http,
            saved.processes());
    changed();
  }

  /** The state now; immutable. */
  synchronized Saved now() {
    return saved;
  }

  long nowMs() {
    return clock.millis();
  }

  boolean fault(LabOptions.Fault fault) {
    return options.faults().contains(fault);
  }

  /** True while the model is loaded and the unit is not being stopped. */
  synchronized boolean ready() {
    return saved.active() == Active.ACTIVE && clock.millis() >= saved.readyMs();
  }

  String cgroup() {
    return "/system.slice/" + scenario.unit();
  }

  /** All processes, those of a running probe included. */
  synchronized List<HostProcess> processes() {
    List<HostProcess> all = new ArrayList<>(saved.processes());
    all.addAll(probes);
    return all;
  }

  /**
   * Starts the unit; the model loads afterwards.
   *
   * @return why not, or empty
   */
  synchronized Optional<String> start() {
    if (saved.masked()) {
      return Optional.of("Failed to start " + scenario.unit() + ": Unit is masked.");
    }
    if (saved.active() != Active.ACTIVE) {
      long now = clock.millis();
      saved = started(now, now + Math.round(scenario.service().loadSeconds() * 1000));
      changed();
      tell(true);
    }
    return Optional.empty();
  }

  /** Stops the unit; completes when its processes are gone, with the reason if they are not. */
  synchronized CompletableFuture<Optional<String>> stop() {
    CompletableFuture<Optional<String>> done = new CompletableFuture<>();
    long stopMs = Math.round(scenario.service().stopSeconds() * 1000);
    if (saved.active() == Active.INACTIVE) {
      done.complete(Optional.empty());
    } else if (fault(LabOptions.Fault.STOP_IGNORED)) {
      String why = "Failed to stop " + scenario.unit() + ": Connection timed out";
      timer.schedule(() -> done.complete(Optional.of(why)), stopMs, TimeUnit.MILLISECONDS);
    } else {
      boolean first = saved.active() == Active.ACTIVE;
      saved = with(Active.DEACTIVATING, saved.mainPid(), saved.invocation(), 0, saved.processes());
      changed();
      if (first) {
        tell(false);
      }
      timer.schedule(() -> stopped(done), stopMs, TimeUnit.MILLISECONDS);
    }
    return done;
  }

  private void stopped(CompletableFuture<Optional<String>> done) {
    synchronized (this) {
      if (saved.active() == Active.DEACTIVATING) {
        List<HostProcess> left = new ArrayList<>();
        if (fault(LabOptions.Fault.STICKY_MEMORY)) {
          saved.processes().stream()
              .filter(p -> p.gpu() == 0 && p.cgroup().equals(cgroup()))
              .forEach(p -> left.add(orphan(p)));
        }
        finishStop(left);
        changed();
      }
    }
    done.complete(Optional.empty());
  }

  /** On the timer's thread, in order, and never under the lock: the listener asks back. */
  private void tell(boolean started) {
    Listener told = listener;
    if (told == null) {
      return;
    }
    timer.execute(
        () -> {
          try {
            if (started) {
              told.started();
            } else {
              told.stopped();
            }
          } catch (IllegalStateException e) {
            // A server whose port somebody else took ends at once, and its unit with it.
            kill(now().mainPid(), "KILL");
          }
        });
  }

  private static HostProcess orphan(HostProcess p) {
    return new HostProcess(
        p.pid(),
        1,
        p.user(),
        p.comm(),
        p.args(),
        p.cgroup(),
        p.gpu(),
        p.memoryMiB(),
        p.startedMs(),
        p.loadedMs(),
        true);
  }

  private void finishStop(List<HostProcess> left) {
    List<HostProcess> all = new ArrayList<>(left);
    for (HostProcess p : saved.processes()) {
      boolean stays = left.stream().anyMatch(l -> l.pid() == p.pid());
      if (!p.cgroup().equals(cgroup())) {
        all.add(p);
      } else if (!stays) {
        release(p);
      }
    }
    saved = with(Active.INACTIVE, 0, saved.invocation(), 0, all);
  }

  private void release(HostProcess p) {
    if (p.gpu() >= 0) {
      long now = clock.millis();
      releases.add(new Release(p.gpu(), p.memoryMiB(now), now + RELEASE_MS));
    }
  }

  synchronized void mask(boolean on) {
    saved =
        new Saved(
            saved.active(),
            saved.mainPid(),
            saved.invocation(),
            on,
            saved.readyMs(),
            saved.bootMs(),
            saved.bootId(),
            saved.nextPid(),
            saved.sshPort(),
            saved.httpPort(),
            saved.processes());
    changed();
  }

  /**
   * Sends a signal to a process of this host.
   *
   * @return false if there is no such process
   */
  synchronized boolean kill(long pid, String signal) {
    Optional<HostProcess> found = processes().stream().filter(p -> p.pid() == pid).findFirst();
    boolean kills = signal.equals("KILL") || signal.equals("TERM") || signal.equals("INT");
    if (found.isPresent() && kills && (!found.get().ignoresTerm() || signal.equals("KILL"))) {
      if (saved.active() == Active.ACTIVE && found.get().cgroup().equals(cgroup())) {
        // The engine ends with any of its workers, and systemd takes the rest of the group.
        finishStop(List.of());
        changed();
        tell(false);
        return true;
      }
      List<HostProcess> all = new ArrayList<>(saved.processes());
      all.removeIf(p -> p.pid() == pid);
      probes.removeIf(p -> p.pid() == pid);
      release(found.get());
      saved = with(saved.active(), saved.mainPid(), saved.invocation(), saved.readyMs(), all);
      changed();
    }
    return found.isPresent();
  }

  /** A probe takes a context on each of its GPUs; hand the list to {@link #probeEnded}. */
  synchronized List<HostProcess> probeStarted(String args, int gpus) {
    long now = clock.millis();
    long pid = saved.nextPid();
    List<HostProcess> mine = new ArrayList<>();
    for (int g = 0; g < gpus; g++) {
      mine.add(
          new HostProcess(
              pid + g,
              1,
              "lab",
              "python3",
              args,
              "/user.slice/user-1000.slice/session-3.scope",
              g,
              CONTEXT_MIB,
              now,
              now,
              false));
    }
    probes.addAll(mine);
    saved =
        new Saved(
            saved.active(),
            saved.mainPid(),
            saved.invocation(),
            saved.masked(),
            saved.readyMs(),
            saved.bootMs(),
            saved.bootId(),
            pid + gpus,
            saved.sshPort(),
            saved.httpPort(),
            saved.processes());
    changed();
    return mine;
  }

  synchronized void probeEnded(List<HostProcess> mine) {
    for (HostProcess p : mine) {
      if (probes.remove(p)) {
        release(p);
      }
    }
    changed();
  }

  /** Memory used on a GPU now, in MiB. */
  synchronized long memoryUsedMiB(int gpu) {
    long now = clock.millis();
    long used = scenario.gpus().memoryIdleMiB();
    for (HostProcess p : processes()) {
      used += p.gpu() == gpu ? p.memoryMiB(now) : 0;
    }
    releases.removeIf(r -> r.heldUntilMs() + RELEASE_MS < now);
    for (Release r : releases) {
      used += r.gpu() == gpu && r.heldUntilMs() >= now ? r.memoryMiB() : 0;
    }
    return Math.min(used, scenario.gpus().memoryTotalMiB());
  }

  /** Utilisation of a GPU now, in percent: high under load and just after memory was given back. */
  synchronized int utilizationPercent(int gpu) {
    long now = clock.millis();
    boolean emptying =
        releases.stream()
            .anyMatch(
                r ->
                    r.gpu() == gpu && r.heldUntilMs() < now && r.heldUntilMs() + RELEASE_MS >= now);
    boolean probing = probes.stream().anyMatch(p -> p.gpu() == gpu);
    return emptying ? 100 : batch.getAsInt() > 0 ? 97 : probing ? 64 : 0;
  }

  private void changed() {
    files.write(processes(), saved.bootMs(), saved.bootId(), clock.millis());
    Path part = file.resolveSibling("state.json.part");
    try {
      Files.write(part, Json.bytes(saved));
      Files.move(part, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot write " + file + ": " + e.getMessage(), e);
    }
  }

  @Override
  public void close() {
    timer.shutdownNow();
  }
}
