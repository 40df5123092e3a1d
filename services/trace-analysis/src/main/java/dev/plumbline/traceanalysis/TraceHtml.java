package dev.plumbline.traceanalysis;

import dev.plumbline.schemas.trace.TraceReport;
import dev.plumbline.schemas.trace.TraceReport.ComponentTime;
import dev.plumbline.schemas.trace.TraceReport.Rank;
import dev.plumbline.schemas.trace.TraceReport.StepTime;
import java.util.List;
import java.util.Locale;

/** A report as one HTML file that needs nothing else: no script, no network. */
public final class TraceHtml {

  private static final int MOST_STEPS = 200;

  private static final String STYLE =
      """
      body{font:14px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem;\
      color:#1b1f24;background:#fff}
      h1{font-size:1.3rem}h2{font-size:1rem;margin:1.6rem 0 .4rem}
      table{border-collapse:collapse;font-variant-numeric:tabular-nums}
      th,td{padding:.15rem .7rem .15rem 0;text-align:right;border-bottom:1px solid #d8dee4}
      .w{text-align:left}.note{background:#fff8c5;padding:.4rem .7rem}
      .bar{display:flex;height:.9rem;margin:.1rem 0;background:#eaeef2}
      .bar i{display:block;height:100%}
      .compute{background:#2f6f9f}.communication{background:#c4622d}.memory{background:#7a5ba8}\
      .idle{background:#d0d7de}
      .key i{display:inline-block;width:.8rem;height:.8rem;margin:0 .3rem 0 1rem}
      @media(prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}\
      .note{background:#3b2e00}th,td{border-color:#30363d}.bar{background:#21262d}}
      """;

  private TraceHtml() {}

  public static String render(TraceReport report) {
    StringBuilder html = new StringBuilder();
    html.append("<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">")
        .append("<meta name=\"viewport\" content=\"width=device-width\">")
        .append("<title>Trace analysis</title><style>")
        .append(STYLE)
        .append("</style><h1>Trace analysis</h1>");
    ReportTables.verdict(report).forEach(line -> paragraph(html, "verdict", line));
    ReportTables.warnings(report).forEach(line -> paragraph(html, "note", line));
    bars(html, report.ranks());
    for (ReportTables.Table table : ReportTables.of(report)) {
      if (!table.rows().isEmpty()) {
        table(html, table);
      }
    }
    return html.append("</html>\n").toString();
  }

  private static void paragraph(StringBuilder html, String style, String line) {
    html.append("<p class=\"").append(style).append("\">").append(escaped(line)).append("</p>");
  }

  /** One bar per step of the first rank that has some, split by class of exposed time. */
  private static void bars(StringBuilder html, List<Rank> ranks) {
    Rank rank = ranks.stream().filter(r -> !r.steps().isEmpty()).findFirst().orElse(null);
    if (rank == null) {
      return;
    }
    html.append("<h2>Exposed time by step</h2><p class=\"key\">");
    for (String name : List.of("compute", "communication", "memory", "idle")) {
      html.append("<i class=\"").append(name).append("\"></i>").append(name);
    }
    html.append("</p>");
    long longest = rank.steps().stream().mapToLong(StepTime::windowNs).max().orElse(1);
    for (StepTime step : rank.steps().stream().limit(MOST_STEPS).toList()) {
      html.append("<div class=\"bar\" title=\"")
          .append(escaped(step.name()))
          .append(String.format(Locale.ROOT, " %.3f ms ", step.windowNs() / 1e6))
          .append(escaped(largest(step)))
          .append("\">");
      piece(html, "compute", step.exposedNs().compute(), longest);
      piece(html, "communication", step.exposedNs().communication(), longest);
      piece(html, "memory", step.exposedNs().memory(), longest);
      piece(html, "idle", step.exposedNs().idle(), longest);
      html.append("</div>");
    }
  }

  private static String largest(StepTime step) {
    return step.components().isEmpty() ? "" : label(step.components().getFirst());
  }

  private static String label(ComponentTime time) {
    return String.format(Locale.ROOT, "%s %.1f %%", time.component().id(), time.share() * 100);
  }

  private static void piece(StringBuilder html, String style, long ns, long longest) {
    if (ns > 0) {
      html.append("<i class=\"")
          .append(style)
          .append(
              String.format(Locale.ROOT, "\" style=\"width:%.3f%%\"></i>", 100.0 * ns / longest));
    }
  }

  private static void table(StringBuilder html, ReportTables.Table table) {
    html.append("<h2>").append(escaped(table.title())).append("</h2><table><tr>");
    for (int c = 0; c < table.columns().size(); c++) {
      cell(html, "th", c < table.words(), table.columns().get(c));
    }
    html.append("</tr>");
    for (List<String> row : table.rows()) {
      html.append("<tr>");
      for (int c = 0; c < row.size(); c++) {
        cell(html, "td", c < table.words(), row.get(c));
      }
      html.append("</tr>");
    }
    html.append("</table>");
  }

  private static void cell(StringBuilder html, String tag, boolean word, String text) {
    html.append('<')
        .append(tag)
        .append(word ? " class=\"w\">" : ">")
        .append(escaped(text))
        .append("</")
        .append(tag)
        .append('>');
  }

  private static String escaped(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }
}
