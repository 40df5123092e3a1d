package dev.plumbline.macroload;

import dev.plumbline.schemas.load.LoadReport;
import dev.plumbline.schemas.load.LoadReport.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** A load report as a table, with what must be known about the figures below it. */
final class TextReport {

  private static final String ROW = "%-12s %6s %6s %9s %9s %8s %9s %9s %8s %8s %8s %9s  %s%n";

  private TextReport() {}

  static String of(LoadReport report) {
    StringBuilder text = new StringBuilder();
    text.append(
        String.format(
            Locale.ROOT,
            "Load on %s, model %s, end point %s%n%n",
            report.url(),
            report.model(),
            report.endPoint()));
    text.append(
        String.format(
            ROW,
            "load",
            "done",
            "failed",
            "tokens/s",
            "requests/s",
            "in flight",
            "TTFT p50",
            "TTFT p99",
            "TPOT p50",
            "ITL p50",
            "ITL p99",
            "E2E p50",
            "marks"));
    for (Level level : report.levels()) {
      text.append(row(level));
    }
    text.append(String.format("%nTimes in milliseconds. "));
    text.append(saturation(report));
    text.append(usl(report));
    for (Level level : report.levels()) {
      text.append(remarks(level));
    }
    return text.toString();
  }

  /** The level in words, such as {@code 8 users} or {@code 5.0/s}. */
  static String load(Level level) {
    return level.concurrency() != null
        ? level.concurrency() + (level.concurrency() == 1 ? " user" : " users")
        : level.rate() + "/s";
  }

  private static String row(Level level) {
    return String.format(
        Locale.ROOT,
        ROW,
        load(level),
        level.completed(),
        failed(level),
        number("%.1f", level.outputThroughput()),
        number("%.2f", level.requestThroughput()),
        number("%.1f", level.meanInFlight()),
        ms(level.ttftNs().p50()),
        ms(level.ttftNs().p99()),
        ms(level.tpotNs().p50()),
        ms(level.itlNs().p50()),
        ms(level.itlNs().p99()),
        ms(level.e2eNs().p50()),
        String.join(" ", marks(level)));
  }

  static long failed(Level level) {
    return level.failed().values().stream().mapToLong(Long::longValue).sum();
  }

  static List<String> marks(Level level) {
    List<String> marks = new ArrayList<>();
    if (level.clientBound()) {
      marks.add("client-bound");
    }
    if (level.partial()) {
      marks.add("partial");
    }
    if (level.tokensEstimated()) {
      marks.add("tokens-estimated");
    }
    if (level.itlFromChunks()) {
      marks.add("itl-from-chunks");
    }
    return marks;
  }

  static String saturation(LoadReport report) {
    if (report.saturation() == null) {
      return String.format("No saturation point: no level of the closed loop can be used.%n");
    }
    int largest =
        report.levels().stream()
            .filter(level -> level.concurrency() != null)
            .mapToInt(Level::concurrency)
            .max()
            .orElse(0);
    return String.format(
        Locale.ROOT,
        "Saturation: %s with %.1f tokens/s%s.%n",
        report.saturation().concurrency() == 1
            ? "1 user"
            : report.saturation().concurrency() + " users",
        report.saturation().outputThroughput(),
        report.saturation().concurrency() == largest
            ? ", the largest level: the plateau may lie beyond"
            : "");
  }

  static String usl(LoadReport report) {
    LoadReport.UniversalScalability law = report.usl();
    return law == null
        ? ""
        : String.format(
            Locale.ROOT,
            "Universal Scalability Law: λ %.2f tokens/s, σ %.4f, κ %.6f, peak at %s, R² %.4f.%n",
            law.lambda(),
            law.sigma(),
            law.kappa(),
            law.peak() == null ? "none" : String.format(Locale.ROOT, "%.0f users", law.peak()),
            law.r2());
  }

  private static String remarks(Level level) {
    StringBuilder text = new StringBuilder();
    if (!level.failed().isEmpty()) {
      Map<String, String> examples =
          level.failureExamples() == null ? Map.of() : level.failureExamples();
      level
          .failed()
          .forEach(
              (kind, count) ->
                  text.append(
                      String.format(
                          "%s: %d × %s (%s)%n",
                          load(level), count, kind, examples.getOrDefault(kind, "no message"))));
    }
    if (level.client() != null && !level.client().clientBoundReasons().isEmpty()) {
      text.append(
          String.format(
              "%s: the client was the limit: %s%n",
              load(level), String.join("; ", level.client().clientBoundReasons())));
    }
    return text.toString();
  }

  private static String ms(Long ns) {
    return ns == null ? "-" : String.format(Locale.ROOT, "%.2f", ns / 1e6);
  }

  private static String number(String format, double value) {
    return String.format(Locale.ROOT, format, value);
  }
}
