package dev.plumbline.workerkit;

import com.fasterxml.jackson.databind.JsonNode;
import dev.plumbline.schemas.Json;
import dev.plumbline.schemas.Step;
import dev.plumbline.schemas.command.Job;
import java.io.IOException;
import java.io.InputStream;
import java.util.EnumSet;
import java.util.Set;

/**
 * What the host itself says against the work: who was leased the host before must not touch it now,
 * and GPUs whose service the host has started again are not free.
 */
public final class HostFence {

  private static final Set<Step> NEED_FREE_GPUS = EnumSet.of(Step.DEPLOY, Step.MICRO, Step.TRACE);

  private HostFence() {}

  /**
   * Looks at {@code <workDir>/lease.json}; without that file, or without a token in the job, there
   * is nothing to refuse.
   *
   * @throws StepFailure with code {@code refused} when the token on the host is newer than the
   *     job's, or cannot be read, or when the dead-man's switch has started the service again
   */
  public static void check(HostAccess host, Job job) throws HostException, StepFailure {
    checkToken(host, job);
    if (NEED_FREE_GPUS.contains(job.step())
        && host.stat(host.workDir() + "/restore/" + job.campaignId() + ".switch/fired")
            .isPresent()) {
      throw new StepFailure(
          "refused",
          "host '%s' has started its service again by itself, because its lease was not renewed in time: the GPUs are no longer free"
              .formatted(host.entry().name()),
          false);
    }
  }

  private static void checkToken(HostAccess host, Job job) throws HostException, StepFailure {
    String path = host.workDir() + "/lease.json";
    if (job.token() == null || host.stat(path).isEmpty()) {
      return;
    }
    JsonNode token;
    try (InputStream in = host.read(path)) {
      token = Json.mapper().readTree(in.readAllBytes()).path("token");
    } catch (IOException e) {
      throw new StepFailure(
          "refused",
          "the lease %s on host '%s' cannot be read: %s"
              .formatted(path, host.entry().name(), e.getMessage()),
          true,
          e);
    }
    if (token.asLong() > job.token()) {
      throw new StepFailure(
          "refused",
          "host '%s' was leased anew: the token there is %d, ours is %d"
              .formatted(host.entry().name(), token.asLong(), job.token()),
          false);
    }
  }
}
