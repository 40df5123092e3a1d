package dev.plumbline.macroload;

import dev.plumbline.schemas.load.LoadReport.Latency;
import org.HdrHistogram.Histogram;

/**
 * A distribution of nanoseconds with three significant digits in constant memory; count, mean,
 * minimum and maximum are exact.
 */
final class LatencyRecorder {

  private final Histogram histogram = new Histogram(3);
  private double sum;
  private long min = Long.MAX_VALUE;
  private long max;

  /** Records one value; one below 0 (a clock that does not know better) counts as 0. */
  void record(long ns) {
    long value = Math.max(ns, 0);
    histogram.recordValue(value);
    sum += value;
    min = Math.min(min, value);
    max = Math.max(max, value);
  }

  /** Adds all values of another recorder. */
  void add(LatencyRecorder other) {
    histogram.add(other.histogram);
    sum += other.sum;
    min = Math.min(min, other.min);
    max = Math.max(max, other.max);
  }

  long count() {
    return histogram.getTotalCount();
  }

  /** The value at a percentile from 0 to 100, within the exact extremes; 0 without samples. */
  long percentile(double percentile) {
    if (count() == 0) {
      return 0;
    }
    return Math.clamp(histogram.getValueAtPercentile(percentile), min, max);
  }

  /** All but the count is null without a sample. */
  Latency latency() {
    if (count() == 0) {
      return new Latency(0, null, null, null, null, null, null, null, null);
    }
    return new Latency(
        count(),
        sum / count(),
        min,
        max,
        percentile(50),
        percentile(90),
        percentile(95),
        percentile(99),
        percentile(99.9));
  }
}
