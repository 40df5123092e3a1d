package dev.plumbline.traceanalysis;

import dev.plumbline.schemas.Step;
import dev.plumbline.schemas.attribution.Fingerprint;
import dev.plumbline.schemas.attribution.StepSample;
import dev.plumbline.schemas.trace.Component;
import dev.plumbline.schemas.trace.TraceReport;
import dev.plumbline.schemas.trace.TraceReport.ComponentTime;
import dev.plumbline.schemas.trace.TraceReport.Rank;
import dev.plumbline.schemas.trace.TraceReport.StepTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** The facts that rolling attribution lives on: one per rank and step. */
public final class StepSamples {

  private StepSamples() {}

  /**
   * The steps of a report as samples.
   *
   * @param base when the recording began; a step is placed by its start relative to the rank's
   *     first device event
   * @return in order of rank and step; none for a trace without step annotations
   */
  public static List<StepSample> from(
      TraceReport report, String campaignId, String host, String model, int attempt, Instant base) {
    int ranks = (int) report.ranks().stream().filter(rank -> rank.deviceEvents() > 0).count();
    List<StepSample> samples = new ArrayList<>();
    for (int r = 0; r < report.ranks().size(); r++) {
      Rank rank = report.ranks().get(r);
      if (rank.integrity().stepsFoundBy().equals("none")) {
        continue;
      }
      for (int k = 0; k < rank.steps().size(); k++) {
        StepTime step = rank.steps().get(k);
        String id =
            String.join(
                "/",
                campaignId,
                Step.ANALYSE.id(),
                Integer.toString(attempt),
                rank.rank() == null ? "file-" + r : rank.rank().toString(),
                Integer.toString(k));
        samples.add(
            new StepSample(
                id,
                campaignId,
                host,
                model,
                Fingerprint.of(step.kind(), step.batch(), ranks),
                rank.rank(),
                base.plusNanos(step.startNs()),
                step.kind(),
                step.windowNs(),
                step.exposedNs(),
                step.idleCausesNs(),
                components(step)));
      }
    }
    return samples;
  }

  private static Map<Component, Long> components(StepTime step) {
    Map<Component, Long> exposed = new EnumMap<>(Component.class);
    for (ComponentTime time : step.components()) {
      if (time.exposedNs() > 0) {
        exposed.put(time.component(), time.exposedNs());
      }
    }
    return exposed;
  }
}
