package dev.plumbline.gpulifecycle;

import dev.plumbline.gpulifecycle.ProcessTable.HostProcess;
import dev.plumbline.schemas.campaign.ServiceUnderTest;
import dev.plumbline.schemas.command.Job;
import dev.plumbline.workerkit.HostAccess;
import dev.plumbline.workerkit.HostException;
import dev.plumbline.workerkit.StepFailure;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/** Records a running service, arms the switch, stops it, and ends what it left behind. */
final class Stopping {

  private static final Duration LOOK_EVERY = Duration.ofMillis(200);

  private final HostAccess host;
  private final Settings settings;
  private final Clock clock;
  private final Pause pause;
  private final RestoreRecords records;

  Stopping(HostAccess host, Settings settings, Clock clock, Pause pause, RestoreRecords records) {
    this.host = host;
    this.settings = settings;
    this.clock = clock;
    this.pause = pause;
    this.records = records;
  }

  /** Writes on the host what is there now; from here on a restore is owed. */
  RestoreRecord record(
      Job job, ServiceUnderTest service, HostInspection.Look look, Optional<RestoreRecord> earlier)
      throws HostException {
    String boot = bootId();
    List<HostProcess> now = look.service().processes();
    RestoreRecord record;
    if (earlier.isPresent()) {
      // What was before stays true; whoever of the first list still lives stays on the list.
      List<HostProcess> all = new ArrayList<>(now);
      if (boot == null || boot.equals(earlier.get().bootId())) {
        look.table().survivors(earlier.get().processes()).stream()
            .filter(old -> now.stream().noneMatch(old::sameAs))
            .forEach(all::add);
      }
      record =
          earlier.get().again(List.copyOf(all), boot).with("attempt " + job.attempt() + " goes on");
    } else {
      record =
          new RestoreRecord(
              job.campaignId(),
              job.token(),
              service,
              look.snapshot(),
              now,
              boot,
              look.service().directory(),
              clock.instant(),
              null,
              null,
              null,
              List.of(
                  "recorded %s with %d processes"
                      .formatted(look.service().description(), now.size())));
    }
    records.save(record);
    return record;
  }

  /** Arms the switch on the host, before anything is stopped. */
  RestoreRecord arm(RestoreRecord record) throws HostException, StepFailure {
    DeadMansSwitch dead = deadMansSwitch(record);
    dead.prepare(ServiceControl.of(record.service(), settings).start(host, record.directory()));
    String kind = dead.arm();
    RestoreRecord armed =
        record.with(
            "armed the dead-man's switch (%s): starts the service %d s after the last renewal"
                .formatted(kind, settings.leaseTtl().toSeconds()));
    records.save(armed);
    return armed;
  }

  /**
   * Asks the service to stop, waits, then ends those of the recorded processes that are left: by
   * SIGTERM, then by SIGKILL. Nothing else ever gets a signal.
   */
  RestoreRecord stop(Job job, RestoreRecord armed, HostInspection.Look look)
      throws HostException, StepFailure, InterruptedException {
    DeadMansSwitch dead = deadMansSwitch(armed);
    RestoreRecord record = armed;
    ServiceControl control = ServiceControl.of(record.service(), settings);
    Duration patience = settings.signalTimeout();
    if (look.service().running()) {
      Instant begin = clock.instant();
      record = record.stopped(begin);
      // Saved first: whoever continues must know since when the service is down.
      records.save(record);
      dead.guarded(
          job, settings.stopTimeout(), control.stopCommand(host, look.service(), dead.script()));
      patience = control.stopsLater() ? settings.stopTimeout() : patience;
      record =
          record.with(
              String.format(
                  Locale.ROOT,
                  "stopped %s in %.1f s",
                  look.service().description(),
                  Duration.between(begin, clock.instant()).toMillis() / 1000.0));
    }
    List<HostProcess> left = waitFor(record.processes(), patience);
    for (String signal : List.of("TERM", "KILL")) {
      if (left.isEmpty()) {
        break;
      }
      List<String> command =
          new ArrayList<>(List.of("sh", dead.script(), "signal", signal, host.entry().procRoot()));
      left.forEach(process -> command.add(process.target()));
      dead.guarded(job, settings.toolTimeout(), command);
      record = record.with("sent SIG" + signal + " to leftovers of the service: " + pids(left));
      records.save(record);
      left = waitFor(record.processes(), settings.signalTimeout());
    }
    records.save(record);
    if (!left.isEmpty()) {
      throw new StepFailure(
          "needs-operator",
          "processes of the service survive SIGKILL on host "
              + host.entry().name()
              + ": "
              + left.stream()
                  .map(process -> process.pid() + " (state " + process.state() + ")")
                  .collect(Collectors.joining(", ")),
          false);
    }
    return record;
  }

  private List<HostProcess> waitFor(List<HostProcess> processes, Duration patience)
      throws HostException, InterruptedException {
    Instant end = clock.instant().plus(patience);
    while (true) {
      List<HostProcess> left = ProcessTable.read(host, settings.toolTimeout()).survivors(processes);
      if (left.isEmpty() || clock.instant().isAfter(end)) {
        return left;
      }
      pause.take(LOOK_EVERY);
    }
  }

  private DeadMansSwitch deadMansSwitch(RestoreRecord record) {
    return new DeadMansSwitch(host, record.campaignId(), settings, clock);
  }

  /** Start times name a process only within one boot. */
  private String bootId() throws HostException {
    String path = host.entry().procRoot() + "/sys/kernel/random/boot_id";
    String text =
        HostFiles.printed(host, List.of(path), settings.toolTimeout())
            .getOrDefault(path, "")
            .strip();
    return text.isEmpty() ? null : text;
  }

  private static String pids(List<HostProcess> processes) {
    return processes.stream()
        .map(process -> Long.toString(process.pid()))
        .collect(Collectors.joining(", "));
  }
}
