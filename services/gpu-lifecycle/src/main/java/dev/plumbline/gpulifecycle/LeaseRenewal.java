package dev.plumbline.gpulifecycle;

import dev.plumbline.workerkit.HostAccess;
import dev.plumbline.workerkit.HostException;
import dev.plumbline.workerkit.StepFailure;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Renews the lease of each host that is owed a restore, so that its dead-man's switch does not fire
 * while a campaign works. It reads from the host what is owed, so a new process continues where a
 * killed one ended; and it ends by itself, so that a forgotten campaign costs the host at most
 * {@link Settings#maxDown()}.
 */
final class LeaseRenewal implements AutoCloseable {

  private static final Logger LOG = System.getLogger(LeaseRenewal.class.getName());
  private static final Duration RETRY_UNREACHABLE = Duration.ofSeconds(20);

  /** Opens a host by its name. */
  @FunctionalInterface
  interface Connector {
    HostAccess connect(String host) throws HostException;
  }

  private record Owed(String host, String campaignId) {}

  private final Connector hosts;
  private final Settings settings;
  private final Clock clock;
  private final Pause pause;
  private final Map<Owed, Thread> threads = new ConcurrentHashMap<>();
  private final Map<String, Thread> scans = new ConcurrentHashMap<>();

  LeaseRenewal(Connector hosts, Settings settings, Clock clock, Pause pause) {
    this.hosts = hosts;
    this.settings = settings;
    this.clock = clock;
    this.pause = pause;
  }

  /** Renews from now on until nothing is owed; harmless when it does already. */
  void watch(String host, String campaignId) {
    Owed owed = new Owed(host, campaignId);
    threads.compute(
        owed,
        (key, present) ->
            present != null && present.isAlive()
                ? present
                : Thread.ofVirtual().name("renew-" + host).start(() -> renewWhileOwed(owed)));
  }

  /** Looks on each host for restores that an earlier process left owed; returns at once. */
  void resume(List<String> hostNames) {
    for (String host : hostNames) {
      scans.computeIfAbsent(
          host, name -> Thread.ofVirtual().name("scan-" + name).start(() -> scan(name)));
    }
  }

  private void scan(String host) {
    try {
      while (!scanned(host)) {
        pause.take(RETRY_UNREACHABLE);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean scanned(String host) {
    try (HostAccess access = hosts.connect(host)) {
      for (String campaign : new RestoreRecords(access).owing()) {
        LOG.log(Level.INFO, "host={0} campaign={1}: a restore is owed; renewing", host, campaign);
        watch(host, campaign);
      }
      return true;
    } catch (HostException e) {
      LOG.log(
          Level.INFO,
          "host={0}: not yet seen whether a restore is owed: {1}",
          host,
          e.getMessage());
      return !e.retryable();
    }
  }

  private void renewWhileOwed(Owed owed) {
    try {
      while (renewed(owed)) {
        pause.take(settings.renewEvery());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * One renewal.
   *
   * @return false when there is no more to renew
   */
  private boolean renewed(Owed owed) {
    try (HostAccess host = hosts.connect(owed.host())) {
      Optional<RestoreRecord> record = new RestoreRecords(host).owed(owed.campaignId());
      if (record.isEmpty()) {
        return false;
      }
      Instant limit = record.get().recordedAt().plus(settings.maxDown());
      if (clock.instant().isAfter(limit)) {
        LOG.log(
            Level.WARNING,
            "host={0} campaign={1}: the restore is owed since {2}; no longer renewing, so that the"
                + " host restores itself",
            owed.host(),
            owed.campaignId(),
            record.get().recordedAt());
        return false;
      }
      new DeadMansSwitch(host, owed.campaignId(), settings, clock).renew();
      return true;
    } catch (StepFailure e) {
      LOG.log(
          Level.WARNING,
          "host={0} campaign={1}: {2}",
          owed.host(),
          owed.campaignId(),
          e.getMessage());
      return false;
    } catch (HostException e) {
      // The switch is there for exactly this; the next renewal may come through.
      LOG.log(
          Level.WARNING,
          "host={0} campaign={1}: the lease could not be renewed: {2}",
          owed.host(),
          owed.campaignId(),
          e.getMessage());
      return true;
    }
  }

  @Override
  public void close() {
    threads.values().forEach(Thread::interrupt);
    scans.values().forEach(Thread::interrupt);
  }
}
