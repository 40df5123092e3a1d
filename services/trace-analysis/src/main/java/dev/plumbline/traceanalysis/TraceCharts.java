package dev.plumbline.traceanalysis;

import dev.plumbline.schemas.trace.Component;
import dev.plumbline.schemas.trace.TraceReport;
import dev.plumbline.schemas.trace.TraceReport.Collectives;
import dev.plumbline.schemas.trace.TraceReport.ComponentTime;
import dev.plumbline.schemas.trace.TraceReport.KernelTime;
import dev.plumbline.schemas.trace.TraceReport.Rank;
import dev.plumbline.schemas.trace.TraceReport.RankWait;
import dev.plumbline.schemas.trace.TraceReport.StepTime;
import java.util.List;
import java.util.Locale;

/** Drawings of what a report says. Each is empty where there is nothing to draw. */
final class TraceCharts {

  static final int WIDTH = 1000;
  private static final int LEFT = 70;
  private static final int ROW = 20;

  /** More columns than this would be thinner than two pixels. */
  static final int MOST_STEPS = 400;

  private static final int TOP_KERNELS = 15;

  private final TraceReport report;
  private final Palette palette;

  TraceCharts(TraceReport report, Palette palette) {
    this.report = report;
    this.palette = palette;
  }

  /** One column for each step of a rank: shares of its window, idle on top. */
  String shares(Rank rank) {
    List<StepTime> steps = rank.steps().stream().limit(MOST_STEPS).toList();
    if (steps.isEmpty()) {
      return "";
    }
    int height = 220;
    Svg svg = new Svg(WIDTH, height + 30, "Shares of the step by component");
    double each = (double) (WIDTH - LEFT) / steps.size();
    for (int percent = 0; percent <= 100; percent += 25) {
      double y = 5 + height * (1 - percent / 100.0);
      svg.line(LEFT, y, WIDTH, y);
      svg.text(LEFT - 6, y + 4, "end", percent + " %");
    }
    for (int i = 0; i < steps.size(); i++) {
      column(svg, steps.get(i), i, LEFT + i * each, each > 4 ? each - 1 : each, height);
    }
    places(svg, steps.size(), each, height + 22);
    return svg.end();
  }

  private void column(Svg svg, StepTime step, int place, double x, double width, int height) {
    double window = Math.max(1, step.exposedNs().total());
    double y = 5 + height;
    double rest = 0;
    String where = place + " " + step.name() + ": ";
    for (Component component : palette.largest()) {
      double share = exposed(step, component) / window;
      if (share > 0) {
        y -= share * height;
        svg.rect(
            x,
            y,
            width,
            share * height,
            palette.of(component),
            where + component.id() + " " + percent(share));
      }
    }
    for (ComponentTime time : step.components()) {
      rest += palette.of(time.component()).equals(Palette.REST) ? time.exposedNs() / window : 0;
    }
    double idle = step.exposedNs().idle() / window;
    svg.rect(x, y - rest * height, width, rest * height, Palette.REST, where + percent(rest));
    svg.rect(x, 5, width, idle * height, Palette.IDLE, where + "idle " + percent(idle));
  }

  private static double exposed(StepTime step, Component component) {
    return step.components().stream()
        .filter(time -> time.component() == component)
        .mapToLong(ComponentTime::exposedNs)
        .sum();
  }

  private static void places(Svg svg, int steps, double each, double y) {
    int every = Math.max(1, (int) Math.ceil(steps / 12.0));
    for (int i = 0; i < steps; i += every) {
      svg.text(LEFT + (i + 0.5) * each, y, "middle", Integer.toString(i));
    }
  }

  /** The window of each step of each rank. */
  String stepTimes() {
    int most = 0;
    long longest = 0;
    for (Rank rank : report.ranks()) {
      most = Math.max(most, Math.min(MOST_STEPS, rank.steps().size()));
      for (StepTime step : rank.steps().stream().limit(MOST_STEPS).toList()) {
        longest = Math.max(longest, step.windowNs());
      }
    }
    if (longest == 0) {
      return "";
    }
    int height = 180;
    Svg svg = new Svg(WIDTH, height + 30, "Window of each step");
    for (int quarter = 0; quarter <= 4; quarter++) {
      double y = 5 + height * (1 - quarter / 4.0);
      svg.line(LEFT, y, WIDTH, y);
      svg.text(LEFT - 6, y + 4, "end", millis(Math.round(longest * quarter / 4.0)));
    }
    svg.text(LEFT + 4, 16, "start", "ms");
    double each = (double) (WIDTH - LEFT) / most;
    for (int r = 0; r < report.ranks().size(); r++) {
      Rank rank = report.ranks().get(r);
      String colour = colour(r);
      for (int i = 0; i < Math.min(MOST_STEPS, rank.steps().size()); i++) {
        StepTime step = rank.steps().get(i);
        svg.circle(
            LEFT + (i + 0.5) * each,
            5 + height * (1 - (double) step.windowNs() / longest),
            2.5,
            colour,
            ReportTables.label(rank)
                + ", "
                + i
                + " "
                + step.name()
                + ": "
                + millis(step.windowNs())
                + " ms");
      }
    }
    places(svg, most, each, height + 22);
    return svg.end();
  }

