package dev.plumbline.bottleneckattribution;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Map;
import java.util.TreeMap;

/**
 * An exact set of sample ids. Ids end in an ordinal ({@code campaign/step/attempt/rank/ordinal}),
 * so the ordinals after each prefix are kept as intervals: a run of thousands of steps takes one
 * entry. An id of another form is kept as it is.
 */
final class SeenIds {

  /** By prefix: first ordinal of each interval → its last. The intervals do not touch. */
  private final Map<String, TreeMap<Long, Long>> intervals;

  SeenIds() {
    this(Map.of());
  }

  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  SeenIds(Map<String, TreeMap<Long, Long>> intervals) {
    this.intervals = new TreeMap<>(intervals);
  }

  @JsonValue
  Map<String, TreeMap<Long, Long>> intervals() {
    return intervals;
  }

  /** Adds an id; false when it was there. */
  boolean add(String id) {
    int digits = canonicalOrdinalAt(id);
    return digits < 0
        ? add(id, -1)
        : add(id.substring(0, digits), Long.parseLong(id, digits, id.length(), 10));
  }

  private boolean add(String prefix, long ordinal) {
    TreeMap<Long, Long> runs = intervals.computeIfAbsent(prefix, p -> new TreeMap<>());
    Map.Entry<Long, Long> before = runs.floorEntry(ordinal);
    if (before != null && before.getValue() >= ordinal) {
      return false;
    }
    long first = before != null && before.getValue() == ordinal - 1 ? before.getKey() : ordinal;
    Long last = runs.remove(ordinal + 1);
    runs.put(first, last == null ? ordinal : last);
    return true;
  }

  /** Where the ordinal after the last slash begins; -1 for an id of another form. */
  private static int canonicalOrdinalAt(String id) {
    int start = id.lastIndexOf('/') + 1;
    int length = id.length() - start;
    // A leading zero would make two different ids one; 18 digits always fit into a long.
    if (start == 0 || length == 0 || length > 18 || (length > 1 && id.charAt(start) == '0')) {
      return -1;
    }
    for (int i = start; i < id.length(); i++) {
      if (id.charAt(i) < '0' || id.charAt(i) > '9') {
        return -1;
      }
    }
    return start;
  }
}
