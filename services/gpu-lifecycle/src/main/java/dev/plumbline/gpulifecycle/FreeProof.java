package dev.plumbline.gpulifecycle;

import dev.plumbline.schemas.host.GpuState;
import dev.plumbline.schemas.host.Reading;
import dev.plumbline.workerkit.HostAccess;
import dev.plumbline.workerkit.HostException;
import dev.plumbline.workerkit.NvidiaSmi;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Decides from what {@code nvidia-smi} shows whether GPUs are free. 0 MiB is no test: idle GPUs
 * show 0 to 256 MiB by driver and mode, and a dead process's memory shows for a while without an
 * owner.
 *
 * @param baselines what each GPU showed when it was proven free before
 */
record FreeProof(Settings settings, Map<String, Baseline> baselines) {

  /** Used memory of an idle GPU; it holds for one driver. */
  record Baseline(double usedMiB, String driver) {}

  private record Stored(Map<String, Baseline> gpus) {}

  private static String path(HostAccess host) {
    return host.workDir() + "/baseline.json";
  }

  static FreeProof of(HostAccess host, Settings settings) throws HostException {
    return new FreeProof(
        settings,
        HostFiles.readJson(host, path(host), Stored.class).map(Stored::gpus).orElse(Map.of()));
  }

  /**
   * @param expected UUIDs of the GPUs that must all answer
   * @return why they are not free; empty when they are
   */
  List<String> objections(
      Set<String> expected, List<NvidiaSmi.Gpu> gpus, List<NvidiaSmi.Process> holders) {
    List<String> objections = new ArrayList<>();
    Set<String> answering =
        gpus.stream().map(gpu -> gpu.state().uuid()).collect(Collectors.toSet());
    expected.stream()
        .filter(uuid -> !answering.contains(uuid))
        .sorted()
        .forEach(uuid -> objections.add(uuid + " does not answer any more"));
    answering.stream()
        .filter(uuid -> !expected.contains(uuid))
        .sorted()
        .forEach(uuid -> objections.add(uuid + " was not there before"));
    for (NvidiaSmi.Process holder : holders) {
      objections.add(
          "process %d (%s) holds %s of %s"
              .formatted(
                  holder.pid(), holder.name(), shown(holder.memoryUsedMiB()), holder.gpuUuid()));
    }
    gpus.forEach(gpu -> objections(gpu, objections));
    return objections;
  }

  private void objections(NvidiaSmi.Gpu gpu, List<String> objections) {
    GpuState state = gpu.state();
    String name = state.index() == null ? state.uuid() : "GPU " + state.index();
    unprovable(state).ifPresent(why -> objections.add(name + " cannot be proven free: " + why));
    Double used = state.memoryUsedMiB().value();
    if (used != null && used > limitMiB(state)) {
      objections.add(
          "%s shows %.0f MiB used, more than %.0f MiB".formatted(name, used, limitMiB(state)));
    }
    Double utilization = state.utilizationPercent().value();
    if (utilization != null && utilization > 0) {
      objections.add("%s is %.0f %% busy".formatted(name, utilization));
    }
    if (gpu.recoveryAction() != null && !gpu.recoveryAction().equalsIgnoreCase("None")) {
      objections.add(name + " asks for recovery: " + gpu.recoveryAction());
    }
  }

  /** Why nothing that this GPU shows could prove it free. */
  static java.util.Optional<String> unprovable(GpuState state) {
    List<String> reasons = new ArrayList<>();
    if ("Enabled".equals(state.mig())) {
      reasons.add("MIG is on");
    }
    if (state.memoryUsedMiB().value() == null) {
      reasons.add("its used memory reads " + state.memoryUsedMiB().absent());
    }
    if (state.utilizationPercent().value() == null) {
      reasons.add("its utilisation reads " + state.utilizationPercent().absent());
    }
    return reasons.isEmpty()
        ? java.util.Optional.empty()
        : java.util.Optional.of(String.join(", ", reasons));
  }

  /**
   * With a baseline: that and a tolerance. Without: a limit above all that was seen on idle GPUs
   * (562 MiB) and below a process that has loaded anything.
   */
  double limitMiB(GpuState state) {
    Baseline baseline = baselines.get(state.uuid());
    return baseline == null || !baseline.driver().equals(String.valueOf(state.driver()))
        ? settings.idleLimitMiB()
        : baseline.usedMiB() + settings.toleranceMiB();
  }

  /** Keeps the smallest that was seen on each GPU, on the host. */
  void remember(HostAccess host, List<GpuState> free) throws HostException {
    Map<String, Baseline> merged = new TreeMap<>(baselines);
    for (GpuState state : free) {
      Baseline now = new Baseline(state.memoryUsedMiB().value(), String.valueOf(state.driver()));
      merged.merge(
          state.uuid(),
          now,
          (old, fresh) ->
              old.driver().equals(fresh.driver()) && old.usedMiB() <= fresh.usedMiB()
                  ? old
                  : fresh);
    }
    HostFiles.put(host, path(host), dev.plumbline.schemas.Json.bytes(new Stored(merged)));
  }

  private static String shown(Reading memory) {
    return memory.value() == null
        ? "an untold amount (" + memory.absent() + ")"
        : "%.0f MiB".formatted(memory.value());
  }
}
