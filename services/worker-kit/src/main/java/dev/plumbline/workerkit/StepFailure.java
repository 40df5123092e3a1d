package dev.plumbline.workerkit;

/** Ends a step with a {@code StepFailed} event. */
public final class StepFailure extends Exception {

  private static final long serialVersionUID = 1;

  private final String code;
  private final boolean retryable;

  /**
   * @param code such as {@code invalid}, {@code unreachable}, {@code refused}, {@code time-out}
   * @param reason one sentence: what is wrong, where, what to do
   * @param retryable whether another attempt may succeed without anybody changing anything
   */
  public StepFailure(String code, String reason, boolean retryable) {
    this(code, reason, retryable, null);
  }

  public StepFailure(String code, String reason, boolean retryable, Throwable cause) {
    super(reason, cause);
    this.code = code;
    this.retryable = retryable;
  }

  /** The same code, words and chance of success. */
  public static StepFailure of(HostException e) {
    return new StepFailure(e.code(), e.getMessage(), e.retryable(), e);
  }

  public String code() {
    return code;
  }

  public boolean retryable() {
    return retryable;
  }
}
