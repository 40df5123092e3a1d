package dev.plumbline.gpulifecycle;

import dev.plumbline.schemas.Fault;
import dev.plumbline.schemas.campaign.ServiceUnderTest;
import dev.plumbline.schemas.command.Command;
import dev.plumbline.schemas.command.Job;
import dev.plumbline.schemas.event.StepEvent.HostInspected;
import dev.plumbline.schemas.host.GpuHolder;
import dev.plumbline.schemas.host.GpuState;
import dev.plumbline.schemas.host.HostSnapshot;
import dev.plumbline.workerkit.HostAccess;
import dev.plumbline.workerkit.HostException;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;

/** Says all that is wrong with a campaign's host and service before anything is touched. */
final class Inspecting {

  private final Settings settings;
  private final Clock clock;
  private final LeaseRenewal.Connector hosts;
  private final EndPoint.Source endPoints;

  Inspecting(
      Settings settings, Clock clock, LeaseRenewal.Connector hosts, EndPoint.Source endPoints) {
    this.settings = settings;
    this.clock = clock;
    this.hosts = hosts;
    this.endPoints = endPoints;
  }

  HostInspected run(Command.InspectHost command) throws InterruptedException {
    Job job = command.job();
    List<Fault> faults = new ArrayList<>();
    HostSnapshot snapshot = null;
    try (HostAccess host = hosts.connect(job.host())) {
      HostInspection.Look look = new HostInspection(settings).look(host, command.service());
      snapshot = look.snapshot();
      faults.addAll(gpuFaults(look, command));
      if (look.service() != null) {
        faults.addAll(look.service().faults());
      }
    } catch (HostException e) {
      faults.add(new Fault("host", e.getMessage()));
    }
    if (command.service() != null) {
      faults.addAll(endPointFaults(command.service(), command.frees()));
    }
    return new HostInspected(
        job.campaignId(),
        job.step(),
        job.attempt(),
        clock.instant(),
        snapshot,
        List.copyOf(faults));
  }

  private List<Fault> gpuFaults(HostInspection.Look look, Command.InspectHost command) {
    HostSnapshot snapshot = look.snapshot();
    if (snapshot.gpus().isEmpty()) {
      return command.allowNoGpu()
          ? List.of()
          : List.of(
              new Fault(
                  "host",
                  "host "
                      + snapshot.host()
                      + " has no GPU ("
                      + snapshot.noGpuReason()
                      + "): name another host, or allow a run without GPU (allowNoGpu,"
                      + " --allow-no-gpu)"));
    }
    if (!command.frees()) {
      return List.of();
    }
    List<Fault> faults = new ArrayList<>();
    for (GpuState state : snapshot.gpus()) {
      FreeProof.unprovable(state)
          .ifPresent(
              why ->
                  faults.add(
                      new Fault("host", state.uuid() + " could not be proven free: " + why)));
    }
    for (GpuHolder holder : look.foreign()) {
      faults.add(
          new Fault(
              "host",
              Freeing.described(holder)
                  + " does not belong to the service; it is never killed: end it yourself, or wait"
                  + " for it"));
    }
    hidden(snapshot).ifPresent(faults::add);
    return faults;
  }

  /** An empty list beside memory in use: the processes are not visible from here. */
  private java.util.Optional<Fault> hidden(HostSnapshot snapshot) {
    return snapshot.gpus().stream()
        .filter(state -> state.memoryUsedMiB().value() != null)
        .filter(state -> state.memoryUsedMiB().value() > settings.idleLimitMiB())
        .filter(
            state -> snapshot.holders().stream().noneMatch(h -> state.uuid().equals(h.gpuUuid())))
        .findFirst()
        .map(
            state ->
                new Fault(
                    "host",
                    "%s has %.0f MiB in use and no process is listed for it: they cannot be seen"
                            .formatted(state.uuid(), state.memoryUsedMiB().value())
                        + " from here (a container?), so it could not be proven free"));
  }

  private List<Fault> endPointFaults(ServiceUnderTest service, boolean stops)
      throws InterruptedException {
    EndPoint endPoint;
    try {
      endPoint = endPoints.at(service.url());
      List<String> models = endPoint.models(settings.toolTimeout());
      if (!models.contains(service.model())) {
        return List.of(
            new Fault(
                "service.model",
                "model \"%s\" is not served at %s; served: %s"
                    .formatted(
                        service.model(),
                        service.url(),
                        models.isEmpty() ? "none" : String.join(", ", models))));
      }
    } catch (IOException e) {
      return List.of(new Fault("service.url", e.getMessage()));
    }
    return stops ? unproven(endPoint, service) : List.of();
  }

  /** What does not complete anything now could never be proven back after a stop. */
  private List<Fault> unproven(EndPoint endPoint, ServiceUnderTest service)
      throws InterruptedException {
    try {
      endPoint.complete(service.model(), settings.toolTimeout());
      return List.of();
    } catch (IOException e) {
      return List.of(
          new Fault(
              "service.url",
              "the server lists its model and completes nothing ("
                  + e.getMessage()
                  + "): stopped, it could not be proven back; repair it first"));
    }
  }
}
