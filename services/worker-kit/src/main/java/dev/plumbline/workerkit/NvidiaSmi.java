package dev.plumbline.workerkit;

import dev.plumbline.schemas.host.GpuState;
import dev.plumbline.schemas.host.Reading;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What {@code nvidia-smi} says of a host's GPUs, by a short explicit list of fields in CSV, columns
 * found by name. No number is ever assumed: what the tool does not tell is a {@link Reading} with
 * the tool's own words.
 *
 * <p>Facts behind the rules, seen in captured output of drivers 535 to 610: one unknown field fails
 * the whole call; units stand in the header and in each value; {@code clocks.sm} comes back as
 * {@code clocks.current.sm}; a process name can hold commas; an error may be text on standard
 * output, even with exit status 0.
 */
public final class NvidiaSmi {

  static final List<String> GPU_FIELDS =
      List.of(
          "index",
          "uuid",
          "name",
          "pci.bus_id",
          "driver_version",
          "memory.total",
          "memory.used",
          "utilization.gpu",
          "clocks.sm",
          "clocks.mem",
          "temperature.gpu",
          "power.draw",
          "power.limit",
          "clocks_event_reasons.active",
          "mig.mode.current",
          "gpu_recovery_action",
          "clocks_event_reasons_counters.sw_power_cap",
          "clocks_event_reasons_counters.sw_thermal_slowdown",
          "clocks_event_reasons_counters.hw_thermal_slowdown",
          "clocks_event_reasons_counters.hw_power_brake_slowdown");

  private static final List<String> PROCESS_FIELDS =
      List.of("gpu_uuid", "pid", "process_name", "used_gpu_memory");

  /** Names under which a column may come back, where that differs from the name asked for. */
  private static final Map<String, String> ALIASES =
      Map.of(
          "clocks.current.sm", "clocks.sm",
          "clocks.current.memory", "clocks.mem",
          "clocks_throttle_reasons.active", "clocks_event_reasons.active",
          "used_memory", "used_gpu_memory");

  private static final Pattern UNKNOWN_FIELD = Pattern.compile("Field \"([^\"]+)\" is not a valid");
  private static final Pattern NUMBER = Pattern.compile("(-?\\d+(?:\\.\\d+)?)(?:\\s*(\\S+))?");
  private static final String COUNTERS = "clocks_event_reasons_counters.";

  private final HostAccess host;
  private final Duration timeout;

  /**
   * @param timeout hard limit of one call: a sick driver can hang the tool for ever
   */
  public NvidiaSmi(HostAccess host, Duration timeout) {
    this.host = host;
    this.timeout = timeout;
  }

  /**
   * @param absent why there are no GPUs, null when there are
   */
  public record Gpus(List<Gpu> gpus, String absent) {

    public List<GpuState> states() {
      return gpus.stream().map(Gpu::state).toList();
    }
  }

  /**
   * @param recoveryAction {@code None} on a healthy GPU; null when the driver does not tell
   * @param throttledUs time held back by each cause since the driver was loaded, microseconds, by
   *     the name of the cause
   */
  public record Gpu(GpuState state, String recoveryAction, Map<String, Reading> throttledUs) {}

  /** A compute context as the driver lists it: the pid is the host's, and may be gone already. */
  public record Process(String gpuUuid, long pid, String name, Reading memoryUsedMiB) {}

  /**
   * The GPUs now.
   *
   * @throws HostException with the tool's own words when it fails, prints something else than the
   *     table asked for, or does not end in time
   */
  public Gpus gpus() throws HostException {
    List<String> fields = new ArrayList<>(GPU_FIELDS);
    while (true) {
      Exec exec = query("--query-gpu=", fields);
      if (missing(exec)) {
        return new Gpus(List.of(), "there is no nvidia-smi on host " + host.entry().name());
      }
      String output = exec.stdout() + exec.stderr();
      Matcher unknown = UNKNOWN_FIELD.matcher(output);
      // An older driver does not know a newer field, and then answers nothing at all.
      if (!exec.ok() && unknown.find() && fields.remove(unknown.group(1))) {
        if (unknown.group(1).equals("clocks_event_reasons.active")) {
          fields.add("clocks_throttle_reasons.active");
        }
        continue;
      }
      if (!exec.ok() && output.contains("No devices were found")) {
        return new Gpus(List.of(), "nvidia-smi says: No devices were found");
      }
      return new Gpus(parseGpus(checked(exec)), null);
    }
  }

