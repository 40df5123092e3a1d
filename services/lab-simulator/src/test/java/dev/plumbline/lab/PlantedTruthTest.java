package dev.plumbline.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import dev.plumbline.schemas.Json;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Recomputes the planted shares from the files alone, by plain Jackson and simple intervals. */
class PlantedTruthTest {

  @TempDir Path dir;

  private record Device(BigDecimal from, BigDecimal to, String name, long correlation) {}

  /** Share of the step windows in which a device event of each name runs, in percent. */
  private static Map<String, Double> shares(JsonNode trace) {
    Map<Long, BigDecimal> stepOfLaunch = new HashMap<>();
    List<BigDecimal[]> annotations = new ArrayList<>();
    for (JsonNode e : trace.get("traceEvents")) {
      if (e.path("cat").asText().equals("user_annotation")) {
        BigDecimal ts = e.get("ts").decimalValue();
        annotations.add(new BigDecimal[] {ts, ts.add(e.get("dur").decimalValue())});
      }
    }
    for (JsonNode e : trace.get("traceEvents")) {
      if (e.path("cat").asText().equals("cuda_runtime")) {
        BigDecimal ts = e.get("ts").decimalValue();
        annotations.stream()
            .filter(a -> a[0].compareTo(ts) <= 0 && a[1].compareTo(ts) > 0)
            .forEach(a -> stepOfLaunch.put(e.at("/args/correlation").asLong(), a[0]));
      }
    }
    TreeMap<BigDecimal, List<Device>> steps = new TreeMap<>();
    for (JsonNode e : trace.get("traceEvents")) {
      String cat = e.path("cat").asText();
      if (cat.equals("kernel") || cat.equals("gpu_memcpy")) {
        BigDecimal ts = e.get("ts").decimalValue();
        long correlation = e.at("/args/correlation").asLong();
        BigDecimal step = stepOfLaunch.get(correlation);
        assertThat(step).as("launch record of " + e).isNotNull();
        steps
            .computeIfAbsent(step, s -> new ArrayList<>())
            .add(
                new Device(
                    ts, ts.add(e.get("dur").decimalValue()), e.get("name").asText(), correlation));
      }
    }
    List<List<Device>> ordered = new ArrayList<>(steps.values());
    BigDecimal window = BigDecimal.ZERO;
    Map<String, BigDecimal> busy = new HashMap<>();
    for (int s = 0; s < ordered.size(); s++) {
      List<Device> events = ordered.get(s);
      BigDecimal begin = events.stream().map(Device::from).min(BigDecimal::compareTo).orElseThrow();
      BigDecimal last = events.stream().map(Device::to).max(BigDecimal::compareTo).orElseThrow();
      BigDecimal end =
          s + 1 < ordered.size()
              ? ordered.get(s + 1).stream()
                  .map(Device::from)
                  .min(BigDecimal::compareTo)
                  .orElseThrow()
              : last;
      assertThat(last.compareTo(end) <= 0).as("steps do not overlap").isTrue();
      window = window.add(end.subtract(begin));
      for (Device e : events) {
        busy.merge(e.name(), e.to().subtract(e.from()), BigDecimal::add);
      }
      assertNoOverlap(events);
    }
    Map<String, Double> shares = new HashMap<>();
    for (var e : busy.entrySet()) {
      shares.put(e.getKey(), 100 * e.getValue().doubleValue() / window.doubleValue());
    }
    return shares;
  }

  private static void assertNoOverlap(List<Device> events) {
    List<Device> sorted = new ArrayList<>(events);
    sorted.sort((a, b) -> a.from().compareTo(b.from()));
    for (int i = 1; i < sorted.size(); i++) {
      assertThat(sorted.get(i).from()).isGreaterThanOrEqualTo(sorted.get(i - 1).to());
    }
  }

  private static double median(List<Double> values) {
    List<Double> sorted = new ArrayList<>(values);
    Collections.sort(sorted);
    int n = sorted.size();
    return (sorted.get((n - 1) / 2) + sorted.get(n / 2)) / 2;
  }

