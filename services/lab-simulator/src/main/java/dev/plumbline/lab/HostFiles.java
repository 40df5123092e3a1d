package dev.plumbline.lab;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The proc and cgroup trees of the simulated host, as real files kept in step with its state. */
final class HostFiles {

  private final Path proc;
  private final Path cgroup;
  private final String unit;
  private final Set<Long> written = new HashSet<>();

  HostFiles(Path dataDir, String unit) {
    this.proc = dataDir.resolve("proc");
    this.cgroup = dataDir.resolve("cgroup");
    this.unit = unit;
    try {
      deleteTree(proc);
      deleteTree(cgroup);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot clear " + proc + ": " + e.getMessage(), e);
    }
  }

  /** Makes both trees show exactly these processes. */
  void write(List<HostProcess> processes, long bootMs, String bootId, long nowMs) {
    try {
      Files.createDirectories(proc.resolve("sys/kernel/random"));
      text(proc.resolve("sys/kernel/random/boot_id"), bootId + "\n");
      text(proc.resolve("stat"), "btime " + bootMs / 1000 + "\n");
      double up = (nowMs - bootMs) / 1000.0;
      text(proc.resolve("uptime"), String.format(Locale.ROOT, "%.2f %.2f%n", up, up * 40));
      Set<Long> now =
          processes.stream().map(HostProcess::pid).collect(Collectors.toCollection(HashSet::new));
      for (Long pid : Set.copyOf(written)) {
        if (!now.contains(pid)) {
          deleteTree(proc.resolve(Long.toString(pid)));
          written.remove(pid);
        }
      }
      for (HostProcess p : processes) {
        process(p, bootMs);
        written.add(p.pid());
      }
      group(processes);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot write below " + proc + ": " + e.getMessage(), e);
    }
  }

  private void process(HostProcess p, long bootMs) throws IOException {
    Path dir = Files.createDirectories(proc.resolve(Long.toString(p.pid())));
    // Fields 3 to 24 of proc(5); 22 is the start time.
    text(
        dir.resolve("stat"),
        "%d (%s) S %d %d %d 0 -1 4194560 0 0 0 0 100 100 0 0 20 0 8 0 %d 1000000 1000\n"
            .formatted(p.pid(), p.comm(), p.ppid(), p.pid(), p.pid(), p.startTicks(bootMs)));
    text(dir.resolve("comm"), p.comm() + "\n");
    text(dir.resolve("cgroup"), "0::" + p.cgroup() + "\n");
    text(dir.resolve("cmdline"), p.args().replace(' ', '\0') + "\0");
    text(
        dir.resolve("status"),
        "Name:\t%s\nState:\tS (sleeping)\nPid:\t%d\nPPid:\t%d\n"
            .formatted(p.comm(), p.pid(), p.ppid()));
  }

  private void group(List<HostProcess> processes) throws IOException {
    Path dir = cgroup.resolve("system.slice").resolve(unit);
    String pids =
        processes.stream()
            .filter(p -> p.cgroup().endsWith("/" + unit))
            .map(p -> p.pid() + "\n")
            .collect(Collectors.joining());
    if (pids.isEmpty()) {
      // systemd removes the group of a unit that has no process.
      deleteTree(dir);
      Files.createDirectories(dir.getParent());
    } else {
      Files.createDirectories(dir);
      text(dir.resolve("cgroup.procs"), pids);
    }
  }

  private static void text(Path file, String content) throws IOException {
    Files.write(file, content.getBytes(StandardCharsets.UTF_8));
  }

  private static void deleteTree(Path root) throws IOException {
    if (!Files.exists(root)) {
      return;
    }
    try (Stream<Path> all = Files.walk(root)) {
      for (Path path : all.sorted((a, b) -> b.compareTo(a)).toList()) {
        Files.delete(path);
      }
    }
  }
}
