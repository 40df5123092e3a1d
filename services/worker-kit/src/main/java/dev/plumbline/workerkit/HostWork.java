package dev.plumbline.workerkit;

import dev.plumbline.schemas.command.Job;
import dev.plumbline.schemas.event.StepEvent;

/** The work of a step on the host of its job, which is connected for as long as it takes. */
@FunctionalInterface
public interface HostWork {

  StepEvent on(HostAccess host) throws StepFailure, InterruptedException;

  /**
   * Connects, works, disconnects.
   *
   * @throws StepFailure also when the host cannot be reached
   */
  static StepEvent run(Hosts hosts, Job job, HostWork work)
      throws StepFailure, InterruptedException {
    try (HostAccess host = hosts.connect(job.host())) {
      return work.on(host);
    } catch (HostException e) {
      throw StepFailure.of(e);
    }
  }
}
