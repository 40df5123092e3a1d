package dev.plumbline.lab;

/**
 * A process of the simulated host.
 *
 * @param pid above the largest pid that a kernel gives (2^22), so that a signal sent to it can
 *     never reach a real process of the machine on which the lab runs
 * @param cgroup path below the cgroup root, with a leading slash
 * @param gpu index of the GPU on which it holds memory, -1: none
 * @param memoryMiB held once it is fully loaded
 * @param startedMs wall clock
 * @param loadedMs wall clock at which all its memory is in use; grows linearly until then
 * @param ignoresTerm true when only SIGKILL ends it
 */
record HostProcess(
    long pid,
    long ppid,
    String user,
    String comm,
    String args,
    String cgroup,
    int gpu,
    long memoryMiB,
    long startedMs,
    long loadedMs,
    boolean ignoresTerm) {

  /** Memory in use now, in MiB. */
  long memoryMiB(long nowMs) {
    if (nowMs >= loadedMs || loadedMs <= startedMs) {
      return memoryMiB;
    }
    return memoryMiB * Math.max(0, nowMs - startedMs) / (loadedMs - startedMs);
  }

  /** Field 22 of {@code /proc/pid/stat}: clock ticks (100 per second) from boot to its start. */
  long startTicks(long bootMs) {
    return Math.max(1, (startedMs - bootMs) / 10);
  }

  /** The same process after its parents ended: init's child, deaf to SIGTERM. */
  HostProcess orphaned() {
    return new HostProcess(
        pid, 1, user, comm, args, cgroup, gpu, memoryMiB, startedMs, loadedMs, true);
  }
}
