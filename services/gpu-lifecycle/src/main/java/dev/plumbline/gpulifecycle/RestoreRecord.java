package dev.plumbline.gpulifecycle;

import dev.plumbline.gpulifecycle.ProcessTable.HostProcess;
import dev.plumbline.schemas.campaign.ServiceUnderTest;
import dev.plumbline.schemas.host.HostSnapshot;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * What a host needs to know to become again what it was: written there before anything is touched.
 *
 * @param before while serving
 * @param processes all that may ever be killed, by pid and start time
 * @param bootId the boot for which the start times hold; null when unknown
 * @param directory working directory of the service; null when unknown
 * @param stoppedAt when the stop was given; null before
 * @param restoredAt when a completion proved the service; null while the restore is owed
 * @param proof the text of that completion
 * @param actions what was done to the host, in order
 */
record RestoreRecord(
    String campaignId,
    long token,
    ServiceUnderTest service,
    HostSnapshot before,
    List<HostProcess> processes,
    String bootId,
    String directory,
    Instant recordedAt,
    Instant stoppedAt,
    Instant restoredAt,
    String proof,
    List<String> actions) {

  RestoreRecord with(String action) {
    List<String> all = new ArrayList<>(actions);
    all.add(action);
    return new RestoreRecord(
        campaignId,
        token,
        service,
        before,
        processes,
        bootId,
        directory,
        recordedAt,
        stoppedAt,
        restoredAt,
        proof,
        List.copyOf(all));
  }

  /** The first stop counts: from then on the service was down. */
  RestoreRecord stopped(Instant at) {
    return new RestoreRecord(
        campaignId,
        token,
        service,
        before,
        processes,
        bootId,
        directory,
        recordedAt,
        stoppedAt == null ? at : stoppedAt,
        restoredAt,
        proof,
        actions);
  }

  /** For another attempt to free: the service was started in between, by the switch. */
  RestoreRecord again(List<HostProcess> now, String boot) {
    return new RestoreRecord(
        campaignId,
        token,
        service,
        before,
        now,
        boot,
        directory,
        recordedAt,
        stoppedAt,
        restoredAt,
        proof,
        actions);
  }

  RestoreRecord restored(Instant at, String text) {
    return new RestoreRecord(
        campaignId,
        token,
        service,
        before,
        processes,
        bootId,
        directory,
        recordedAt,
        stoppedAt,
        at,
        text,
        actions);
  }
}
