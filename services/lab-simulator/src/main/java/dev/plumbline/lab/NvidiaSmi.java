package dev.plumbline.lab;

import java.io.IOException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * {@code nvidia-smi} of the simulated host. Formats as captured from driver 580 (h200/nvidia-smi):
 * comma and space between cells, units in header and cells unless {@code nounits}.
 */
final class NvidiaSmi implements ControlServer.Tool {

  private static final DateTimeFormatter TABLE_TIME =
      DateTimeFormatter.ofPattern("EEE MMM d HH:mm:ss yyyy", Locale.ROOT).withZone(ZoneOffset.UTC);

  private final LabState state;
  private final GpuFields fields;
  private final Scenario scenario;

  NvidiaSmi(LabState state, Scenario scenario) {
    this.state = state;
    this.scenario = scenario;
    this.fields = new GpuFields(state, scenario);
  }

  /** Stable across restarts: a UUID is how the product knows a GPU again. */
  static String uuid(Scenario scenario, int gpu) {
    long hash = scenario.name().hashCode() & 0xffffffffL;
    return String.format(Locale.ROOT, "GPU-%08x-51ab-4c0d-9e00-%012x", hash, gpu + 1);
  }

  @Override
  public int run(ControlServer.Call call) throws IOException {
    String query = null;
    boolean apps = false;
    boolean list = false;
    String format = "";
    List<Integer> gpus = IntStream.range(0, scenario.gpus().count()).boxed().toList();
    List<String> args = call.args();
    for (int i = 0; i < args.size(); i++) {
      String arg = args.get(i);
      if (arg.startsWith("--query-gpu=")) {
        query = arg.substring("--query-gpu=".length());
      } else if (arg.startsWith("--query-compute-apps=")) {
        query = arg.substring("--query-compute-apps=".length());
        apps = true;
      } else if (arg.startsWith("--format=")) {
        format = arg.substring("--format=".length());
      } else if (arg.equals("-L") || arg.equals("--list-gpus")) {
        list = true;
      } else if ((arg.equals("-i") || arg.equals("--id")) && i + 1 < args.size()) {
        gpus = select(gpus, args.get(++i));
      } else if (arg.startsWith("--id=")) {
        gpus = select(gpus, arg.substring("--id=".length()));
      } else if (arg.equals("topo") || arg.equals("-m")) {
        continue;
      } else if (arg.equals("--version")) {
        return version(call);
      } else if (arg.equals("-lgc") || arg.equals("-pm") || arg.equals("-rgc")) {
        call.out("The current user does not have permission to change the settings of the GPU.");
        call.out("Terminating early due to previous errors.");
        return 4;
      } else {
        call.out("Invalid combination of input arguments. Please run 'nvidia-smi -h' for help.\n");
        return 2;
      }
    }
    if (gpus.isEmpty()) {
      call.out("No devices were found");
      return 6;
    }
    if (args.contains("topo")) {
      return topology(call);
    }
    if (query != null) {
      return query(call, gpus, query, apps, format);
    }
    return list ? list(call, gpus) : table(call, gpus);
  }

  private List<Integer> select(List<Integer> gpus, String ids) {
    List<String> wanted = List.of(ids.split(","));
    return gpus.stream()
        .filter(
            g ->
                wanted.contains(Integer.toString(g))
                    || wanted.contains(uuid(scenario, g))
                    || wanted.contains(fields.busId(g)))
        .toList();
  }

  private int query(
      ControlServer.Call call, List<Integer> gpus, String query, boolean apps, String format)
      throws IOException {
    List<String> columns = new ArrayList<>();
    for (String field : query.split(",")) {
      String canonical = apps ? fields.appField(field.trim()) : fields.field(field.trim());
      if (canonical == null) {
        call.out("Field \"" + field.trim() + "\" is not a valid field to query.\n");
        return 2;
      }
      columns.add(canonical);
    }
    if (!format.startsWith("csv")) {
      call.out(
          "--format= must be given and contain \"csv\". Please run 'nvidia-smi -h' for help.\n");
      return 2;
    }
    boolean units = !format.contains("nounits");
    if (!format.contains("noheader")) {
      call.out(columns.stream().map(fields::header).collect(Collectors.joining(", ")));
    }
    for (int gpu : gpus) {
      if (apps) {
        for (HostProcess p : state.processes()) {
          if (p.gpu() == gpu) {
            call.out(row(columns, c -> fields.app(c, p), units));
          }
        }
      } else {
        call.out(row(columns, c -> fields.value(c, gpu), units));
      }
    }
    return 0;
  }

  private String row(
      List<String> columns, java.util.function.Function<String, String> value, boolean units) {
    return columns.stream()
        .map(c -> value.apply(c) + (units ? fields.unit(c) : ""))
        .collect(Collectors.joining(", "));
  }

