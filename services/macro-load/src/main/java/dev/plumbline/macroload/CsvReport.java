package dev.plumbline.macroload;

import dev.plumbline.schemas.load.LoadReport;
import dev.plumbline.schemas.load.LoadReport.Latency;
import dev.plumbline.schemas.load.LoadReport.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** A load report as comma-separated values: a head line, then one line per level. */
final class CsvReport {

  private static final List<String> STATISTICS =
      List.of("count", "mean", "min", "max", "p50", "p90", "p95", "p99", "p999");

  private CsvReport() {}

  static String of(LoadReport report) {
    StringBuilder text = new StringBuilder();
    List<String> head =
        new ArrayList<>(
            List.of(
                "model",
                "concurrency",
                "rate",
                "completed",
                "failed",
                "window_s",
                "output_tokens",
                "output_throughput",
                "request_throughput",
                "mean_in_flight",
                "client_bound",
                "partial",
                "tokens_estimated",
                "itl_from_chunks"));
    for (String metric : List.of("ttft", "itl", "icl", "tpot", "e2e")) {
      for (String statistic : STATISTICS) {
        head.add(metric + "_" + statistic + (statistic.equals("count") ? "" : "_ms"));
      }
    }
    line(text, head);
    for (Level level : report.levels()) {
      line(text, cells(report, level));
    }
    return text.toString();
  }

  private static List<String> cells(LoadReport report, Level level) {
    List<String> cells = new ArrayList<>();
    cells.add(quoted(report.model()));
    cells.add(level.concurrency() == null ? "" : level.concurrency().toString());
    cells.add(level.rate() == null ? "" : level.rate().toString());
    cells.add(Long.toString(level.completed()));
    cells.add(Long.toString(TextReport.failed(level)));
    cells.add(Double.toString(level.windowNs() / 1e9));
    cells.add(Long.toString(level.outputTokens()));
    cells.add(Double.toString(level.outputThroughput()));
    cells.add(Double.toString(level.requestThroughput()));
    cells.add(Double.toString(level.meanInFlight()));
    cells.add(Boolean.toString(level.clientBound()));
    cells.add(Boolean.toString(level.partial()));
    cells.add(Boolean.toString(level.tokensEstimated()));
    cells.add(Boolean.toString(level.itlFromChunks()));
    for (Latency latency :
        List.of(level.ttftNs(), level.itlNs(), level.iclNs(), level.tpotNs(), level.e2eNs())) {
      cells.add(Long.toString(latency.count()));
      cells.add(ms(latency.mean()));
      for (Long ns :
          new Long[] {
            latency.min(),
            latency.max(),
            latency.p50(),
            latency.p90(),
            latency.p95(),
            latency.p99(),
            latency.p999()
          }) {
        cells.add(ms(ns));
      }
    }
    return cells;
  }

  private static String ms(Number ns) {
    return ns == null ? "" : String.format(Locale.ROOT, "%.6f", ns.doubleValue() / 1e6);
  }

  /** RFC 4180: a cell with a comma, quote or line end is quoted, quotes doubled. */
  private static String quoted(String text) {
    return text.matches("[^,\"\\r\\n]*") ? text : "\"" + text.replace("\"", "\"\"") + "\"";
  }

  private static void line(StringBuilder text, List<String> cells) {
    text.append(String.join(",", cells)).append('\n');
  }
}
