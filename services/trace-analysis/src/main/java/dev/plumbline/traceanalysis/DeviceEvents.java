package dev.plumbline.traceanalysis;

import java.util.Arrays;

/**
 * The device events of one trace as columns. After {@link #sort()} the index runs in order of the
 * start, and for equal starts in order of the file.
 */
final class DeviceEvents {

  /** What the category says; the name tells the rest. */
  static final int KERNEL = 0;

  static final int MEMCPY = 1;
  static final int MEMSET = 2;

  private int count;
  private long[] starts = new long[256];
  private long[] durations = new long[256];
  private long[] streams = new long[256];
  private long[] correlations = new long[256];

  /** Name and category, packed: the category is in the two lowest bits. */
  private int[] kinds = new int[256];

  private CollectiveArgs[] collectives;

  /**
   * @param stream device and stream as one number
   * @param correlation of the launch; {@link Decimals#UNREADABLE} when absent
   * @param collective null when the event carries none
   */
  void add(
      long startNs,
      long durationNs,
      int name,
      int category,
      long stream,
      long correlation,
      CollectiveArgs collective) {
    if (count == starts.length) {
      grow();
    }
    starts[count] = startNs;
    durations[count] = durationNs;
    kinds[count] = name << 2 | category;
    streams[count] = stream;
    correlations[count] = correlation;
    if (collective != null) {
      if (collectives == null) {
        collectives = new CollectiveArgs[starts.length];
      }
      collectives[count] = collective;
    }
    count++;
  }

  private void grow() {
    int capacity = count * 2;
    starts = Arrays.copyOf(starts, capacity);
    durations = Arrays.copyOf(durations, capacity);
    kinds = Arrays.copyOf(kinds, capacity);
    streams = Arrays.copyOf(streams, capacity);
    correlations = Arrays.copyOf(correlations, capacity);
    if (collectives != null) {
      collectives = Arrays.copyOf(collectives, capacity);
    }
  }

  void sort() {
    int[] order = SortedOrder.of(starts, count);
    starts = SortedOrder.permuted(starts, order);
    durations = SortedOrder.permuted(durations, order);
    kinds = SortedOrder.permuted(kinds, order);
    streams = SortedOrder.permuted(streams, order);
    correlations = SortedOrder.permuted(correlations, order);
    if (collectives != null) {
      CollectiveArgs[] unsorted = collectives;
      collectives = new CollectiveArgs[count];
      Arrays.setAll(collectives, i -> unsorted[order[i]]);
    }
  }

  int count() {
    return count;
  }

  long start(int i) {
    return starts[i];
  }

  long end(int i) {
    return starts[i] + durations[i];
  }

  long duration(int i) {
    return durations[i];
  }

  int name(int i) {
    return kinds[i] >>> 2;
  }

  int category(int i) {
    return kinds[i] & 3;
  }

  long stream(int i) {
    return streams[i];
  }

  long correlation(int i) {
    return correlations[i];
  }

  /** Never null. */
  CollectiveArgs collective(int i) {
    return collectives == null || collectives[i] == null ? CollectiveArgs.NONE : collectives[i];
  }

  /** Number of different streams. */
  int streams() {
    return (int) Arrays.stream(streams, 0, count).distinct().count();
  }

  long firstStart() {
    return starts[0];
  }

  long lastEnd() {
    long last = Long.MIN_VALUE;
    for (int i = 0; i < count; i++) {
      last = Math.max(last, starts[i] + durations[i]);
    }
    return last;
  }

  /** The first index whose start is not before a time. */
  int firstFrom(long timeNs) {
    int found = Arrays.binarySearch(starts, 0, count, timeNs);
    if (found < 0) {
      return -found - 1;
    }
    while (found > 0 && starts[found - 1] == timeNs) {
      found--;
    }
    return found;
  }
}
