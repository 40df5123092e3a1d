package dev.plumbline.macroload;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.Set;

/** The requests in flight, and the limits that each of them has to keep. */
final class InFlight {

  /** After the end marker only the end of the body is to come; then the connection is given up. */
  private static final long DONE_GRACE_NS = 1_000_000_000;

  private final LoadPlan plan;
  private final Set<StreamClient.Call> calls = new LinkedHashSet<>();

  InFlight(LoadPlan plan) {
    this.plan = plan;
  }

  void add(StreamClient.Call call) {
    calls.add(call);
  }

  void remove(StreamClient.Call call) {
    calls.remove(call);
  }

  boolean isEmpty() {
    return calls.isEmpty();
  }

  /** Content events of the requests in flight so far. */
  long contentEvents() {
    long events = 0;
    for (StreamClient.Call call : calls) {
      events += call.exchange().contentEvents();
    }
    return events;
  }

  /** Gives all of them up. */
  void abortAll(String kind, String message) {
    for (StreamClient.Call call : new ArrayList<>(calls)) {
      call.abort(kind, message);
    }
  }

  /** Gives up those that are past a limit. */
  void checkLimits(long nowNs) {
    for (StreamClient.Call call : new ArrayList<>(calls)) {
      Exchange exchange = call.exchange();
      long silentNs = nowNs - call.lastByteNs();
      if (nowNs - exchange.sentNs() > plan.requestLimit().toNanos()) {
        call.abort(Failure.TIME_OUT, "no end within " + words(plan.requestLimit()));
      } else if (exchange.isDone() && silentNs > DONE_GRACE_NS) {
        call.finish();
      } else if (exchange.contentEvents() > 0 && silentNs > plan.idleLimit().toNanos()) {
        call.abort(Failure.IDLE, "no byte for " + words(plan.idleLimit()) + " in the stream");
      }
    }
  }

  /** A duration in seconds. */
  static String words(Duration duration) {
    return duration.toMillis() / 1e3 + " s";
  }
}
