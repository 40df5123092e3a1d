package dev.plumbline.schemas;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** Collects what is wrong with one request, in the order in which it is found. */
final class Faults {

  /** More than this helps nobody, and a rejection must fit in one record. */
  static final int MOST = 100;

  private static final int MOST_WORDS = 30;

  private final List<Fault> found = new ArrayList<>();
  private final Set<String> paths = new HashSet<>();
  private int left;

  void add(String path, String message) {
    paths.add(path);
    if (found.size() < MOST) {
      found.add(new Fault(path, message));
    } else {
      left++;
    }
  }

  /** Says that a field is missing, unless something else was already said of it. */
  void missing(String path, String why) {
    if (!at(path)) {
      add(path, "is missing: " + why);
    }
  }

  /** True when something is wrong with exactly this field. */
  boolean at(String path) {
    return paths.contains(path);
  }

  boolean isEmpty() {
    return found.isEmpty();
  }

  List<Fault> list() {
    if (left == 0) {
      return List.copyOf(found);
    }
    List<Fault> all = new ArrayList<>(found);
    all.add(new Fault("", "has " + left + " more faults; put the ones above right first"));
    return List.copyOf(all);
  }

  /** Says which word was not understood and which are: the nearest one, then all. */
  static String unknown(String what, String word, Iterable<String> known) {
    List<String> words = new ArrayList<>();
    known.forEach(words::add);
    String nearest =
        Nearest.of(shortened(word), words).map(w -> "; did you mean \"" + w + "\"?").orElse("");
    String all =
        words.stream().limit(MOST_WORDS).collect(Collectors.joining(", ", " (known: ", ")"));
    return "unknown " + what + " \"" + shortened(word) + "\"" + nearest + all;
  }

  /** Enough of a text to recognise it, on one line. */
  static String shortened(String text) {
    String line = text.strip().replaceAll("\\p{Cntrl}", " ");
    return line.length() <= 60 ? line : line.substring(0, 57) + "...";
  }
}
