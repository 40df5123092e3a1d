package dev.plumbline.bottleneckattribution;

import com.fasterxml.jackson.core.type.TypeReference;
import dev.plumbline.schemas.Json;
import dev.plumbline.schemas.attribution.StepSample;
import dev.plumbline.schemas.trace.Component;
import dev.plumbline.schemas.trace.TraceReport.ExposedTimes;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.Map;

/**
 * Reads a record of the sample topic and refuses what would make the sums wrong: the identities of
 * the definitions must hold, otherwise shares would not sum to 1.
 *
 * @param maxAhead how far a sample may lie in the future; a wrong clock would otherwise close every
 *     window of its series
 */
record SampleReader(Duration maxAhead) {

  /** Far above any step, far below what could overflow the sums of a window. */
  private static final long MAX_WINDOW_NS = Duration.ofHours(1).toNanos();

  private static final TypeReference<Map<String, Object>> OBJECT = new TypeReference<>() {};

  /**
   * The sample.
   *
   * @throws IllegalArgumentException with one sentence that says what is wrong
   */
  StepSample read(byte[] key, byte[] value, Instant now) {
    requirePresent(value, "value");
    StepSample sample = Json.read(value, StepSample.class);
    requirePresent(sample, "content");
    checkPresent(sample);
    if (key == null || !sample.key().equals(new String(key, StandardCharsets.UTF_8))) {
      throw refused("the record key must be host/model, here " + sample.key());
    }
    if (sample.at().isAfter(now.plus(maxAhead))) {
      throw refused("at " + sample.at() + " is more than " + maxAhead + " in the future");
    }
    return checkSums(sample, value);
  }

  private static void checkPresent(StepSample sample) {
    requirePresent(sample.id(), "id");
    requirePresent(sample.host(), "host");
    requirePresent(sample.model(), "model");
    requirePresent(sample.fingerprint(), "fingerprint");
    requirePresent(sample.fingerprint().kind(), "fingerprint.kind");
    requirePresent(sample.at(), "at");
    requirePresent(sample.exposedNs(), "exposedNs");
    requirePresent(sample.idleCausesNs(), "idleCausesNs");
    requirePresent(sample.componentsNs(), "componentsNs");
  }

  private static StepSample checkSums(StepSample sample, byte[] value) {
    long window = sample.windowNs();
    if (window <= 0 || window > MAX_WINDOW_NS) {
      throw refused("windowNs is " + window + ", not between 1 ns and one hour");
    }
    ExposedTimes exposed = sample.exposedNs();
    var idle = sample.idleCausesNs();
    requireParts(
        "exposedNs",
        window,
        exposed.compute(),
        exposed.communication(),
        exposed.memory(),
        exposed.idle());
    requireSum("exposedNs", exposed.total(), "windowNs", window);
    requireParts(
        "idleCausesNs",
        window,
        idle.hostBound(),
        idle.synchronisation(),
        idle.launchLatency(),
        idle.graphInternal(),
        idle.unknown());
    requireSum("idleCausesNs", idle.total(), "exposedNs.idle", exposed.idle());
    long busy = window - exposed.idle();
    StepSample checked =
        sum(sample.componentsNs()) == busy ? sample : withNewerComponents(sample, value);
    checked.componentsNs().values().forEach(ns -> requireParts("componentsNs", window, ns));
    requireSum(
        "componentsNs", sum(checked.componentsNs()), "compute + communication + memory", busy);
    return checked;
  }

  /**
   * Components that this version does not know read as {@code other}, and of several under one name
   * a map keeps one only: here they are added up.
   */
  private static StepSample withNewerComponents(StepSample sample, byte[] value) {
    Map<Component, Long> components = new EnumMap<>(Component.class);
    try {
      Object byName = Json.mapper().readValue(value, OBJECT).get("componentsNs");
      for (Map.Entry<?, ?> part : ((Map<?, ?>) byName).entrySet()) {
        components.merge(
            Component.of(String.valueOf(part.getKey())),
            part.getValue() instanceof Number ns ? ns.longValue() : 0L,
            Long::sum);
      }
    } catch (IOException e) {
      throw new IllegalArgumentException("not a valid StepSample: " + e.getMessage(), e);
    }
    return new StepSample(
        sample.id(),
        sample.campaignId(),
        sample.host(),
        sample.model(),
        sample.fingerprint(),
        sample.rank(),
        sample.at(),
        sample.kind(),
        sample.windowNs(),
        sample.exposedNs(),
        sample.idleCausesNs(),
        components);
  }

  private static long sum(Map<Component, Long> components) {
    long sum = 0;
    for (Long ns : components.values()) {
      requirePresent(ns, "time for one of its componentsNs");
      sum += ns;
    }
    return sum;
  }

  private static void requireParts(String field, long window, long... parts) {
    for (long part : parts) {
      if (part < 0 || part > window) {
        throw refused(field + " holds " + part + ", not between 0 and windowNs = " + window);
      }
    }
  }

  private static void requireSum(String field, long sum, String of, long expected) {
    if (sum != expected) {
      throw refused(field + " sums to " + sum + " ns, but " + of + " is " + expected);
    }
  }

  private static void requirePresent(Object value, String field) {
    if (value == null) {
      throw refused("the sample has no " + field);
    }
  }

  private static IllegalArgumentException refused(String sentence) {
    return new IllegalArgumentException(sentence);
  }
}
