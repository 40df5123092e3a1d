package dev.plumbline.traceanalysis;

import dev.plumbline.schemas.trace.TraceReport;
import dev.plumbline.schemas.trace.TraceReport.Rank;
import java.util.List;

/** A report as one HTML file that needs nothing else: no script, no network. */
public final class TraceHtml {

  private static final String STYLE =
      """
      body{font:14px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem;\
      color:#1b1f24;background:#fff}
      h1{font-size:1.3rem}h2{font-size:1rem;margin:1.6rem 0 .4rem}
      table{border-collapse:collapse;font-variant-numeric:tabular-nums}
      th,td{padding:.15rem .7rem .15rem 0;text-align:right;border-bottom:1px solid #d8dee4}
      .w{text-align:left}.note{background:#fff8c5;padding:.4rem .7rem;margin:.4rem 0}
      .box{border:2px solid #2f7d4f;padding:.2rem .9rem .7rem;margin:0 0 1rem;overflow-x:auto}
      .box.doubt{border-color:#c4622d}.box h2{margin-top:.5rem}
      .verdict{font-size:1.05rem;margin:.4rem 0}
      svg{display:block;width:100%;height:auto;margin:.3rem 0}
      svg text{font:11px system-ui,sans-serif;fill:currentColor}
      .key{margin:.2rem 0}.key span{margin-right:1rem;white-space:nowrap}
      .key i{display:inline-block;width:.8rem;height:.8rem;margin-right:.3rem}
      @media(prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}\
      .note{background:#3b2e00}th,td{border-color:#30363d}}
      """;

  private final StringBuilder html = new StringBuilder();
  private final TraceReport report;

  private TraceHtml(TraceReport report) {
    this.report = report;
  }

  /** Without the timeline, which needs the single events. */
  public static String render(TraceReport report) {
    return new TraceHtml(report).page(List.of(), null);
  }

  /**
   * The page with the timeline of one step.
   *
   * @param step place of the step among those of a rank, from 0; null for a typical one
   * @throws IllegalArgumentException if there is no such step
   */
  public static String render(Analysed analysed, Integer step) {
    return new TraceHtml(analysed.report()).page(analysed.ranks(), step);
  }

  private String page(List<RankAnalysis> ranks, Integer step) {
    html.append("<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">")
        .append("<meta name=\"viewport\" content=\"width=device-width\">")
        .append("<title>Trace analysis</title><style>")
        .append(STYLE)
        .append("</style><h1>Trace analysis</h1>");
    integrity();
    ReportTables.verdict(report).forEach(line -> paragraph("verdict", line));
    charts(ranks, step);
    for (ReportTables.Table table : ReportTables.of(report)) {
      if (!table.rows().isEmpty() && !table.title().equals(ReportTables.INTEGRITY)) {
        table(table);
      }
    }
    return html.append("</html>\n").toString();
  }

  /** First of all: how far what follows can be trusted. */
  private void integrity() {
    List<String> warnings = ReportTables.warnings(report);
    boolean doubt = !warnings.isEmpty() || !"conclusive".equals(report.bottleneck().verdict());
    html.append(doubt ? "<section class=\"box doubt\">" : "<section class=\"box\">");
    table(ReportTables.integrity(report.ranks()));
    warnings.forEach(line -> paragraph("note", line));
    html.append("</section>");
  }

  private void charts(List<RankAnalysis> ranks, Integer step) {
    Palette palette = new Palette(report);
    TraceCharts charts = new TraceCharts(report, palette);
    report.ranks().stream()
        .filter(rank -> !rank.steps().isEmpty())
        .findFirst()
        .ifPresent(
            rank ->
                chart(
                    "Share of exposed time by step, " + shown(rank),
                    palette.legend(true, false),
                    charts.shares(rank)));
    chart(
        "Step times (window in ms), by place of the step", charts.rankLegend(), charts.stepTimes());
    timeline(new StepTimeline(ranks, palette), palette, step);
    chart(
        "Collectives: transfer and wait by rank, summed",
        "<p class=\"key\"><span><i style=\"background:#4e79a7\"></i>transfer</span>"
            + "<span><i style=\"background:#e15759\"></i>wait</span></p>",
        charts.waits());
    chart(
        "Idle time by cause, as a share of the span",
        palette.legend(false, true),
        charts.idleCauses());
    report.ranks().stream()
        .filter(rank -> !rank.kernels().isEmpty())
        .findFirst()
        .ifPresent(
            rank ->
                chart(
                    "Top kernels of " + ReportTables.label(rank) + " by summed time",
                    palette.legend(true, false),
                    charts.kernels(rank)));
  }

  private static String shown(Rank rank) {
    int steps = rank.steps().size();
    return ReportTables.label(rank)
        + (steps > TraceCharts.MOST_STEPS
            ? ", the first " + TraceCharts.MOST_STEPS + " of " + steps + " steps"
            : "");
  }

  private void timeline(StepTimeline timeline, Palette palette, Integer step) {
    int place = step == null ? timeline.typical() : step;
    if (step != null && (step < 0 || step >= timeline.steps())) {
      throw new IllegalArgumentException(
          timeline.steps() == 0
              ? "There is no step to draw: no rank has device events."
              : "There is no step %d: give one from 0 to %d."
                  .formatted(step, timeline.steps() - 1));
    }
    if (place >= 0) {
      chart(
          "Timeline of step %d%s: %s"
              .formatted(place, step == null ? ", a typical one" : "", timeline.name(place)),
          palette.legend(true, true),
          timeline.draw(place));
    }
  }

  private void chart(String title, String legend, String svg) {
    if (!svg.isEmpty()) {
      html.append("<h2>").append(Svg.escaped(title)).append("</h2>").append(legend).append(svg);
    }
  }

  private void paragraph(String style, String line) {
    html.append("<p class=\"").append(style).append("\">").append(Svg.escaped(line)).append("</p>");
  }

  private void table(ReportTables.Table table) {
    html.append("<h2>").append(Svg.escaped(table.title())).append("</h2><table><tr>");
    for (int c = 0; c < table.columns().size(); c++) {
      cell("th", c < table.words(), table.columns().get(c));
    }
    html.append("</tr>");
    for (List<String> row : table.rows()) {
      html.append("<tr>");
      for (int c = 0; c < row.size(); c++) {
        cell("td", c < table.words(), row.get(c));
      }
      html.append("</tr>");
    }
    html.append("</table>");
  }

  private void cell(String tag, boolean word, String text) {
    html.append('<')
        .append(tag)
        .append(word ? " class=\"w\">" : ">")
        .append(Svg.escaped(text))
        .append("</")
        .append(tag)
        .append('>');
  }
}
