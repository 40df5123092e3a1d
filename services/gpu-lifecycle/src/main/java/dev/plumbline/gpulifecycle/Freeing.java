package dev.plumbline.gpulifecycle;

import dev.plumbline.schemas.Fault;
import dev.plumbline.schemas.command.Command;
import dev.plumbline.schemas.command.Job;
import dev.plumbline.schemas.event.StepEvent.GpusFreed;
import dev.plumbline.schemas.host.GpuHolder;
import dev.plumbline.schemas.host.GpuState;
import dev.plumbline.schemas.host.HostLease;
import dev.plumbline.workerkit.HostAccess;
import dev.plumbline.workerkit.HostException;
import dev.plumbline.workerkit.StepContext;
import dev.plumbline.workerkit.StepFailure;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Stops the service and proves the GPUs free, in the order that keeps the host's promise: look,
 * refuse, record, arm the switch, say that a restore is owed, stop, prove.
 */
final class Freeing {

  private final Settings settings;
  private final Clock clock;
  private final Pause pause;
  private final Leases leases;
  private final LeaseRenewal renewal;

  Freeing(Settings settings, Clock clock, Pause pause, Leases leases, LeaseRenewal renewal) {
    this.settings = settings;
    this.clock = clock;
    this.pause = pause;
    this.leases = leases;
    this.renewal = renewal;
  }

  GpusFreed run(HostAccess host, Command.FreeGpus command, StepContext context)
      throws StepFailure, InterruptedException {
    try {
      return free(host, command, context);
    } catch (HostException e) {
      throw StepFailure.of(e);
    }
  }

  private GpusFreed free(HostAccess host, Command.FreeGpus command, StepContext context)
      throws HostException, StepFailure, InterruptedException {
    Job job = command.job();
    new HostFence(host, settings.toolTimeout()).check(job);
    HostInspection.Look look = new HostInspection(settings).look(host, command.service());
    RestoreRecords records = new RestoreRecords(host);
    Optional<RestoreRecord> earlier = records.owed(job.campaignId());
    refuse(look, earlier, command);
    if (earlier.isPresent()
        && new DeadMansSwitch(host, job.campaignId(), settings, clock).fired()) {
      throw refusal(
          "host "
              + host.entry().name()
              + " has started its service again by itself, because its lease was not renewed in"
              + " time: it is not stopped a second time");
    }
    boolean running = look.service() != null && look.service().running();
    Stopping stopping = new Stopping(host, settings, clock, pause, records);
    RestoreRecord record = null;
    if (running || earlier.isPresent()) {
      record = stopping.record(job, command.service(), look, earlier);
      record = owe(host, job, stopping, record);
      context.progress(
          1, 3L, "restore recorded, switch armed; stopping " + look.service().description());
      context.checkCancelled();
      record = stopping.stop(job, record, look);
      context.progress(2, 3L, "stopped " + look.service().description());
    }
    HostInspection.Look free = prove(host, command, look, record, context);
    context.progress(3, 3L, "proven free");
    return new GpusFreed(
        job.campaignId(),
        job.step(),
        job.attempt(),
        clock.instant(),
        record == null ? look.snapshot() : record.before(),
        free.snapshot(),
        record == null ? null : record.stoppedAt(),
        record == null ? List.of("nothing was running, nothing was stopped") : record.actions());
  }

  /** The fact that a restore is owed is stored before the deed that makes it so. */
  private RestoreRecord owe(HostAccess host, Job job, Stopping stopping, RestoreRecord record)
      throws HostException, StepFailure, InterruptedException {
    RestoreRecord armed = stopping.arm(record);
    renewal.watch(job.host(), job.campaignId());
    leases.publish(
        new HostLease(
            host.entry().name(),
            job.campaignId(),
            job.token(),
            true,
            "the service is stopped for campaign " + job.campaignId(),
            clock.instant()));
    return armed;
  }

  private void refuse(
      HostInspection.Look look, Optional<RestoreRecord> earlier, Command.FreeGpus command)
      throws StepFailure {
    if (look.service() != null && !look.service().faults().isEmpty()) {
      throw refusal(
          look.service().faults().stream().map(Fault::message).collect(Collectors.joining("; ")));
    }
    if (look.gpus().isEmpty() && !command.allowNoGpu()) {
      throw refusal("there is no GPU to free: " + look.snapshot().noGpuReason());
    }
    for (GpuState state : look.snapshot().gpus()) {
      Optional<String> why = FreeProof.unprovable(state);
      if (why.isPresent()) {
        throw refusal(state.uuid() + " cannot be proven free: " + why.get());
      }
    }
    List<GpuHolder> foreign =
        look.foreign().stream().filter(holder -> !recorded(holder, earlier)).toList();
    if (!foreign.isEmpty()) {
      throw refusal(
          "the GPUs are held by others, who are never killed: "
              + foreign.stream().map(Freeing::described).collect(Collectors.joining("; ")));
    }
  }

  /** A leftover of the service that an earlier attempt stopped. */
  private static boolean recorded(GpuHolder holder, Optional<RestoreRecord> earlier) {
    return earlier.stream()
        .flatMap(record -> record.processes().stream())
        .anyMatch(
            process ->
                process.pid() == holder.pid()
                    && holder.startTicks() != null
                    && process.startTicks() == holder.startTicks());
  }

  static String described(GpuHolder holder) {
    return "process %d (%s, user %s, %s) on %s"
        .formatted(
            holder.pid(),
            holder.name(),
            holder.user() == null ? "unknown" : holder.user(),
            holder.startTicks() == null
                ? "no such process on the host"
                : holder.cgroup() == null ? "cgroup unknown" : "cgroup " + holder.cgroup(),
            holder.gpuUuid());
  }

  private static StepFailure refusal(String reason) {
    return new StepFailure("refused", reason + "; nothing was changed", false);
  }

  /** Looks until several looks in a row have nothing to object, or the time is up. */
  private HostInspection.Look prove(
      HostAccess host,
      Command.FreeGpus command,
      HostInspection.Look before,
      RestoreRecord record,
      StepContext context)
      throws HostException, StepFailure, InterruptedException {
    Set<String> expected =
        (record == null ? before.snapshot() : record.before())
            .gpus().stream().map(GpuState::uuid).collect(Collectors.toSet());
    FreeProof proof = FreeProof.of(host, settings);
    Instant end = clock.instant().plus(settings.freeTimeout());
    HostInspection inspection = new HostInspection(settings);
    int agreeing = 0;
    while (true) {
      context.checkCancelled();
      HostInspection.Look look = inspection.look(host, command.service());
      List<String> objections =
          new java.util.ArrayList<>(proof.objections(expected, look.gpus(), look.listed()));
      if (record != null) {
        look.table()
            .survivors(record.processes())
            .forEach(left -> objections.add("process " + left.pid() + " of the service lives"));
        if (look.service() != null && look.service().running()) {
          objections.add(look.service().description() + " runs again");
        }
      }
      agreeing = objections.isEmpty() ? agreeing + 1 : 0;
      if (agreeing >= settings.samples()) {
        if (!look.gpus().isEmpty()) {
          proof.remember(host, look.snapshot().gpus());
        }
        return look;
      }
      if (agreeing == 0 && clock.instant().isAfter(end)) {
        throw new StepFailure(
            "not-free",
            "host "
                + host.entry().name()
                + " is not free "
                + settings.freeTimeout().toSeconds()
                + " s after the stop: "
                + String.join("; ", objections),
            false);
      }
      pause.take(settings.sampleEvery());
    }
  }
}
