package dev.plumbline.macroload;

import java.util.Arrays;

/**
 * Splits a stream of bytes into server-sent events. Any cut of the stream into pieces gives the
 * same events: bytes are kept until a whole event is there, also when a cut lies inside a UTF-8
 * sequence, and nothing is decoded here.
 *
 * <p>All legal framings are read: LF, CR LF and CR as line ends, {@code data:} with or without one
 * space, comments, other fields, several data lines joined by LF, a leading byte order mark.
 * Source: WHATWG HTML, section 9.2.6 "Interpreting an event stream".
 *
 * <p>Not thread-safe. Memory per stream is bounded by {@code limitBytes}.
 */
final class SseParser {

  /** Takes the events; the bytes are valid only during the call. */
  interface Sink {
    /**
     * One event with data.
     *
     * @param named true when the event is named {@code error}
     */
    void event(byte[] data, int offset, int length, boolean named);
  }

  private static final byte[] BYTE_ORDER_MARK = {(byte) 0xEF, (byte) 0xBB, (byte) 0xBF};
  private static final byte[] DATA = {'d', 'a', 't', 'a'};
  private static final byte[] EVENT = {'e', 'v', 'e', 'n', 't'};
  private static final byte[] ERROR = {'e', 'r', 'r', 'o', 'r'};

  private final Sink sink;
  private final int limitBytes;
  private byte[] line = new byte[1024];
  private int lineLength;
  private byte[] data = new byte[1024];
  private int dataLength;
  private boolean hasData;
  private boolean error;
  private boolean skipLineFeed;
  private boolean firstLine = true;

  SseParser(Sink sink, int limitBytes) {
    this.sink = sink;
    this.limitBytes = limitBytes;
  }

  /**
   * Takes the next bytes and hands over every event that they complete.
   *
   * @throws EventTooLarge when one event grows past the limit
   */
  void feed(byte[] bytes, int offset, int length) {
    int start = offset;
    int end = offset + length;
    for (int i = offset; i < end; i++) {
      byte b = bytes[i];
      if (skipLineFeed) {
        skipLineFeed = false;
        if (b == '\n') {
          start = i + 1;
          continue;
        }
      }
      if (b == '\n' || b == '\r') {
        endLine(bytes, start, i);
        skipLineFeed = b == '\r';
        start = i + 1;
      }
    }
    keep(bytes, start, end);
  }

  /**
   * The stream ended. The standard drops an event without its closing blank line; a server that
   * closes right after its last line meant it, so it is handed over. Whether it is whole is for the
   * sink to judge.
   */
  void end() {
    if (lineLength > 0) {
      endLine(line, 0, 0);
    }
    dispatch();
  }

  /** Makes the parser ready for another stream. */
  void reset() {
    lineLength = 0;
    dataLength = 0;
    hasData = false;
    error = false;
    skipLineFeed = false;
    firstLine = true;
  }

  private void keep(byte[] bytes, int from, int to) {
    int length = to - from;
    if (length == 0) {
      return;
    }
    line = grown(line, lineLength, length);
    System.arraycopy(bytes, from, line, lineLength, length);
    lineLength += length;
  }

  private void endLine(byte[] bytes, int from, int to) {
    if (lineLength == 0) {
      takeLine(bytes, from, to);
    } else {
      keep(bytes, from, to);
      int length = lineLength;
      lineLength = 0;
      takeLine(line, 0, length);
    }
  }

  private void takeLine(byte[] bytes, int from, int to) {
    int start = from;
    if (firstLine) {
      firstLine = false;
      if (startsWith(bytes, start, to, BYTE_ORDER_MARK)) {
        start += BYTE_ORDER_MARK.length;
      }
    }
    if (start == to) {
      dispatch();
      return;
    }
    int colon = start;
    while (colon < to && bytes[colon] != ':') {
      colon++;
    }
    int value = Math.min(colon + 1, to);
    if (value < to && bytes[value] == ' ') {
      value++;
    }
    if (equal(bytes, start, colon, DATA)) {
      appendData(bytes, value, to);
    } else if (equal(bytes, start, colon, EVENT)) {
      error = equal(bytes, value, to, ERROR);
    }
    // Comments (no field name), id, retry and unknown fields carry nothing for a load generator.
  }

  private void appendData(byte[] bytes, int from, int to) {
    int length = to - from;
    data = grown(data, dataLength, length + 1);
    if (hasData) {
      data[dataLength++] = '\n';
    }
    hasData = true;
    System.arraycopy(bytes, from, data, dataLength, length);
    dataLength += length;
  }

  private void dispatch() {
    if (hasData) {
      int length = dataLength;
      boolean named = error;
      dataLength = 0;
      hasData = false;
      error = false;
      sink.event(data, 0, length, named);
    }
    error = false;
  }

  private byte[] grown(byte[] array, int used, int more) {
    if ((long) used + more > limitBytes) {
      throw new EventTooLarge(limitBytes);
    }
    return used + more <= array.length
        ? array
        : Arrays.copyOf(array, Math.max(array.length * 2, used + more));
  }

  private static boolean equal(byte[] bytes, int from, int to, byte[] wanted) {
    return Arrays.equals(bytes, from, to, wanted, 0, wanted.length);
  }

  private static boolean startsWith(byte[] bytes, int from, int to, byte[] wanted) {
    return to - from >= wanted.length
        && Arrays.equals(bytes, from, from + wanted.length, wanted, 0, wanted.length);
  }

  /** One event is larger than any honest server sends. */
  static final class EventTooLarge extends RuntimeException {
    private static final long serialVersionUID = 1L;

    EventTooLarge(int limitBytes) {
      super("one event of the stream is larger than " + limitBytes + " bytes", null, false, false);
    }
  }
}
