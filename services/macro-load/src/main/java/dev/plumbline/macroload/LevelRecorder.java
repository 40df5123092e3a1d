package dev.plumbline.macroload;

import dev.plumbline.schemas.load.LoadReport;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Counts and times of one level. All times are nanoseconds of one monotonic clock.
 *
 * <p><b>Window.</b> It opens when the first request after the warm-up is sent (the warm-up has
 * drained by then). A closed loop's window closes when the first user finds no request left to
 * send, which is where the concurrency begins to fall; a timed level's after its length; an open
 * loop's at the end of its send schedule; a cancelled level's when it was cancelled.
 *
 * <p><b>What falls in it.</b> A token falls in the window when its content event arrived in it
 * (where the server does not tell tokens per event, the request's tokens are spread evenly over its
 * events). A request of which only a part lies in the window counts in request throughput with that
 * part of its time. Latencies are those of all requests of the level that succeeded: each was sent
 * in the window. Failed requests are counted by kind and enter nothing but the mean in flight.
 */
final class LevelRecorder {

  private final long openNs;
  private final boolean fromIntended;
  private long closeNs = Long.MAX_VALUE;
  private long completed;
  private final Map<String, Long> failed = new TreeMap<>();
  private final Map<String, String> failureExamples = new TreeMap<>();
  private double tokensInWindow;
  private double requestsInWindow;
  private double inFlightNs;
  private boolean tokensEstimated;
  private boolean itlFromChunks;
  private long inputTokens;
  private boolean inputTold;
  private long cachedTokens;
  private boolean cachedTold;
  private long contentEvents;
  private long coalesced;
  private final LatencyRecorder ttft = new LatencyRecorder();
  private final LatencyRecorder ttfot = new LatencyRecorder();
  private final LatencyRecorder itl = new LatencyRecorder();
  private final LatencyRecorder icl = new LatencyRecorder();
  private final LatencyRecorder tpot = new LatencyRecorder();
  private final LatencyRecorder e2e = new LatencyRecorder();
  private final LatencyRecorder sendLateness = new LatencyRecorder();

  /**
   * @param openNs when the window opens
   * @param fromIntended true when latency counts from the intended send time (open loop), false
   *     when from the write of the request's first byte (closed loop)
   */
  LevelRecorder(long openNs, boolean fromIntended) {
    this.openNs = openNs;
    this.fromIntended = fromIntended;
  }

  /** The window closes at this time at the latest, which may be yet to come. */
  void closeBy(long atNs) {
    closeNs = Math.min(closeNs, Math.max(atNs, openNs));
  }

  /** Takes a request that ended. */
  void take(Exchange exchange) {
    long inside = inside(exchange.sentNs(), exchange.endNs());
    inFlightNs += inside;
    sendLateness.record(exchange.sentNs() - exchange.intendedNs());
    if (exchange.failure() != null) {
      failed.merge(exchange.failure().kind(), 1L, Long::sum);
      failureExamples.putIfAbsent(exchange.failure().kind(), exchange.failure().message());
      return;
    }
    completed++;
    long took = exchange.endNs() - exchange.sentNs();
    requestsInWindow += took > 0 ? (double) inside / took : inside(exchange.endNs()) ? 1 : 0;
    usage(exchange);
    if (exchange.contentEvents() > 0) {
      tokens(exchange);
      latencies(exchange);
    }
  }

  private void usage(Exchange exchange) {
    tokensEstimated |= !exchange.outputTokensTold();
    if (exchange.promptTokens() >= 0) {
      inputTold = true;
      inputTokens += exchange.promptTokens();
    }
    if (exchange.cachedTokens() >= 0) {
      cachedTold = true;
      cachedTokens += exchange.cachedTokens();
    }
  }

