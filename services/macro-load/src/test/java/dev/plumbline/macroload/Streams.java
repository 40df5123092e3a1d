package dev.plumbline.macroload;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * A stream written by hand: pieces of bytes and when each arrives, in milliseconds after the send.
 * The plain one has 20 tokens, the first at 200 ms, then one each 10 ms: TTFT 200, ITL = TPOT = 10,
 * last token at 390 ms.
 */
final class Streams {

  static final long MS = 1_000_000;
  static final String ROLE =
      "{\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}";
  static final String FINISH = "{\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}";
  static final String USAGE_20 =
      "{\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":20}}";

  private record Piece(long atMs, byte[] bytes) {}

  private final List<Piece> pieces = new ArrayList<>();
  private String before = "data: ";
  private String after = "\n\n";

  /** Frames every following event like this. */
  Streams framed(String before, String after) {
    this.before = before;
    this.after = after;
    return this;
  }

  Streams raw(long atMs, String text) {
    pieces.add(new Piece(atMs, text.getBytes(StandardCharsets.UTF_8)));
    return this;
  }

  Streams raw(long atMs, byte[] bytes) {
    pieces.add(new Piece(atMs, bytes));
    return this;
  }

  Streams event(long atMs, String json) {
    return raw(atMs, before + json + after);
  }

  static String delta(String field) {
    return "{\"choices\":[{\"index\":0,\"delta\":{\"" + field + "\":\"tok \"}}]}";
  }

  /** Content tokens {@code from} to {@code to} (exclusive) of the plain stream. */
  Streams tokens(int from, int to) {
    return tokens("content", from, to);
  }

  Streams tokens(String field, int from, int to) {
    for (int i = from; i < to; i++) {
      event(200 + 10L * i, delta(field));
    }
    return this;
  }

  /** Finish reason and usage at 390 ms, and the end marker. */
  Streams finish() {
    return event(390, FINISH).event(390, USAGE_20).event(390, "[DONE]");
  }

  /** What an exchange makes of this stream, sent at 1 s, ended properly after the last piece. */
  Exchange played() {
    Exchange exchange = new Exchange();
    playOn(exchange);
    return exchange;
  }

  void playOn(Exchange exchange) {
    exchange.start(1_000 * MS);
    exchange.sent(1_000 * MS);
    long last = 0;
    for (Piece piece : pieces) {
      last = piece.atMs;
      exchange.bytes(piece.bytes, 0, piece.bytes.length, (1_000 + piece.atMs) * MS);
    }
    exchange.end((1_000 + last) * MS);
  }
}
