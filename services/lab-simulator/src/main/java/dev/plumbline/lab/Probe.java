package dev.plumbline.lab;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.plumbline.schemas.Json;
import dev.plumbline.schemas.micro.MicroOperation;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * {@code python3} of the simulated host. Asked to run the deployed probe on the GPUs, it speaks the
 * probe's JSON lines with the timings of the scenario; anything else is the machine's own python.
 */
final class Probe implements ControlServer.Tool {

  private static final String SCRIPT = "plumbline_probe.py";
  private static final String PYTHON = "3.11.7";

  private final LabState state;
  private final Scenario scenario;
  private final MicroTruth truth;
  private final TraceWriter traces;

  Probe(LabState state, Scenario scenario, TraceWriter traces, long seed) {
    this.state = state;
    this.scenario = scenario;
    this.truth = new MicroTruth(scenario, new Random(seed));
    this.traces = traces;
  }

  @Override
  public int run(ControlServer.Call call) throws IOException, InterruptedException {
    List<String> args = call.args();
    if (args.contains("--version") && args.size() == 1 || args.equals(List.of("-V"))) {
      call.out("Python " + PYTHON);
      return 0;
    }
    String script = args.stream().filter(a -> a.endsWith(SCRIPT)).findFirst().orElse(null);
    int at = args.indexOf("--request");
    if (script == null || at < 0 || at + 1 >= args.size()) {
      return withoutProbe(call, script);
    }
    Path file = call.path(script);
    if (!Files.isRegularFile(file) || Files.size(file) == 0) {
      call.err("python3: can't open file '" + file + "': [Errno 2] No such file or directory");
      return 2;
    }
    JsonNode request;
    try {
      request = Json.mapper().readTree(Files.readAllBytes(call.path(args.get(at + 1))));
    } catch (NoSuchFileException | JsonProcessingException e) {
      return error(call, "cannot read the request " + args.get(at + 1), 2);
    }
    if (request.path("device").asText("cuda").equals("cpu")) {
      return ControlServer.FALL_THROUGH;
    }
    int dir = args.indexOf("--trace-dir");
    Path traceDir = dir >= 0 && dir + 1 < args.size() ? call.path(args.get(dir + 1)) : null;
    return measure(call, request, traceDir, String.join(" ", args));
  }

  /** A check of the script by a host that has no python of its own looks at the file only. */
  private static int withoutProbe(ControlServer.Call call, String script) throws IOException {
    String path = System.getenv().getOrDefault("PATH", "");
    boolean real =
        List.of(path.split(File.pathSeparator)).stream()
            .anyMatch(d -> !d.isEmpty() && Files.isExecutable(Path.of(d, "python3")));
    if (real || script == null) {
      return ControlServer.FALL_THROUGH;
    }
    return Files.isRegularFile(call.path(script)) ? 0 : 2;
  }

  private int measure(ControlServer.Call call, JsonNode request, Path traceDir, String command)
      throws IOException, InterruptedException {
    int gpus = request.path("gpus").asInt(scenario.gpus().count());
    if (gpus < 1 || gpus > scenario.gpus().count()) {
      return error(
          call, "asked for %d GPUs, this host has %d".formatted(gpus, scenario.gpus().count()), 1);
    }
    for (int g = 0; g < gpus; g++) {
      long free = scenario.gpus().memoryTotalMiB() - state.memoryUsedMiB(g);
      if (free < 6_000) {
        return error(
            call,
            "CUDA out of memory. Tried to allocate 6.00 GiB. GPU %d has %d MiB free."
                .formatted(g, free),
            1);
      }
    }
    List<HostProcess> mine = state.probeStarted("python3 " + command, gpus);
    try {
      hello(call, gpus);
      List<MicroOperation> operations = new ArrayList<>();
      for (JsonNode operation : request.path("operations")) {
        operations.add(Json.mapper().treeToValue(operation, MicroOperation.class));
      }
      int repeats = Math.max(1, request.path("repeats").asInt(10));
      for (int i = 0; i < operations.size(); i++) {
        MicroOperation operation = operations.get(i);
        ObjectNode result = Json.mapper().valueToTree(truth.measure(operation, gpus, repeats));
        // A real one warms up for seconds; this is long enough to be met in the middle.
        TimeUnit.MILLISECONDS.sleep(500);
        if (!state.alive(mine)) {
          return 143; // ended by a signal
        }
        call.out(result.put("kind", "result").toString());
        progress(call, i + 1, operations.size(), operation.name());
      }
      JsonNode decode = request.path("decode");
      if (decode.isObject()) {
        decode(call, decode, traceDir);
      }
      call.out("{\"kind\":\"done\",\"results\":" + operations.size() + "}");
      return 0;
    } finally {
      state.probeEnded(mine);
    }
  }

  private void hello(ControlServer.Call call, int gpus) throws IOException {
    ObjectNode hello =
        Json.mapper()
            .createObjectNode()
            .put("kind", "hello")
            .put("probe", "0.1.0")
            .put("python", PYTHON)
            .put("torch", "2.9.0")
            .put("device", "cuda")
            .put("gpus", gpus);
    MicroTruth.CAPABILITIES.forEach(hello.putArray("capabilities")::add);
    call.out(hello.toString());
  }

  private static void progress(ControlServer.Call call, int done, int total, String note)
      throws IOException {
    call.out(
        Json.mapper()
            .createObjectNode()
            .put("kind", "progress")
            .put("done", done)
            .put("total", total)
            .put("note", note)
            .toString());
  }

  private void decode(ControlServer.Call call, JsonNode decode, Path traceDir)
      throws IOException, InterruptedException {
    int batch = Math.max(1, decode.path("batch").asInt(1));
    int wanted = Math.max(1, decode.path("steps").asInt(10));
    int count = Math.min(wanted, Engine.MAX_PROFILED_STEPS);
    Path dir = decode.has("traceDir") ? call.path(decode.get("traceDir").asText()) : traceDir;
    if (dir == null) {
      error(call, "decode needs a traceDir", 1);
      return;
    }
    List<Engine.Step> steps = new ArrayList<>();
    long duration = scenario.stepNs(batch);
    for (int s = 0; s < count; s++) {
      steps.add(new Engine.Step(s * duration, duration, 0, 0, batch));
    }
    TimeUnit.NANOSECONDS.sleep(count * duration);
    long epochNs = TimeUnit.MILLISECONDS.toNanos(state.nowMs());
    for (TraceWriter.Written file : traces.write(dir, "", steps, epochNs)) {
      call.out(
          Json.mapper()
              .createObjectNode()
              .put("kind", "trace")
              .put("rank", file.rank())
              .put("path", file.path().toString())
              .put("bytes", file.bytes())
              .toString());
    }
  }

  private static int error(ControlServer.Call call, String message, int status) throws IOException {
    call.out(
        Json.mapper().createObjectNode().put("kind", "error").put("message", message).toString());
    return status;
  }
}
