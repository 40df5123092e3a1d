package dev.plumbline.traceanalysis;

import dev.plumbline.schemas.trace.StepKind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * The steps of a trace and the step of each device event: the one whose annotation contains, on the
 * same thread, the call that launched the event (definitions, section 1). Never by time on the
 * device: the kernels of a replayed graph may start after the annotation ended.
 *
 * @param foundBy as {@code stepsFoundBy} in the report
 * @param stepOfEvent index into {@code steps}, −1 when unknown
 */
@SuppressWarnings("ArrayRecordComponent") // a column, private to the engine
record Steps(String foundBy, List<Step> steps, int[] stepOfEvent) {

  /**
   * @param fromNs its first device event
   * @param toNs the first device event of the next step, or the end of the last event of the last
   */
  record Step(String name, StepKind kind, Integer batch, long fromNs, long toNs) {}

  private record Annotation(int index, String name, StepName step, long thread) {}

  static Steps find(Trace trace, Launches launches, Pattern userPattern) {
    if (trace.events().count() == 0) {
      return new Steps("none", List.of(), new int[0]);
    }
    Map<StepName.Family, List<Annotation>> byFamily = byFamily(trace, userPattern);
    for (StepName.Family family : StepName.Family.values()) {
      List<Annotation> annotations = byFamily.getOrDefault(family, List.of());
      if (!annotations.isEmpty()) {
        Steps found = new Search(trace, launches, annotations).steps(family.id, byFamily);
        if (!found.steps.isEmpty()) {
          return found;
        }
      }
    }
    DeviceEvents events = trace.events();
    Step whole = new Step("trace", StepKind.UNKNOWN, null, events.firstStart(), events.lastEnd());
    return new Steps("none", List.of(whole), new int[events.count()]);
  }

  private static Map<StepName.Family, List<Annotation>> byFamily(Trace trace, Pattern userPattern) {
    Map<StepName.Family, List<Annotation>> byFamily = new HashMap<>();
    HostSpans spans = trace.annotations();
    for (int i = 0; i < spans.count(); i++) {
      String name = trace.names().text(spans.name(i));
      Annotation annotation =
          new Annotation(i, name, StepName.parse(name, userPattern).orElseThrow(), spans.thread(i));
      byFamily.computeIfAbsent(annotation.step.family(), f -> new ArrayList<>()).add(annotation);
    }
    return byFamily;
  }

  /** The search among the annotations of one family. */
  private static final class Search {
    private final HostSpans spans;
    private final HostSpans calls;
    private final DeviceEvents events;
    private final Launches launches;
    private final List<Annotation> annotations;
    private final Map<Long, int[]> byThread = new HashMap<>();
    private final long[] latestEnd;

    Search(Trace trace, Launches launches, List<Annotation> annotations) {
      this.spans = trace.annotations();
      this.calls = trace.calls();
      this.events = trace.events();
      this.launches = launches;
      this.annotations = annotations;
      this.latestEnd = new long[annotations.size()];
      index();
    }

    private void index() {
      Map<Long, List<Integer>> lists = new HashMap<>();
      for (int i = 0; i < annotations.size(); i++) {
        lists.computeIfAbsent(annotations.get(i).thread, t -> new ArrayList<>()).add(i);
      }
      lists.forEach(
          (thread, list) -> {
            long latest = Long.MIN_VALUE;
            for (int i : list) {
              latest = Math.max(latest, end(i));
              latestEnd[i] = latest;
            }
            byThread.put(thread, list.stream().mapToInt(i -> i).toArray());
          });
    }

