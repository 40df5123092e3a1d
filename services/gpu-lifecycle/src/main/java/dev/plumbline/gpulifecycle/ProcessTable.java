package dev.plumbline.gpulifecycle;

import dev.plumbline.workerkit.Exec;
import dev.plumbline.workerkit.HostAccess;
import dev.plumbline.workerkit.HostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The processes of a host at one moment, from {@code /proc}. */
record ProcessTable(Map<Long, HostProcess> byPid) {

  /**
   * @param state the letter of {@code /proc/pid/stat}: {@code Z} is a zombie, {@code D} cannot be
   *     killed
   * @param startTicks field 22: with the pid it names a process for good, until the next boot
   */
  record HostProcess(long pid, String name, String state, long parent, long startTicks) {

    /** A zombie holds nothing and takes no signal: it only waits for its parent. */
    boolean lives() {
      return !state.equals("Z") && !state.equals("X");
    }

    boolean sameAs(HostProcess other) {
      return other != null && pid == other.pid && startTicks == other.startTicks;
    }

    /** As {@code lifecycle.sh signal} wants it. */
    String target() {
      return pid + ":" + startTicks;
    }
  }

  /**
   * {@code pid (name) state ppid …}, at least up to field 22. The name may hold anything, but at
   * most 15 bytes: too few to imitate the numbers that follow it.
   */
  private static final Pattern STAT =
      Pattern.compile(
          "(\\d+) \\((.{0,64}?)\\) ([A-Za-z]) (-?\\d+)((?: -?\\d+){17}) (\\d+)", Pattern.DOTALL);

  static ProcessTable read(HostAccess host, Duration timeout) throws HostException {
    String root = host.entry().procRoot();
    Exec exec =
        host.exec(
            List.of(
                "find",
                root,
                "-mindepth",
                "2",
                "-maxdepth",
                "2",
                "-name",
                "stat",
                "-path",
                root + "/[0-9]*/stat",
                "-exec",
                "cat",
                "{}",
                "+"),
            timeout);
    // A process that ends meanwhile makes the exit status 1; an unreadable root leaves nothing.
    if (exec.exit().isEmpty() || (!exec.ok() && exec.stdout().isEmpty())) {
      throw new HostException(
          "failed",
          "cannot read the processes of host "
              + host.entry().name()
              + " under "
              + root
              + ": "
              + exec.stderr().strip(),
          true);
    }
    return parse(exec.stdout());
  }

  static ProcessTable parse(String stats) {
    Map<Long, HostProcess> byPid = new LinkedHashMap<>();
    Matcher stat = STAT.matcher(stats);
    while (stat.find()) {
      long pid = Long.parseLong(stat.group(1));
      byPid.put(
          pid,
          new HostProcess(
              pid,
              stat.group(2),
              stat.group(3),
              Long.parseLong(stat.group(4)),
              Long.parseLong(stat.group(6))));
    }
    return new ProcessTable(byPid);
  }

  Optional<HostProcess> find(long pid) {
    return Optional.ofNullable(byPid.get(pid));
  }

  /** Those of the given processes that are still themselves, and alive. */
  List<HostProcess> survivors(Collection<HostProcess> recorded) {
    return recorded.stream()
        .filter(process -> process.sameAs(byPid.get(process.pid())))
        .map(process -> byPid.get(process.pid()))
        .filter(HostProcess::lives)
        .toList();
  }

  /** The process and all that descend from it, itself first. */
  List<HostProcess> tree(long pid) {
    Map<Long, List<HostProcess>> children = new HashMap<>();
    byPid
        .values()
        .forEach(
            process ->
                children.computeIfAbsent(process.parent(), p -> new ArrayList<>()).add(process));
    List<HostProcess> tree = new ArrayList<>();
    find(pid).ifPresent(tree::add);
    for (int i = 0; i < tree.size(); i++) {
      tree.addAll(children.getOrDefault(tree.get(i).pid(), List.of()));
    }
    return tree;
  }
}
