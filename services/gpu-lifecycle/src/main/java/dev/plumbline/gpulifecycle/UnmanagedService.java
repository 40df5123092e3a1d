package dev.plumbline.gpulifecycle;

import dev.plumbline.schemas.Fault;
import dev.plumbline.workerkit.HostAccess;
import java.util.List;

/** A server that is measured and never touched. */
record UnmanagedService(String strategy) implements ServiceControl {

  @Override
  public Status status(HostAccess host, ProcessTable table) {
    List<Fault> faults =
        strategy.equals("none")
            ? List.of()
            : List.of(
                new Fault(
                    "service.strategy",
                    "the strategy is none that this version knows: use systemd, process or none"));
    return new Status("strategy " + strategy, "unmanaged", null, List.of(), null, faults);
  }

  @Override
  public List<String> stopCommand(HostAccess host, Status running, String script) {
    throw new IllegalStateException("a service of strategy " + strategy + " is never stopped");
  }

  @Override
  public boolean stopsLater() {
    return false;
  }

  @Override
  public Start start(HostAccess host, String directory) {
    throw new IllegalStateException("a service of strategy " + strategy + " is never started");
  }

  @Override
  public String manualStart() {
    return "nothing: the service was never stopped";
  }
}