  private void tokens(Exchange exchange) {
    int events = exchange.contentEvents();
    contentEvents += events;
    coalesced += exchange.coalesced();
    int eventsInside = 0;
    long tokensInside = 0;
    long tokensOfEvents = 0;
    boolean known = exchange.tokensPerEventKnown();
    for (int i = 0; i < events; i++) {
      long tokens = known ? exchange.tokensOfEvent(i) : 1;
      tokensOfEvents += tokens;
      if (inside(exchange.eventNs(i))) {
        eventsInside++;
        tokensInside += tokens;
      }
    }
    // The usage is the truth for the whole request: tokens without text of their own are in it too.
    long total = exchange.outputTokens();
    tokensInWindow +=
        known && tokensOfEvents > 0
            ? (double) total * tokensInside / tokensOfEvents
            : (double) total * eventsInside / events;
  }

  private void latencies(Exchange exchange) {
    int events = exchange.contentEvents();
    long first = exchange.eventNs(0);
    long last = exchange.eventNs(events - 1);
    long zero = fromIntended ? exchange.intendedNs() : exchange.sentNs();
    ttft.record(first - zero);
    e2e.record(last - zero);
    if (exchange.firstContentChannelNs() >= 0) {
      ttfot.record(exchange.firstContentChannelNs() - zero);
    }
    boolean known = exchange.tokensPerEventKnown();
    itlFromChunks |= !known;
    for (int i = 1; i < events; i++) {
      long gap = exchange.eventNs(i) - exchange.eventNs(i - 1);
      icl.record(gap);
      itl.record(known ? Math.round((double) gap / Math.max(1, exchange.tokensOfEvent(i))) : gap);
    }
    long tokens = exchange.outputTokens();
    if (tokens > 1) {
      tpot.record(Math.round((double) (last - first) / (tokens - 1)));
    }
  }

  private boolean inside(long atNs) {
    return atNs >= openNs && atNs <= closeNs;
  }

  private long inside(long fromNs, long toNs) {
    return Math.max(0, Math.min(toNs, closeNs) - Math.max(fromNs, openNs));
  }

  long completed() {
    return completed;
  }

  long failed() {
    return failed.values().stream().mapToLong(Long::longValue).sum();
  }

  /** True when nothing succeeded and all failures so far are of these kinds. */
  boolean onlyFailed(List<String> kinds) {
    return completed == 0 && !failed.isEmpty() && kinds.containsAll(failed.keySet());
  }

  /**
   * The level's report, once the window is closed and all requests have ended.
   *
   * @param health how the event loop did meanwhile
   * @param serverMetrics scraped from the server
   */
  LoadReport.Level report(
      LoadPlan.Level plan,
      ClientHealth health,
      long retried,
      boolean partial,
      Map<String, Double> serverMetrics) {
    long windowNs = closeNs - openNs;
    double seconds = windowNs / 1e9;
    double meanInFlight = windowNs > 0 ? inFlightNs / windowNs : 0;
    Integer concurrency = plan instanceof LoadPlan.Closed closed ? closed.concurrency() : null;
    List<String> reasons = new ArrayList<>(health.reasons(windowNs, icl.percentile(50)));
    double share = contentEvents > 0 ? (double) coalesced / contentEvents : 0;
    return new LoadReport.Level(
        concurrency,
        plan instanceof LoadPlan.Open open ? open.rate() : null,
        completed,
        failed,
        windowNs,
        Math.round(tokensInWindow),
        windowNs > 0 ? tokensInWindow / seconds : 0,
        windowNs > 0 ? requestsInWindow / seconds : 0,
        meanInFlight,
        ttft.latency(),
        itl.latency(),
        icl.latency(),
        tpot.latency(),
        e2e.latency(),
        tokensEstimated,
        itlFromChunks,
        !reasons.isEmpty(),
        partial,
        serverMetrics,
        plan.requests(),
        ttfot.latency(),
        inputTold ? inputTokens : null,
        cachedTold ? cachedTokens : null,
        health.client(windowNs, share, sendLateness.latency(), retried, reasons),
        failureExamples);
  }
}
