package dev.plumbline.lab;

import dev.plumbline.lab.SavedState.Active;
import java.nio.file.Path;
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

  private static final long FIRST_PID = 5_000_000;

  /** What a CUDA context and the probe's buffers take on each GPU. */
  private static final long PROBE_MIB = 1_412;

  /** Told when the server of the unit begins and ends to listen. */
  interface Listener {
    void started();

    void stopped();
  }

  private final Scenario scenario;
  private final LabOptions options;
  private final Clock clock;
  private final Path file;
  private final HostFiles files;
  private final GpuUse use;
  private final List<HostProcess> probes = new ArrayList<>();
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().daemon().name("lab-unit").factory());
  private SavedState saved;
  private Listener listener;
  private IntSupplier batch = () -> 0;

  LabState(Path dataDir, Scenario scenario, LabOptions options, Clock clock) {
    this.scenario = scenario;
    this.options = options;
    this.clock = clock;
    this.file = dataDir.resolve("state.json");
    this.files = new HostFiles(dataDir, scenario.unit());
    this.use = new GpuUse(scenario.gpus());
    Optional<SavedState> before = SavedState.read(file);
    long bootMs = clock.millis() - TimeUnit.DAYS.toMillis(9);
    saved =
        before.orElseGet(() -> SavedState.booted(bootMs, UUID.randomUUID().toString(), FIRST_PID));
    if (before.isEmpty()) {
      // The host was up and serving long before anyone came to look at it.
      unitStarted(bootMs + 60_000, bootMs + 200_000);
    } else if (saved.active() == Active.DEACTIVATING) {
      unitStopped(List.of());
    }
    boolean foreign = saved.processes().stream().anyMatch(p -> p.comm().equals("jupyter-lab"));
    if (fault(LabOptions.Fault.FOREIGN_HOLDER) && !foreign) {
      foreignHolder();
    }
    changed();
  }

  private void unitStarted(long startMs, long readyMs) {
    long pid = saved.nextPid();
    List<HostProcess> unit = new ArrayList<>();
    String serve = "/opt/vllm/bin/python3 /opt/vllm/bin/vllm serve " + scenario.model();
    serve += " --tensor-parallel-size " + scenario.gpus().count();
    unit.add(ofUnit(pid, 1, "vllm", serve, -1, 0, startMs, startMs));
    unit.add(ofUnit(pid + 1, pid, "VLLM::EngineCor", "VLLM::EngineCore", -1, 0, startMs, startMs));
    long memory = scenario.gpus().memoryServingMiB() - scenario.gpus().memoryIdleMiB();
    for (int r = 0; r < scenario.gpus().count(); r++) {
      String name = "VLLM::Worker_TP" + r;
      unit.add(ofUnit(pid + 2 + r, pid + 1, name, name, r, memory, startMs, readyMs));
    }
    String invocation = UUID.randomUUID().toString().replace("-", "");
    saved = saved.plus(unit).pidsTaken(unit.size()).unit(Active.ACTIVE, pid, invocation, readyMs);
  }

  private HostProcess ofUnit(
      long pid,
      long ppid,
      String comm,
      String args,
      int gpu,
      long memory,
      long startMs,
      long loadedMs) {
    return new HostProcess(
        pid, ppid, scenario.user(), comm, args, cgroup(), gpu, memory, startMs, loadedMs, false);
  }

  private void foreignHolder() {
    long now = clock.millis();
    HostProcess jupyter =
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
            false);
    saved = saved.plus(List.of(jupyter)).pidsTaken(1);
  }

  synchronized void observe(Listener newListener, IntSupplier activeBatch) {
    listener = newListener;
    batch = activeBatch;
  }

  synchronized void ports(int ssh, int http) {
    saved = saved.ports(ssh, http);
    changed();
  }

  /** The state now. */
  synchronized SavedState now() {
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

  private boolean inUnit(HostProcess process) {
    return process.cgroup().equals(cgroup());
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
      return Optional.of(
          "Failed to start " + scenario.unit() + ": Unit " + scenario.unit() + " is masked.");
    }
    if (saved.active() != Active.ACTIVE) {
      long now = clock.millis();
      if (saved.active() == Active.DEACTIVATING) {
        unitStopped(List.of());
      }
      unitStarted(now, now + Math.round(scenario.service().loadSeconds() * 1000));
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
      if (saved.active() == Active.ACTIVE) {
        saved = saved.unit(Active.DEACTIVATING);
        changed();
        tell(false);
      }
      timer.schedule(() -> stopEnds(done), stopMs, TimeUnit.MILLISECONDS);
    }
    return done;
  }

  private void stopEnds(CompletableFuture<Optional<String>> done) {
    synchronized (this) {
      if (saved.active() == Active.DEACTIVATING) {
        boolean sticky = fault(LabOptions.Fault.STICKY_MEMORY);
        unitStopped(
            saved.processes().stream()
                .filter(p -> sticky && p.gpu() == 0 && inUnit(p))
                .map(HostProcess::orphaned)
                .toList());
        changed();
      }
    }
    done.complete(Optional.empty());
  }

  private void unitStopped(List<HostProcess> left) {
    for (HostProcess p : saved.processes()) {
      if (inUnit(p) && left.stream().noneMatch(l -> l.pid() == p.pid())) {
        use.release(p, clock.millis());
      }
    }
    saved = saved.without(this::inUnit).plus(left).unit(Active.INACTIVE);
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

  synchronized void mask(boolean on) {
    saved = saved.masked(on);
    changed();
  }

  /**
   * Sends a signal to a process of this host.
   *
   * @return false if there is no such process
   */
  synchronized boolean kill(long pid, String signal) {
    Optional<HostProcess> found = processes().stream().filter(p -> p.pid() == pid).findFirst();
    boolean ends =
        signal.equals("KILL")
            || (List.of("TERM", "INT", "HUP").contains(signal)
                && !found.map(HostProcess::ignoresTerm).orElse(false));
    if (found.isPresent() && ends) {
      if (saved.active() == Active.ACTIVE && inUnit(found.get())) {
        // The engine ends with any of its workers, and systemd takes the rest of the group.
        unitStopped(List.of());
        tell(false);
      } else {
        probes.removeIf(p -> p.pid() == pid);
        saved = saved.without(p -> p.pid() == pid);
        use.release(found.get(), clock.millis());
      }
      changed();
    }
    return found.isPresent();
  }

  /** A probe takes a context on each of its GPUs; hand the list to {@link #probeEnded}. */
  synchronized List<HostProcess> probeStarted(String args, int gpus) {
    long now = clock.millis();
    String group = "/user.slice/user-1000.slice/session-3.scope";
    List<HostProcess> mine = new ArrayList<>();
    for (int g = 0; g < gpus; g++) {
      long pid = saved.nextPid() + g;
      mine.add(
          new HostProcess(
              pid, 1, SshHost.USER, "python3", args, group, g, PROBE_MIB, now, now, false));
    }
    probes.addAll(mine);
    saved = saved.pidsTaken(gpus);
    changed();
    return mine;
  }

  synchronized void probeEnded(List<HostProcess> mine) {
    for (HostProcess p : mine) {
      if (probes.remove(p)) {
        use.release(p, clock.millis());
      }
    }
    changed();
  }

  /** True unless one of the probe's processes was killed meanwhile. */
  synchronized boolean alive(List<HostProcess> mine) {
    return probes.containsAll(mine);
  }

  /** Memory used on a GPU now, in MiB. */
  synchronized long memoryUsedMiB(int gpu) {
    return use.usedMiB(gpu, processes(), clock.millis());
  }

  /** Utilisation of a GPU now, in percent: high under load and just after memory was given back. */
  synchronized int utilizationPercent(int gpu) {
    boolean probing = probes.stream().anyMatch(p -> p.gpu() == gpu);
    return use.empties(gpu, clock.millis()) ? 100 : batch.getAsInt() > 0 ? 97 : probing ? 64 : 0;
  }

  private void changed() {
    files.write(processes(), saved.bootMs(), saved.bootId(), clock.millis());
    saved.write(file);
  }

  @Override
  public void close() {
    timer.shutdownNow();
  }
}
