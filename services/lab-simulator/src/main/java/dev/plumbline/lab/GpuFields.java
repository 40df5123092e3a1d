package dev.plumbline.lab;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The fields that {@code nvidia-smi --query-gpu} and {@code --query-compute-apps} know here. */
final class GpuFields {

  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyy/MM/dd HH:mm:ss.SSS", Locale.ROOT).withZone(ZoneOffset.UTC);

  /** What the user may write, and the name that the header shows. */
  private static final Map<String, String> ALIASES =
      Map.ofEntries(
          Map.entry("gpu_name", "name"),
          Map.entry("gpu_uuid", "uuid"),
          Map.entry("gpu_bus_id", "pci.bus_id"),
          Map.entry("gpu_serial", "serial"),
          Map.entry("clocks.sm", "clocks.current.sm"),
          Map.entry("clocks.gr", "clocks.current.graphics"),
          Map.entry("clocks.mem", "clocks.current.memory"),
          Map.entry("clocks_throttle_reasons.active", "clocks_event_reasons.active"));

  private static final List<String> MIB =
      List.of("memory.total", "memory.reserved", "memory.used", "memory.free", "used_gpu_memory");

  private final LabState state;
  private final Scenario scenario;
  private final Scenario.Gpus gpus;

  GpuFields(LabState state, Scenario scenario) {
    this.state = state;
    this.scenario = scenario;
    this.gpus = scenario.gpus();
  }

  /** The header's name of a GPU field, or null if there is no such field. */
  String field(String name) {
    String canonical = ALIASES.getOrDefault(name, name);
    return values(0).containsKey(canonical) ? canonical : null;
  }

  /** The header's name of a field of a compute process, or null if there is none. */
  String appField(String name) {
    return switch (name) {
      case "gpu_uuid", "gpu_name", "gpu_bus_id", "gpu_serial", "pid", "timestamp" -> name;
      case "process_name", "name" -> "process_name";
      case "used_gpu_memory", "used_memory" -> "used_gpu_memory";
      default -> null;
    };
  }

  String header(String field) {
    String unit = unit(field).trim();
    return unit.isEmpty() ? field : field + " [" + unit + "]";
  }

  /** With a space before it; empty for a field without unit. */
  String unit(String field) {
    if (MIB.contains(field)) {
      return " MiB";
    }
    if (field.startsWith("utilization.")) {
      return " %";
    }
    if (field.startsWith("power.draw") || field.startsWith("power.limit")) {
      return " W";
    }
    if (field.startsWith("clocks.current.") || field.startsWith("clocks.max.")) {
      return " MHz";
    }
    return field.startsWith("clocks_event_reasons_counters.") ? " us" : "";
  }

  String busId(int gpu) {
    return String.format(Locale.ROOT, "00000000:%02X:00.0", 0x01 + gpu * 0x20);
  }

  /** A cell without its unit. */
  String value(String field, int gpu) {
    return values(gpu).get(field);
  }

  String app(String field, HostProcess p) {
    return switch (field) {
      case "gpu_uuid" -> NvidiaSmi.uuid(scenario, p.gpu());
      case "gpu_name" -> gpus.name();
      case "gpu_bus_id" -> busId(p.gpu());
      case "gpu_serial" -> "[N/A]";
      case "pid" -> Long.toString(p.pid());
      case "timestamp" -> TIME.format(Instant.ofEpochMilli(state.nowMs()));
      case "process_name" -> p.args().split(" ")[0];
      default -> Long.toString(p.memoryMiB(state.nowMs()));
    };
  }

