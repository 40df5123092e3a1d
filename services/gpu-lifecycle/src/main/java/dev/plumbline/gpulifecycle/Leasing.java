package dev.plumbline.gpulifecycle;

import dev.plumbline.schemas.command.Command;
import dev.plumbline.schemas.command.Job;
import dev.plumbline.schemas.event.StepEvent.LeaseAcquired;
import dev.plumbline.schemas.host.HostLease;
import dev.plumbline.workerkit.HostAccess;
import dev.plumbline.workerkit.HostException;
import dev.plumbline.workerkit.StepFailure;
import java.io.IOException;
import java.time.Clock;
import java.util.Optional;

/** Takes a host for a campaign. */
final class Leasing {

  private final Settings settings;
  private final Clock clock;
  private final Leases leases;
  private final EndPoint.Source endPoints;

  Leasing(Settings settings, Clock clock, Leases leases, EndPoint.Source endPoints) {
    this.settings = settings;
    this.clock = clock;
    this.leases = leases;
    this.endPoints = endPoints;
  }

  LeaseAcquired run(HostAccess host, Command.AcquireLease command)
      throws StepFailure, InterruptedException {
    Job job = command.job();
    try {
      settle(host, job);
      new HostFence(host, settings.toolTimeout()).acquire(job);
    } catch (HostException e) {
      throw StepFailure.of(e);
    }
    HostLease lease =
        new HostLease(
            host.entry().name(),
            job.campaignId(),
            job.token(),
            false,
            "campaign " + job.campaignId(),
            clock.instant());
    leases.publish(lease);
    return new LeaseAcquired(job.campaignId(), job.step(), job.attempt(), clock.instant(), lease);
  }

  /**
   * A host that owes a restore to another campaign is not leased, unless its service proves that it
   * is back: then the debt is closed.
   */
  private void settle(HostAccess host, Job job)
      throws HostException, StepFailure, InterruptedException {
    RestoreRecords records = new RestoreRecords(host);
    for (String campaign : records.owing()) {
      Optional<RestoreRecord> owed = records.owed(campaign);
      if (campaign.equals(job.campaignId()) || owed.isEmpty()) {
        continue;
      }
      RestoreRecord record = owed.get();
      try {
        String text =
            endPoints
                .at(record.service().url())
                .complete(record.service().model(), settings.completionTimeout());
        new DeadMansSwitch(host, campaign, settings, clock).disarm();
        records.close(
            record.with("found running at the next lease").restored(clock.instant(), text));
      } catch (IOException e) {
        throw new StepFailure(
            "refused",
            "host %s still owes a restore since campaign %s (%s): start the service with `%s`"
                .formatted(
                    host.entry().name(),
                    campaign,
                    e.getMessage(),
                    ServiceControl.of(record.service(), settings).manualStart()),
            false);
      }
    }
  }
}
