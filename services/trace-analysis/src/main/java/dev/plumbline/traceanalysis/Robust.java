package dev.plumbline.traceanalysis;

import java.util.Arrays;

/**
 * Middle and spread of values that a few outliers do not move.
 *
 * @param median a value that occurred: of an even number the upper of the middle two
 * @param deviation 1.4826 × the median absolute deviation, which for normally distributed values is
 *     their standard deviation (Rousseeuw and Croux, JASA 88, 1993)
 */
record Robust(long median, double deviation) {

  private static final double NORMAL = 1.4826;

  /**
   * @param values at least one
   */
  static Robust of(long[] values) {
    long median = median(values);
    return new Robust(
        median, NORMAL * median(Arrays.stream(values).map(v -> Math.abs(v - median)).toArray()));
  }

  private static long median(long[] values) {
    long[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }
}
