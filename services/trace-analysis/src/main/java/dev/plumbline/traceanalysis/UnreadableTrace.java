package dev.plumbline.traceanalysis;

/** A trace that cannot be analysed at all; the message names the file and says what to do. */
public final class UnreadableTrace extends RuntimeException {

  private static final long serialVersionUID = 1L;

  public UnreadableTrace(String message) {
    super(message);
  }

  /** For bytes that could not be had; the cause says whether trying again may help. */
  public UnreadableTrace(String message, Throwable cause) {
    super(message, cause);
  }
}
