package dev.plumbline.traceanalysis;

import java.util.Locale;

/** One drawing as inline SVG. Coordinates are pixels of a drawing that scales with the page. */
final class Svg {

  private final StringBuilder svg = new StringBuilder();

  Svg(int width, int height, String label) {
    svg.append("<svg viewBox=\"0 0 ")
        .append(width)
        .append(' ')
        .append(height)
        .append("\" role=\"img\" aria-label=\"")
        .append(escaped(label))
        .append("\">");
  }

  /**
   * @param title shown under the pointer; null for none
   */
  void rect(double x, double y, double width, double height, String colour, String title) {
    svg.append(
        String.format(
            Locale.ROOT,
            "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\"",
            x,
            y,
            width,
            height,
            colour));
    if (title == null) {
      svg.append("/>");
    } else {
      svg.append("><title>").append(escaped(title)).append("</title></rect>");
    }
  }

  void circle(double x, double y, double radius, String colour, String title) {
    svg.append(
            String.format(
                Locale.ROOT,
                "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"%.1f\" fill=\"%s\"><title>",
                x,
                y,
                radius,
                colour))
        .append(escaped(title))
        .append("</title></circle>");
  }

  void line(double x1, double y1, double x2, double y2) {
    svg.append(
        String.format(
            Locale.ROOT,
            "<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" stroke=\"currentColor\""
                + " stroke-opacity=\".25\"/>",
            x1,
            y1,
            x2,
            y2));
  }

  /**
   * @param anchor {@code start}, {@code middle} or {@code end}
   */
  void text(double x, double y, String anchor, String text) {
    svg.append(
            String.format(
                Locale.ROOT, "<text x=\"%.2f\" y=\"%.2f\" text-anchor=\"%s\">", x, y, anchor))
        .append(escaped(text))
        .append("</text>");
  }

  String end() {
    return svg.append("</svg>").toString();
  }

  static String escaped(String text) {
    StringBuilder safe = new StringBuilder(text.length());
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '&' -> safe.append("&amp;");
        case '<' -> safe.append("&lt;");
        case '>' -> safe.append("&gt;");
        case '"' -> safe.append("&quot;");
        default -> safe.append(c < ' ' && c != '\n' && c != '\t' ? '\uFFFD' : c);
      }
    }
    return safe.toString();
  }
}
