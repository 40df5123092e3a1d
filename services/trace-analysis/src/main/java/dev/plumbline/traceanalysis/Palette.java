package dev.plumbline.traceanalysis;

import dev.plumbline.schemas.trace.Component;
import dev.plumbline.schemas.trace.TraceReport;
import dev.plumbline.schemas.trace.TraceReport.ComponentTime;
import dev.plumbline.schemas.trace.TraceReport.Rank;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Colours of one report: one for each of its largest components, the same in all its drawings; one
 * for all the rest; and one for each idle cause.
 */
final class Palette {

  /** Tableau's ten without the grey, which stands for the rest. */
  private static final List<String> COLOURS =
      List.of(
          "#4e79a7", "#f28e2b", "#59a14f", "#b07aa1", "#76b7b2", "#edc948", "#ff9da7", "#9c755f");

  static final String REST = "#86909c";
  static final String IDLE = "#d5d9de";

  private static final Map<IdleCauses.Cause, String> IDLE_COLOURS =
      new EnumMap<>(
          Map.of(
              IdleCauses.Cause.HOST_BOUND, "#d7301f",
              IdleCauses.Cause.SYNCHRONISATION, "#fc8d59",
              IdleCauses.Cause.LAUNCH_LATENCY, "#fdcc8a",
              IdleCauses.Cause.GRAPH_INTERNAL, "#bdbdbd",
              IdleCauses.Cause.UNKNOWN, "#636363"));

  private final Map<Component, String> colours = new LinkedHashMap<>();

  Palette(TraceReport report) {
    Map<Component, Long> exposed = new EnumMap<>(Component.class);
    for (Rank rank : report.ranks()) {
      for (ComponentTime time : rank.components()) {
        exposed.merge(time.component(), time.exposedNs(), Long::sum);
      }
    }
    exposed.entrySet().stream()
        .sorted(Map.Entry.comparingByValue(Comparator.reverseOrder()))
        .limit(COLOURS.size())
        .forEach(entry -> colours.put(entry.getKey(), COLOURS.get(colours.size())));
  }

  /** Those with a colour of their own, the largest first. */
  List<Component> largest() {
    return List.copyOf(colours.keySet());
  }

  String of(Component component) {
    return colours.getOrDefault(component, REST);
  }

  String of(IdleCauses.Cause cause) {
    return IDLE_COLOURS.get(cause);
  }

  /** As HTML: a colour and a word for each. */
  String legend(boolean components, boolean causes) {
    StringBuilder html = new StringBuilder("<p class=\"key\">");
    if (components) {
      colours.forEach((component, colour) -> entry(html, colour, component.id()));
      entry(html, REST, "others");
    }
    if (causes) {
      for (IdleCauses.Cause cause : IdleCauses.Cause.values()) {
        entry(html, of(cause), "idle: " + word(cause));
      }
    } else {
      entry(html, IDLE, "idle");
    }
    return html.append("</p>").toString();
  }

  static void entry(StringBuilder html, String colour, String word) {
    html.append("<span><i style=\"background:")
        .append(colour)
        .append("\"></i>")
        .append(Svg.escaped(word))
        .append("</span>");
  }

  static String word(IdleCauses.Cause cause) {
    return cause.name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }
}
