package dev.plumbline.workerkit;

import dev.plumbline.schemas.event.StepEvent;

/** The work of one command; runs on a virtual thread and may take minutes. */
@FunctionalInterface
public interface StepWork {

  /**
   * Does the work.
   *
   * @return the result event
   */
  StepEvent run(StepContext context) throws StepFailure, InterruptedException;
}
