package dev.plumbline.traceanalysis;

import dev.plumbline.schemas.trace.StepKind;
import dev.plumbline.schemas.trace.TraceReport.StepTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** Draws one step of every rank: a row for each stream, and one for the idle time by cause. */
final class StepTimeline {

  private static final int LEFT = 120;
  private static final int ROW = 18;
  private static final double PIXEL = 0.25;

  private final List<RankAnalysis> ranks;
  private final Palette palette;

  StepTimeline(List<RankAnalysis> ranks, Palette palette) {
    this.ranks =
        ranks.stream()
            .filter(rank -> rank.trace().events().count() > 0 && !rank.steps().steps().isEmpty())
            .toList();
    this.palette = palette;
  }

  /**
   * The place of a typical step of the first rank: that whose window is the median of the kind that
   * takes most of the time. −1 without any.
   */
  int typical() {
    if (ranks.isEmpty()) {
      return -1;
    }
    List<StepTime> steps = ranks.getFirst().report().steps();
    StepKind kind = Verdict.kind(List.of(ranks.getFirst().report()));
    List<Integer> places = new ArrayList<>();
    for (int i = 0; i < steps.size(); i++) {
      // The last has no next step that ends its window.
      if (steps.get(i).kind() == kind && (i + 1 < steps.size() || places.isEmpty())) {
        places.add(i);
      }
    }
    places.sort(Comparator.comparingLong(i -> steps.get(i).windowNs()));
    return places.get(places.size() / 2);
  }

  /** The name of a step of the first rank. */
  String name(int place) {
    return ranks.getFirst().steps().steps().get(place).name();
  }

  /** How many steps the first rank has. */
  int steps() {
    return ranks.isEmpty() ? 0 : ranks.getFirst().steps().steps().size();
  }

  /** The step at a place on each rank that has one, each from its own beginning. */
  String draw(int place) {
    List<RankAnalysis> shown =
        ranks.stream().filter(rank -> place < rank.steps().steps().size()).toList();
    long longest = 1;
    int rows = 0;
    for (RankAnalysis rank : shown) {
      Steps.Step step = rank.steps().steps().get(place);
      longest = Math.max(longest, step.toNs() - step.fromNs());
      rows += 1 + rows(rank.trace().events(), step).size();
    }
    Svg svg = new Svg(TraceCharts.WIDTH, rows * ROW + 30, "Timeline of one step");
    double scale = (double) (TraceCharts.WIDTH - LEFT - 10) / longest;
    double y = 2;
    for (RankAnalysis rank : shown) {
      y = rank(svg, rank, rank.steps().steps().get(place), y, scale);
    }
    for (int tenth = 0; tenth <= 10; tenth += 2) {
      double x = LEFT + longest * scale * tenth / 10;
      svg.line(x, 2, x, y);
      svg.text(
          x,
          y + 16,
          tenth == 10 ? "end" : "middle",
          String.format(Locale.ROOT, "%.1f µs", longest * tenth / 1e4));
    }
    return svg.end();
  }

  /** Streams that work in a step, each with its row. */
  private static Map<Long, Integer> rows(DeviceEvents events, Steps.Step step) {
    Map<Long, Integer> rows = new TreeMap<>();
    for (int i = 0; i < events.count() && events.start(i) < step.toNs(); i++) {
      if (events.end(i) > step.fromNs()) {
        rows.put(events.stream(i), 0);
      }
    }
    int row = 0;
    for (Map.Entry<Long, Integer> entry : rows.entrySet()) {
      entry.setValue(row++);
    }
    return rows;
  }

  private double rank(Svg svg, RankAnalysis rank, Steps.Step step, double top, double scale) {
    DeviceEvents events = rank.trace().events();
    Map<Long, Integer> rows = rows(events, step);
    rows.forEach(
        (stream, row) ->
            svg.text(
                LEFT - 6,
                top + row * ROW + 12,
                "end",
                TraceCharts.shortLabel(rank.report()) + ", stream " + row));
    double[] drawnTo = new double[rows.size()];
    for (int i = 0; i < events.count() && events.start(i) < step.toNs(); i++) {
      if (events.end(i) > step.fromNs()) {
        int row = rows.get(events.stream(i));
        double from = (Math.max(events.start(i), step.fromNs()) - step.fromNs()) * scale;
        double to = (Math.min(events.end(i), step.toNs()) - step.fromNs()) * scale;
        // What is narrower than a fraction of a pixel beside its neighbour cannot be seen.
        if (to - drawnTo[row] >= PIXEL) {
          drawnTo[row] = to;
          svg.rect(
              LEFT + from,
              top + row * ROW,
              Math.max(PIXEL, to - from),
              ROW - 4,
              palette.of(rank.component(i)),
              title(rank, i));
        }
      }
    }
    double idleTop = top + rows.size() * ROW;
    svg.text(LEFT - 6, idleTop + 12, "end", "idle");
    for (RankAnalysis.Gap gap : rank.gaps(step.fromNs(), step.toNs())) {
      svg.rect(
          LEFT + (gap.fromNs() - step.fromNs()) * scale,
          idleTop,
          Math.max(PIXEL, (gap.toNs() - gap.fromNs()) * scale),
          ROW - 8,
          palette.of(gap.cause()),
          "idle, %s: %s".formatted(Palette.word(gap.cause()), micros(gap.toNs() - gap.fromNs())));
    }
    return idleTop + ROW;
  }

  private static String title(RankAnalysis rank, int event) {
    DeviceEvents events = rank.trace().events();
    return "%s: %s, %s"
        .formatted(
            rank.component(event).id(),
            ReportTables.shortened(rank.trace().names().text(events.name(event))),
            micros(events.duration(event)));
  }

  private static String micros(long ns) {
    return String.format(Locale.ROOT, "%.3f µs", ns / 1e3);
  }
}
