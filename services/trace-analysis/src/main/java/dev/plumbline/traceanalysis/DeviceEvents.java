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

  private static final long OVERFLOW_NS = 100_000_000;
  private static final int OVERFLOW_COVERS = 8;

  /** How far to look for them, so that a file of long events only does not take forever. */
  private static final int OVERFLOW_LOOKS_AT = 4_096;

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

  /**
   * Shortens durations that overflowed: ROCm has written seconds for a kernel of microseconds. Such
   * an event covers many later ones of its own stream, which no real one does (programmatic
   * dependent launch overlaps with the next one only); it is taken to end where the next one
   * starts.
   *
   * @return how many
   */
  long clipOverflows() {
    long clipped = 0;
    for (int i = 0; i < count; i++) {
      if (durations[i] > OVERFLOW_NS) {
        int next = nextOfStream(i, 1);
        if (next >= 0 && nextOfStream(i, OVERFLOW_COVERS) >= 0) {
          durations[i] = starts[next] - starts[i];
          clipped++;
        }
      }
    }
    return clipped;
  }

  /** The n-th later event of the same stream that lies inside event i; −1 if there is none. */
  private int nextOfStream(int i, int n) {
    int left = n;
    int last = Math.min(count, i + 1 + OVERFLOW_LOOKS_AT);
    for (int j = i + 1; j < last && starts[j] < end(i); j++) {
      if (streams[j] == streams[i] && end(j) <= end(i) && --left == 0) {
        return j;
      }
    }
    return -1;
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
