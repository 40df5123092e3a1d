package dev.plumbline.gpulifecycle;

import dev.plumbline.workerkit.Exec;
import dev.plumbline.workerkit.FileStat;
import dev.plumbline.workerkit.HostAccess;
import dev.plumbline.workerkit.HostEntry;
import dev.plumbline.workerkit.HostException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * A host in memory with one unit and some processes, whose tools answer as the real ones do. It
 * decides nothing: the test says how the unit and its processes behave.
 */
final class ScriptedHost implements HostAccess {

  static final String UUID = "GPU-00000000-1111-2222-3333-444444444444";

  record Proc(long pid, long parent, String name, String state, long ticks, boolean inCgroup) {

    Proc child(long pid, String name) {
      return new Proc(pid, this.pid, name, "S", ticks + 1, true);
    }
  }

  /** What was asked that changes something, in order. */
  final List<String> deeds = new ArrayList<>();

  final Map<String, byte[]> files = new TreeMap<>();
  final Map<Long, Proc> processes = new TreeMap<>();
  final Set<Long> holders = new TreeSet<>();
  String loadState = "loaded";
  boolean active = true;
  long mainPid;
  boolean fired;

  /** Null: a stop stops; else what {@code systemctl} complains of. */
  String stopTrouble;

  /** Pids that a signal does not end, by the signal's name. */
  final Map<String, Set<Long>> deaf = new TreeMap<>();

  /** Which processes end with the unit. */
  Set<Long> endWithUnit = Set.of();

  Runnable onStart = () -> {};
  Supplier<Exec> gpus = () -> gpuTable(UUID);
  Supplier<Exec> apps = this::appsOfHolders;
  double idleMiB = 4;

  static Exec out(String text) {
    return new Exec(OptionalInt.of(0), text, "");
  }

  static Exec failed(int status, String stdout, String stderr) {
    return new Exec(OptionalInt.of(status), stdout, stderr);
  }

  /** vLLM under systemd: the server, its engine and two workers, which hold the GPU. */
  static ScriptedHost serving() {
    ScriptedHost host = new ScriptedHost();
    Proc server = new Proc(9_000_100, 1, "vllm", "S", 500, true);
    Proc engine = server.child(9_000_101, "VLLM::EngineCore");
    host.add(server, engine, engine.child(9_000_102, "VLLM::Worker"));
    host.add(engine.child(9_000_103, "VLLM::Worker"));
    host.mainPid = server.pid();
    host.holders.addAll(List.of(9_000_102L, 9_000_103L));
    host.endWithUnit = Set.copyOf(host.processes.keySet());
    host.onStart =
        () -> {
          host.active = true;
          host.mainPid = 9_000_200;
          host.add(new Proc(9_000_200, 1, "vllm", "S", 900, true));
        };
    return host;
  }

  void add(Proc... added) {
    for (Proc process : added) {
      processes.put(process.pid(), process);
    }
  }

  void end(long pid) {
    processes.remove(pid);
    holders.remove(pid);
  }

  Exec gpuTable(String... uuids) {
    StringBuilder csv =
        new StringBuilder(
            "index, uuid, name, pci.bus_id, driver_version, memory.total [MiB], memory.used [MiB],"
                + " utilization.gpu [%], clocks.current.sm [MHz], clocks.current.memory [MHz],"
                + " temperature.gpu, power.draw [W], power.limit [W],"
                + " clocks_event_reasons.active, mig.mode.current, gpu_recovery_action\n");
    for (int i = 0; i < uuids.length; i++) {
      csv.append(
          "%d, %s, NVIDIA H200, 00000000:0%d:00.0, 580.1, 143771 MiB, %.0f MiB, 0 %%, 345 MHz, 3201 MHz, 35, 79.87 W, 700.00 W, 0x0000000000000001, Disabled, None\n"
              .formatted(i, uuids[i], i, holders.isEmpty() ? idleMiB : 70_000));
    }
    return out(csv.toString());
  }

  private Exec appsOfHolders() {
    return out(
        holders.stream()
            .map(pid -> "%s, %d, %s, 35000 MiB\n".formatted(UUID, pid, processes.get(pid).name()))
            .collect(
                Collectors.joining(
                    "", "gpu_uuid, pid, process_name, used_gpu_memory [MiB]\n", "")));
  }

  @Override
  public Exec exec(List<String> argv, Duration timeout) throws HostException {
    return exec(argv, new byte[0], timeout);
  }

  @Override
  public Exec exec(List<String> argv, byte[] stdin, Duration timeout) throws HostException {
    return switch (argv.getFirst()) {
      case "nvidia-smi" -> argv.get(1).startsWith("--query-gpu") ? gpus.get() : apps.get();
      case "find" -> argv.contains("stat") ? out(stats()) : cgroup();
      case "head" -> out("");
      case "getent" -> out("root:x:0:0:root:/root:/bin/sh\n");
      case "systemctl" -> systemctl(argv);
      case "sh" -> verb(argv.subList(argv.indexOf("--") + 1, argv.size()));
      default -> throw new AssertionError("unexpected command " + argv);
    };
  }

