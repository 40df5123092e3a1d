package dev.plumbline.workerkit;

import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;

/** Finds what somebody probably meant. */
public final class Nearest {

  private Nearest() {}

  /**
   * The known name with the smallest edit distance, ignoring case; empty when none is near: more
   * than a third of the longer name would have to change.
   */
  public static Optional<String> to(String name, Collection<String> known) {
    return known.stream()
        .min(Comparator.comparingInt((String k) -> distance(name, k)).thenComparing(k -> k))
        .filter(k -> 3 * distance(name, k) <= Math.max(name.length(), k.length()) + 2);
  }

  /** Levenshtein distance by one row of the usual table. */
  private static int distance(String left, String right) {
    String a = left.toLowerCase(Locale.ROOT);
    String b = right.toLowerCase(Locale.ROOT);
    int[] row = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      row[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int replaced = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(replaced, 1 + Math.min(row[j], row[j - 1]));
      }
    }
    return row[b.length()];
  }
}
