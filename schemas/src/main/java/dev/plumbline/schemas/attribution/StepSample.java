package dev.plumbline.schemas.attribution;

import dev.plumbline.schemas.trace.Component;
import dev.plumbline.schemas.trace.StepKind;
import dev.plumbline.schemas.trace.TraceReport.ExposedTimes;
import dev.plumbline.schemas.trace.TraceReport.IdleCauses;
import java.time.Instant;
import java.util.Map;

/**
 * One step of one rank.
 *
 * @param id deterministic, for deduplication: campaign/step/attempt/rank/ordinal
 * @param at event time: when the step ran
 * @param componentsNs exposed time by component
 */
public record StepSample(
    String id,
    String campaignId,
    String host,
    String model,
    Fingerprint fingerprint,
    Integer rank,
    Instant at,
    StepKind kind,
    long windowNs,
    ExposedTimes exposedNs,
    IdleCauses idleCausesNs,
    Map<Component, Long> componentsNs) {

  /** The record key: {@code host/model}. */
  public String key() {
    return host + "/" + model;
  }
}
