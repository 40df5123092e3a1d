package dev.plumbline.lab;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;

/** {@code systemctl} of the simulated host, which knows one unit. */
final class Systemctl implements ControlServer.Tool {

  private final LabState state;
  private final Scenario scenario;

  Systemctl(LabState state, Scenario scenario) {
    this.state = state;
    this.scenario = scenario;
  }

  @Override
  public int run(ControlServer.Call call) throws IOException, InterruptedException {
    List<String> words = new ArrayList<>();
    List<String> wanted = new ArrayList<>();
    boolean valueOnly = false;
    boolean quiet = false;
    boolean noBlock = false;
    List<String> args = call.args();
    for (int i = 0; i < args.size(); i++) {
      String arg = args.get(i);
      if (arg.equals("-p") || arg.equals("--property") || arg.equals("-P")) {
        i++;
        wanted.addAll(i < args.size() ? List.of(args.get(i).split(",")) : List.of());
        valueOnly |= arg.equals("-P");
      } else if (arg.startsWith("--property=")) {
        wanted.addAll(List.of(arg.substring("--property=".length()).split(",")));
      } else if (arg.startsWith("-p") && !arg.startsWith("--")) {
        wanted.addAll(List.of(arg.substring(2).split(",")));
      } else if (arg.equals("--value")) {
        valueOnly = true;
      } else if (arg.equals("--quiet") || arg.equals("-q")) {
        quiet = true;
      } else if (arg.equals("--no-block")) {
        noBlock = true;
      } else if (arg.equals("--version")) {
        call.out("systemd 255 (255.4-1ubuntu8)");
        return 0;
      } else if (!arg.startsWith("-")) {
        words.add(arg);
      }
    }
    if (words.isEmpty()) {
      call.err("Too few arguments.");
      return 1;
    }
    String unit = words.size() > 1 ? name(words.get(1)) : "";
    boolean ours = unit.equals(scenario.unit());
    return switch (words.getFirst()) {
      case "show" -> show(call, ours, unit, wanted, valueOnly);
      case "stop" -> ours ? stop(call, noBlock) : unknown(call, "stop", unit);
      case "start" -> ours ? start(call) : unknown(call, "start", unit);
      case "restart" -> ours ? restart(call) : unknown(call, "restart", unit);
      case "is-active" -> isActive(call, ours, quiet);
      case "is-failed" -> isFailed(call, ours);
      case "is-enabled" -> isEnabled(call, ours, unit);
      case "status" -> status(call, ours, unit);
      case "mask" -> mask(call, unit, ours, true);
      case "unmask" -> mask(call, unit, ours, false);
      case "daemon-reload", "reset-failed" -> 0;
      default -> {
        call.err("Unknown command verb " + words.getFirst() + ".");
        yield 1;
      }
    };
  }

  private static String name(String unit) {
    return unit.contains(".") ? unit : unit + ".service";
  }

  private int show(
      ControlServer.Call call, boolean ours, String unit, List<String> wanted, boolean valueOnly)
      throws IOException {
    Map<String, String> all = ours ? properties() : notFound(unit);
    // As systemd does: in its own order, an unknown property is left out, not an error.
    for (Map.Entry<String, String> property : all.entrySet()) {
      if (wanted.isEmpty() || wanted.contains(property.getKey())) {
        call.out(valueOnly ? property.getValue() : property.getKey() + "=" + property.getValue());
      }
    }
    return 0;
  }

  private Map<String, String> properties() {
    SavedState now = state.now();
    boolean running = now.active() == SavedState.Active.ACTIVE;
    boolean stopping = now.active() == SavedState.Active.DEACTIVATING;
    Map<String, String> all = new LinkedHashMap<>();
    all.put("Type", "simple");
    all.put("Restart", "on-failure");
    all.put("TimeoutStopUSec", "1min 30s");
    all.put("MainPID", Long.toString(now.mainPid()));
    all.put("NRestarts", "0");
    all.put("ControlGroup", running || stopping ? state.cgroup() : "");
    all.put("KillMode", "control-group");
    all.put("Id", scenario.unit());
    all.put("Names", scenario.unit());
    all.put("TriggeredBy", "");
    all.put("Description", "vLLM, " + scenario.model());
    all.put("LoadState", now.masked() ? "masked" : "loaded");
    all.put("ActiveState", active(now));
    all.put("SubState", running ? "running" : stopping ? "stop-sigterm" : "dead");
    all.put(
        "FragmentPath",
        (now.masked() ? "/run/systemd/system/" : "/etc/systemd/system/") + scenario.unit());
    all.put("UnitFileState", now.masked() ? "masked-runtime" : "enabled");
    all.put("InvocationID", now.invocation());
    all.put("User", scenario.user());
    return all;
  }

