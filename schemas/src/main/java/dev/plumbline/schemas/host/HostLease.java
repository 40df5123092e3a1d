package dev.plumbline.schemas.host;

import java.time.Instant;

/**
 * Who holds a host. Compacted by host.
 *
 * @param holder campaignId, null when the host is free
 * @param token fencing token: grows with each lease, never shrinks
 * @param restoreOwed true while the service is down and must come back
 */
public record HostLease(
    String host, String holder, long token, boolean restoreOwed, String reason, Instant at) {}
