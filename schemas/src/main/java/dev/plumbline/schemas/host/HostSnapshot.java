package dev.plumbline.schemas.host;

import java.util.List;

/**
 * What was seen on a host; taking it changes nothing.
 *
 * @param noGpuReason why there are no GPUs, null when there are
 * @param service state of the service under test; null when the request names none
 */
public record HostSnapshot(
    String host,
    List<GpuState> gpus,
    String noGpuReason,
    List<GpuHolder> holders,
    ServiceState service) {

  /**
   * @param unit the unit or process description
   * @param active {@code active}, {@code inactive}, {@code failed} …
   * @param mainPid null when not running
   * @param pids the processes of the unit's cgroup, or of the process tree
   */
  public record ServiceState(String unit, String active, Long mainPid, List<Long> pids) {}
}