  private String stats() {
    return processes.values().stream()
        .map(
            p ->
                "%d (%s) %s %d 1 1 0 -1 4194560 0 0 0 0 1 1 0 0 20 0 8 0 %d 1000 100 18446744073709551615\n"
                    .formatted(p.pid(), p.name(), p.state(), p.parent(), p.ticks()))
        .collect(Collectors.joining());
  }

  private Exec cgroup() {
    return out(
        processes.values().stream()
            .filter(Proc::inCgroup)
            .map(p -> p.pid() + "\n")
            .collect(Collectors.joining()));
  }

  private Exec systemctl(List<String> argv) {
    if (argv.get(1).equals("show")) {
      return out(
          """
          LoadState=%s
          ActiveState=%s
          SubState=running
          MainPID=%d
          ControlGroup=/system.slice/vllm.service
          """
              .formatted(loadState, active ? "active" : "inactive", active ? mainPid : 0));
    }
    deeds.add(String.join(" ", argv));
    if (stopTrouble != null) {
      return failed(1, "", stopTrouble);
    }
    active = false;
    endWithUnit.forEach(this::end);
    return out("");
  }

  private Exec verb(List<String> arguments) {
    switch (arguments.getFirst()) {
      case "guarded" -> {
        if (fired) {
          return failed(44, "the dead-man's switch has started the service again\n", "");
        }
        List<String> command = arguments.subList(6, arguments.size());
        return command.getFirst().equals("systemctl")
            ? systemctl(command)
            : signal(command.subList(3, command.size()));
      }
      case "start" -> {
        deeds.add("start");
        onStart.run();
        return out("");
      }
      case "arm" -> {
        deeds.add("arm");
        fired = false;
        return out("watchdog\n");
      }
      case "renew" -> {
        if (fired) {
          return failed(44, "fired\n", "");
        }
      }
      case "disarm" -> deeds.add("disarm");
      case "lease" -> deeds.add("lease " + arguments.get(2) + " " + arguments.get(3));
      default -> {}
    }
    return out("done\n");
  }

  private Exec signal(List<String> arguments) {
    String name = arguments.get(0);
    for (String target : arguments.subList(2, arguments.size())) {
      long pid = Long.parseLong(target.split(":")[0]);
      deeds.add("SIG" + name + " " + pid);
      Proc process = processes.get(pid);
      if (process != null && process.ticks() == Long.parseLong(target.split(":")[1])) {
        if (!deaf.getOrDefault(name, Set.of()).contains(pid)) {
          end(pid);
        }
      }
    }
    return out("");
  }

  @Override
  public HostEntry entry() {
    return HostEntry.local("lab-1");
  }

  @Override
  public String home() {
    return "/home/lab";
  }

  @Override
  public String workDir() {
    return "/home/lab/.plumbline";
  }

  @Override
  public InputStream read(String path) throws HostException {
    return new ByteArrayInputStream(files.get(path));
  }

  @Override
  public Optional<FileStat> stat(String path) {
    if (path.endsWith("/fired")) {
      return fired ? Optional.of(new FileStat(1, 0600, false)) : Optional.empty();
    }
    boolean directory = files.keySet().stream().anyMatch(name -> name.startsWith(path + "/"));
    return Optional.ofNullable(files.get(path))
        .map(bytes -> new FileStat(bytes.length, 0600, false))
        .or(() -> directory ? Optional.of(new FileStat(0, 0700, true)) : Optional.empty());
  }

  @Override
  public void write(String path, InputStream content, int mode) {
    try {
      files.put(path, content.readAllBytes());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void rename(String from, String to) {
    files.put(to, files.remove(from));
    if (to.endsWith(".json")) {
      deeds.add("wrote " + to.substring(to.lastIndexOf('/') + 1));
    }
  }

  @Override
  public void makeDirectories(String path) {}

  @Override
  public List<String> list(String directory) {
    return files.keySet().stream()
        .filter(name -> name.startsWith(directory + "/"))
        .map(name -> name.substring(directory.length() + 1))
        .filter(name -> !name.contains("/"))
        .toList();
  }

  @Override
  public void delete(String path) {
    files.remove(path);
  }

  @Override
  public void close() {}

  String text(String path) {
    return new String(files.get(path), StandardCharsets.UTF_8);
  }

  /** The deeds with everything that differs between runs left out. */
  List<String> deeds(Function<String, Boolean> kept) {
    return deeds.stream().filter(kept::apply).toList();
  }
}
