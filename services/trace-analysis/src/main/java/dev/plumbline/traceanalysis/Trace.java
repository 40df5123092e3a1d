package dev.plumbline.traceanalysis;

import java.util.List;
import java.util.Map;

/**
 * What one file holds that the analysis needs, in order of time.
 *
 * @param names kernels, calls and annotations by id
 * @param calls runtime and driver calls
 * @param annotations those that may be steps
 * @param eventsRead complete events of the list, of whatever kind
 * @param eventsBad by kind of fault
 * @param truncated the file ends, or is damaged, before its end
 */
record Trace(
    String source,
    Names names,
    DeviceEvents events,
    HostSpans calls,
    HostSpans annotations,
    Metadata metadata,
    long eventsRead,
    Map<String, Long> eventsBad,
    boolean truncated,
    List<String> warnings) {

  /**
   * What stands beside the list of events.
   *
   * @param rank null when absent
   * @param worldSize null when absent
   * @param baseNs {@code baseTimeNanoseconds}, to which times are relative; null when absent
   * @param withStack the profiler recorded Python stacks, which slows the host
   */
  record Metadata(Integer rank, Integer worldSize, Long baseNs, boolean withStack) {}
}
