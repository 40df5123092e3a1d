package dev.plumbline.microbench;

import com.fasterxml.jackson.databind.JsonNode;
import dev.plumbline.schemas.Json;
import dev.plumbline.schemas.command.Job;
import dev.plumbline.workerkit.HostAccess;
import dev.plumbline.workerkit.HostException;
import dev.plumbline.workerkit.StepFailure;
import java.io.IOException;
import java.io.InputStream;

/** Refuses to work on a host that was leased to somebody else since. */
final class HostFence {

  private HostFence() {}

  /**
   * @throws StepFailure with code {@code refused} when the token on the host is newer
   */
  static void check(HostAccess host, Job job) throws HostException, StepFailure {
    String path = host.workDir() + "/lease.json";
    if (job.token() == null || host.stat(path).isEmpty()) {
      return;
    }
    try (InputStream in = host.read(path)) {
      JsonNode lease = Json.mapper().readTree(in.readAllBytes());
      if (lease.path("token").asLong() > job.token()) {
        throw new StepFailure(
            "refused",
            "host %s was leased anew since (token %d, ours is %d)"
                .formatted(host.entry().name(), lease.path("token").asLong(), job.token()),
            false);
      }
    } catch (IOException e) {
      throw new HostException(
          HostException.FAILED,
          "cannot read " + path + " on host " + host.entry().name() + ": " + e.getMessage(),
          true,
          e);
    }
  }
}
