package dev.plumbline.campaign;

import dev.plumbline.schemas.campaign.CampaignReport;
import dev.plumbline.schemas.campaign.Reconciliation;
import dev.plumbline.schemas.trace.TraceReport;
import dev.plumbline.schemas.trace.TraceReport.Bottleneck;
import dev.plumbline.schemas.trace.TraceReport.StepSummary.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** The report of a campaign as a page of text for a terminal: the verdict first and last. */
public final class ReportText {

  private static final int BAR = 24;

  private final Page page = new Page();
  private final CampaignReport report;

  private ReportText(CampaignReport report) {
    this.report = report;
  }

  /** At most {@value Page#WIDTH} columns; parts that were not reached are left out. */
  public static String render(CampaignReport report) {
    ReportText text = new ReportText(report);
    text.verdict();
    text.about();
    new MeasurementText(text.page, report).write();
    text.attribution();
    text.reconciliation();
    text.whatIf();
    text.rest();
    text.page.line("");
    text.verdict();
    return text.page.toString();
  }

  private void verdict() {
    Bottleneck verdict = report.verdict();
    if (verdict == null || verdict.component() == null) {
      page.sentence("VERDICT  ", "Inconclusive. " + reasons(verdict));
      return;
    }
    boolean conclusive = "conclusive".equals(verdict.verdict());
    page.sentence(
        "VERDICT  ",
        "%s%s: %s of the decode step%s, %.1f points ahead of the next.%s"
            .formatted(
                conclusive ? "" : "Inconclusive: ",
                verdict.component(),
                Page.percent(verdict.share()),
                verdict.deviceClass() == null ? "" : " (" + verdict.deviceClass() + ")",
                100 * verdict.margin(),
                conclusive ? "" : " " + reasons(verdict)));
  }

  private static String reasons(Bottleneck verdict) {
    return verdict == null || verdict.reasons() == null
        ? ""
        : verdict.reasons().stream()
            .map(r -> r.endsWith(".") ? r : r + ".")
            .collect(Collectors.joining(" "));
  }

  private void about() {
    String model = report.model() == null ? "" : ", model " + report.model();
    Duration took = Duration.between(report.requestedAt(), report.finishedAt());
    page.sentence(
        "         ",
        "Campaign %s on %s%s; took %s; %s."
            .formatted(
                report.campaignId(),
                report.host(),
                model,
                Page.time(took.toNanos()),
                report.downtimeNs() == 0
                    ? "server never down"
                    : "server down for " + Page.time(report.downtimeNs())));
  }

  private void attribution() {
    Kind decode = Verdicts.decode(report.trace()).orElse(null);
    if (decode == null) {
      return;
    }
    page.heading(
        "Attribution: exposed time of the "
            + decode.kind().name().toLowerCase(Locale.ROOT)
            + " steps",
        "%d steps, %s%d ranks"
            .formatted(
                decode.steps(),
                decode.batch() == null ? "" : "batch " + decode.batch() + ", ",
                report.trace().ranks().size()));
    page.line(
        "  a step takes %s, in which the device is busy for %s (medians)"
            .formatted(Page.time(decode.windowNs().median()), Page.time(decode.busyNs().median())));
    for (TraceReport.ComponentTime c : decode.components()) {
      if (c.share() >= 0.001) {
        share(c.component().id(), c.share(), Page.time(c.exposedNs()) + " in " + c.events());
      }
    }
    Map<String, Double> idle = decode.idleShares() == null ? Map.of() : decode.idleShares();
    idle.entrySet().stream()
        .filter(e -> e.getValue() >= 0.001)
        .sorted(Map.Entry.<String, Double>comparingByValue().reversed())
        .forEach(e -> share(Verdicts.idle(e.getKey()), e.getValue(), ""));
    TraceReport.Collectives collectives = report.trace().collectives();
    if (collectives != null && collectives.straggler() != null) {
      page.sentence(
          "  ",
          "Straggler: rank %d came last in %s of %d matched collectives."
              .formatted(
                  collectives.straggler().rank(),
                  Page.percent(collectives.straggler().share()),
                  collectives.matched()));
    }
  }

  private void share(String name, double share, String aside) {
    page.line(
        String.format(
            Locale.ROOT,
            "  %-22s %7s  %-32s %s",
            name,
            Page.percent(share),
            Page.bar(share, 32),
            aside));
  }

  private void reconciliation() {
    Reconciliation r = report.reconciliation();
    if (r == null) {
      return;
    }
    page.heading("Reconciliation: one step at concurrency " + r.concurrency(), "");
    Waterfall waterfall = new Waterfall(r);
    waterfall.lines(BAR).forEach(page::line);
    List<String> ratios = new ArrayList<>();
    if (r.explainedFraction() != null) {
      ratios.add("explained " + Page.percent(r.explainedFraction()));
    }
    if (r.profilingOverhead() != null) {
      ratios.add(
          String.format(
              Locale.ROOT,
              "profiling overhead %.2f (window %s)",
              r.profilingOverhead(),
              Page.time(r.tracedWindowNs())));
    }
    if (!list(r.missing()).isEmpty()) {
      ratios.add("no operation measured for " + String.join(", ", r.missing()));
    }
    if (!ratios.isEmpty()) {
      page.sentence("  ", String.join("; ", ratios) + ".");
    }
    list(r.findings()).forEach(f -> page.sentence("  ! ", f));
  }

  private void whatIf() {
    if (report.trace() == null || list(report.trace().whatIf()).isEmpty()) {
      return;
    }
    page.heading("What if: the step would be faster by", "from exposed time");
    report.trace().whatIf().stream()
        .limit(4)
        .forEach(
            w ->
                page.sentence(
                    String.format(Locale.ROOT, "  %-22s ", w.component()),
                    w.speedups().stream()
                            .map(
                                s ->
                                    String.format(
                                        Locale.ROOT, "%.2f× if %s×", s.stepSpeedup(), plain(s)))
                            .collect(Collectors.joining(",  "))
                        + String.format(Locale.ROOT, ",  %.2f× at most", w.upperBound())
                        + (w.note() == null ? "" : " – " + w.note())));
  }

  private static String plain(TraceReport.Speedup s) {
    return s.factor() == Math.rint(s.factor())
        ? Long.toString((long) s.factor())
        : Double.toString(s.factor());
  }

  private void rest() {
    page.heading("Where everything is", "");
    list(report.traces()).stream()
        .limit(2)
        .forEach(t -> page.sentence("  trace      ", t.host() + ":" + t.path()));
    if (list(report.traces()).size() > 2) {
      page.line("             and " + (report.traces().size() - 2) + " more ranks beside them");
    }
    Map<String, String> references = report.references() == null ? Map.of() : report.references();
    references.forEach((name, where) -> page.sentence("  %-10s ".formatted(name), where));
    list(report.notes()).forEach(n -> page.sentence("  note       ", n));
  }

  static <T> List<T> list(List<T> list) {
    return list == null ? List.of() : list;
  }
}
