package dev.plumbline.gpulifecycle;

import dev.plumbline.gpulifecycle.ProcessTable.HostProcess;
import dev.plumbline.schemas.Fault;
import dev.plumbline.workerkit.Exec;
import dev.plumbline.workerkit.HostAccess;
import dev.plumbline.workerkit.HostException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/** A systemd unit. What is stopped is the unit; its cgroup says which processes are its own. */
record SystemdService(String unit, Settings settings) implements ServiceControl {

  /** A unit name, never an option and never a glob. */
  private static final Pattern UNIT =
      Pattern.compile("[A-Za-z0-9:_.@\\\\][A-Za-z0-9:_.@\\\\-]{0,254}");

  private static final String PROPERTIES =
      "LoadState,ActiveState,SubState,MainPID,ControlGroup,TriggeredBy";

  @Override
  public Status status(HostAccess host, ProcessTable table) throws HostException {
    if (unit == null || !UNIT.matcher(unit).matches()) {
      return unusable("invalid", "\"" + unit + "\" is not the name of a systemd unit");
    }
    Map<String, String> properties = show(host);
    String load = properties.getOrDefault("LoadState", "");
    if (!load.equals("loaded")) {
      // Stopping a unit that is not loaded fails with status 5 only after everything else was done.
      return unusable(
          load,
          "unit "
              + unit
              + " is not loaded on host "
              + host.entry().name()
              + " (LoadState="
              + load
              + "): check the name with `systemctl list-units`");
    }
    List<HostProcess> processes =
        processes(host, table, properties.getOrDefault("ControlGroup", ""));
    Long mainPid =
        Optional.of(properties.getOrDefault("MainPID", "0"))
            .filter(pid -> pid.matches("[1-9]\\d{0,17}"))
            .map(Long::valueOf)
            .orElse(null);
    return new Status(
        unit,
        properties.getOrDefault("ActiveState", "unknown"),
        mainPid,
        processes,
        null,
        List.of());
  }

  private Status unusable(String active, String message) {
    return new Status(
        String.valueOf(unit),
        active,
        null,
        List.of(),
        null,
        List.of(new Fault("service.unit", message)));
  }

  private Map<String, String> show(HostAccess host) throws HostException {
    Exec exec =
        host.exec(
            systemctl(host, "show", "--property=" + PROPERTIES, "--", unit),
            settings.toolTimeout());
    Map<String, String> properties = new HashMap<>();
    exec.stdout()
        .lines()
        .filter(line -> line.indexOf('=') > 0)
        .forEach(
            line ->
                properties.put(
                    line.substring(0, line.indexOf('=')), line.substring(line.indexOf('=') + 1)));
    if (!exec.ok() || !properties.containsKey("LoadState")) {
      throw new HostException(
          "failed",
          "systemctl show "
              + unit
              + " on host "
              + host.entry().name()
              + " failed: "
              + (exec.stderr() + " " + exec.stdout()).strip(),
          false);
    }
    return properties;
  }

  /** All processes of the unit's cgroup and of the groups below it. */
  private List<HostProcess> processes(HostAccess host, ProcessTable table, String group)
      throws HostException {
    if (group.isEmpty() || group.equals("/") || !group.startsWith("/") || group.contains("..")) {
      return List.of();
    }
    List<HostProcess> processes = new ArrayList<>();
    // Unified hierarchy first; the second is where version 1 keeps systemd's own.
    for (String root : List.of(host.entry().cgroupRoot(), host.entry().cgroupRoot() + "/systemd")) {
      Exec exec =
          host.exec(
              List.of("find", root + group, "-name", "cgroup.procs", "-exec", "cat", "{}", "+"),
              settings.toolTimeout());
      exec.stdout()
          .lines()
          .filter(line -> line.matches("[1-9]\\d{0,17}"))
          .forEach(pid -> table.find(Long.parseLong(pid)).ifPresent(processes::add));
      if (!processes.isEmpty()) {
        break;
      }
    }
    return List.copyOf(processes);
  }

  private static List<String> systemctl(HostAccess host, String... arguments) {
    List<String> argv = new ArrayList<>();
    if (host.entry().sudo()) {
      argv.addAll(List.of("sudo", "-n"));
    }
    argv.add("systemctl");
    argv.addAll(List.of(arguments));
    return argv;
  }

  @Override
  public List<String> stopCommand(HostAccess host, Status running, String script) {
    return systemctl(host, "stop", "--", unit);
  }

  @Override
  public boolean stopsLater() {
    return false;
  }

  @Override
  public Start start(HostAccess host, String directory) {
    return new Start(systemctl(host, "start", "--", unit), null, null);
  }

  @Override
  public String manualStart() {
    return "systemctl start " + unit;
  }
}
