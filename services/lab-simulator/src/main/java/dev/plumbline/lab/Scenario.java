package dev.plumbline.lab;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import dev.plumbline.schemas.trace.Component;
import dev.plumbline.schemas.trace.DeviceClass;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The planted truth of one host: its hardware, its service, how fast it decodes and where the time
 * of a decode step goes. Read from YAML; nothing outside the lab reads it.
 *
 * @param unit systemd unit of the inference server
 * @param user who runs the unit
 */
public record Scenario(
    String name,
    String model,
    String unit,
    String user,
    int maxModelLength,
    int hiddenSize,
    Gpus gpus,
    Service service,
    Engine engine,
    Trace trace,
    Roofline roofline,
    List<Micro> micro) {

  /**
   * @param memoryServingMiB memory used on each GPU while the model is loaded, process and idle
   *     memory together
   * @param nvlinks NVLinks between two GPUs; 0: PCIe only
   * @param gpusPerNode GPUs of one NUMA node
   */
  public record Gpus(
      int count,
      String name,
      String driver,
      String cuda,
      long memoryTotalMiB,
      long memoryReservedMiB,
      long memoryIdleMiB,
      long memoryServingMiB,
      double powerIdleW,
      double powerServingW,
      double powerLoadedW,
      double powerLimitW,
      int clockIdleMhz,
      int clockLoadedMhz,
      int clockMaxMhz,
      int memoryClockMhz,
      String idlePstate,
      int pcieGen,
      int nvlinks,
      int gpusPerNode,
      int computeMajor,
      int computeMinor,
      int multiprocessors) {}

  /**
   * @param stopSeconds from the stop request until the processes are gone
   * @param loadSeconds from the start until {@code /health} is green
   */
  public record Service(double stopSeconds, double loadSeconds) {}

  /**
   * @param stepMs duration of a decode step by batch; linear between the points, proportional to
   *     the batch beyond the last
   * @param prefillMsPerToken added to a step for each prompt token that it takes in
   */
  public record Engine(Map<Integer, Double> stepMs, double prefillMsPerToken, int maxBatch) {}

  /**
   * @param layers how often the kernels of kind {@code layer} repeat in a step
   * @param sharesPercent exposed share of each component in the window of a decode step; what is
   *     missing to 100 is idle
   * @param rankSkewPercent by how much each rank computes slower than the nominal one; their median
   *     must be 0, since the planted share is the median over ranks
   * @param stepJitterPercent of the step's length, uniform to both sides
   * @param hostGapUs idle time between the last device event of a step and the first of the next
   */
  public record Trace(
      int layers,
      Map<String, Double> sharesPercent,
      List<Double> rankSkewPercent,
      double stepJitterPercent,
      double hostGapUs,
      List<Kernel> kernels) {

    /** Idle share of a decode step's window, in percent. */
    public double idlePercent() {
      return 100 - sharesPercent.values().stream().mapToDouble(Double::doubleValue).sum();
    }
  }

  /** Where in a step a kernel stands. */
  public enum Place {
    BEFORE,
    LAYER,
    AFTER
  }

  /**
   * @param weight its part of the component's time, relative to the other kernels of the component
   */
  public record Kernel(String name, String component, Place place, double weight) {}

  /** What an operation costs that the scenario does not list. */
  public record Roofline(
      double tflopPerS, double memoryGbPerS, double linkGbPerS, double launchUs) {}

  /**
   * One operation as the probe finds it.
   *
   * @param portion part of the component's traced time that all its calls of a step make up
   */
  public record Micro(
      String name,
      String operation,
      Map<String, Long> shape,
      String dtype,
      int countPerStep,
      String component,
      String kernel,
      double portion) {}

  private static final ObjectMapper YAML =
      new ObjectMapper(new YAMLFactory()).enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);

  /**
   * A scenario that comes with the lab.
   *
   * @throws IllegalArgumentException if there is none of that name
   */
  public static Scenario named(String name) {
    try (InputStream in = Scenario.class.getResourceAsStream("/lab/" + name + ".yaml")) {
      if (in == null) {
        throw new IllegalArgumentException(
            "no scenario named '"
                + name
                + "': use kimi-k2.5-int4-8x-pcie, llama-70b-fp16-2x-nvlink or the path of a YAML"
                + " file");
      }
      return read(in, name);
    } catch (IOException e) {
      throw new IllegalArgumentException("cannot read scenario " + name + ": " + e.getMessage(), e);
    }
  }

  /**
   * A scenario from a file.
   *
   * @throws IllegalArgumentException with one sentence that says what does not fit
   */
  public static Scenario file(Path path) {
    try (InputStream in = Files.newInputStream(path)) {
      return read(in, path.toString());
    } catch (IOException e) {
      throw new IllegalArgumentException("cannot read scenario " + path + ": " + e.getMessage(), e);
    }
  }

  private static Scenario read(InputStream in, String where) throws IOException {
    try {
      Scenario scenario = YAML.readValue(in, Scenario.class);
      scenario.check(where);
      return scenario;
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(
          "scenario " + where + " is not valid: " + e.getOriginalMessage(), e);
    }
  }

  private void check(String where) {
    if (trace.rankSkewPercent().size() != gpus.count()) {
      throw new IllegalArgumentException(
          "scenario " + where + ": trace.rankSkewPercent needs one number per GPU");
    }
    if (trace.idlePercent() < 1) {
      throw new IllegalArgumentException(
          "scenario " + where + ": trace.sharesPercent must leave at least 1 percent idle");
    }
    for (Map.Entry<String, Double> share : trace.sharesPercent().entrySet()) {
      Component component =
          Component.find(share.getKey())
              .orElseThrow(
                  () ->
                      new IllegalArgumentException(
                          "scenario " + where + ": no component named " + share.getKey()));
      if (component != Component.MEMCPY
          && trace.kernels().stream().noneMatch(k -> k.component().equals(component.id()))) {
        throw new IllegalArgumentException(
            "scenario " + where + ": " + component.id() + " has a share and no kernel");
      }
      if (component.deviceClass() == DeviceClass.COMMUNICATION
          && component != Component.ALL_REDUCE) {
        throw new IllegalArgumentException(
            "scenario " + where + ": the lab writes all_reduce only, not " + component.id());
      }
    }
  }

  /** Nanoseconds of one decode step with {@code batch} sequences. */
  public long stepNs(int batch) {
    TreeMap<Integer, Double> points = new TreeMap<>(engine.stepMs());
    Map.Entry<Integer, Double> low = points.floorEntry(batch);
    Map.Entry<Integer, Double> high = points.ceilingEntry(batch);
    double ms;
    if (low == null) {
      ms = points.firstEntry().getValue();
    } else if (high == null) {
      ms = low.getValue() * batch / low.getKey();
    } else if (low.getKey().equals(high.getKey())) {
      ms = low.getValue();
    } else {
      double part = (double) (batch - low.getKey()) / (high.getKey() - low.getKey());
      ms = low.getValue() + part * (high.getValue() - low.getValue());
    }
    return Math.round(ms * 1e6);
  }

  /** Nanoseconds of a step that takes in prompts besides decoding. */
  public long stepNs(int batch, int promptTokens) {
    return stepNs(batch) + Math.round(promptTokens * engine.prefillMsPerToken() * 1e6);
  }
}
