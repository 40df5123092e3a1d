package dev.plumbline.macroload;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * One request and its stream, with no I/O: it is told what arrives and when, and knows at the end
 * whether the request succeeded and what its timings are. Reused from request to request, so that a
 * stream costs no object per chunk. Times are nanoseconds of a monotonic clock.
 *
 * <p>Definitions, section 5: a content event is a chunk with text of any channel; success is a
 * finish reason seen; time is taken once per read, so that all events of one read have the same
 * time.
 */
final class Exchange {

  private static final byte[] DONE = "[DONE]".getBytes(StandardCharsets.US_ASCII);
  private static final int EVENT_LIMIT_BYTES = 8 << 20;

  private final SseParser parser = new SseParser(this::event, EVENT_LIMIT_BYTES);
  private final Chunk chunk = new Chunk();

  private long intendedNs;
  private long sentNs;
  private long endNs;
  private long readNs;
  private long firstContentChannelNs;
  private long[] eventNs = new long[256];
  private long[] eventTokens = new long[256];
  private int contentEvents;
  private int eventsInRead;
  private int coalesced;
  private int eventsWithTokens;
  private long tokensSoFar;
  private long idTokens;
  private boolean idsOnEveryEvent;
  private boolean usageSeen;
  private long promptTokens;
  private long cachedTokens;
  private boolean finished;
  private boolean done;
  private boolean ending;
  private Failure failure;

  /**
   * Forgets the previous request.
   *
   * @param intendedNs when the load model wanted it sent
   */
  void start(long intendedNs) {
    this.intendedNs = intendedNs;
    sent(intendedNs);
  }

  /**
   * The first byte of the request is about to be written; also begins anew for a second attempt.
   */
  void sent(long nowNs) {
    parser.reset();
    sentNs = nowNs;
    endNs = nowNs;
    firstContentChannelNs = -1;
    contentEvents = 0;
    eventsInRead = 0;
    coalesced = 0;
    eventsWithTokens = 0;
    tokensSoFar = 0;
    idTokens = 0;
    idsOnEveryEvent = true;
    usageSeen = false;
    promptTokens = -1;
    cachedTokens = -1;
    finished = false;
    done = false;
    ending = false;
    failure = null;
  }

  /** Takes the bytes of one read. */
  void bytes(byte[] bytes, int offset, int length, long nowNs) {
    readNs = nowNs;
    eventsInRead = 0;
    try {
      parser.feed(bytes, offset, length);
    } catch (SseParser.EventTooLarge e) {
      fail(Failure.PROTOCOL, e.getMessage());
    }
  }

  /** The stream ended properly; decides between success and truncation. */
  void end(long nowNs) {
    readNs = nowNs;
    endNs = nowNs;
    ending = true;
    parser.end();
    if (failure == null && !finished) {
      if (contentEvents == 0) {
        fail(Failure.NO_TOKEN, "the stream ended without a single token");
      } else {
        fail(
            Failure.TRUNCATED,
            "the stream ended after " + contentEvents + " chunks without a finish reason");
      }
    }
  }

  /**
   * The stream broke off or was given up at this time. After the finish reason that changes
   * nothing: the answer is complete.
   */
  void brokeOff(String kind, String message, long nowNs) {
    endNs = finished ? readNs : nowNs;
    if (!finished) {
      fail(kind, message);
    }
  }

  /** Marks the request as failed; the first failure stays. */
  void fail(String kind, String message) {
    if (failure == null) {
      failure = new Failure(kind, message);
    }
  }

  private void event(byte[] data, int offset, int length, boolean named) {
    if (length == 0 || failure != null) {
      return;
    }
    if (isDone(data, offset, length)) {
      done = true;
      return;
    }
    try {
      chunk.read(data, offset, length);
    } catch (IOException e) {
      unreadable(data, offset, length, named);
      return;
    }
    if (chunk.error != null || named) {
      fail(Failure.ERROR, chunk.error != null ? chunk.error : text(data, offset, length));
      return;
    }
    finished |= chunk.finished;
    takeTokens();
    if (chunk.isContentEvent()) {
      contentEvent();
    }
  }

