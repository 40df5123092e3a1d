package dev.plumbline.schemas.attribution;

import java.time.Instant;
import java.util.Map;

/**
 * Attribution of one window: an upsert by key and {@code windowStart} (definitions, section 8).
 *
 * @param shares Σ exposed ÷ Σ window by component, and by {@code idle:} cause; they sum to 1
 * @param closed true when no later record can change it
 */
public record Attribution(
    String host,
    String model,
    Fingerprint fingerprint,
    Instant windowStart,
    Instant windowEnd,
    long samples,
    Map<String, Double> shares,
    long windowP50Ns,
    long windowP95Ns,
    String bottleneck,
    double bottleneckShare,
    double margin,
    String campaignId,
    boolean closed) {

  /** The record key: {@code host/model/fingerprint}. */
  public String key() {
    return host + "/" + model + "/" + fingerprint.id();
  }
}
