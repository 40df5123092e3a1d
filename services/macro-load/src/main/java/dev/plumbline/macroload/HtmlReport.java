package dev.plumbline.macroload;

import dev.plumbline.schemas.load.LoadReport;
import dev.plumbline.schemas.load.LoadReport.Level;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/**
 * A load report as one HTML page that needs no other file and no script: the table, the remarks and
 * two curves drawn as SVG.
 */
final class HtmlReport {

  private static final int WIDTH = 460;
  private static final int HEIGHT = 220;
  private static final int MARGIN = 44;

  private static final String STYLE =
      """
      body{font:15px/1.5 system-ui,sans-serif;max-width:1060px;margin:2em auto;padding:0 1em;color:#222}
      table{border-collapse:collapse;margin:1em 0}td,th{padding:.25em .7em;text-align:right;border-bottom:1px solid #ddd}
      th:first-child,td:first-child,td:last-child{text-align:left}svg{margin:0 1em 1em 0}
      pre{white-space:pre-wrap;background:#f6f6f6;padding:1em}
      """;

  private HtmlReport() {}

  static String of(LoadReport report) {
    StringBuilder html = new StringBuilder();
    html.append("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Load on ")
        .append(escaped(report.model()))
        .append("</title><style>")
        .append(STYLE)
        .append("</style></head><body>\n<h1>Load on ")
        .append(escaped(report.model()))
        .append("</h1>\n<p>")
        .append(escaped(report.url()))
        .append(", end point ")
        .append(escaped(report.endPoint()))
        .append("</p>\n<p>")
        .append(escaped(TextReport.saturation(report) + TextReport.usl(report)))
        .append("</p>\n");
    List<Level> closed =
        report.levels().stream().filter(level -> level.concurrency() != null).toList();
    if (closed.size() > 1) {
      html.append(curve("Output tokens per second", closed, Level::outputThroughput));
      html.append(
          curve(
              "TTFT p50 in ms",
              closed,
              level -> level.ttftNs().p50() == null ? 0 : level.ttftNs().p50() / 1e6));
    }
    table(html, report);
    html.append("<pre>").append(escaped(TextReport.of(report))).append("</pre>\n</body></html>\n");
    return html.toString();
  }

  private static void table(StringBuilder html, LoadReport report) {
    html.append("<table><tr>");
    for (String head :
        List.of(
            "Load",
            "Completed",
            "Failed",
            "Tokens/s",
            "Requests/s",
            "In flight",
            "TTFT p50 ms",
            "TTFT p99 ms",
            "TPOT p50 ms",
            "ITL p50 ms",
            "ITL p99 ms",
            "E2E p50 ms",
            "Marks")) {
      html.append("<th>").append(head).append("</th>");
    }
    html.append("</tr>\n");
    for (Level level : report.levels()) {
      html.append("<tr>");
      for (String cell :
          List.of(
              TextReport.load(level),
              Long.toString(level.completed()),
              Long.toString(TextReport.failed(level)),
              number(level.outputThroughput()),
              number(level.requestThroughput()),
              number(level.meanInFlight()),
              ms(level.ttftNs().p50()),
              ms(level.ttftNs().p99()),
              ms(level.tpotNs().p50()),
              ms(level.itlNs().p50()),
              ms(level.itlNs().p99()),
              ms(level.e2eNs().p50()),
              String.join(", ", TextReport.marks(level)))) {
        html.append("<td>").append(escaped(cell)).append("</td>");
      }
      html.append("</tr>\n");
    }
    html.append("</table>\n");
  }

  /** Concurrency from left to right on a logarithmic axis, the value from 0 upwards. */
  private static String curve(String title, List<Level> levels, ToDoubleFunction<Level> value) {
    double largest = levels.stream().mapToDouble(value).max().orElse(0);
    double top = largest > 0 ? largest : 1;
    int most = levels.stream().mapToInt(Level::concurrency).max().orElse(1);
    StringBuilder points = new StringBuilder();
    StringBuilder marks = new StringBuilder();
    for (Level level :
        levels.stream()
            .sorted((a, b) -> Integer.compare(a.concurrency(), b.concurrency()))
            .toList()) {
      double share = most > 1 ? Math.log(level.concurrency()) / Math.log(most) : 0;
      double x = MARGIN + share * (WIDTH - 2 * MARGIN);
      double y = HEIGHT - MARGIN - value.applyAsDouble(level) / top * (HEIGHT - 2 * MARGIN);
      points.append(String.format(Locale.ROOT, "%.1f,%.1f ", x, y));
      marks.append(
          String.format(
              Locale.ROOT,
              "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/><text x=\"%.1f\" y=\"%d\""
                  + " text-anchor=\"middle\">%d</text>",
              x,
              y,
              x,
              HEIGHT - MARGIN + 18,
              level.concurrency()));
    }
    return String.format(
        Locale.ROOT,
        "<svg width=\"%d\" height=\"%d\" font-size=\"11\"><text x=\"%d\" y=\"16\""
            + " font-size=\"13\">%s against concurrency</text><text x=\"%d\" y=\"%d\""
            + " text-anchor=\"end\">%.0f</text><polyline fill=\"none\" stroke=\"#06c\""
            + " stroke-width=\"2\" points=\"%s\"/>%s</svg>%n",
        WIDTH,
        HEIGHT,
        MARGIN,
        title,
        MARGIN - 6,
        MARGIN + 4,
        largest,
        points.toString().strip(),
        marks);
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.1f", value);
  }

  private static String ms(Long ns) {
    return ns == null ? "–" : String.format(Locale.ROOT, "%.2f", ns / 1e6);
  }

  private static String escaped(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }
}
