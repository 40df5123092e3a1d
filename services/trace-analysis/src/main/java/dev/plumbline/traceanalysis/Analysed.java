package dev.plumbline.traceanalysis;

import dev.plumbline.schemas.trace.TraceReport;
import java.util.List;

/** A report with the single events that it was made from, for what shows them one by one. */
public final class Analysed {

  private final TraceReport report;
  private final List<RankAnalysis> ranks;

  /**
   * @param ranks in the order of the report
   */
  Analysed(TraceReport report, List<RankAnalysis> ranks) {
    this.report = report;
    this.ranks = ranks;
  }

  public TraceReport report() {
    return report;
  }

  /** The same events with another report on them, such as one that holds a comparison. */
  public Analysed with(TraceReport other) {
    return new Analysed(other, ranks);
  }

  List<RankAnalysis> ranks() {
    return ranks;
  }
}
