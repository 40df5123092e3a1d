package dev.plumbline.macroload;

/**
 * Why a request did not succeed.
 *
 * @param kind a stable name, the key of {@code failed} in the report
 */
record Failure(String kind, String message) {
  /** No connection: refused, unresolved, TLS fault. */
  static final String CONNECT = "connect";

  /** The connection was lost before the finish reason. */
  static final String RESET = "reset";

  /** The request's time limit passed. */
  static final String TIME_OUT = "time_out";

  /** Nothing arrived for the idle limit after the first content event. */
  static final String IDLE = "idle";

  /** Given up by this side: cancelled, or not ended when the drain limit passed. */
  static final String CANCELLED = "cancelled";

  /** An error object in the stream. */
  static final String ERROR = "error";

  /** A stream with text that ended without a finish reason. */
  static final String TRUNCATED = "truncated";

  /** A stream without finish reason and without text. */
  static final String NO_TOKEN = "no_token";

  /** An answer that is no event stream. */
  static final String NOT_STREAMING = "not_streaming";

  /** Bytes that are no legal stream of chunks. */
  static final String PROTOCOL = "protocol";

  /** An HTTP status other than 200, such as {@code http_429}. */
  static String http(int status) {
    return "http_" + status;
  }
}