  /** Which point of the step times is whose; empty where there is but one rank. */
  String rankLegend() {
    StringBuilder html = new StringBuilder("<p class=\"key\">");
    for (int r = 0; r < report.ranks().size(); r++) {
      Palette.entry(html, colour(r), ReportTables.label(report.ranks().get(r)));
    }
    return report.ranks().size() < 2 ? "" : html.append("</p>").toString();
  }

  /** Hues far from those of their neighbours. */
  private static String colour(int rank) {
    return "hsl(" + (210 + rank * 67) % 360 + " 60% 50%)";
  }

  /** Transfer, the same for all, and the wait of each rank behind it. */
  String waits() {
    Collectives collectives = report.collectives();
    if (collectives.matched() == 0) {
      return "";
    }
    long longest = 1;
    for (RankWait wait : collectives.ranks()) {
      longest = Math.max(longest, wait.waitNs() + collectives.transferNs());
    }
    Svg svg = new Svg(WIDTH, ROW * collectives.ranks().size() + 5, "Transfer and wait by rank");
    double scale = (double) (WIDTH - LEFT - 190) / longest;
    for (int r = 0; r < collectives.ranks().size(); r++) {
      RankWait wait = collectives.ranks().get(r);
      double transfer = collectives.transferNs() * scale;
      double y = 2 + r * ROW;
      String name = "rank " + (wait.rank() == null ? "?" : wait.rank());
      svg.text(LEFT - 6, y + 12, "end", name);
      svg.rect(LEFT, y, transfer, ROW - 4, "#4e79a7", name + ": transfer");
      svg.rect(LEFT + transfer, y, wait.waitNs() * scale, ROW - 4, "#e15759", name + ": wait");
      svg.text(
          LEFT + transfer + wait.waitNs() * scale + 6,
          y + 12,
          "start",
          "%s + %s ms".formatted(millis(collectives.transferNs()), millis(wait.waitNs())));
    }
    return svg.end();
  }

  /** Idle time of each rank as shares of its span. */
  String idleCauses() {
    List<Rank> ranks = report.ranks().stream().filter(rank -> rank.spanNs() > 0).toList();
    if (ranks.isEmpty()) {
      return "";
    }
    Svg svg = new Svg(WIDTH, ROW * ranks.size() + 5, "Idle time by cause and rank");
    double most = 0;
    for (Rank rank : ranks) {
      most = Math.max(most, (double) rank.exposedNs().idle() / rank.spanNs());
    }
    for (int r = 0; r < ranks.size(); r++) {
      Rank rank = ranks.get(r);
      double scale = most == 0 ? 0 : (WIDTH - LEFT - 90) / most / rank.spanNs();
      double y = 2 + r * ROW;
      double x = LEFT;
      svg.text(LEFT - 6, y + 12, "end", shortLabel(rank));
      for (var cause : IdleCauses.Cause.values()) {
        double width = of(rank.idleCausesNs(), cause) * scale;
        if (width > 0) {
          svg.rect(
              x,
              y,
              width,
              ROW - 4,
              palette.of(cause),
              Palette.word(cause)
                  + " "
                  + percent((double) of(rank.idleCausesNs(), cause) / rank.spanNs()));
          x += width;
        }
      }
      svg.text(x + 6, y + 12, "start", percent((double) rank.exposedNs().idle() / rank.spanNs()));
    }
    return svg.end();
  }

  private static long of(TraceReport.IdleCauses causes, IdleCauses.Cause cause) {
    return switch (cause) {
      case HOST_BOUND -> causes.hostBound();
      case SYNCHRONISATION -> causes.synchronisation();
      case LAUNCH_LATENCY -> causes.launchLatency();
      case GRAPH_INTERNAL -> causes.graphInternal();
      case UNKNOWN -> causes.unknown();
    };
  }

  /** The kernels of a rank with the largest summed time. */
  String kernels(Rank rank) {
    List<KernelTime> kernels = rank.kernels().stream().limit(TOP_KERNELS).toList();
    if (kernels.isEmpty()) {
      return "";
    }
    Svg svg = new Svg(WIDTH, ROW * kernels.size() + 5, "Kernels by summed time");
    double most = Math.max(1, kernels.getFirst().summedNs());
    for (int k = 0; k < kernels.size(); k++) {
      KernelTime kernel = kernels.get(k);
      double y = 2 + k * ROW;
      double width = (WIDTH - 440 - 150) * kernel.summedNs() / most;
      svg.text(434, y + 12, "end", ReportTables.shortened(kernel.name()));
      svg.rect(440, y, width, ROW - 4, palette.of(kernel.component()), kernel.name());
      svg.text(
          446 + width,
          y + 12,
          "start",
          millis(kernel.summedNs()) + " ms, " + kernel.component().id());
    }
    return svg.end();
  }

  static String shortLabel(Rank rank) {
    return "rank " + (rank.rank() == null ? "?" : rank.rank());
  }

  static String percent(double share) {
    return String.format(Locale.ROOT, "%.1f %%", share * 100);
  }

  static String millis(long ns) {
    return String.format(Locale.ROOT, "%.3f", ns / 1e6);
  }
}
