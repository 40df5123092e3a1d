package dev.plumbline.schemas.campaign;

import java.util.List;

/**
 * Micro, trace and macro figures held against each other at one concurrency (definitions, section
 * 7). Nanoseconds; a figure whose inputs are missing is null.
 *
 * @param predictedNs Σ count per step × micro median
 * @param unexplainedNs traced busy − predicted
 * @param missing components with device time in the trace that no micro operation explains
 */
public record Reconciliation(
    int concurrency,
    Long predictedNs,
    Long tracedBusyNs,
    Long tracedWindowNs,
    Long macroStepNs,
    Double explainedFraction,
    Double profilingOverhead,
    Long idleInServiceNs,
    Long unexplainedNs,
    List<Item> items,
    List<String> missing,
    List<String> findings) {

  /**
   * @param tracedNs exposed time of the component per step in the trace, null when not traced
   */
  public record Item(
      String name,
      String component,
      int countPerStep,
      double medianUs,
      long perStepNs,
      Long tracedNs) {}
}