  private int list(ControlServer.Call call, List<Integer> gpus) throws IOException {
    for (int g : gpus) {
      call.out("GPU " + g + ": " + scenario.gpus().name() + " (UUID: " + uuid(scenario, g) + ")");
    }
    return 0;
  }

  private int version(ControlServer.Call call) throws IOException {
    String driver = scenario.gpus().driver();
    call.out("NVIDIA-SMI version  : " + driver);
    call.out("NVML version        : " + driver.substring(0, driver.lastIndexOf('.')));
    call.out("DRIVER version      : " + driver);
    call.out("CUDA Version        : " + scenario.gpus().cuda());
    return 0;
  }

  private int table(ControlServer.Call call, List<Integer> gpus) throws IOException {
    String line =
        "+-----------------------------------------------------------------------------------------+";
    String split =
        "+-----------------------------------------+------------------------+----------------------+";
    call.out(TABLE_TIME.format(Instant.ofEpochMilli(state.nowMs())) + "       ");
    call.out(line);
    call.out(
        "| NVIDIA-SMI %-22s Driver Version: %-14s CUDA Version: %-8s |"
            .formatted(scenario.gpus().driver(), scenario.gpus().driver(), scenario.gpus().cuda()));
    call.out(split);
    call.out(
        """
        | GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
        | Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
        |                                         |                        |               MIG M. |
        |=========================================+========================+======================|""");
    for (int g : gpus) {
      String name = scenario.gpus().name();
      String cut = name.length() > 27 ? name.substring(0, 24) + "..." : name;
      call.out(
          "|%4d  %-27s    On  |   %s Off |                    0 |"
              .formatted(g, cut, fields.busId(g)));
      call.out(
          "| N/A  %3sC    %-4s         %4.0fW /%5.0fW |%8dMiB /%7dMiB |    %3d%%      Default |"
              .formatted(
                  fields.value("temperature.gpu", g),
                  fields.value("pstate", g),
                  Double.parseDouble(fields.value("power.draw", g)),
                  scenario.gpus().powerLimitW(),
                  state.memoryUsedMiB(g),
                  scenario.gpus().memoryTotalMiB(),
                  state.utilizationPercent(g)));
      call.out(
          "|                                         |                        |             Disabled |");
      call.out(split);
    }
    call.out("");
    call.out(line);
    call.out(
        """
        | Processes:                                                                              |
        |  GPU   GI   CI              PID   Type   Process name                        GPU Memory |
        |        ID   ID                                                               Usage      |
        |=========================================================================================|""");
    List<HostProcess> holders =
        state.processes().stream().filter(p -> gpus.contains(p.gpu())).toList();
    if (holders.isEmpty()) {
      call.out(
          "|  No running processes found                                                             |");
    }
    for (HostProcess p : holders) {
      call.out(
          "|%5d   N/A  N/A %15d      C   %-35s%8dMiB |"
              .formatted(p.gpu(), p.pid(), p.comm(), p.memoryMiB(state.nowMs())));
    }
    call.out(line);
    return 0;
  }

  private int topology(ControlServer.Call call) throws IOException {
    int count = scenario.gpus().count();
    int perNode = scenario.gpus().gpusPerNode();
    StringBuilder header = new StringBuilder("\t\u001b[4m");
    IntStream.range(0, count).forEach(g -> header.append("GPU").append(g).append('\t'));
    // The escapes stay in the output even when it is redirected, as with the real tool.
    call.out(header + "CPU Affinity\tNUMA Affinity\tGPU NUMA ID\u001b[0m");
    for (int a = 0; a < count; a++) {
      StringBuilder row = new StringBuilder("GPU" + a + "\t");
      for (int b = 0; b < count; b++) {
        boolean near = a / perNode == b / perNode;
        int links = scenario.gpus().nvlinks();
        row.append(a == b ? " X " : links > 0 ? "NV" + links : near ? "NODE" : "SYS").append('\t');
      }
      int node = a / perNode;
      call.out(row + "" + node * 64 + "-" + (node * 64 + 63) + "\t" + node + "\t\tN/A");
    }
    call.out(
        """

        Legend:

          X    = Self
          SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)
          NODE = Connection traversing PCIe as well as the interconnect between PCIe Host Bridges within a NUMA node
          PHB  = Connection traversing PCIe as well as a PCIe Host Bridge (typically the CPU)
          PXB  = Connection traversing multiple PCIe bridges (without traversing the PCIe Host Bridge)
          PIX  = Connection traversing at most a single PCIe bridge
          NV#  = Connection traversing a bonded set of # NVLinks""");
    return 0;
  }
}
