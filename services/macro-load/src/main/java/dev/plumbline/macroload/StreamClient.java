package dev.plumbline.macroload;

import dev.plumbline.macroload.Requests.Shape;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.RequestOptions;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * Sends streaming requests over HTTP/1.1 with keep-alive and feeds the answers to their {@link
 * Exchange}. All calls come from one event loop, and so do all callbacks: there are no locks.
 *
 * <p>Two kinds of second attempt, neither of which is a failure of the request: a request whose
 * kept connection closes before any byte of an answer (the keep-alive race) is sent again and
 * counted, but one on a new connection never is, as that is the server's doing; and as long as no
 * request has succeeded, a refusal with 400 or 422 is answered by asking for less ({@link Shape}),
 * as some servers refuse fields that they do not know.
 */
final class StreamClient {

  /** A request on its way. */
  interface Call {
    /** Gives the request up; the callback still runs, at once. */
    void abort(String kind, String message);

    /** Takes the stream as ended with its last byte, though the server leaves it open. */
    void finish();

    /** When the last byte arrived, or the request was begun. */
    long lastByteNs();

    Exchange exchange();
  }

  /** Told once when a request has ended, well or not. */
  interface Ended {
    void ended(Exchange exchange);
  }

  private static final int BODY_LIMIT_BYTES = 16 << 10;

  private final HttpClient client;
  private final RequestOptions options;
  private final Requests requests;
  private final LongSupplier clock;
  private final byte[] scratch = new byte[256 << 10];
  private final Set<HttpConnection> fresh = new HashSet<>();
  private Shape shape = Shape.FULL;
  private boolean shapeKnown;
  private long retried;

  /**
   * @param connections most requests in flight at a time
   * @param clock monotonic, nanoseconds
   */
  StreamClient(
      Vertx vertx, LoadTarget target, Requests requests, int connections, LongSupplier clock) {
    this.requests = requests;
    this.clock = clock;
    this.client = HttpSetup.client(vertx, target, connections, this::connected);
    this.options = HttpSetup.streamRequest(target, requests.endPoint());
  }

  private void connected(HttpConnection connection) {
    fresh.add(connection);
    // Told to the request that is on it; without a handler it would be logged as well.
    connection.exceptionHandler(ignored -> {});
    connection.closeHandler(ignored -> fresh.remove(connection));
  }

  /**
   * Sends request number {@code index}.
   *
   * @param exchange started; used for nothing else until {@code ended} runs
   */
  Call send(long index, Exchange exchange, Ended ended) {
    Attempt attempt = new Attempt(index, exchange, ended);
    attempt.begin();
    return attempt;
  }

  /** Requests sent a second time so far. */
  long retried() {
    return retried;
  }

  void close() {
    client.close();
  }

  private final class Attempt implements Call {
    private final long index;
    private final Exchange exchange;
    private final Ended ended;
    private HttpClientRequest request;
    private Shape sentShape;
    private int status;
    private Buffer refusal;
    private boolean answered;
    private boolean reused;
    private boolean over;
    private int round;
    private long lastByteNs = clock.getAsLong();

    Attempt(long index, Exchange exchange, Ended ended) {
      this.index = index;
      this.exchange = exchange;
      this.ended = ended;
    }

    void begin() {
      int thisRound = ++round;
      request = null;
      answered = false;
      refusal = null;
      status = 0;
      client
          .request(options)
          .onComplete(
              connected -> {
                if (connected.failed()) {
                  brokeOff(thisRound, connected.cause());
                } else if (stale(thisRound)) {
                  connected.result().reset();
                } else {
                  write(thisRound, connected.result());
                }
              });
    }

    private boolean stale(int ofRound) {
      return over || ofRound != round;
    }

    private void write(int thisRound, HttpClientRequest connected) {
      request = connected;
      reused = !fresh.remove(connected.connection());
      sentShape = shape;
      Buffer body = Buffer.buffer(requests.body(index, shape));
      lastByteNs = clock.getAsLong();
      exchange.sent(lastByteNs);
      connected
          .send(body)
          .onComplete(
              answer -> {
                if (answer.failed()) {
                  brokeOff(thisRound, answer.cause());
                } else if (!stale(thisRound)) {
                  read(thisRound, answer.result());
                }
              });
    }

    private void read(int thisRound, HttpClientResponse response) {
      answered = true;
      lastByteNs = clock.getAsLong();
      status = response.statusCode();
      if (status != 200 || !streams(response.getHeader("content-type"))) {
        refusal = Buffer.buffer();
      }
      response.exceptionHandler(cause -> brokeOff(thisRound, cause));
      response.endHandler(ignored -> ended(thisRound));
      response.handler(
          bytes -> {
            if (!stale(thisRound)) {
              bytes(bytes);
            }
          });
    }

    private static boolean streams(String contentType) {
      String type = contentType == null ? "" : contentType.toLowerCase(Locale.ROOT);
      return !type.contains("json") && !type.contains("html");
    }

    private void bytes(Buffer bytes) {
      long now = clock.getAsLong();
      lastByteNs = now;
      if (refusal != null) {
        if (refusal.length() < BODY_LIMIT_BYTES) {
          refusal.appendBuffer(bytes);
        }
        return;
      }
      for (int from = 0; from < bytes.length(); from += scratch.length) {
        int to = Math.min(bytes.length(), from + scratch.length);
        bytes.getBytes(from, to, scratch, 0);
        exchange.bytes(scratch, 0, to - from, now);
      }
      if (exchange.failure() != null) {
        // Nothing that follows can make it a success, and the stream may never end.
        settle();
        request.reset();
      }
    }

    private void ended(int thisRound) {
      if (stale(thisRound)) {
        return;
      }
      if (refusal == null) {
        exchange.end(clock.getAsLong());
        settle();
        return;
      }
      String body = refusal.toString();
      if (status == 200) {
        exchange.fail(
            Failure.NOT_STREAMING, "the answer is no event stream: " + Refusal.words(body));
      } else if ((status == 400 || status == 422) && askForLess()) {
        begin();
        return;
      } else {
        exchange.fail(Failure.http(status), "HTTP " + status + ": " + Refusal.words(body));
      }
      exchange.brokeOff(Failure.http(status), "", clock.getAsLong());
      settle();
    }

    /** True when a plainer request is worth a try. */
    private boolean askForLess() {
      if (shapeKnown || sentShape.plainer() == null) {
        return false;
      }
      if (shape == sentShape) {
        shape = sentShape.plainer();
      }
      return true;
    }

    private void brokeOff(int thisRound, Throwable cause) {
      if (stale(thisRound)) {
        return;
      }
      long now = clock.getAsLong();
      if (request == null) {
        exchange.brokeOff(Failure.CONNECT, "cannot connect: " + Refusal.words(cause), now);
      } else if (!answered && reused) {
        retried++;
        begin();
        return;
      } else {
        exchange.brokeOff(Failure.RESET, "the connection was lost: " + Refusal.words(cause), now);
      }
      settle();
    }

    @Override
    public void abort(String kind, String message) {
      if (over) {
        return;
      }
      exchange.brokeOff(kind, message, clock.getAsLong());
      HttpClientRequest running = request;
      settle();
      if (running != null) {
        running.reset();
      }
    }

    @Override
    public void finish() {
      if (!over) {
        exchange.end(lastByteNs);
        settle();
        request.reset();
      }
    }

    private void settle() {
      over = true;
      shapeKnown |= exchange.failure() == null;
      ended.ended(exchange);
    }

    @Override
    public long lastByteNs() {
      return lastByteNs;
    }

    @Override
    public Exchange exchange() {
      return exchange;
    }
  }
}
