package dev.plumbline.bottleneckattribution;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Map;
import java.util.TreeMap;

/**
 * Counts of durations in log-linear buckets: 512 to each power of two. A reported value is off by
 * at most 1/1024 (0.1 %) of itself; below 1,024 ns it is exact. Two histograms add up exactly, in
 * any order, because every value has one bucket whatever was counted before.
 */
final class DurationHistogram {

  private static final int SUB_BUCKET_BITS = 9;
  private static final int SUB_BUCKETS = 1 << SUB_BUCKET_BITS;

  private final TreeMap<Integer, Long> counts;

  DurationHistogram() {
    this(Map.of());
  }

  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  DurationHistogram(Map<Integer, Long> counts) {
    this.counts = new TreeMap<>(counts);
  }

  @JsonValue
  Map<Integer, Long> counts() {
    return counts;
  }

  void add(long durationNs) {
    counts.merge(bucketOf(durationNs), 1L, Long::sum);
  }

  void add(DurationHistogram other) {
    other.counts.forEach((bucket, count) -> counts.merge(bucket, count, Long::sum));
  }

  /**
   * Nearest-rank percentile: the middle of the bucket that holds the ⌈percent·n/100⌉-th smallest
   * value.
   *
   * @return 0 when nothing was counted
   */
  long percentile(int percent) {
    long total = counts.values().stream().mapToLong(Long::longValue).sum();
    long rank = Math.max(1, (percent * total + 99) / 100);
    long below = 0;
    for (Map.Entry<Integer, Long> bucket : counts.entrySet()) {
      below += bucket.getValue();
      if (below >= rank) {
        return middleOf(bucket.getKey());
      }
    }
    return 0;
  }

  private static int bucketOf(long value) {
    int shift = Math.max(0, 63 - SUB_BUCKET_BITS - Long.numberOfLeadingZeros(value | 1));
    return shift * SUB_BUCKETS + (int) (value >> shift);
  }

  private static long middleOf(int bucket) {
    // From shift 1 on the sub-bucket index lies in [SUB_BUCKETS, 2 * SUB_BUCKETS).
    int shift = Math.max(0, bucket / SUB_BUCKETS - 1);
    long lowest = (long) (bucket - shift * SUB_BUCKETS) << shift;
    return lowest + (1L << shift) / 2;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof DurationHistogram that && counts.equals(that.counts);
  }

  @Override
  public int hashCode() {
    return counts.hashCode();
  }
}
