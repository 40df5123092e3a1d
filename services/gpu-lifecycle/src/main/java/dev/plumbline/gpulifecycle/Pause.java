package dev.plumbline.gpulifecycle;

import java.time.Duration;

/** Waiting, passed in so that a test need not. */
@FunctionalInterface
interface Pause {
  void take(Duration duration) throws InterruptedException;
}
