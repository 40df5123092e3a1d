package dev.plumbline.gpulifecycle;

import dev.plumbline.schemas.command.Job;
import dev.plumbline.workerkit.HostAccess;
import dev.plumbline.workerkit.HostException;
import dev.plumbline.workerkit.StepFailure;
import java.time.Duration;
import java.util.List;

/**
 * The fencing token in {@code <workDir>/lease.json} on the host: whoever comes with an older one is
 * refused by the host itself, whatever he believes.
 */
record HostFence(HostAccess host, Duration timeout) {

  /** Takes the host; harmless when this campaign holds it with this token already. */
  void acquire(Job job) throws HostException, StepFailure {
    call("acquire", job);
  }

  /** Passes only for the campaign and token that hold the host. */
  void check(Job job) throws HostException, StepFailure {
    call("check", job);
  }

  /** Gives the host back; the token stays as the mark that older ones must not pass. */
  void release(Job job) throws HostException, StepFailure {
    call("release", job);
  }

  private void call(String action, Job job) throws HostException, StepFailure {
    if (job.token() == null) {
      throw new StepFailure(
          "invalid", "the command for host " + job.host() + " carries no fencing token", false);
    }
    HostScript.run(
        host,
        timeout,
        List.of("lease", host.workDir(), action, Long.toString(job.token()), job.campaignId()));
  }
}
