package dev.plumbline.traceanalysis;

import dev.plumbline.schemas.trace.Component;
import dev.plumbline.schemas.trace.TraceReport.Integrity;
import dev.plumbline.schemas.trace.TraceReport.KernelTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** How far the figures of one rank can be trusted (definitions, section 4). */
final class RankIntegrity {

  private static final int LARGEST = 10;

  /** A few launches at the end of a recording rightly have no device event yet. */
  private static final double MISSING_SHARE = 0.1;

  private RankIntegrity() {}

  static Integrity of(
      Trace trace,
      RankName rank,
      Launches launches,
      Steps steps,
      List<KernelTime> kernels,
      ExposedSweep.Result whole) {
    DeviceEvents events = trace.events();
    long summed = 0;
    long unlinked = 0;
    for (int i = 0; i < events.count(); i++) {
      summed += events.duration(i);
      unlinked += launches.callOf(i) < 0 ? events.duration(i) : 0;
    }
    List<KernelTime> others =
        kernels.stream().filter(k -> k.component() == Component.OTHER).toList();
    long other = others.stream().mapToLong(KernelTime::summedNs).sum();
    boolean incomplete = incomplete(launches, events.count());
    return new Integrity(
        status(trace, incomplete),
        trace.eventsRead(),
        events.count() + trace.calls().count() + trace.annotations().count(),
        sorted(trace.eventsBad()),
        trace.truncated(),
        share(unlinked, summed),
        share(other, summed),
        others.stream().limit(LARGEST).toList(),
        share(whole.overlappedNs(), whole.busyNs()),
        launches.graphLaunches(),
        launches.graphLaunchesWithoutEvents(),
        steps.foundBy().equals("none") ? 0 : steps.steps().size(),
        steps.foundBy(),
        rank.from(),
        trace.metadata().baseNs(),
        warnings(trace, launches, incomplete));
  }

  private static boolean incomplete(Launches launches, int deviceEvents) {
    long launched = launches.kernelLaunches();
    return (launched > 0 && deviceEvents == 0)
        || launches.graphLaunchesWithoutEvents() > MISSING_SHARE * launches.graphLaunches()
        || launches.kernelLaunchesWithoutEvents() > Math.max(10, MISSING_SHARE * launched);
  }

  private static String status(Trace trace, boolean incomplete) {
    if (incomplete) {
      return "incomplete";
    } else if (trace.events().count() == 0) {
      return "no-device-events";
    }
    return trace.truncated() ? "truncated" : "complete";
  }

  private static Map<String, Long> sorted(Map<String, Long> bad) {
    return new TreeMap<>(bad);
  }

  private static double share(long part, long whole) {
    return whole == 0 ? 0 : (double) part / whole;
  }

  private static List<String> warnings(Trace trace, Launches launches, boolean incomplete) {
    List<String> warnings = new ArrayList<>(trace.warnings());
    DeviceEvents events = trace.events();
    if (trace.truncated()) {
      warnings.add("The file is cut short or damaged: only the events before that are counted.");
    }
    if (events.count() == 0) {
      warnings.add(
          trace.source().contains("async_llm")
              ? "This is the trace of a server's front end: it holds no device events."
              : launches.kernelLaunches() == 0
                  ? "No kernel was launched and none recorded: this is a server's front end or"
                      + " another process without device work, and no rank of the run."
                  : "No device events were recorded.");
    }
    if (incomplete) {
      warnings.add(
          launches.kernelLaunchesWithoutEvents()
              + " of "
              + launches.kernelLaunches()
              + " kernel and graph launches have no device event: device work is missing from the"
              + " trace, so its idle time is not real.");
    }
    Set<Long> devices = new TreeSet<>();
    for (int i = 0; i < events.count(); i++) {
      devices.add(events.stream(i) >>> 32);
    }
    if (devices.size() > 1) {
      warnings.add(
          "The file holds the work of "
              + devices.size()
              + " devices, which is counted as one rank: give one file per rank.");
    }
    return List.copyOf(warnings);
  }
}
