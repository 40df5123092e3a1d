package dev.plumbline.gpulifecycle;

import dev.plumbline.gpulifecycle.ProcessTable.HostProcess;
import dev.plumbline.schemas.Fault;
import dev.plumbline.schemas.campaign.ServiceUnderTest;
import dev.plumbline.schemas.host.HostSnapshot.ServiceState;
import dev.plumbline.workerkit.HostAccess;
import dev.plumbline.workerkit.HostException;
import java.util.List;

/** How the server under test is seen, stopped and started, by its strategy. */
sealed interface ServiceControl permits SystemdService, ProcessService, UnmanagedService {

  /**
   * @param active as the host says it: {@code active}, {@code inactive}, {@code failed} …
   * @param mainPid null when it does not run
   * @param processes of the unit's cgroup or of the process tree: all that may ever be killed
   * @param directory working directory of the main process; null when unknown
   * @param faults why it can not be stopped and started again; empty when it can
   */
  record Status(
      String description,
      String active,
      Long mainPid,
      List<HostProcess> processes,
      String directory,
      List<Fault> faults) {

    boolean running() {
      return processes.stream().anyMatch(HostProcess::lives);
    }

    ServiceState state() {
      return new ServiceState(
          description, active, mainPid, processes.stream().map(HostProcess::pid).toList());
    }
  }

  /**
   * How the host starts the service by itself.
   *
   * @param argv the command; run to its end, or kept running when {@code pidFile} is given
   * @param pidFile where the process number of a kept process goes, else null
   * @param directory its working directory; null: the root
   */
  record Start(List<String> argv, String pidFile, String directory) {}

  Status status(HostAccess host, ProcessTable table) throws HostException;

  /** The command, run on the host under the guard, that asks a running service to stop. */
  List<String> stopCommand(HostAccess host, Status running, String script);

  /** True when the service may go on for a while after the stop command ended. */
  boolean stopsLater();

  Start start(HostAccess host, String directory);

  /** What a person types on the host to start it. */
  String manualStart();

  static ServiceControl of(ServiceUnderTest service, Settings settings) {
    if (service == null || service.strategy() == null) {
      return new UnmanagedService("none");
    }
    return switch (service.strategy()) {
      case SYSTEMD -> new SystemdService(service.unit(), settings);
      case PROCESS -> new ProcessService(service.pidFile(), service.start(), settings);
      case NONE -> new UnmanagedService("none");
      case UNKNOWN -> new UnmanagedService("unknown");
    };
  }
}
