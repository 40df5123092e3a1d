package dev.plumbline.workerkit;

/** Something on the way to a host, or on it, did not work; the message is one sentence. */
public final class HostException extends Exception {

  private static final long serialVersionUID = 1;

  /** The name is not in the inventory, or the inventory is not valid. */
  public static final String UNKNOWN_HOST = "unknown-host";

  /** No connection. */
  public static final String UNREACHABLE = "unreachable";

  /** The host's key is not the known one. */
  public static final String HOST_KEY = "host-key";

  /** The host does not take our key. */
  public static final String AUTH = "auth";

  /** No answer in the given time; what was asked may still be going on. */
  public static final String TIME_OUT = "time-out";

  /** The connection, or the job, was lost: the outcome is unknown. */
  public static final String LOST = "lost";

  public static final String NOT_FOUND = "not-found";
  public static final String DENIED = "denied";

  /** Ended because somebody cancelled it. */
  public static final String CANCELLED = "cancelled";

  public static final String FAILED = "failed";

  private final String code;
  private final boolean retryable;

  public HostException(String code, String message, boolean retryable) {
    this(code, message, retryable, null);
  }

  public HostException(String code, String message, boolean retryable, Throwable cause) {
    super(message, cause);
    this.code = code;
    this.retryable = retryable;
  }

  /** One of the constants of this class. */
  public String code() {
    return code;
  }

  /** Whether the same may work later without anybody changing anything. */
  public boolean retryable() {
    return retryable;
  }
}
