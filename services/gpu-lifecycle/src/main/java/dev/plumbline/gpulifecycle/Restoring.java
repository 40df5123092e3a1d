package dev.plumbline.gpulifecycle;

import dev.plumbline.schemas.campaign.ServiceUnderTest;
import dev.plumbline.schemas.command.Command;
import dev.plumbline.schemas.command.Job;
import dev.plumbline.schemas.event.StepEvent.ServerRestored;
import dev.plumbline.schemas.host.HostLease;
import dev.plumbline.schemas.host.HostSnapshot;
import dev.plumbline.workerkit.HostAccess;
import dev.plumbline.workerkit.HostException;
import dev.plumbline.workerkit.StepContext;
import dev.plumbline.workerkit.StepFailure;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Puts the service back if the host says that it is owed, proves it by one real completion, and
 * gives the host back. Doing it twice, or finding that the host did it by itself, is the same.
 */
final class Restoring {

  private static final Logger LOG = System.getLogger(Restoring.class.getName());

  /** Left of the step's deadline for saying that it failed. */
  private static final Duration LAST_WORDS = Duration.ofSeconds(3);

  private static final Duration READY_DEFAULT = Duration.ofSeconds(900);
  private static final Duration ASK_EVERY = Duration.ofSeconds(1);
  private static final int ASKS_PER_LOOK = 10;
  private static final String RESTARTED = "restarted it once";
  private static final int PROOF_LENGTH = 200;

  private final Settings settings;
  private final Clock clock;
  private final Pause pause;
  private final Leases leases;
  private final EndPoint.Source endPoints;

  Restoring(Settings settings, Clock clock, Pause pause, Leases leases, EndPoint.Source endPoints) {
    this.settings = settings;
    this.clock = clock;
    this.pause = pause;
    this.leases = leases;
    this.endPoints = endPoints;
  }

  ServerRestored run(HostAccess host, Command.RestoreServer command, StepContext context)
      throws StepFailure, InterruptedException {
    Job job = command.job();
    RestoreRecords records = new RestoreRecords(host);
    try {
      Optional<RestoreRecord> owed = records.owed(job.campaignId());
      if (owed.isEmpty()) {
        return notOwed(host, job, records, command);
      }
      new HostFence(host, settings.toolTimeout()).check(job);
      return new Owed(host, job, records, context, owed.get()).restore();
    } catch (HostException e) {
      throw StepFailure.of(e);
    }
  }

  /** Never owed, or done by an earlier attempt of which the answer was lost. */
  private ServerRestored notOwed(
      HostAccess host, Job job, RestoreRecords records, Command.RestoreServer command)
      throws HostException, StepFailure, InterruptedException {
    Optional<RestoreRecord> done = records.done(job.campaignId());
    HostSnapshot now = done.isEmpty() ? null : seen(host, command.service());
    release(host, job);
    return new ServerRestored(
        job.campaignId(),
        job.step(),
        job.attempt(),
        clock.instant(),
        done.map(RestoreRecord::restoredAt).orElse(null),
        now,
        done.map(RestoreRecord::proof).orElse(null),
        done.map(RestoreRecord::actions).orElse(List.of("nothing was owed; lease given back")));
  }

  /** The service is proven: that a tool fails now must not keep the restore owed. */
  private HostSnapshot seen(HostAccess host, ServiceUnderTest service) {
    try {
      return new HostInspection(settings).inspect(host, service);
    } catch (HostException e) {
      LOG.log(
          Level.WARNING,
          "host={0}: no snapshot after the restore: {1}",
          host.entry().name(),
          e.getMessage());
      return null;
    }
  }

  private void release(HostAccess host, Job job)
      throws HostException, StepFailure, InterruptedException {
    new HostFence(host, settings.toolTimeout()).release(job);
    leases.publish(
        new HostLease(host.entry().name(), null, job.token(), false, null, clock.instant()));
  }

  /** One restore that is owed. */
  private final class Owed {
    private final HostAccess host;
    private final Job job;
    private final RestoreRecords records;
    private final StepContext context;
    private final ServiceControl control;
    private final DeadMansSwitch dead;
    private final Instant end;
    private final Duration ready;
    private RestoreRecord record;
    private boolean restarted;

    Owed(
        HostAccess host,
        Job job,
        RestoreRecords records,
        StepContext context,
        RestoreRecord record) {
      this.host = host;
      this.job = job;
      this.records = records;
      this.context = context;
      this.record = record;
      // By an earlier attempt too: who restarts again and again never lets it load.
      this.restarted = record.actions().stream().anyMatch(a -> a.startsWith(RESTARTED));
      this.control = ServiceControl.of(record.service(), settings);
      this.dead = new DeadMansSwitch(host, job.campaignId(), settings, clock);
      this.end =
          job.deadline() == null
              ? clock.instant().plus(settings.maxDown())
              : job.deadline().minus(lastWords());
      Double seconds = record.service().readyTimeoutSeconds();
      this.ready = seconds == null ? READY_DEFAULT : Duration.ofMillis(Math.round(seconds * 1000));
    }