  /**
   * The compute processes that the driver lists; inside a container the list can be empty though
   * the memory is in use.
   *
   * @throws HostException as for {@link #gpus()}
   */
  public List<Process> processes() throws HostException {
    Exec exec = query("--query-compute-apps=", PROCESS_FIELDS);
    if (missing(exec)) {
      return List.of();
    }
    return parseProcesses(checked(exec));
  }

  private Exec query(String option, List<String> fields) throws HostException {
    try {
      return host.exec(
          List.of("nvidia-smi", option + String.join(",", fields), "--format=csv"), timeout);
    } catch (HostException e) {
      if (e.code().equals("not-found")) {
        return new Exec(java.util.OptionalInt.of(127), "", "nvidia-smi: not found");
      }
      if (e.code().equals("time-out")) {
        throw new HostException(
            "time-out",
            "nvidia-smi on host "
                + host.entry().name()
                + " did not answer within "
                + timeout.toSeconds()
                + " s; the driver may hang: look at the kernel log there",
            false);
      }
      throw e;
    }
  }

  private static boolean missing(Exec exec) {
    return exec.exit().isPresent() && exec.exit().getAsInt() == 127;
  }

  private String checked(Exec exec) throws HostException {
    if (exec.ok()) {
      return exec.stdout();
    }
    String words = (exec.stdout().strip() + " " + exec.stderr().strip()).strip();
    throw failed(
        (exec.exit().isPresent() ? "exit status " + exec.exit().getAsInt() : "exit status unknown")
            + (words.isEmpty() ? "" : ": " + oneLine(words)));
  }

  private HostException failed(String what) {
    return new HostException(
        "failed", "nvidia-smi on host " + host.entry().name() + ": " + what, false);
  }

  private List<Gpu> parseGpus(String csv) throws HostException {
    try {
      return gpuTable(csv);
    } catch (IllegalArgumentException e) {
      throw failed(e.getMessage());
    }
  }

  private List<Process> parseProcesses(String csv) throws HostException {
    try {
      return processTable(csv);
    } catch (IllegalArgumentException e) {
      throw failed(e.getMessage());
    }
  }

  /**
   * Reads the answer to {@code --query-gpu=… --format=csv}.
   *
   * @throws IllegalArgumentException with one sentence when the text is no such table
   */
  public static List<Gpu> gpuTable(String csv) {
    List<Gpu> gpus = new ArrayList<>();
    for (Map<String, String> row : rows(csv, "uuid", "name")) {
      Map<String, Reading> throttled = new LinkedHashMap<>();
      row.forEach(
          (column, cell) -> {
            if (column.startsWith(COUNTERS)) {
              throttled.put(column.substring(COUNTERS.length()), reading(cell, "us"));
            }
          });
      GpuState state =
          new GpuState(
              text(row, "uuid"),
              index(row),
              text(row, "name"),
              text(row, "pci.bus_id"),
              text(row, "driver_version"),
              reading(row.get("memory.total"), "MiB"),
              reading(row.get("memory.used"), "MiB"),
              reading(row.get("utilization.gpu"), "%"),
              reading(row.get("clocks.sm"), "MHz"),
              reading(row.get("clocks.mem"), "MHz"),
              reading(row.get("temperature.gpu"), "C"),
              reading(row.get("power.draw"), "W"),
              reading(row.get("power.limit"), "W"),
              text(row, "clocks_event_reasons.active"),
              text(row, "mig.mode.current"));
      if (state.uuid() == null) {
        throw new IllegalArgumentException(
            "a GPU without a UUID (" + row.get("uuid") + "): it cannot be told from another");
      }
      gpus.add(new Gpu(state, text(row, "gpu_recovery_action"), throttled));
    }
    if (gpus.isEmpty()) {
      throw new IllegalArgumentException("a header and no GPU: \"" + oneLine(csv) + "\"");
    }
    return List.copyOf(gpus);
  }

