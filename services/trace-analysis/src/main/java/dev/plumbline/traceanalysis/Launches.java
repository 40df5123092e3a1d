package dev.plumbline.traceanalysis;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Which host call launched which device event, by correlation id. One graph launch shares its id
 * with every kernel of the replay.
 */
final class Launches {

  private static final int LAUNCHES = 1;
  private static final int GRAPH = 2;
  private static final int SYNCHRONISES = 4;
  private static final int COPIES = 8;

  private final HostSpans calls;
  private final byte[] traits;
  private final int[] callOfEvent;
  private final boolean[] hasEvents;
  private final long[] lastEventEnd;
  private final Map<Long, int[]> blockingByThread;

  private Launches(
      HostSpans calls, byte[] traits, int[] callOfEvent, boolean[] hasEvents, long[] lastEventEnd) {
    this.calls = calls;
    this.traits = traits;
    this.callOfEvent = callOfEvent;
    this.hasEvents = hasEvents;
    this.lastEventEnd = lastEventEnd;
    this.blockingByThread = blockingByThread();
  }

  static Launches of(Trace trace) {
    HostSpans calls = trace.calls();
    DeviceEvents events = trace.events();
    byte[] traits = traits(trace.names(), calls);
    long[] correlations = new long[calls.count()];
    Arrays.setAll(correlations, calls::correlation);
    int[] order = SortedOrder.of(correlations, correlations.length);
    long[] sorted = SortedOrder.permuted(correlations, order);
    int[] callOfEvent = new int[events.count()];
    boolean[] hasEvents = new boolean[calls.count()];
    long[] lastEventEnd = new long[calls.count()];
    for (int i = 0; i < callOfEvent.length; i++) {
      int call = find(sorted, order, calls, traits, events.correlation(i));
      callOfEvent[i] = call;
      if (call >= 0) {
        lastEventEnd[call] =
            hasEvents[call] ? Math.max(lastEventEnd[call], events.end(i)) : events.end(i);
        hasEvents[call] = true;
      }
    }
    return new Launches(calls, traits, callOfEvent, hasEvents, lastEventEnd);
  }

  private static int find(
      long[] sorted, int[] order, HostSpans calls, byte[] traits, long correlation) {
    if (correlation <= 0) {
      return -1; // absent, or 0, which Kineto writes for "none"
    }
    int at = Arrays.binarySearch(sorted, correlation);
    if (at < 0) {
      return -1;
    }
    while (at > 0 && sorted[at - 1] == correlation) {
      at--;
    }
    for (int i = at; i < sorted.length && sorted[i] == correlation; i++) {
      if ((traits[calls.name(order[i])] & (LAUNCHES | COPIES)) != 0) {
        return order[i];
      }
    }
    return order[at];
  }

  /** What the names of the calls say, for CUDA, its driver interface and HIP alike. */
  private static byte[] traits(Names names, HostSpans calls) {
    byte[] traits = new byte[names.size()];
    boolean[] known = new boolean[names.size()];
    for (int i = 0; i < calls.count(); i++) {
      int name = calls.name(i);
      if (!known[name]) {
        known[name] = true;
        traits[name] = traits(names.text(name));
      }
    }
    return traits;
  }

  private static byte traits(String name) {
    int traits = 0;
    if (name.contains("GraphLaunch")) {
      traits |= LAUNCHES | GRAPH;
    } else if (name.contains("Launch") && !name.contains("HostFunc")) {
      traits |= LAUNCHES;
    }
    if (name.endsWith("Synchronize") || name.contains("Synchronize_")) {
      traits |= SYNCHRONISES;
    }
    if (name.contains("Memcpy") || name.contains("Memset")) {
      traits |= COPIES;
      if (name.contains("Memcpy") && !name.contains("Async")) {
        traits |= SYNCHRONISES;
      }
    }
    return (byte) traits;
  }

  private Map<Long, int[]> blockingByThread() {
    Map<Long, List<Integer>> lists = new HashMap<>();
    for (int i = 0; i < calls.count(); i++) {
      if (blocks(i)) {
        lists.computeIfAbsent(calls.thread(i), t -> new ArrayList<>()).add(i);
      }
    }
    Map<Long, int[]> arrays = new HashMap<>();
    lists.forEach((t, list) -> arrays.put(t, list.stream().mapToInt(i -> i).toArray()));
    return arrays;
  }

  /**
   * A call that synchronises; or a copy that by its name need not wait but returned only after its
   * own device event ended, as one from or to pageable memory does.
   */
  private boolean blocks(int call) {
    int t = traits[calls.name(call)];
    return (t & SYNCHRONISES) != 0
        || ((t & COPIES) != 0 && hasEvents[call] && lastEventEnd[call] <= calls.end(call));
  }

  /** The call that launched a device event; −1 when the trace has none. */
  int callOf(int event) {
    return callOfEvent[event];
  }

  boolean graphLaunch(int call) {
    return (traits[calls.name(call)] & GRAPH) != 0;
  }

  /** Whether a blocking call on a thread spans a moment. */
  boolean blockedAt(long thread, long timeNs) {
    int[] blocking = blockingByThread.get(thread);
    if (blocking == null) {
      return false;
    }
    int low = 0;
    int high = blocking.length - 1;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      if (calls.start(blocking[middle]) <= timeNs) {
        low = middle + 1;
      } else {
        high = middle - 1;
      }
    }
    // Calls of one thread nest at most a few deep (runtime over driver).
    for (int i = high; i >= Math.max(0, high - 3); i--) {
      if (calls.end(blocking[i]) >= timeNs) {
        return true;
      }
    }
    return false;
  }

  long graphLaunches() {
    return count(GRAPH, false);
  }

  long graphLaunchesWithoutEvents() {
    return count(GRAPH, true);
  }

  /** Launches of kernels, single or as graphs. */
  long kernelLaunches() {
    return count(LAUNCHES, false);
  }

  long kernelLaunchesWithoutEvents() {
    return count(LAUNCHES, true);
  }

  private long count(int trait, boolean withoutEvents) {
    long count = 0;
    for (int i = 0; i < calls.count(); i++) {
      if ((traits[calls.name(i)] & trait) != 0 && !(withoutEvents && hasEvents[i])) {
        count++;
      }
    }
    return count;
  }
}
