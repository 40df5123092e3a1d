package dev.plumbline.gpulifecycle;

import dev.plumbline.gpulifecycle.ProcessTable.HostProcess;
import dev.plumbline.schemas.Fault;
import dev.plumbline.workerkit.Exec;
import dev.plumbline.workerkit.HostAccess;
import dev.plumbline.workerkit.HostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A plain process with a file that holds its number. */
record ProcessService(String pidFile, List<String> command, Settings settings)
    implements ServiceControl {

  /** The kernel counts start times in 1/100 s towards user space, on every architecture in use. */
  private static final long TICKS_PER_SECOND = 100;

  /** A file system may keep whole seconds, and the boot time is rounded too. */
  private static final Duration SLACK = Duration.ofSeconds(2);

  @Override
  public Status status(HostAccess host, ProcessTable table) throws HostException {
    List<Fault> faults = new ArrayList<>();
    if (pidFile == null || !pidFile.startsWith("/") || pidFile.contains("\n")) {
      faults.add(new Fault("service.pidFile", "the pid file must be an absolute path on the host"));
    }
    if (command == null || command.isEmpty() || command.contains("")) {
      faults.add(
          new Fault(
              "service.start",
              "the command that starts the service again is missing or has an empty argument"));
    } else if (command.stream().anyMatch(argument -> argument.indexOf('\0') >= 0)) {
      faults.add(new Fault("service.start", "an argument of the command holds a zero byte"));
    }
    if (!faults.isEmpty()) {
      return status("invalid", null, List.of(), null, faults);
    }
    Optional<Long> pid =
        HostFiles.read(host, pidFile)
            .map(bytes -> new String(bytes, java.nio.charset.StandardCharsets.US_ASCII).strip())
            .filter(text -> text.matches("[1-9]\\d{0,17}"))
            .map(Long::valueOf);
    Optional<HostProcess> leader = pid.flatMap(table::find).filter(HostProcess::lives);
    if (leader.isEmpty()) {
      return status("inactive", null, List.of(), null, List.of());
    }
    if (!wroteTheFile(host, leader.get())) {
      // The number was given to another process since: that one is not ours to stop.
      return status("inactive", null, List.of(), null, List.of());
    }
    List<HostProcess> tree = table.tree(leader.get().pid());
    return status("active", leader.get().pid(), tree, directory(host, leader.get()), List.of());
  }

  private Status status(
      String active, Long pid, List<HostProcess> tree, String directory, List<Fault> faults) {
    return new Status("process of " + pidFile, active, pid, tree, directory, faults);
  }

  /** A process that began after the file was written did not write it. */
  private boolean wroteTheFile(HostAccess host, HostProcess leader) throws HostException {
    Exec modified = host.exec(List.of("stat", "-c", "%Y", "--", pidFile), settings.toolTimeout());
    Exec booted =
        host.exec(
            List.of("grep", "^btime ", host.entry().procRoot() + "/stat"), settings.toolTimeout());
    String boot = booted.stdout().strip().replaceFirst("^btime ", "");
    String written = modified.stdout().strip();
    if (!modified.ok() || !written.matches("\\d+") || !boot.matches("\\d+")) {
      throw new HostException(
          "failed",
          "cannot tell on host "
              + host.entry().name()
              + " whether process "
              + leader.pid()
              + " is the one of "
              + pidFile
              + ": "
              + (modified.stderr() + " " + booted.stderr()).strip(),
          false);
    }
    long started = Long.parseLong(boot) + leader.startTicks() / TICKS_PER_SECOND;
    return started <= Long.parseLong(written) + SLACK.toSeconds();
  }

  private String directory(HostAccess host, HostProcess leader) throws HostException {
    Exec exec =
        host.exec(
            List.of("readlink", "--", host.entry().procRoot() + "/" + leader.pid() + "/cwd"),
            settings.toolTimeout());
    String path = exec.stdout().stripTrailing();
    return exec.ok() && path.startsWith("/") && !path.contains("\n") ? path : null;
  }

  @Override
  public List<String> stopCommand(HostAccess host, Status running, String script) {
    HostProcess leader =
        running.processes().stream()
            .filter(process -> running.mainPid() != null && process.pid() == running.mainPid())
            .findFirst()
            .orElseThrow();
    return List.of("sh", script, "signal", "TERM", host.entry().procRoot(), leader.target());
  }

  @Override
  public boolean stopsLater() {
    return true;
  }

  @Override
  public Start start(HostAccess host, String directory) {
    return new Start(command, pidFile, directory);
  }

  @Override
  public String manualStart() {
    return String.join(" ", command) + " & echo $! > " + pidFile;
  }
}
