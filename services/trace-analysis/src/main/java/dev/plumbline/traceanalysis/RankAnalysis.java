package dev.plumbline.traceanalysis;

import dev.plumbline.schemas.trace.Component;
import dev.plumbline.schemas.trace.TraceReport;
import dev.plumbline.schemas.trace.TraceReport.ClassTimes;
import dev.plumbline.schemas.trace.TraceReport.ComponentTime;
import dev.plumbline.schemas.trace.TraceReport.ExposedTimes;
import dev.plumbline.schemas.trace.TraceReport.KernelTime;
import dev.plumbline.schemas.trace.TraceReport.StepTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * One trace, analysed: what the report says of the rank, and what the comparison of ranks needs.
 *
 * @param components ordinal of the component of each device event
 */
@SuppressWarnings({"ArrayRecordComponent", "EnumOrdinal"}) // columns, private to the engine
record RankAnalysis(
    TraceReport.Rank report, Trace trace, byte[] components, Steps steps, Launches launches) {

  /** A stretch in which the device did nothing; times are those of the trace. */
  record Gap(long fromNs, long toNs, IdleCauses.Cause cause) {}

  /** Kernels that a report lists unless all are asked for. */
  static final int LARGEST = 20;

  private static final Component[] COMPONENTS = Component.values();

  static RankAnalysis of(
      Trace trace, RankName rank, ComponentRules rules, AnalysisOptions options) {
    DeviceEvents events = trace.events();
    Launches launches = Launches.of(trace);
    Steps steps = Steps.find(trace, launches, options.stepPattern());
    byte[] components = components(trace, rules);
    ExposedSweep sweep = new ExposedSweep(events, components);
    boolean any = events.count() > 0;
    long from = any ? events.firstStart() : 0;
    long to = any ? events.lastEnd() : 0;
    IdleCauses causes = new IdleCauses(trace, launches);
    ExposedSweep.Result whole = sweep.over(from, to, causes);
    long[] counts = new long[COMPONENTS.length];
    long[] summed = new long[COMPONENTS.length];
    for (int i = 0; i < components.length; i++) {
      counts[components[i]]++;
      summed[components[i]] += events.duration(i);
    }
    List<KernelTime> kernels = kernels(trace, components);
    TraceReport.Rank report =
        new TraceReport.Rank(
            rank.number(),
            trace.source(),
            events.count(),
            events.streams(),
            to - from,
            classTimes(summed),
            whole.exposed(),
            whole.communicationBusyNs() == 0
                ? null
                : (double) whole.bothBusyNs() / whole.communicationBusyNs(),
            componentTimes(counts, summed, whole.componentNs(), to - from),
            causes.total(),
            options.allKernels() ? kernels : kernels.stream().limit(LARGEST).toList(),
            new StepSlices(trace, launches, components, sweep, steps).times(),
            RankIntegrity.of(trace, rank, launches, steps, kernels, whole));
    return new RankAnalysis(report, trace, components, steps, launches);
  }

  /** The gaps in a stretch of the trace, in order. */
  List<Gap> gaps(long fromNs, long toNs) {
    IdleCauses causes = new IdleCauses(trace, launches);
    List<Gap> gaps = new ArrayList<>();
    new ExposedSweep(trace.events(), components)
        .over(
            fromNs,
            toNs,
            (from, to, before, after) ->
                gaps.add(new Gap(from, to, causes.cause(from, before, after))));
    return gaps;
  }

  Component component(int event) {
    return COMPONENTS[components[event]];
  }

  private static byte[] components(Trace trace, ComponentRules rules) {
    DeviceEvents events = trace.events();
    Component[] byName = new Component[trace.names().size()];
    byte[] components = new byte[events.count()];
    for (int i = 0; i < components.length; i++) {
      int category = events.category(i);
      Component component;
      if (category == DeviceEvents.MEMCPY) {
        component = Component.MEMCPY;
      } else if (category == DeviceEvents.MEMSET) {
        component = Component.MEMSET;
      } else {
        int name = events.name(i);
        if (byName[name] == null) {
          byName[name] = rules.of(trace.names().text(name));
        }
        component = byName[name];
        if (component == Component.COLLECTIVE_OTHER || component == Component.SEND_RECV) {
          component = ComponentRules.ofCollective(events.collective(i).name()).orElse(component);
        }
      }
      components[i] = (byte) component.ordinal();
    }
    return components;
  }

  private static ClassTimes classTimes(long[] summed) {
    long compute = 0;
    long communication = 0;
    long memory = 0;
    for (Component component : COMPONENTS) {
      long ns = summed[component.ordinal()];
      switch (component.deviceClass()) {
        case COMPUTE -> compute += ns;
        case COMMUNICATION -> communication += ns;
        case MEMORY -> memory += ns;
      }
    }
    return new ClassTimes(compute, communication, memory);
  }

  /** Those that occur, by exposed time, largest first. */
  static List<ComponentTime> componentTimes(
      long[] counts, long[] summed, long[] exposed, long windowNs) {
    List<ComponentTime> times = new ArrayList<>();
    for (Component component : COMPONENTS) {
      int c = component.ordinal();
      if (counts[c] > 0 || exposed[c] > 0) {
        double share = windowNs == 0 ? 0 : (double) exposed[c] / windowNs;
        times.add(
            new ComponentTime(
                component, component.deviceClass(), counts[c], summed[c], exposed[c], share));
      }
    }
    times.sort(Comparator.comparingLong(ComponentTime::exposedNs).reversed());
    return times;
  }

  /** Every kernel, copy and fill by name, by summed time, largest first. */
  private static List<KernelTime> kernels(Trace trace, byte[] components) {
    // One name may stand for several components where the collective's arguments decide.
    record Key(int name, byte component) {}
    DeviceEvents events = trace.events();
    Map<Key, long[]> sums = new HashMap<>();
    for (int i = 0; i < components.length; i++) {
      long[] sum = sums.computeIfAbsent(new Key(events.name(i), components[i]), key -> new long[2]);
      sum[0]++;
      sum[1] += events.duration(i);
    }
    List<KernelTime> kernels = new ArrayList<>();
    sums.forEach(
        (key, sum) ->
            kernels.add(
                new KernelTime(
                    trace.names().text(key.name), COMPONENTS[key.component], sum[0], sum[1])));
    kernels.sort(
        Comparator.comparingLong(KernelTime::summedNs).reversed().thenComparing(KernelTime::name));
    return kernels;
  }

  /** The steps of one trace, each swept over its window. */
  private record StepSlices(
      Trace trace, Launches launches, byte[] components, ExposedSweep sweep, Steps steps) {

    List<StepTime> times() {
      int count = steps.steps().size();
      long[][] counts = new long[count][COMPONENTS.length];
      long[][] summed = new long[count][COMPONENTS.length];
      for (int i = 0; i < components.length; i++) {
        int step = steps.stepOfEvent()[i];
        if (step >= 0) {
          counts[step][components[i]]++;
          summed[step][components[i]] += trace.events().duration(i);
        }
      }
      List<StepTime> times = new ArrayList<>();
      for (int k = 0; k < count; k++) {
        Steps.Step step = steps.steps().get(k);
        IdleCauses causes = new IdleCauses(trace, launches);
        ExposedSweep.Result slice = sweep.over(step.fromNs(), step.toNs(), causes);
        ExposedTimes exposed = slice.exposed();
        times.add(
            new StepTime(
                step.name(),
                step.kind(),
                step.batch(),
                step.fromNs() - trace.events().firstStart(),
                step.toNs() - step.fromNs(),
                exposed,
                causes.total(),
                componentTimes(counts[k], summed[k], slice.componentNs(), exposed.total())));
      }
      return times;
    }
  }
}