  private void takeTokens() {
    if (chunk.promptTokens >= 0) {
      promptTokens = chunk.promptTokens;
    }
    if (chunk.cachedTokens >= 0) {
      cachedTokens = chunk.cachedTokens;
    }
    if (chunk.tokenIds > 0) {
      idTokens += chunk.tokenIds;
    }
    if (chunk.completionTokens >= 0) {
      usageSeen = true;
      tokensSoFar = chunk.completionTokens;
    }
  }

  private void contentEvent() {
    if (contentEvents == eventNs.length) {
      eventNs = Arrays.copyOf(eventNs, contentEvents * 2);
      eventTokens = Arrays.copyOf(eventTokens, contentEvents * 2);
    }
    if (eventsInRead++ > 0) {
      coalesced++;
    }
    if (firstContentChannelNs < 0 && chunk.content) {
      firstContentChannelNs = readNs;
    }
    idsOnEveryEvent &= chunk.tokenIds >= 0;
    if (chunk.completionTokens >= 0) {
      eventsWithTokens++;
      eventTokens[contentEvents] = tokensSoFar;
    } else {
      eventTokens[contentEvents] = idTokens;
    }
    eventNs[contentEvents++] = readNs;
  }

  private void unreadable(byte[] data, int offset, int length, boolean named) {
    if (named) {
      fail(Failure.ERROR, text(data, offset, length));
    } else if (!ending) {
      fail(Failure.PROTOCOL, "a chunk is not valid JSON: " + text(data, offset, length));
    }
    // What stands after the last line end of a stream may be half an event: that is a truncation.
  }

  private static boolean isDone(byte[] data, int offset, int length) {
    int end = offset + length;
    while (end > offset && data[end - 1] == ' ') {
      end--;
    }
    return Arrays.equals(data, offset, end, DONE, 0, DONE.length);
  }

  private static String text(byte[] data, int offset, int length) {
    return new String(data, offset, Math.min(length, 200), StandardCharsets.UTF_8);
  }

  /** True when the end marker was seen; only the end of the HTTP body is still to come. */
  boolean isDone() {
    return done;
  }

  /** True when the server said that the answer is complete. */
  boolean isFinished() {
    return finished;
  }

  /** Null for a success; valid after the end. */
  Failure failure() {
    return failure;
  }

  long intendedNs() {
    return intendedNs;
  }

  long sentNs() {
    return sentNs;
  }

  /** When the stream ended, after its last content event or with it. */
  long endNs() {
    return endNs;
  }

  /** Content events, the length of the two arrays that follow. */
  int contentEvents() {
    return contentEvents;
  }

  /** Time of content event {@code i}. */
  long eventNs(int i) {
    return eventNs[i];
  }

  /** Time of the first event of the content channel, −1 without one. */
  long firstContentChannelNs() {
    return firstContentChannelNs;
  }

  /** Content events that shared a read with an earlier one. */
  int coalesced() {
    return coalesced;
  }

  /** True when the server told for every content event how many tokens there were by then. */
  boolean tokensPerEventKnown() {
    return contentEvents > 0 && (idsOnEveryEvent || eventsWithTokens == contentEvents);
  }

  /**
   * Tokens of content event {@code i}; tokens without text before it belong to it. Only when {@link
   * #tokensPerEventKnown()}.
   */
  long tokensOfEvent(int i) {
    return i == 0 ? eventTokens[0] : eventTokens[i] - eventTokens[i - 1];
  }

  /** True when the server told how many tokens it made. */
  boolean outputTokensTold() {
    return usageSeen || (idsOnEveryEvent && contentEvents > 0);
  }

  /** Output tokens: the server's usage, else its token ids, else the number of content events. */
  long outputTokens() {
    if (usageSeen) {
      return tokensSoFar;
    }
    return idsOnEveryEvent && contentEvents > 0 ? idTokens : contentEvents;
  }

  /** Prompt tokens by the server's usage, −1 without. */
  long promptTokens() {
    return promptTokens;
  }

  /** Prompt tokens that came from the prefix cache, −1 when the server does not tell. */
  long cachedTokens() {
    return cachedTokens;
  }
}
