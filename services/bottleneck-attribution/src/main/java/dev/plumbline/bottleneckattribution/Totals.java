package dev.plumbline.bottleneckattribution;

import com.fasterxml.jackson.annotation.JsonAutoDetect;
import com.fasterxml.jackson.annotation.JsonAutoDetect.Visibility;
import dev.plumbline.schemas.attribution.Attribution;
import dev.plumbline.schemas.attribution.StepSample;
import dev.plumbline.schemas.trace.TraceReport.IdleCauses;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Sums over step samples, all in whole nanoseconds, so that any grouping and order of additions
 * gives the same totals.
 */
@JsonAutoDetect(
    fieldVisibility = Visibility.ANY,
    getterVisibility = Visibility.NONE,
    isGetterVisibility = Visibility.NONE)
final class Totals {

  private long samples;
  private long windowNs;
  private final TreeMap<String, Long> exposedNs = new TreeMap<>();
  private final DurationHistogram windows;
  private long lastAtMs = Long.MIN_VALUE;
  private String lastCampaignId;

  Totals() {
    windows = new DurationHistogram();
  }

  long lastAtMs() {
    return lastAtMs;
  }

  void add(StepSample sample) {
    samples++;
    windowNs += sample.windowNs();
    sample.componentsNs().forEach((component, ns) -> expose(component.id(), ns));
    IdleCauses idle = sample.idleCausesNs();
    expose("idle:host_bound", idle.hostBound());
    expose("idle:synchronisation", idle.synchronisation());
    expose("idle:launch_latency", idle.launchLatency());
    expose("idle:graph_internal", idle.graphInternal());
    expose("idle:unknown", idle.unknown());
    windows.add(sample.windowNs());
    seeCampaign(sample.at().toEpochMilli(), sample.campaignId());
  }

  void add(Totals other) {
    samples += other.samples;
    windowNs += other.windowNs;
    other.exposedNs.forEach(this::expose);
    windows.add(other.windows);
    seeCampaign(other.lastAtMs, other.lastCampaignId);
  }

  private void expose(String part, long ns) {
    if (ns != 0) {
      exposedNs.merge(part, ns, Long::sum);
    }
  }

  /** The campaign of the latest sample; of two at one instant the greater id, in any order. */
  private void seeCampaign(long atMs, String campaignId) {
    boolean later = atMs > lastAtMs;
    boolean sameButGreater =
        atMs == lastAtMs
            && campaignId != null
            && (lastCampaignId == null || campaignId.compareTo(lastCampaignId) > 0);
    if (later || sameButGreater) {
      lastAtMs = atMs;
      lastCampaignId = campaignId;
    }
  }

  /** The attribution of a window with at least one sample. */
  Attribution attribution(Series series, long startMs, long endMs, boolean closed) {
    // Equal shares are ranked by name, so that the bottleneck does not hang on the order.
    List<Map.Entry<String, Long>> ranked =
        exposedNs.entrySet().stream()
            .sorted(
                Map.Entry.<String, Long>comparingByValue(Comparator.reverseOrder())
                    .thenComparing(Map.Entry.comparingByKey()))
            .toList();
    TreeMap<String, Double> shares = new TreeMap<>();
    exposedNs.forEach((part, ns) -> shares.put(part, share(ns)));
    long first = ranked.get(0).getValue();
    long second = ranked.size() > 1 ? ranked.get(1).getValue() : 0;
    return new Attribution(
        series.host(),
        series.model(),
        series.fingerprint(),
        Instant.ofEpochMilli(startMs),
        Instant.ofEpochMilli(endMs),
        samples,
        shares,
        windows.percentile(50),
        windows.percentile(95),
        ranked.get(0).getKey(),
        share(first),
        share(first - second),
        lastCampaignId,
        closed);
  }

  private double share(long ns) {
    return (double) ns / windowNs;
  }
}