    /** Of a short limit most is for the work. */
    private Duration lastWords() {
      Duration quarter = Duration.between(clock.instant(), job.deadline()).dividedBy(4);
      return quarter.compareTo(LAST_WORDS) < 0 ? quarter : LAST_WORDS;
    }

    ServerRestored restore() throws StepFailure, InterruptedException, HostException {
      Duration wait = settings.retryEvery();
      while (true) {
        String trouble;
        try {
          return proven(attempt());
        } catch (HostException | IOException e) {
          trouble = e.getMessage();
        }
        if (clock.instant().plus(wait).isAfter(end)) {
          throw new StepFailure(
              "time-out",
              "%s on host %s is not proven back (%s); it stays owed: start it with `%s`"
                  .formatted(
                      record.service().unit() == null
                          ? record.service().pidFile()
                          : record.service().unit(),
                      host.entry().name(),
                      trouble,
                      control.manualStart()),
              true);
        }
        context.progress(0, null, "restore not proven yet: " + trouble);
        pause.take(wait);
        wait =
            wait.compareTo(settings.retryEvery().multipliedBy(8)) > 0 ? wait : wait.multipliedBy(2);
      }
    }

    /** Starts it if it does not run, and asks until it answers. */
    private String attempt() throws HostException, IOException, StepFailure, InterruptedException {
      if (dead.fired() && record.actions().stream().noneMatch(a -> a.contains("by itself"))) {
        record = record.with("the dead-man's switch had started the service by itself");
      }
      if (!running()) {
        Instant asked = clock.instant();
        dead.start();
        record =
            record.with(
                "started %s in %d s"
                    .formatted(
                        control.manualStart(),
                        Duration.between(asked, clock.instant()).toSeconds()));
        context.progress(0, null, "started; waiting for a completion");
      } else {
        context.progress(0, null, "it runs; waiting for a completion");
      }
      Instant begin = clock.instant();
      try {
        return completion();
      } catch (IOException e) {
        // Only when it had its time: one that still loads would have to begin anew.
        boolean hadItsTime = !clock.instant().plus(ASK_EVERY).isBefore(begin.plus(ready));
        if (!restarted && hadItsTime && running()) {
          restartOnce(e.getMessage());
          return completion();
        }
        throw e;
      }
    }

    private boolean running() throws HostException {
      ProcessTable table = ProcessTable.read(host, settings.toolTimeout());
      return control.status(host, table).running();
    }

    /** It runs and does not complete anything: the engine behind it may be dead. */
    private void restartOnce(String why) throws HostException, StepFailure, InterruptedException {
      restarted = true;
      Stopping stopping = new Stopping(host, settings, clock, pause, records);
      HostInspection.Look look = new HostInspection(settings).look(host, record.service());
      record = stopping.record(job, record.service(), look, Optional.of(record));
      record = stopping.arm(record);
      record = stopping.stop(job, record, look);
      dead.start();
      record = record.with(RESTARTED + ", because " + why);
      records.save(record);
    }

    private String completion()
        throws IOException, HostException, StepFailure, InterruptedException {
      Instant begin = clock.instant();
      Instant limit = earlier(begin.plus(ready), end);
      EndPoint endPoint = endPoints.at(record.service().url());
      for (int asked = 1; ; asked++) {
        context.checkCancelled();
        Duration left = Duration.between(clock.instant(), limit);
        Duration timeout =
            left.compareTo(settings.completionTimeout()) < 0 ? left : settings.completionTimeout();
        try {
          if (timeout.isPositive()) {
            return endPoint.complete(record.service().model(), timeout);
          }
          throw new IOException(
              "no completion within " + Duration.between(begin, limit).toSeconds() + " s");
        } catch (IOException e) {
          if (!clock.instant().plus(ASK_EVERY).isBefore(limit)) {
            throw e;
          }
          if (asked % ASKS_PER_LOOK == 0 && !running()) {
            throw new IOException("it ended again while loading: " + e.getMessage(), e);
          }
        }
        pause.take(ASK_EVERY);
      }
    }

    private ServerRestored proven(String text)
        throws HostException, StepFailure, InterruptedException {
      Instant restoredAt = clock.instant();
      String proof = text.length() <= PROOF_LENGTH ? text : text.substring(0, PROOF_LENGTH) + "…";
      HostSnapshot after = seen(host, record.service());
      dead.disarm();
      record = record.with("proven by a completion; switch disarmed").restored(restoredAt, proof);
      records.close(record);
      release(host, job);
      return new ServerRestored(
          job.campaignId(),
          job.step(),
          job.attempt(),
          clock.instant(),
          restoredAt,
          after,
          proof,
          new ArrayList<>(record.actions()));
    }
  }

  private static Instant earlier(Instant one, Instant other) {
    return one.isBefore(other) ? one : other;
  }
}
