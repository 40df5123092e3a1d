package dev.plumbline.lab;

import java.io.IOException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/** {@code ps} and {@code kill} of the simulated host. */
final class Processes {

  private static final DateTimeFormatter LSTART =
      DateTimeFormatter.ofPattern("EEE MMM d HH:mm:ss yyyy", Locale.ROOT).withZone(ZoneOffset.UTC);

  private final LabState state;

  Processes(LabState state) {
    this.state = state;
  }

  /** {@code ps -o …}, with {@code -e} or {@code -p}; any other use is the machine's own ps. */
  int ps(ControlServer.Call call) throws IOException {
    List<String> columns = new ArrayList<>();
    Set<Long> pids = null;
    boolean all = false;
    List<String> args = call.args();
    for (int i = 0; i < args.size(); i++) {
      String arg = args.get(i);
      if (arg.matches("-?[A-Za-z]*o") && i + 1 < args.size()) {
        all |= arg.contains("e") || arg.contains("A") || arg.contains("ax");
        columns.addAll(List.of(args.get(++i).split("[, ]+(?![^=]*$)|,")));
      } else if (arg.startsWith("-o")) {
        columns.addAll(List.of(arg.substring(2).split(",")));
      } else if ((arg.equals("-p") || arg.equals("--pid")) && i + 1 < args.size()) {
        pids = pids(args.get(++i));
      } else if (arg.startsWith("-p")) {
        pids = pids(arg.substring(2));
      } else {
        all |= arg.equals("-e") || arg.equals("-A") || arg.contains("ax") || arg.startsWith("-e");
      }
    }
    List<HostProcess> processes =
        state.processes().stream().sorted(Comparator.comparingLong(HostProcess::pid)).toList();
    if (columns.isEmpty() || (pids == null && !all)) {
      return ControlServer.FALL_THROUGH;
    }
    Set<Long> asked = pids;
    boolean real = asked != null && asked.stream().anyMatch(p -> p < 4_194_304);
    if (real) {
      return ControlServer.FALL_THROUGH;
    }
    List<HostProcess> rows =
        processes.stream().filter(p -> asked == null || asked.contains(p.pid())).toList();
    if (columns.stream().anyMatch(c -> !c.endsWith("="))) {
      call.out(
          columns.stream()
              .map(c -> c.contains("=") ? c.substring(c.indexOf('=') + 1) : header(c))
              .collect(Collectors.joining(" ")));
    }
    for (HostProcess p : rows) {
      call.out(
          columns.stream()
              .map(c -> value(p, c.contains("=") ? c.substring(0, c.indexOf('=')) : c))
              .collect(Collectors.joining(" ")));
    }
    return rows.isEmpty() ? 1 : 0;
  }

  private static Set<Long> pids(String text) {
    return List.of(text.trim().split("[, ]+")).stream()
        .filter(t -> t.matches("\\d+"))
        .map(Long::valueOf)
        .collect(Collectors.toSet());
  }

  private static String header(String column) {
    return switch (column) {
      case "args", "cmd", "command", "comm" -> column.equals("cmd") ? "CMD" : "COMMAND";
      case "lstart" -> "                 STARTED";
      default -> column.toUpperCase(Locale.ROOT);
    };
  }

  private String value(HostProcess p, String column) {
    return switch (column) {
      case "pid" -> String.format(Locale.ROOT, "%7d", p.pid());
      case "ppid" -> String.format(Locale.ROOT, "%7d", p.ppid());
      case "pgid", "pgrp", "sid" -> Long.toString(p.pid());
      case "user", "euser", "ruser" -> String.format(Locale.ROOT, "%-8s", p.user());
      case "lstart" -> LSTART.format(Instant.ofEpochMilli(p.startedMs()));
      case "etimes" -> Long.toString((state.nowMs() - p.startedMs()) / 1000);
      case "stat" -> "Sl";
      case "state", "s" -> "S";
      case "comm", "ucmd" -> p.comm();
      case "cgroup" -> "0::" + p.cgroup();
      case "args", "cmd", "command" -> p.args();
      default -> "-";
    };
  }

  /** {@code kill} for the processes of this host; a real pid is never signalled from here. */
  int kill(ControlServer.Call call) throws IOException {
    String signal = "TERM";
    int status = 0;
    List<String> args = call.args();
    for (int i = 0; i < args.size(); i++) {
      String arg = args.get(i);
      if (arg.equals("-s") && i + 1 < args.size()) {
        signal = name(args.get(++i));
      } else if (arg.matches("-?\\d{7}")) {
        // A group is its leader here: every process of the lab leads its own.
        if (!state.kill(Math.abs(Long.parseLong(arg)), signal)) {
          call.err("kill: (" + arg + ") - No such process");
          status = 1;
        }
      } else if (arg.matches("-[A-Za-z0-9]+")) {
        signal = name(arg.substring(1));
      }
    }
    return status;
  }

  private static String name(String signal) {
    return switch (signal) {
      case "9" -> "KILL";
      case "15" -> "TERM";
      case "2" -> "INT";
      case "0" -> "0";
      default ->
          signal.toUpperCase(Locale.ROOT).startsWith("SIG")
              ? signal.substring(3).toUpperCase(Locale.ROOT)
              : signal.toUpperCase(Locale.ROOT);
    };
  }
}