  private static JsonNode read(Path file) throws IOException {
    try (InputStream in = new GZIPInputStream(Files.newInputStream(file))) {
      return Json.mapper()
          .reader()
          .with(com.fasterxml.jackson.databind.DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .readTree(in);
    }
  }

  private static List<Engine.Step> decodeSteps(Scenario scenario, int count) {
    List<Engine.Step> steps = new ArrayList<>();
    long duration = scenario.stepNs(1);
    for (int s = 0; s < count; s++) {
      steps.add(new Engine.Step(s * duration, duration, 0, 0, 1));
    }
    return steps;
  }

  @ParameterizedTest
  @CsvSource({
    "kimi-k2.5-int4-8x-pcie, AllReduce, 51.5, all_reduce",
    "llama-70b-fp16-2x-nvlink, nvjet, 68.4, gemm"
  })
  void theFilesHoldThePlantedShare(String name, String kernels, double planted, String component)
      throws IOException {
    Scenario scenario = Scenario.named(name);
    Path truthDir = dir.resolve("truth");

    List<TraceWriter.Written> files =
        new TraceWriter(scenario, truthDir, 1)
            .write(dir, "", decodeSteps(scenario, 4), 1_790_857_026_123_000_000L);

    List<Double> shares = new ArrayList<>();
    for (TraceWriter.Written file : files) {
      JsonNode trace = read(file.path());
      assertThat(trace.at("/distributedInfo/rank").asInt()).isEqualTo(file.rank());
      assertThat(trace.at("/distributedInfo/world_size").asInt())
          .isEqualTo(scenario.gpus().count());
      shares.add(
          shares(trace).entrySet().stream()
              .filter(e -> e.getKey().contains(kernels))
              .mapToDouble(Map.Entry::getValue)
              .sum());
    }
    assertThat(files).hasSize(scenario.gpus().count());
    assertThat(median(shares)).isCloseTo(planted, within(0.5));
    for (int r = 0; r < files.size(); r++) {
      Path truth = truthDir.resolve(files.get(r).path().getFileName() + ".truth.json");
      JsonNode said = Json.mapper().readTree(Files.readAllBytes(truth));
      assertThat(said.at("/sharesPercent/" + component).asDouble())
          .isCloseTo(median(shares), within(0.001));
      assertThat(said.at("/ranks/" + r + "/" + component).asDouble())
          .isCloseTo(shares.get(r), within(0.001));
    }
  }

  @Test
  void oneGraphLaunchCarriesAllKernelsOfADecodeStepAndPromptsLaunchOneByOne() throws IOException {
    Scenario scenario = Scenario.named("llama-70b-fp16-2x-nvlink");
    long t = scenario.stepNs(2);
    List<Engine.Step> steps =
        List.of(new Engine.Step(0, 2 * t, 1, 64, 1), new Engine.Step(2 * t, t, 0, 0, 2));

    Path file =
        new TraceWriter(scenario, dir.resolve("truth"), 1)
            .write(dir, "dp0_pp0_tp%1$d_dcp0_ep0_", steps, 1_790_857_026_000_000_000L)
            .getFirst()
            .path();

    assertThat(file.getFileName().toString())
        .isEqualTo("dp0_pp0_tp0_dcp0_ep0_rank0.1790857026000000000.pt.trace.json.gz");
    Map<Long, Integer> perLaunch = new HashMap<>();
    List<String> names = new ArrayList<>();
    for (JsonNode e : read(file).get("traceEvents")) {
      if (e.path("cat").asText().equals("kernel")) {
        perLaunch.merge(e.at("/args/correlation").asLong(), 1, Integer::sum);
      } else if (e.path("cat").asText().equals("user_annotation")) {
        names.add(e.get("name").asText());
      }
    }
    assertThat(names)
        .containsExactly(
            "execute_context_1(64)_generation_1(1)", "execute_context_0(0)_generation_2(2)");
    // 80 layers of 13 kernels, 1 before, 3 after
    int kernels = 80 * 13 + 4;
    assertThat(perLaunch.values().stream().filter(n -> n == kernels)).hasSize(1);
    assertThat(perLaunch.values().stream().filter(n -> n == 1)).hasSize(kernels);
  }
}
