package dev.plumbline.bottleneckattribution;

import dev.plumbline.schemas.attribution.Attribution;
import dev.plumbline.schemas.attribution.StepSample;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The windows of one series. Event time is that of this series alone: a host with a fast clock does
 * not close the windows of another. Times are epoch milliseconds.
 */
final class SeriesWindows {

  enum Outcome {
    COUNTED,
    DUPLICATE,
    /** Every window it belongs to is closed. */
    LATE
  }

  private final WindowSpec spec;
  private final Series series;
  private final TreeMap<Long, Pane> panes = new TreeMap<>();
  private final TreeSet<Long> changedPanes = new TreeSet<>();
  private long firstOpenWindowMs;
  private long eventTimeMs;

  /**
   * @param firstOpenWindowMs where a stored series went on; {@link Long#MIN_VALUE} for a new one
   */
  SeriesWindows(WindowSpec spec, Series series, long firstOpenWindowMs, long eventTimeMs) {
    this.spec = spec;
    this.series = series;
    this.firstOpenWindowMs = firstOpenWindowMs;
    this.eventTimeMs = eventTimeMs;
  }

  static SeriesWindows of(WindowSpec spec, Series series) {
    return new SeriesWindows(spec, series, Long.MIN_VALUE, Long.MIN_VALUE);
  }

  /**
   * Puts a stored pane back. It counts as changed: whether its last update was published before the
   * restart is not known, and publishing it twice is harmless.
   */
  void restore(long paneMs, Pane pane) {
    panes.put(paneMs, pane);
    changedPanes.add(paneMs);
    eventTimeMs = Math.max(eventTimeMs, pane.totals().lastAtMs());
  }

  Series series() {
    return series;
  }

  long firstOpenWindowMs() {
    return firstOpenWindowMs;
  }

  /** The latest event time seen. */
  long eventTimeMs() {
    return eventTimeMs;
  }

  /** True when no open window has a sample. */
  boolean isEmpty() {
    return panes.isEmpty();
  }

  Pane pane(long paneMs) {
    return panes.get(paneMs);
  }

  /** Counts a sample; event time must have been advanced to it before. */
  Outcome add(StepSample sample) {
    long paneMs = spec.paneOf(sample.at().toEpochMilli());
    if (paneMs < firstOpenWindowMs) {
      return Outcome.LATE;
    }
    if (!panes.computeIfAbsent(paneMs, p -> new Pane()).add(sample)) {
      return Outcome.DUPLICATE;
    }
    changedPanes.add(paneMs);
    return Outcome.COUNTED;
  }

  /** Notes that a sample of this time has come; {@link #close} then closes what it ends. */
  void observe(long sampleTimeMs) {
    eventTimeMs = Math.max(eventTimeMs, sampleTimeMs);
  }

  /**
   * What is over when event time has come to {@code timeMs}.
   *
   * @param windows final attributions, earliest first; windows without samples are left out
   * @param expiredPanes starts of the panes that no open window needs any more
   */
  record Closed(List<Attribution> windows, List<Long> expiredPanes) {}

  Closed close(long timeMs) {
    List<Attribution> closed = new ArrayList<>();
    List<Long> expired = new ArrayList<>();
    long firstOpen = Math.max(firstOpenWindowMs, spec.firstOpenWindow(timeMs));
    long startMs = firstOpenWindowMs;
    while (!panes.isEmpty()) {
      startMs = Math.max(startMs, spec.firstWindowOf(panes.firstKey()));
      if (startMs >= firstOpen) {
        break;
      }
      attribution(startMs, true).ifPresent(closed::add);
      startMs += spec.advance().toMillis();
      while (!panes.isEmpty() && panes.firstKey() < startMs) {
        expired.add(panes.pollFirstEntry().getKey());
      }
    }
    firstOpenWindowMs = firstOpen;
    changedPanes.headSet(firstOpen).clear();
    return new Closed(closed, expired);
  }

  /** The open windows that changed since the last call, earliest first. */
  List<Attribution> takeUpdates() {
    TreeSet<Long> starts = new TreeSet<>();
    for (long paneMs : changedPanes) {
      long first = Math.max(firstOpenWindowMs, spec.firstWindowOf(paneMs));
      for (long startMs = first; startMs <= paneMs; startMs += spec.advance().toMillis()) {
        starts.add(startMs);
      }
    }
    changedPanes.clear();
    return starts.stream().flatMap(start -> attribution(start, false).stream()).toList();
  }

  /** True for the window that ends with the latest sample's pane: the last {@code size} known. */
  boolean isCurrent(Attribution window) {
    return window.windowStart().toEpochMilli() == spec.firstWindowOf(spec.paneOf(eventTimeMs));
  }

  private Optional<Attribution> attribution(long startMs, boolean closed) {
    long endMs = startMs + spec.size().toMillis();
    var inside = panes.subMap(startMs, endMs).values();
    if (inside.isEmpty()) {
      return Optional.empty();
    }
    Totals totals = new Totals();
    inside.forEach(pane -> totals.add(pane.totals()));
    return Optional.of(totals.attribution(series, startMs, endMs, closed));
  }
}
