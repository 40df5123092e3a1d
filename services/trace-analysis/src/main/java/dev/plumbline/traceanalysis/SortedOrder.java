package dev.plumbline.traceanalysis;

import java.util.Arrays;

/** Stable orders of columns of primitives. */
final class SortedOrder {

  private SortedOrder() {}

  /** The indices 0 … count−1 in ascending order of their keys; equal keys keep their order. */
  static int[] of(long[] keys, int count) {
    int[] order = new int[count];
    if (count == 0) {
      return order;
    }
    long least = keys[0];
    long most = keys[0];
    boolean sorted = true;
    for (int i = 1; i < count; i++) {
      sorted &= keys[i - 1] <= keys[i];
      least = Math.min(least, keys[i]);
      most = Math.max(most, keys[i]);
    }
    int indexBits = 32 - Integer.numberOfLeadingZeros(count);
    long range = most - least;
    if (sorted) {
      Arrays.setAll(order, i -> i);
    } else if (range >= 0 && Long.numberOfLeadingZeros(range) > indexBits) {
      packed(keys, least, indexBits, order);
    } else {
      boxed(keys, order);
    }
    return order;
  }

  /** Key and index in one long, which sorts without objects; fits any trace of sensible length. */
  private static void packed(long[] keys, long least, int indexBits, int[] order) {
    long[] packed = new long[order.length];
    for (int i = 0; i < order.length; i++) {
      packed[i] = (keys[i] - least) << indexBits | i;
    }
    Arrays.sort(packed);
    for (int i = 0; i < order.length; i++) {
      order[i] = (int) (packed[i] & ((1L << indexBits) - 1));
    }
  }

  private static void boxed(long[] keys, int[] order) {
    Integer[] boxed = new Integer[order.length];
    Arrays.setAll(boxed, i -> i);
    Arrays.sort(boxed, (a, b) -> Long.compare(keys[a], keys[b]));
    Arrays.setAll(order, i -> boxed[i]);
  }

  static long[] permuted(long[] column, int[] order) {
    long[] result = new long[order.length];
    for (int i = 0; i < order.length; i++) {
      result[i] = column[order[i]];
    }
    return result;
  }

  static int[] permuted(int[] column, int[] order) {
    int[] result = new int[order.length];
    for (int i = 0; i < order.length; i++) {
      result[i] = column[order[i]];
    }
    return result;
  }
}
