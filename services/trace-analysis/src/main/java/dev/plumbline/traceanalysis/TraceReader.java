package dev.plumbline.traceanalysis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * Reads a Kineto trace in one pass over its bytes. The top level is an object whose metadata may
 * stand before or after {@code traceEvents}, or the bare list of events (Chrome trace format).
 */
final class TraceReader {

  private static final Names KEYS =
      Names.of("traceEvents", "distributedInfo", "baseTimeNanoseconds", "with_stack");
  private static final int TRACE_EVENTS = 0;
  private static final int DISTRIBUTED_INFO = 1;
  private static final int BASE_TIME = 2;
  private static final int WITH_STACK = 3;

  private static final Names DISTRIBUTED_KEYS = Names.of("rank", "world_size");

  private final String source;
  private final JsonBytes json;
  private final EventReader events;
  private final Map<String, Long> bad = new TreeMap<>();
  private final List<String> warnings = new ArrayList<>();
  private boolean eventsFound;
  private boolean truncated;
  private Integer rank;
  private Integer worldSize;
  private Long baseNs;
  private boolean withStack;

  private TraceReader(String source, InputStream in, Predicate<String> step, ReadLimits limits) {
    this.source = source;
    this.json = new JsonBytes(in);
    this.events = new EventReader(json, step, bad, source, limits);
  }

  /**
   * @param step whether an annotation of that name may be a step
   * @throws UnreadableTrace if there is nothing to analyse in it, or more than the limits allow
   */
  static Trace read(TraceInput input, Predicate<String> step, ReadLimits limits) {
    try (InputStream raw = input.bytes().open();
        InputStream in = TraceBytes.open(input.name(), raw, limits)) {
      return new TraceReader(input.name(), in, step, limits).read();
    } catch (IOException e) {
      throw unreadable(input.name(), e);
    } catch (UncheckedIOException e) {
      throw unreadable(input.name(), e.getCause());
    }
  }

  private static UnreadableTrace unreadable(String name, IOException cause) {
    String why =
        cause instanceof NoSuchFileException
            ? "there is no such file"
            : cause instanceof AccessDeniedException ? "permission denied" : cause.getMessage();
    return new UnreadableTrace("Cannot read the trace " + name + ": " + why + ".", cause);
  }

  private Trace read() {
    int first = json.peek();
    if (first < 0) {
      throw new UnreadableTrace(
          source + (json.cut() ? " holds no complete compressed data." : " is empty."));
    }
    try {
      if (first == '[') {
        eventList();
      } else if (first == '{') {
        json.skipByte();
        topLevel();
      }
      if (eventsFound && !truncated && json.peek() >= 0) {
        truncated = true;
        warnings.add("Text follows after the end of the trace; it was not used.");
      }
    } catch (JsonBytes.Ended e) {
      truncated = true;
    }
    if (!eventsFound) {
      throw new UnreadableTrace(
          source
              + (truncated ? " is cut short before its events" : " has no \"traceEvents\"")
              + ": give a trace written by torch.profiler (Kineto JSON, plain, gzip or zstd).");
    }
    Set<String> merged = events.rankLabels();
    if (merged.size() > 1) {
      throw new UnreadableTrace(
          source
              + " holds the traces of "
              + merged.size()
              + " ranks merged into one ("
              + String.join(", ", merged.stream().limit(3).toList())
              + (merged.size() > 3 ? ", ..." : "")
              + "), whose events cannot be told apart safely: give the file of each rank instead.");
    }
    events.finish();
    return new Trace(
        source,
        events.names(),
        events.device(),
        events.calls(),
        events.annotations(),
        new Trace.Metadata(rank, worldSize, baseNs, withStack),
        events.read(),
        bad,
        truncated || json.cut(),
        warnings);
  }

  private void topLevel() {
    try {
      members();
    } catch (JsonBytes.Fault e) {
      if (eventsFound) {
        truncated = true;
        warnings.add("What follows the list of events is damaged and was not used.");
      } else {
        damagedMetadata();
      }
    }
  }

  /** Goes on behind the name of the list, wherever that stands. */
  private void damagedMetadata() {
    warnings.add("The metadata before the events are damaged and were only used in part.");
    while (json.find("\"traceEvents\"")) {
      if (json.peek() == ':') {
        json.skipByte();
        if (json.peek() == '[') {
          eventList();
          topLevel();
          return;
        }
      }
    }
  }

  private void members() {
    while (true) {
      int b = json.next();
      if (b == '}') {
        json.skipByte();
        return;
      } else if (b == ',') {
        json.skipByte();
      } else if (b == '"') {
        json.mark();
        json.string();
        int key = KEYS.find(json.buffer(), json.at(json.tokenOffset), json.tokenLength);
        json.release();
        json.expect(':');
        member(key);
      } else {
        throw json.fault();
      }
    }
  }

  private void member(int key) {
    int b = json.next();
    if (key == TRACE_EVENTS && b == '[') {
      eventList();
    } else if (key == DISTRIBUTED_INFO && b == '{') {
      json.skipByte();
      distributedInfo();
    } else {
      Long number = integer();
      if (key == BASE_TIME) {
        baseNs = number;
      } else if (key == WITH_STACK) {
        withStack = number != null && number != 0;
      }
    }
  }

  private void distributedInfo() {
    while (json.next() != '}') {
      if (json.next() == ',') {
        json.skipByte();
        continue;
      }
      json.mark();
      json.string();
      int key = DISTRIBUTED_KEYS.find(json.buffer(), json.at(json.tokenOffset), json.tokenLength);
      json.release();
      json.expect(':');
      Long number = integer();
      if (key == 0) {
        rank = small(number);
      } else if (key == 1) {
        worldSize = small(number);
      }
    }
    json.skipByte();
  }

  private static Integer small(Long number) {
    return number == null || number < 0 || number > Integer.MAX_VALUE ? null : number.intValue();
  }

  /** Passes over a value; its number if it is a whole one, also as a string. */
  private Long integer() {
    int b = json.next();
    if (b == '{' || b == '[') {
      json.value();
      return null;
    }
    json.mark();
    json.value();
    long number = Decimals.integer(json.buffer(), json.at(json.tokenOffset), json.tokenLength);
    json.release();
    return number == Decimals.UNREADABLE ? null : number;
  }

  private void eventList() {
    eventsFound = true;
    json.skipByte();
    while (true) {
      int b = json.next();
      if (b == ']') {
        json.skipByte();
        return;
      } else if (b == ',') {
        json.skipByte();
      } else {
        event(b);
      }
    }
  }

  private void event(int first) {
    try {
      if (first != '{') {
        throw json.fault();
      }
      json.skipByte();
      events.event();
    } catch (JsonBytes.Fault e) {
      afterFault();
    }
  }

  private boolean readable() {
    try {
      events.event();
      return true;
    } catch (JsonBytes.Fault again) {
      return false;
    }
  }

  private void afterFault() {
    while (true) {
      bad.merge("syntax", 1L, Long::sum);
      if (!json.resynchronise()) {
        truncated = true;
        return;
      }
      if (readable()) {
        return;
      }
    }
  }
}
