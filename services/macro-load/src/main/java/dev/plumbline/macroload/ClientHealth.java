package dev.plumbline.macroload;

import dev.plumbline.schemas.load.LoadReport;
import dev.plumbline.schemas.load.LoadReport.Latency;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * How the event loop did during a window: how late it ran its timer and how much of a processor it
 * used. Decides whether the client, not the server, was the limit.
 */
final class ClientHealth {

  /** An event loop that is busy for longer than this share of the window cannot follow bursts. */
  private static final double BUSY_SHARE = 0.85;

  /** A delay below this is the scheduler of an ordinary machine, not a client that lags. */
  private static final long HARMLESS_DELAY_NS = 5_000_000;

  private final LatencyRecorder loopDelay = new LatencyRecorder();
  private long cpuAtOpenNs;
  private long cpuNs;
  private long dueNs = Long.MAX_VALUE;
  private boolean open;

  /** The window opens now; called on the event loop, as are the next two. */
  void windowOpened() {
    open = true;
    cpuAtOpenNs = threadCpuNs();
  }

  /** The window closes now. */
  void windowClosed() {
    open = false;
    used(threadCpuNs() - cpuAtOpenNs);
  }

  /**
   * The timer ran.
   *
   * @param everyNs when it is due again
   */
  void ticked(long nowNs, long everyNs) {
    if (open && dueNs != Long.MAX_VALUE) {
      delayed(nowNs - dueNs);
    }
    dueNs = nowNs + everyNs;
  }

  private static long threadCpuNs() {
    return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
  }

  /** The timer ran so much later than it was due. */
  void delayed(long ns) {
    loopDelay.record(ns);
  }

  /** Processor time of the event loop in the window. */
  void used(long cpuNs) {
    this.cpuNs = cpuNs;
  }

  /**
   * Why the client was the limit; empty when it was not. The p90 of the loop's delay is compared
   * with a quarter of the median gap between chunks: below, the order and spacing of chunks is
   * still the server's.
   *
   * @param gapNs median inter-chunk latency, 0 when there is none
   */
  List<String> reasons(long windowNs, long gapNs) {
    List<String> reasons = new ArrayList<>();
    double share = share(windowNs);
    if (share > BUSY_SHARE) {
      reasons.add(
          String.format(
              Locale.ROOT, "the event loop was busy for %.0f %% of the window", share * 100));
    }
    long p90 = loopDelay.percentile(90);
    if (p90 > Math.max(HARMLESS_DELAY_NS, gapNs / 4)) {
      reasons.add(
          String.format(
              Locale.ROOT,
              "the event loop ran late by %.1f ms at the 90th percentile, against %.1f ms between"
                  + " chunks",
              p90 / 1e6,
              gapNs / 1e6));
    }
    return reasons;
  }

  /** The part of the report about the client. */
  LoadReport.Client client(
      long windowNs, double coalescedShare, Latency lateness, long retried, List<String> reasons) {
    return new LoadReport.Client(
        share(windowNs), loopDelay.latency(), coalescedShare, lateness, retried, reasons);
  }

  private double share(long windowNs) {
    return windowNs > 0 ? (double) cpuNs / windowNs : 0;
  }
}
