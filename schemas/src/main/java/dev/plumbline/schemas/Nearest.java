package dev.plumbline.schemas;

import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;

/** Finds the known word that somebody probably meant. */
public final class Nearest {

  /** A shorter beginning than this says too little. */
  private static final int SHORTEST_BEGINNING = 3;

  private Nearest() {}

  /**
   * The known word nearest to {@code word}, by edits (insert, delete, replace, swap of neighbours)
   * that ignore case, hyphens and underscores; the first of equally near ones. A word that begins
   * another one is near to it.
   *
   * @return empty when none is near: more than a third of the letters would have to change
   */
  public static Optional<String> of(String word, Collection<String> known) {
    String wanted = plain(word);
    if (wanted.isEmpty()) {
      return Optional.empty();
    }
    return known.stream()
        .filter(candidate -> near(wanted, plain(candidate)))
        .min(Comparator.comparingInt(candidate -> distance(wanted, plain(candidate))));
  }

  private static boolean near(String wanted, String candidate) {
    int shorter = Math.min(wanted.length(), candidate.length());
    int longer = Math.max(wanted.length(), candidate.length());
    int edits = longer / 3;
    if (longer - shorter <= edits && distance(wanted, candidate) <= edits) {
      return true;
    }
    return shorter >= SHORTEST_BEGINNING
        && (wanted.startsWith(candidate) || candidate.startsWith(wanted));
  }

  private static String plain(String word) {
    return word.toLowerCase(Locale.ROOT).replace("-", "").replace("_", "");
  }

  /** Optimal string alignment distance: Levenshtein with swaps of neighbours. */
  private static int distance(String a, String b) {
    int[][] d = new int[a.length() + 1][b.length() + 1];
    for (int i = 0; i <= a.length(); i++) {
      d[i][0] = i;
    }
    for (int j = 0; j <= b.length(); j++) {
      d[0][j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      for (int j = 1; j <= b.length(); j++) {
        int replace = d[i - 1][j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        d[i][j] = Math.min(replace, Math.min(d[i - 1][j], d[i][j - 1]) + 1);
        if (i > 1
            && j > 1
            && a.charAt(i - 1) == b.charAt(j - 2)
            && a.charAt(i - 2) == b.charAt(j - 1)) {
          d[i][j] = Math.min(d[i][j], d[i - 2][j - 2] + 1);
        }
      }
    }
    return d[a.length()][b.length()];
  }
}