  /**
   * Reads the answer to {@code --query-compute-apps=… --format=csv}; no row when no process holds a
   * GPU.
   *
   * @throws IllegalArgumentException with one sentence when the text is no such table
   */
  public static List<Process> processTable(String csv) {
    List<Process> processes = new ArrayList<>();
    for (Map<String, String> row : rows(csv, "gpu_uuid", "process_name")) {
      String pid = row.getOrDefault("pid", "");
      if (!pid.matches("\\d{1,18}")) {
        throw new IllegalArgumentException("the pid \"" + pid + "\" of a process is no number");
      }
      processes.add(
          new Process(
              row.get("gpu_uuid"),
              Long.parseLong(pid),
              row.get("process_name"),
              reading(row.get("used_gpu_memory"), "MiB")));
    }
    return List.copyOf(processes);
  }

  /**
   * @param mark a column that the header must have, to be told from an error text
   * @param free the one column whose cells may hold commas
   */
  private static List<Map<String, String>> rows(String csv, String mark, String free) {
    List<String> lines = csv.lines().filter(line -> !line.isBlank()).toList();
    List<String> header =
        lines.isEmpty()
            ? List.of()
            : cells(lines.getFirst()).stream().map(NvidiaSmi::column).toList();
    if (!header.contains(mark)) {
      throw new IllegalArgumentException(
          lines.isEmpty()
              ? "it printed nothing"
              : "it printed \"" + oneLine(csv) + "\" instead of a table with a header");
    }
    List<Map<String, String>> rows = new ArrayList<>();
    for (String line : lines.subList(1, lines.size())) {
      List<String> cells = joined(cells(line), header.size(), header.indexOf(free));
      if (cells.size() != header.size()) {
        throw new IllegalArgumentException(
            "it printed \""
                + oneLine(line)
                + "\": "
                + cells.size()
                + " cells under a header of "
                + header.size());
      }
      Map<String, String> row = new HashMap<>();
      for (int i = 0; i < cells.size(); i++) {
        row.put(header.get(i), cells.get(i));
      }
      rows.add(row);
    }
    return rows;
  }

  private static List<String> cells(String line) {
    return Arrays.stream(line.split(",", -1)).map(String::strip).toList();
  }

  private static String column(String headerCell) {
    int unit = headerCell.indexOf(" [");
    String name = unit < 0 ? headerCell : headerCell.substring(0, unit);
    return ALIASES.getOrDefault(name, name);
  }

  /** Puts a name that was split at its commas together again. */
  private static List<String> joined(List<String> cells, int columns, int free) {
    int surplus = cells.size() - columns;
    if (surplus <= 0 || free < 0) {
      return cells;
    }
    List<String> joined = new ArrayList<>(cells.subList(0, free));
    joined.add(String.join(", ", cells.subList(free, free + surplus + 1)));
    joined.addAll(cells.subList(free + surplus + 1, cells.size()));
    return joined;
  }

  private static Integer index(Map<String, String> row) {
    String cell = row.getOrDefault("index", "");
    return cell.matches("\\d{1,6}") ? Integer.valueOf(cell) : null;
  }

  /** A cell of words; null when the tool gives none, such as {@code [N/A]}. */
  private static String text(Map<String, String> row, String column) {
    String cell = row.get(column);
    boolean none =
        cell == null
            || cell.isEmpty()
            || cell.startsWith("[")
            || cell.equalsIgnoreCase("N/A")
            || cell.toUpperCase(Locale.ROOT).contains("ERR!");
    return none ? null : cell;
  }

  /** A cell that should hold a number in this unit; the unit itself may be left out. */
  static Reading reading(String cell, String unit) {
    if (cell == null) {
      return Reading.absent("not told by this driver");
    }
    if (cell.isEmpty()) {
      return Reading.absent("empty");
    }
    Matcher number = NUMBER.matcher(cell);
    if (!number.matches()) {
      return Reading.absent(cell);
    }
    if (number.group(2) != null && !number.group(2).equals(unit)) {
      return Reading.absent(cell + " is not in " + unit);
    }
    return Reading.of(Double.parseDouble(number.group(1)));
  }

  private static String oneLine(String text) {
    String line = text.strip().replaceAll("\\s*\\R\\s*", "; ");
    return line.length() <= 300 ? line : line.substring(0, 300) + "…";
  }
}