  private Map<String, String> values(int gpu) {
    long used = state.memoryUsedMiB(gpu);
    int utilization = state.utilizationPercent(gpu);
    boolean context = state.processes().stream().anyMatch(p -> p.gpu() == gpu);
    boolean busy = utilization > 0;
    double power = busy ? gpus.powerLoadedW() : context ? gpus.powerServingW() : gpus.powerIdleW();
    // A few tenths of a watt between the GPUs, as between any two of them.
    power += gpu * 0.37;
    int clock = busy || context ? gpus.clockLoadedMhz() : gpus.clockIdleMhz();
    Map<String, String> v = new HashMap<>();
    v.put("timestamp", TIME.format(Instant.ofEpochMilli(state.nowMs())));
    v.put("driver_version", gpus.driver());
    v.put("count", Integer.toString(gpus.count()));
    v.put("index", Integer.toString(gpu));
    v.put("name", gpus.name());
    v.put("uuid", NvidiaSmi.uuid(scenario, gpu));
    v.put("serial", "[N/A]");
    v.put("pci.bus_id", busId(gpu));
    v.put("vbios_version", "98.02.52.00.02");
    v.put("persistence_mode", "Enabled");
    v.put("compute_mode", "Default");
    v.put("display_mode", "[Requested functionality has been deprecated]");
    v.put("fan.speed", "[N/A]");
    v.put("mig.mode.current", "Disabled");
    v.put("ecc.mode.current", "Enabled");
    v.put("gpu_recovery_action", "None");
    v.put("pstate", busy || context ? "P0" : gpus.idlePstate());
    v.put("memory.total", Long.toString(gpus.memoryTotalMiB()));
    v.put("memory.reserved", Long.toString(gpus.memoryReservedMiB()));
    v.put("memory.used", Long.toString(used));
    long free = gpus.memoryTotalMiB() - gpus.memoryReservedMiB() - used;
    v.put("memory.free", Long.toString(Math.max(0, free)));
    v.put("utilization.gpu", Integer.toString(utilization));
    v.put("utilization.memory", Integer.toString(utilization / 3));
    v.put("temperature.gpu", Integer.toString((busy ? 61 : context ? 38 : 30) + gpu % 3));
    v.put("temperature.memory", "N/A");
    v.put("power.draw", String.format(Locale.ROOT, "%.2f", power));
    v.put("power.draw.instant", String.format(Locale.ROOT, "%.2f", power));
    v.put("power.limit", String.format(Locale.ROOT, "%.2f", gpus.powerLimitW()));
    v.put("clocks.current.sm", Integer.toString(clock));
    v.put("clocks.current.graphics", Integer.toString(clock));
    v.put("clocks.current.memory", Integer.toString(gpus.memoryClockMhz()));
    v.put("clocks.max.sm", Integer.toString(gpus.clockMaxMhz()));
    v.put("clocks.max.memory", Integer.toString(gpus.memoryClockMhz()));
    boolean idle = !busy && !context;
    v.put("clocks_event_reasons.active", idle ? "0x0000000000000001" : "0x0000000000000000");
    v.put("clocks_event_reasons.gpu_idle", idle ? "Active" : "Not Active");
    for (String reason :
        List.of(
            "sw_power_cap",
            "hw_slowdown",
            "hw_thermal_slowdown",
            "hw_power_brake_slowdown",
            "sw_thermal_slowdown",
            "sync_boost")) {
      v.put("clocks_event_reasons." + reason, "Not Active");
      // Grew at some time before this campaign; what counts is that it does not move now.
      v.put(
          "clocks_event_reasons_counters." + reason,
          reason.equals("sw_power_cap") ? Integer.toString(81_234 + gpu * 1_111) : "0");
    }
    String gen = Integer.toString(busy || context ? gpus.pcieGen() : 1);
    v.put("pcie.link.gen.current", gen);
    v.put("pcie.link.gen.gpucurrent", gen);
    v.put("pcie.link.gen.max", Integer.toString(gpus.pcieGen()));
    v.put("pcie.link.width.current", "16");
    v.put("pcie.link.width.max", "16");
    v.put("ecc.errors.corrected.volatile.total", "0");
    v.put("ecc.errors.uncorrected.volatile.total", "0");
    v.put("remapped_rows.pending", "No");
    v.put("remapped_rows.failure", "No");
    return v;
  }
}
