package dev.plumbline.schemas.command;

import dev.plumbline.schemas.Step;
import java.time.Instant;

/**
 * Names one attempt of one step; every side effect carries this name, so that a duplicate finds it
 * done or running.
 *
 * @param host name in the host inventory
 * @param token fencing token of the lease; null before the host is leased
 * @param deadline when the coordinator gives the attempt up
 */
public record Job(
    String campaignId, Step step, int attempt, String host, Long token, Instant deadline) {

  /** {@code campaign/step/attempt}. */
  public String id() {
    return campaignId + "/" + step.id() + "/" + attempt;
  }

  /** The same as a file name: {@code campaign-step-attempt}. */
  public String directory() {
    return campaignId + "-" + step.id() + "-" + attempt;
  }
}