  private static Map<String, String> notFound(String unit) {
    Map<String, String> all = new LinkedHashMap<>();
    for (String key : List.of("Type", "Restart", "TimeoutStopUSec", "MainPID", "NRestarts")) {
      all.put(key, "");
    }
    all.put("Restart", "no");
    all.put("TimeoutStopUSec", "1min 30s");
    all.put("MainPID", "0");
    all.put("NRestarts", "0");
    all.put("ControlGroup", "");
    all.put("KillMode", "control-group");
    all.put("Id", unit);
    all.put("Names", unit);
    all.put("TriggeredBy", "");
    all.put("LoadState", "not-found");
    all.put("ActiveState", "inactive");
    all.put("SubState", "dead");
    all.put("FragmentPath", "");
    all.put("UnitFileState", "");
    all.put("InvocationID", "");
    return all;
  }

  private static String active(SavedState now) {
    return now.active().name().toLowerCase(Locale.ROOT);
  }

  private int stop(ControlServer.Call call, boolean noBlock)
      throws IOException, InterruptedException {
    var done = state.stop();
    if (noBlock) {
      return 0;
    }
    try {
      Optional<String> failed = done.get();
      if (failed.isPresent()) {
        call.err(failed.get());
        return 1;
      }
      return 0;
    } catch (ExecutionException e) {
      call.err("Failed to stop " + scenario.unit() + ": " + e.getCause().getMessage());
      return 1;
    }
  }

  private int start(ControlServer.Call call) throws IOException {
    Optional<String> failed = state.start();
    if (failed.isPresent()) {
      call.err(failed.get());
      return 1;
    }
    return 0;
  }

  private int restart(ControlServer.Call call) throws IOException, InterruptedException {
    int stopped = stop(call, false);
    return stopped == 0 ? start(call) : stopped;
  }

  private static int unknown(ControlServer.Call call, String verb, String unit) throws IOException {
    String what = verb.equals("stop") ? " not loaded." : " not found.";
    call.err("Failed to " + verb + " " + unit + ": Unit " + unit + what);
    return 5;
  }

  private int isActive(ControlServer.Call call, boolean ours, boolean quiet) throws IOException {
    String active = ours ? active(state.now()) : "inactive";
    if (!quiet) {
      call.out(active);
    }
    return active.equals("active") ? 0 : ours ? 3 : 4;
  }

  private int isFailed(ControlServer.Call call, boolean ours) throws IOException {
    call.out(ours ? active(state.now()) : "inactive");
    return 1;
  }

  private int isEnabled(ControlServer.Call call, boolean ours, String unit) throws IOException {
    if (!ours) {
      call.err("Failed to get unit file state for " + unit + ": No such file or directory");
      return 1;
    }
    boolean masked = state.now().masked();
    call.out(masked ? "masked-runtime" : "enabled");
    return masked ? 1 : 0;
  }

  private int status(ControlServer.Call call, boolean ours, String unit) throws IOException {
    if (!ours) {
      call.err("Unit " + unit + " could not be found.");
      return 4;
    }
    Map<String, String> all = properties();
    call.out("● " + unit + " - " + all.get("Description"));
    call.out("     Loaded: " + all.get("LoadState") + " (" + all.get("FragmentPath") + ")");
    call.out("     Active: " + all.get("ActiveState") + " (" + all.get("SubState") + ")");
    call.out("   Main PID: " + all.get("MainPID"));
    return all.get("ActiveState").equals("active") ? 0 : 3;
  }

  private int mask(ControlServer.Call call, String unit, boolean ours, boolean on)
      throws IOException {
    if (!ours && !on) {
      call.err("Unit " + unit + " does not exist, proceeding anyway.");
      return 0;
    }
    if (ours && state.now().masked() != on) {
      state.mask(on);
      String link = "/run/systemd/system/" + unit;
      call.err(on ? "Created symlink " + link + " → /dev/null." : "Removed \"" + link + "\".");
    }
    return 0;
  }
}
