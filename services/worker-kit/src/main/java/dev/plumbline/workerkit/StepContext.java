package dev.plumbline.workerkit;

import dev.plumbline.schemas.command.Job;
import java.time.Instant;

/** What the work of one attempt may ask and say. Safe for use by several threads. */
public interface StepContext {

  Job job();

  Instant now();

  /**
   * Says how far the work is; may be called as often as it likes, not each call is published.
   *
   * @param total null when unknown
   * @param note one short line for people
   */
  void progress(long done, Long total, String note);

  /** True once somebody cancelled the step, or the service is going down. */
  boolean cancelled();

  /**
   * Runs the action when the step is cancelled, at once if it is already. For what does not look at
   * {@link #cancelled}; it runs on another thread than the work.
   */
  void onCancel(Runnable action);

  /** Ends the work by a failure when it is cancelled. */
  void checkCancelled() throws StepFailure;
}
