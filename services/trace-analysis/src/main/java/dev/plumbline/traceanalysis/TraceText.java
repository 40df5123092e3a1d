package dev.plumbline.traceanalysis;

import dev.plumbline.schemas.trace.TraceReport;
import java.util.List;

/** A report for a terminal: the verdict first, then compact tables. */
public final class TraceText {

  private TraceText() {}

  public static String render(TraceReport report) {
    StringBuilder text = new StringBuilder();
    ReportTables.verdict(report).forEach(line -> text.append(line).append('\n'));
    ReportTables.warnings(report)
        .forEach(line -> text.append("Warning, ").append(line).append('\n'));
    for (ReportTables.Table table : ReportTables.of(report)) {
      if (!table.rows().isEmpty()) {
        text.append('\n');
        append(text, table);
      }
    }
    report.whatIf().stream()
        .filter(gain -> gain.note() != null)
        .forEach(
            gain -> text.append(gain.component()).append(": ").append(gain.note()).append('\n'));
    return text.toString();
  }

  private static void append(StringBuilder text, ReportTables.Table table) {
    int[] widths = new int[table.columns().size()];
    for (int c = 0; c < widths.length; c++) {
      widths[c] = table.columns().get(c).length();
      for (List<String> row : table.rows()) {
        widths[c] = Math.max(widths[c], row.get(c).length());
      }
    }
    text.append(table.title()).append('\n');
    append(text, table.columns(), widths, table.words());
    table.rows().forEach(row -> append(text, row, widths, table.words()));
  }

  private static void append(StringBuilder text, List<String> row, int[] widths, int words) {
    StringBuilder line = new StringBuilder();
    for (int c = 0; c < widths.length; c++) {
      String cell = row.get(c);
      String space = " ".repeat(widths[c] - cell.length());
      line.append("  ").append(c < words ? cell + space : space + cell);
    }
    text.append(line.toString().stripTrailing()).append('\n');
  }
}
