package dev.plumbline.campaign;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * A page of text of fixed width: headings, tables with aligned columns, bars, wrapped sentences.
 */
final class Page {

  static final int WIDTH = 98;

  /** A number is not parted from its unit. */
  private static final Pattern BETWEEN_WORDS =
      Pattern.compile("\\s+(?!(?:s|ms|µs|min|%|tok/s)(?:\\W|$))");

  private static final String EIGHTHS = " ▏▎▍▌▋▊▉";

  private final StringBuilder text = new StringBuilder();

  void heading(String title, String aside) {
    String line = "── " + title + " ";
    String end = aside == null || aside.isEmpty() ? "" : " " + aside;
    int rule = Math.max(2, WIDTH - line.length() - end.length());
    text.append('\n').append(line).append("─".repeat(rule)).append(end).append('\n');
  }

  void line(String line) {
    text.append(line.stripTrailing()).append('\n');
  }

  /** A sentence, wrapped; further lines are indented like the first one's text. */
  void sentence(String label, String sentence) {
    String indent = " ".repeat(label.length());
    StringBuilder line = new StringBuilder(label);
    boolean empty = true;
    for (String word : BETWEEN_WORDS.splitAsStream(sentence.strip()).toList()) {
      if (!empty && line.length() + 1 + word.length() > WIDTH) {
        line(line.toString());
        line = new StringBuilder(indent);
        empty = true;
      }
      line.append(empty ? "" : " ").append(word);
      empty = false;
    }
    line(line.toString());
  }

  /**
   * Rows under a head, two spaces between columns.
   *
   * @param left names of the columns that are aligned to the left; all others to the right
   */
  void table(List<String> head, List<String> left, List<List<String>> rows) {
    int[] widths = new int[head.size()];
    List<List<String>> all = new ArrayList<>();
    all.add(head);
    all.addAll(rows);
    for (List<String> row : all) {
      for (int i = 0; i < widths.length; i++) {
        widths[i] = Math.max(widths[i], row.get(i).length());
      }
    }
    for (List<String> row : all) {
      StringBuilder line = new StringBuilder(" ");
      for (int i = 0; i < widths.length; i++) {
        String pad = " ".repeat(widths[i] - row.get(i).length());
        boolean toTheLeft = left.contains(head.get(i));
        line.append(' ').append(toTheLeft ? row.get(i) + pad : pad + row.get(i)).append(' ');
      }
      line(line.toString());
    }
  }

  @Override
  public String toString() {
    return text.toString();
  }

  /** A bar of {@code share} of {@code cells} characters, in steps of an eighth. */
  static String bar(double share, int cells) {
    int eighths = (int) Math.round(Math.min(1, Math.max(0, share)) * cells * 8);
    String rest = eighths % 8 == 0 ? "" : EIGHTHS.substring(eighths % 8, eighths % 8 + 1);
    return "█".repeat(eighths / 8) + rest;
  }

  static String percent(double fraction) {
    return String.format(Locale.ROOT, "%.1f %%", 100 * fraction);
  }

  /** A duration in the unit that suits its size; {@code –} when there is none. */
  static String time(Number ns) {
    if (ns == null) {
      return "–";
    }
    double value = ns.doubleValue();
    double size = Math.abs(value);
    if (size < 1e6) {
      return String.format(Locale.ROOT, "%.1f µs", value / 1e3);
    }
    if (size < 1e9) {
      return String.format(Locale.ROOT, "%.2f ms", value / 1e6);
    }
    if (size < 120e9) {
      return String.format(Locale.ROOT, "%.1f s", value / 1e9);
    }
    return String.format(
        Locale.ROOT, "%d min %02d s", (long) (size / 60e9), (long) (size / 1e9) % 60);
  }

  static String number(Double value, int decimals) {
    return value == null ? "–" : String.format(Locale.ROOT, "%,." + decimals + "f", value);
  }
}
