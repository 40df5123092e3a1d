package dev.plumbline.traceanalysis;

import dev.plumbline.schemas.trace.TraceReport;

/**
 * Why the device did nothing, told by the launch of the event that ended the gap (definitions,
 * section 1). Each gap has one cause, so the causes sum exactly to the idle time.
 */
final class IdleCauses implements ExposedSweep.GapSink {

  private final DeviceEvents events;
  private final HostSpans calls;
  private final Launches launches;
  private long hostBound;
  private long synchronisation;
  private long launchLatency;
  private long graphInternal;
  private long unknown;

  IdleCauses(Trace trace, Launches launches) {
    this.events = trace.events();
    this.calls = trace.calls();
    this.launches = launches;
  }

  @Override
  public void gap(long fromNs, long toNs, int before, int after) {
    long length = toNs - fromNs;
    int call = after < 0 ? -1 : launches.callOf(after);
    if (call < 0) {
      unknown += length;
    } else if (launches.graphLaunch(call)
        && before >= 0
        && events.correlation(before) == events.correlation(after)) {
      graphInternal += length;
    } else if (calls.start(call) <= fromNs) {
      launchLatency += length;
    } else if (launches.blockedAt(calls.thread(call), fromNs)) {
      synchronisation += length;
    } else {
      hostBound += length;
    }
  }

  TraceReport.IdleCauses total() {
    return new TraceReport.IdleCauses(
        hostBound, synchronisation, launchLatency, graphInternal, unknown);
  }
}
