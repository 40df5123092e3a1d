package dev.plumbline.campaign;

import dev.plumbline.schemas.campaign.Reconciliation;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * Predicted + unexplained = traced busy; + idle in service = macro step (definitions, section 7).
 */
record Waterfall(Reconciliation reconciliation) {

  List<String> lines(int cells) {
    Reconciliation r = reconciliation;
    long longest =
        Stream.of(r.predictedNs(), r.tracedBusyNs(), r.macroStepNs())
            .filter(ns -> ns != null)
            .mapToLong(Long::longValue)
            .max()
            .orElse(1);
    List<String> lines = new ArrayList<>();
    add(lines, "  predicted from micro", 0L, r.predictedNs(), longest, cells);
    add(lines, "+ unexplained device work", r.predictedNs(), r.unexplainedNs(), longest, cells);
    add(lines, "= traced busy", 0L, r.tracedBusyNs(), longest, cells);
    add(lines, "+ idle in service", r.tracedBusyNs(), r.idleInServiceNs(), longest, cells);
    add(lines, "= macro step (TPOT)", 0L, r.macroStepNs(), longest, cells);
    return lines;
  }

  private static void add(
      List<String> lines, String name, Long fromNs, Long ns, long longestNs, int cells) {
    if (ns == null) {
      lines.add(String.format(Locale.ROOT, "  %-26s %10s", name, "–"));
      return;
    }
    // A negative part points back from where it starts.
    long startNs = Math.max(0, (fromNs == null ? 0 : fromNs) + Math.min(0, ns));
    int indent = (int) Math.round((double) cells * startNs / longestNs);
    String bar = Page.bar((double) Math.abs(ns) / longestNs, cells);
    lines.add(
        String.format(
            Locale.ROOT, "  %-26s %10s  %s%s", name, Page.time(ns), " ".repeat(indent), bar));
  }
}
