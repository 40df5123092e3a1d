package dev.plumbline.lab;

import java.util.ArrayList;
import java.util.List;

/**
 * Memory and utilisation of the GPUs. As measured on a real one (h200/release.json), memory stays
 * in use for some time after its process is gone, and then the GPU reads as fully utilised for a
 * while. Not thread-safe: guarded by {@link LabState}.
 */
final class GpuUse {

  /** Both times, in milliseconds. */
  private static final long RELEASE_MS = 200;

  private record Release(int gpu, long memoryMiB, long heldUntilMs) {

    boolean holds(int which, long nowMs) {
      return gpu == which && heldUntilMs >= nowMs;
    }

    boolean empties(int which, long nowMs) {
      return gpu == which && heldUntilMs < nowMs && heldUntilMs + RELEASE_MS >= nowMs;
    }
  }

  private final Scenario.Gpus gpus;
  private final List<Release> releases = new ArrayList<>();

  GpuUse(Scenario.Gpus gpus) {
    this.gpus = gpus;
  }

  /** The process ended now. */
  void release(HostProcess process, long nowMs) {
    if (process.gpu() >= 0) {
      releases.add(new Release(process.gpu(), process.memoryMiB(nowMs), nowMs + RELEASE_MS));
    }
  }

  /** Memory used, in MiB. */
  long usedMiB(int gpu, List<HostProcess> processes, long nowMs) {
    releases.removeIf(r -> r.heldUntilMs() + RELEASE_MS < nowMs);
    long used = gpus.memoryIdleMiB();
    for (HostProcess p : processes) {
      used += p.gpu() == gpu ? p.memoryMiB(nowMs) : 0;
    }
    for (Release r : releases) {
      used += r.holds(gpu, nowMs) ? r.memoryMiB() : 0;
    }
    return Math.min(used, gpus.memoryTotalMiB());
  }

  /** True in the short time after memory was given back. */
  boolean empties(int gpu, long nowMs) {
    return releases.stream().anyMatch(r -> r.empties(gpu, nowMs));
  }
}
