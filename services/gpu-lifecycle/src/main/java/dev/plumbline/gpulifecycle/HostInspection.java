package dev.plumbline.gpulifecycle;

import dev.plumbline.gpulifecycle.ProcessTable.HostProcess;
import dev.plumbline.schemas.campaign.ServiceUnderTest;
import dev.plumbline.schemas.host.GpuHolder;
import dev.plumbline.schemas.host.HostSnapshot;
import dev.plumbline.workerkit.Exec;
import dev.plumbline.workerkit.HostAccess;
import dev.plumbline.workerkit.HostException;
import dev.plumbline.workerkit.NvidiaSmi;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Looks at a host and changes nothing. */
public final class HostInspection {

  private final Settings settings;

  HostInspection(Settings settings) {
    this.settings = settings;
  }

  /** With the limits that {@link GpuLifecycleConfig} has by default. */
  public static HostInspection withDefaults() {
    return new HostInspection(Settings.defaults());
  }

  /**
   * The GPUs, who holds them, and the state of the service.
   *
   * @param service null when none is asked about
   * @throws HostException when the host, or {@code nvidia-smi} on it, does not answer as it should
   */
  public HostSnapshot inspect(HostAccess host, ServiceUnderTest service) throws HostException {
    return look(host, service).snapshot();
  }

  /**
   * A snapshot with what it was made from.
   *
   * @param listed the compute processes as the driver lists them
   * @param service null when none is asked about
   */
  record Look(
      HostSnapshot snapshot,
      List<NvidiaSmi.Gpu> gpus,
      List<NvidiaSmi.Process> listed,
      ServiceControl.Status service,
      ProcessTable table) {

    /** Those that hold a GPU and do not belong to the service. */
    List<GpuHolder> foreign() {
      return snapshot.holders().stream().filter(holder -> !holder.ofService()).toList();
    }
  }

  Look look(HostAccess host, ServiceUnderTest service) throws HostException {
    NvidiaSmi smi = new NvidiaSmi(host, settings.toolTimeout());
    NvidiaSmi.Gpus gpus = smi.gpus();
    List<NvidiaSmi.Process> holders = gpus.gpus().isEmpty() ? List.of() : smi.processes();
    ProcessTable table = ProcessTable.read(host, settings.toolTimeout());
    ServiceControl.Status status =
        service == null ? null : ServiceControl.of(service, settings).status(host, table);
    HostSnapshot snapshot =
        new HostSnapshot(
            host.entry().name(),
            gpus.states(),
            gpus.absent(),
            holders(host, holders, table, status),
            status == null ? null : status.state());
    return new Look(snapshot, gpus.gpus(), holders, status, table);
  }

  private List<GpuHolder> holders(
      HostAccess host,
      List<NvidiaSmi.Process> listed,
      ProcessTable table,
      ServiceControl.Status service)
      throws HostException {
    if (listed.isEmpty()) {
      return List.of();
    }
    Set<Long> own = new HashSet<>();
    if (service != null) {
      service.processes().stream().map(HostProcess::pid).forEach(own::add);
    }
    Details details = details(host, listed);
    List<GpuHolder> holders = new ArrayList<>();
    for (NvidiaSmi.Process process : listed) {
      Optional<HostProcess> known = table.find(process.pid());
      holders.add(
          new GpuHolder(
              process.gpuUuid(),
              process.pid(),
              // The driver prints [No data] or a blank for a process that is ending.
              known
                  .map(HostProcess::name)
                  .filter(n -> unnamed(process.name()))
                  .orElse(process.name()),
              details.users().get(process.pid()),
              known.map(HostProcess::startTicks).orElse(null),
              details.cgroups().get(process.pid()),
              process.memoryUsedMiB(),
              own.contains(process.pid())));
    }
    return List.copyOf(holders);
  }

  private static boolean unnamed(String name) {
    return name == null || name.isBlank() || name.startsWith("[") || name.equals("-");
  }

  private record Details(Map<Long, String> users, Map<Long, String> cgroups) {}

  private Details details(HostAccess host, List<NvidiaSmi.Process> listed) throws HostException {
    String root = host.entry().procRoot();
    List<String> paths = new ArrayList<>();
    for (NvidiaSmi.Process process : listed) {
      paths.add(root + "/" + process.pid() + "/status");
      paths.add(root + "/" + process.pid() + "/cgroup");
    }
    Map<String, String> printed =
        HostFiles.printed(host, paths.stream().distinct().toList(), settings.toolTimeout());
    Map<Long, String> users = new HashMap<>();
    Map<Long, String> cgroups = new HashMap<>();
    for (NvidiaSmi.Process process : listed) {
      String prefix = root + "/" + process.pid();
      uid(printed.getOrDefault(prefix + "/status", ""))
          .ifPresent(uid -> users.put(process.pid(), uid));
      cgroup(printed.getOrDefault(prefix + "/cgroup", ""))
          .ifPresent(group -> cgroups.put(process.pid(), group));
    }
    Map<String, String> names = users.isEmpty() ? Map.of() : userNames(host, users);
    users.replaceAll((pid, uid) -> names.getOrDefault(uid, "uid " + uid));
    return new Details(users, cgroups);
  }

  private static Optional<String> uid(String status) {
    return status
        .lines()
        .filter(line -> line.startsWith("Uid:"))
        .map(line -> line.substring(4).strip().split("\\s+")[0])
        .findFirst();
  }

  /** The unified hierarchy's line, else systemd's own of version 1. */
  private static Optional<String> cgroup(String text) {
    List<String> lines = text.lines().toList();
    return lines.stream()
        .filter(line -> line.startsWith("0::"))
        .map(line -> line.substring(3))
        .findFirst()
        .or(
            () ->
                lines.stream()
                    .filter(line -> line.contains(":name=systemd:"))
                    .map(line -> line.substring(line.indexOf(":name=systemd:") + 14))
                    .findFirst());
  }

  private Map<String, String> userNames(HostAccess host, Map<Long, String> users)
      throws HostException {
    List<String> argv = new ArrayList<>(List.of("getent", "passwd"));
    argv.addAll(users.values().stream().distinct().toList());
    Map<String, String> names = new HashMap<>();
    Exec exec;
    try {
      exec = host.exec(argv, settings.toolTimeout());
    } catch (HostException e) {
      if (e.code().equals("not-found")) {
        return names;
      }
      throw e;
    }
    exec.stdout()
        .lines()
        .map(line -> line.split(":"))
        .filter(fields -> fields.length > 2)
        .forEach(fields -> names.put(fields[2], fields[0]));
    return names;
  }
}
