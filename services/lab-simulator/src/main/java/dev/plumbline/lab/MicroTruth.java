package dev.plumbline.lab;

import dev.plumbline.schemas.micro.MicroOperation;
import dev.plumbline.schemas.micro.MicroReport;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;

/**
 * What an operation takes on the simulated GPUs. An operation that the scenario lists takes the
 * time that the decode step spends on it (so micro figures and traces tell one story); any other
 * follows a roofline.
 */
final class MicroTruth {

  static final List<String> CAPABILITIES =
      List.of("gemm", "quantized_gemm", "moe", "attention", "all_reduce", "copy", "launch");

  private static final int WARMUP = 5;

  private final Scenario scenario;
  private final Random random;

  MicroTruth(Scenario scenario, Random random) {
    this.scenario = scenario;
    this.random = random;
  }

  /** Runs one operation {@code repeats} times. */
  MicroReport.Result measure(MicroOperation operation, int gpus, int repeats) {
    if (!CAPABILITIES.contains(operation.operation())) {
      return result(operation, null, 0, new double[0], 0, "the probe cannot do this operation");
    }
    if (operation.operation().equals("all_reduce") && gpus < 2) {
      return result(operation, null, 0, new double[0], 0, "all_reduce needs at least two GPUs");
    }
    Optional<Scenario.Micro> listed =
        scenario.micro().stream()
            .filter(m -> m.operation().equals(operation.operation()) && sameSize(m, operation))
            .findFirst();
    double us = listed.map(m -> planted(m, operation)).orElseGet(() -> roofline(operation, gpus));
    double[] times = new double[repeats];
    for (int i = 0; i < repeats; i++) {
      times[i] = us * (1 + 0.006 * Math.abs(random.nextGaussian()));
    }
    Arrays.sort(times);
    String kernel = listed.map(Scenario.Micro::kernel).orElse(null);
    return result(operation, kernel, repeats, times, gpus, null);
  }

  /** Same operation but for the batch: the weights have the same shape. */
  private static boolean sameSize(Scenario.Micro micro, MicroOperation operation) {
    if (operation.operation().equals("all_reduce")) {
      // Any size: what counts is how many vectors of the hidden size it holds.
      return true;
    }
    for (String key : List.of("n", "k", "heads", "experts")) {
      Long listed = micro.shape().get(key);
      Long asked = shape(operation).get(key);
      if (listed != null && asked != null && !listed.equals(asked)) {
        return false;
      }
    }
    return shape(operation).keySet().stream().anyMatch(micro.shape()::containsKey);
  }

  private static Map<String, Long> shape(MicroOperation operation) {
    return operation.shape() == null ? Map.of() : operation.shape();
  }

  private double planted(Scenario.Micro micro, MicroOperation operation) {
    int batch = (int) Math.max(1, Math.min(100_000, batch(operation)));
    double share = scenario.trace().sharesPercent().get(micro.component()) / 100;
    return scenario.stepNs(batch) * share * micro.portion() / micro.countPerStep() / 1000;
  }

  private long batch(MicroOperation operation) {
    Map<String, Long> shape = shape(operation);
    return operation.operation().equals("all_reduce")
        ? shape.getOrDefault("elements", 1L) / scenario.hiddenSize()
        : shape.getOrDefault("m", 1L);
  }

  private double roofline(MicroOperation operation, int gpus) {
    Scenario.Roofline limit = scenario.roofline();
    if (operation.operation().equals("launch")) {
      return limit.launchUs();
    }
    double memoryUs = bytes(operation) / limit.memoryGbPerS() / 1e3;
    double computeUs = flop(operation) / limit.tflopPerS() / 1e6;
    double linkUs =
        operation.operation().equals("all_reduce")
            ? bytes(operation) * 2 * (gpus - 1) / gpus / limit.linkGbPerS() / 1e3
            : 0;
    return limit.launchUs() + Math.max(linkUs, Math.max(memoryUs, computeUs));
  }

  /** Bytes that must be read and written at least. */
  private double bytes(MicroOperation operation) {
    Map<String, Long> s = shape(operation);
    String dtype = operation.dtype() == null ? "bf16" : operation.dtype();
    double size =
        dtype.contains("4") && !dtype.contains("64")
            ? 0.5
            : dtype.contains("8") ? 1 : dtype.contains("32") ? 4 : 2;
    double m = s.getOrDefault("m", 1L);
    double n = s.getOrDefault("n", 1L);
    double k = s.getOrDefault("k", 1L);
    return switch (operation.operation()) {
      case "copy" -> 2 * size * s.getOrDefault("elements", 1L);
      case "all_reduce" -> size * s.getOrDefault("elements", 1L);
      case "attention" ->
          2 * size * 128 * m * s.getOrDefault("heads", 8L) * s.getOrDefault("context", 1024L);
      case "moe" -> 3 * n * k * size * Math.min(s.getOrDefault("experts", 8L), 8 * m);
      default -> n * k * size + 2 * m * (n + k);
    };
  }

  private static double flop(MicroOperation operation) {
    Map<String, Long> s = shape(operation);
    double m = s.getOrDefault("m", 1L);
    return switch (operation.operation()) {
      case "gemm", "quantized_gemm" -> 2 * m * s.getOrDefault("n", 1L) * s.getOrDefault("k", 1L);
      case "moe" -> 48 * m * s.getOrDefault("n", 1L) * s.getOrDefault("k", 1L);
      case "attention" ->
          4 * m * 128 * s.getOrDefault("heads", 8L) * s.getOrDefault("context", 1024L);
      default -> 0;
    };
  }

  private MicroReport.Result result(
      MicroOperation o, String kernel, int repeats, double[] times, int gpus, String unavailable) {
    boolean ran = unavailable == null;
    double median = ran ? (times[(repeats - 1) / 2] + times[repeats / 2]) / 2 : 0;
    double gbPerS = ran ? bytes(o) / median / 1e3 : 0;
    boolean reduces = o.operation().equals("all_reduce");
    double tflop = ran ? flop(o) / median / 1e6 : 0;
    return new MicroReport.Result(
        o.name(),
        o.operation(),
        o.shape(),
        o.dtype(),
        kernel,
        o.countPerStep(),
        o.component(),
        ran ? repeats : null,
        ran ? WARMUP : null,
        ran ? median : null,
        ran ? times[0] : null,
        ran ? times[repeats - 1] : null,
        ran ? times[(int) Math.ceil(0.95 * repeats) - 1] : null,
        ran ? gbPerS : null,
        ran && tflop > 0 ? tflop : null,
        ran && reduces ? gbPerS * 2 * (gpus - 1) / gpus : null,
        unavailable,
        ran,
        ran ? List.of() : List.of(unavailable));
  }
}
