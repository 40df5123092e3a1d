package dev.plumbline.bottleneckattribution;

import dev.plumbline.schemas.attribution.Fingerprint;
import dev.plumbline.schemas.attribution.StepSample;
import dev.plumbline.schemas.trace.Component;
import dev.plumbline.schemas.trace.DeviceClass;
import dev.plumbline.schemas.trace.StepKind;
import dev.plumbline.schemas.trace.TraceReport.ExposedTimes;
import dev.plumbline.schemas.trace.TraceReport.IdleCauses;
import java.time.Instant;
import java.util.Map;

/** Step samples whose identities hold. */
final class Samples {

  static final Instant T0 = Instant.parse("2026-03-01T12:00:00Z");
  static final Fingerprint DECODE = new Fingerprint(StepKind.DECODE, 8, 8);
  static final String KEY = "gpu-1/kimi/decode-b8-tp8";

  private Samples() {}

  /** A decode step of gpu-1/kimi, {@code second} seconds after T0; what is no component is idle. */
  static StepSample at(double second, int ordinal, long hostBoundNs, Map<Component, Long> parts) {
    return of("gpu-1", "c-1/tracing/1/0/" + ordinal, second, hostBoundNs, parts);
  }

  static StepSample of(
      String host, String id, double second, long hostBoundNs, Map<Component, Long> parts) {
    ExposedTimes exposed =
        new ExposedTimes(
            sum(parts, DeviceClass.COMPUTE),
            sum(parts, DeviceClass.COMMUNICATION),
            sum(parts, DeviceClass.MEMORY),
            hostBoundNs);
    return new StepSample(
        id,
        "c-1",
        host,
        "kimi",
        DECODE,
        0,
        T0.plusMillis(Math.round(second * 1000)),
        StepKind.DECODE,
        exposed.total(),
        exposed,
        new IdleCauses(hostBoundNs, 0, 0, 0, 0),
        parts);
  }

  private static long sum(Map<Component, Long> parts, DeviceClass deviceClass) {
    return parts.entrySet().stream()
        .filter(part -> part.getKey().deviceClass() == deviceClass)
        .mapToLong(Map.Entry::getValue)
        .sum();
  }
}
