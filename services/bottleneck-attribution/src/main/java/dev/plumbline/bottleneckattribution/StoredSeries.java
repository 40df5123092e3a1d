package dev.plumbline.bottleneckattribution;

/**
 * What is stored of a series beside its panes. Times are epoch milliseconds.
 *
 * @param eventTimeMs the latest event time seen when it was stored
 */
record StoredSeries(
    Series series, long firstOpenWindowMs, long eventTimeMs, ShiftDetector.State shift) {}
