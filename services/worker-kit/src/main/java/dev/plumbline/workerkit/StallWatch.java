package dev.plumbline.workerkit;

import java.time.Duration;

/**
 * A deadline for calls that know none: when one call lasts too long, an action ends it from
 * outside, such as by closing the connection.
 */
final class StallWatch implements AutoCloseable {

  private final Duration limit;
  private final Runnable onStall;
  private final Thread watcher;
  private long busySinceNanos;
  private boolean busy;
  private boolean stalled;
  private boolean closed;

  /**
   * @param limit for one call, from {@link #begin} to {@link #end}
   */
  StallWatch(Duration limit, Runnable onStall) {
    this.limit = limit;
    this.onStall = onStall;
    this.watcher = Thread.ofVirtual().name("stall-watch").start(this::watch);
  }

  synchronized void begin() {
    busySinceNanos = System.nanoTime();
    busy = true;
    notifyAll();
  }

  synchronized void end() {
    busy = false;
  }

  /** True when the action was run: the failure that follows is a time-out. */
  synchronized boolean stalled() {
    return stalled;
  }

  @Override
  public void close() {
    synchronized (this) {
      closed = true;
      busy = false;
    }
    watcher.interrupt();
  }

  private void watch() {
    try {
      if (awaitStall()) {
        onStall.run();
      }
    } catch (InterruptedException e) {
      // Closed: nothing to watch any more.
      Thread.currentThread().interrupt();
    }
  }

  private synchronized boolean awaitStall() throws InterruptedException {
    while (!closed) {
      if (!busy) {
        wait();
        continue;
      }
      long leftNanos = limit.toNanos() - (System.nanoTime() - busySinceNanos);
      if (leftNanos <= 0) {
        stalled = true;
        return true;
      }
      wait(leftNanos / 1_000_000 + 1);
    }
    return false;
  }
}
