package dev.plumbline.traceanalysis;

import dev.plumbline.schemas.trace.TraceReport;
import java.util.EnumMap;
import java.util.Map;

/**
 * Why the device did nothing, told by the launch of the event that ended the gap (definitions,
 * section 1). Each gap has one cause, so the causes sum exactly to the idle time.
 */
final class IdleCauses implements ExposedSweep.GapSink {

  /** In the order of the report. */
  enum Cause {
    HOST_BOUND,
    SYNCHRONISATION,
    LAUNCH_LATENCY,
    GRAPH_INTERNAL,
    UNKNOWN
  }

  private final DeviceEvents events;
  private final HostSpans calls;
  private final Launches launches;
  private final Map<Cause, Long> sums = new EnumMap<>(Cause.class);

  IdleCauses(Trace trace, Launches launches) {
    this.events = trace.events();
    this.calls = trace.calls();
    this.launches = launches;
  }

  @Override
  public void gap(long fromNs, long toNs, int before, int after) {
    sums.merge(cause(fromNs, before, after), toNs - fromNs, Long::sum);
  }

  /** The cause of a gap that began at a time, between two events; −1 for none. */
  Cause cause(long fromNs, int before, int after) {
    int call = after < 0 ? -1 : launches.callOf(after);
    if (call < 0) {
      return Cause.UNKNOWN;
    } else if (launches.graphLaunch(call)
        && before >= 0
        && events.correlation(before) == events.correlation(after)) {
      return Cause.GRAPH_INTERNAL;
    } else if (calls.start(call) <= fromNs) {
      return Cause.LAUNCH_LATENCY;
    }
    return launches.blockedAt(calls.thread(call), fromNs)
        ? Cause.SYNCHRONISATION
        : Cause.HOST_BOUND;
  }

  TraceReport.IdleCauses total() {
    return new TraceReport.IdleCauses(
        sum(Cause.HOST_BOUND),
        sum(Cause.SYNCHRONISATION),
        sum(Cause.LAUNCH_LATENCY),
        sum(Cause.GRAPH_INTERNAL),
        sum(Cause.UNKNOWN));
  }

  private long sum(Cause cause) {
    return sums.getOrDefault(cause, 0L);
  }
}
