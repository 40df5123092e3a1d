package dev.plumbline.traceanalysis;

import java.util.Arrays;

/** Spans on host threads as columns: runtime and driver calls, or annotations. */
final class HostSpans {

  private int count;
  private long[] starts = new long[256];
  private long[] ends = new long[256];
  private long[] threads = new long[256];
  private long[] correlations = new long[256];
  private int[] names = new int[256];

  /**
   * @param thread process and thread as one number
   * @param correlation {@link Decimals#UNREADABLE} when absent
   */
  void add(long startNs, long endNs, long thread, int name, long correlation) {
    if (count == starts.length) {
      int capacity = count * 2;
      starts = Arrays.copyOf(starts, capacity);
      ends = Arrays.copyOf(ends, capacity);
      threads = Arrays.copyOf(threads, capacity);
      correlations = Arrays.copyOf(correlations, capacity);
      names = Arrays.copyOf(names, capacity);
    }
    starts[count] = startNs;
    ends[count] = endNs;
    threads[count] = thread;
    correlations[count] = correlation;
    names[count] = name;
    count++;
  }

  /** Puts the spans in order of their start. */
  void sort() {
    int[] order = SortedOrder.of(starts, count);
    starts = SortedOrder.permuted(starts, order);
    ends = SortedOrder.permuted(ends, order);
    threads = SortedOrder.permuted(threads, order);
    correlations = SortedOrder.permuted(correlations, order);
    names = SortedOrder.permuted(names, order);
  }

  int count() {
    return count;
  }

  long start(int i) {
    return starts[i];
  }

  long end(int i) {
    return ends[i];
  }

  long thread(int i) {
    return threads[i];
  }

  long correlation(int i) {
    return correlations[i];
  }

  int name(int i) {
    return names[i];
  }
}