    Steps steps(String foundBy, Map<StepName.Family, List<Annotation>> all) {
      int[] annotationOfEvent = annotationOfEvent();
      long[] first = new long[annotations.size()];
      long[] last = new long[annotations.size()];
      Arrays.fill(first, Long.MAX_VALUE);
      Arrays.fill(last, Long.MIN_VALUE);
      for (int i = 0; i < annotationOfEvent.length; i++) {
        int a = annotationOfEvent[i];
        if (a >= 0) {
          first[a] = Math.min(first[a], events.start(i));
          last[a] = Math.max(last[a], events.end(i));
        }
      }
      int[] used =
          IntStream.range(0, first.length)
              .filter(a -> first[a] != Long.MAX_VALUE)
              .boxed()
              .sorted(Comparator.comparingLong(a -> first[a]))
              .mapToInt(a -> a)
              .toArray();
      int[] ordinal = new int[first.length];
      List<Step> steps = new ArrayList<>();
      for (int k = 0; k < used.length; k++) {
        int a = used[k];
        ordinal[a] = k;
        long to = k + 1 < used.length ? first[used[k + 1]] : last[a];
        steps.add(step(annotations.get(a), all, first[a], to));
      }
      for (int i = 0; i < annotationOfEvent.length; i++) {
        annotationOfEvent[i] = annotationOfEvent[i] < 0 ? -1 : ordinal[annotationOfEvent[i]];
      }
      return new Steps(foundBy, List.copyOf(steps), annotationOfEvent);
    }

    private int[] annotationOfEvent() {
      int[] ofCall = new int[calls.count()];
      Arrays.fill(ofCall, -2);
      int[] ofEvent = new int[events.count()];
      for (int i = 0; i < ofEvent.length; i++) {
        int call = launches.callOf(i);
        if (call >= 0 && ofCall[call] == -2) {
          ofCall[call] = containing(calls.thread(call), calls.start(call));
        }
        ofEvent[i] = call < 0 ? -1 : ofCall[call];
      }
      return ofEvent;
    }

    /** The innermost annotation of a thread at a time: the latest started that has not ended. */
    private int containing(long thread, long timeNs) {
      int[] list = byThread.get(thread);
      if (list == null) {
        return -1;
      }
      int low = 0;
      int high = list.length - 1;
      while (low <= high) {
        int middle = (low + high) >>> 1;
        if (start(list[middle]) <= timeNs) {
          low = middle + 1;
        } else {
          high = middle - 1;
        }
      }
      for (int i = high; i >= 0 && latestEnd[list[i]] >= timeNs; i--) {
        if (end(list[i]) >= timeNs) {
          return list[i];
        }
      }
      return -1;
    }

    private Step step(
        Annotation annotation, Map<StepName.Family, List<Annotation>> all, long from, long to) {
      StepKind kind = annotation.step.kind();
      Integer batch = annotation.step.batch();
      if (kind == StepKind.UNKNOWN) {
        List<StepName> inside = inside(annotation, all);
        if (inside.stream().map(StepName::kind).distinct().count() == 1) {
          kind = inside.getFirst().kind();
          batch =
              inside.stream().map(StepName::batch).distinct().count() == 1
                  ? inside.getFirst().batch()
                  : null;
        }
      }
      return new Step(annotation.name, kind, batch, from, to);
    }

    /** A step that does not tell its kind has that of the server's annotations inside it. */
    private List<StepName> inside(Annotation outer, Map<StepName.Family, List<Annotation>> all) {
      return List.of(StepName.Family.VLLM, StepName.Family.SGLANG, StepName.Family.ATOM).stream()
          .map(family -> all.getOrDefault(family, List.of()))
          .filter(list -> !list.isEmpty())
          .findFirst()
          .orElse(List.of())
          .stream()
          .filter(a -> a.thread == outer.thread)
          .filter(a -> spans.start(a.index) >= spans.start(outer.index))
          .filter(a -> spans.start(a.index) < spans.end(outer.index))
          .map(Annotation::step)
          .toList();
    }

    private long start(int annotation) {
      return spans.start(annotations.get(annotation).index);
    }

    private long end(int annotation) {
      return spans.end(annotations.get(annotation).index);
    }
  }
}
