package dev.plumbline.workerkit;

import dev.plumbline.schemas.command.Job;
import dev.plumbline.schemas.event.StepEvent;
import dev.plumbline.schemas.event.StepEvent.StepFailed;
import dev.plumbline.schemas.event.StepEvent.StepProgress;
import dev.plumbline.schemas.event.StepEvent.StepStarted;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jboss.logging.Logger;

/** One attempt while it runs: its progress, its signs of life and its cancellation. */
final class StepRun implements StepContext {

  /** Why the work should end early. */
  private record Stop(String code, String reason, boolean retryable) {}

  private static final Logger LOG = Logger.getLogger(StepRun.class);

  /** Work that says more than this many times a heartbeat is published no more often. */
  private static final int PROGRESS_PER_HEARTBEAT = 5;

  private final Job job;
  private final Events events;
  private final Clock clock;
  private final Duration heartbeat;
  private final List<Runnable> cancelActions = new ArrayList<>();

  private final CompletableFuture<Void> over = new CompletableFuture<>();

  private Stop stop;
  private Thread worker;
  private boolean ended;
  private long sequence;
  private long lastPublishedNanos;
  private long done;
  private Long total;
  private String note;

  StepRun(Job job, Events events, Clock clock, Duration heartbeat) {
    this.job = job;
    this.events = events;
    this.clock = clock;
    this.heartbeat = heartbeat;
  }

  StepStarted started() {
    return new StepStarted(job.campaignId(), job.step(), job.attempt(), now());
  }

  StepFailed failed(String code, String reason, boolean retryable) {
    return new StepFailed(
        job.campaignId(), job.step(), job.attempt(), now(), code, reason, retryable);
  }

  /** Completes when the answer is stored. */
  CompletableFuture<Void> over() {
    return over;
  }

  /** Does the work on the calling thread and returns how it ended; never throws. */
  StepEvent run(StepWork work) {
    synchronized (this) {
      worker = Thread.currentThread();
      lastPublishedNanos = System.nanoTime();
    }
    Thread heart = Thread.ofVirtual().name("heartbeat " + job.id()).start(this::beat);
    try {
      checkCancelled();
      return work.run(this);
    } catch (StepFailure e) {
      return failure(e.code(), e.getMessage(), e.retryable());
    } catch (InterruptedException e) {
      return failure("interrupted", "the work was interrupted", true);
    } catch (RuntimeException | Error e) {
      LOG.errorf(
          e,
          "step broke campaign=%s step=%s attempt=%d",
          job.campaignId(),
          job.step().id(),
          job.attempt());
      return failure("internal", "unexpected " + e + "; the service's log has more", true);
    } finally {
      synchronized (this) {
        ended = true;
        worker = null;
        notifyAll();
      }
      heart.interrupt();
      // The thread goes on to publish the result, which a late interrupt must not end.
      boolean unused = Thread.interrupted();
    }
  }

  private StepFailed failure(String code, String reason, boolean retryable) {
    Stop why;
    synchronized (this) {
      why = stop;
    }
    if (why == null) {
      return failed(code, reason, retryable);
    }
    // These only repeat that the work was asked to end.
    boolean says = List.of(why.code(), "interrupted", HostException.CANCELLED).contains(code);
    String all = says ? why.reason() : why.reason() + "; the work ended with: " + reason;
    return failed(why.code(), all, why.retryable());
  }

  /** Asks the work to end; the first reason stays. */
  void stop(String code, String reason, boolean retryable) {
    List<Runnable> actions;
    synchronized (this) {
      if (stop != null || ended) {
        return;
      }
      stop = new Stop(code, reason, retryable);
      actions = List.copyOf(cancelActions);
    }
    actions.forEach(this::runAside);
  }

  /** Ends waits of work that did not heed {@link #stop}. */
  synchronized void interrupt() {
    if (worker != null) {
      worker.interrupt();
    }
  }

  @Override
  public Job job() {
    return job;
  }

  @Override
  public Instant now() {
    return clock.instant();
  }

  @Override
  public synchronized void progress(long nowDone, Long nowTotal, String nowNote) {
    done = nowDone;
    total = nowTotal;
    note = nowNote;
    if (sequence == 0 || sinceLast().compareTo(heartbeat.dividedBy(PROGRESS_PER_HEARTBEAT)) >= 0) {
      publishProgress();
    }
  }

  @Override
  public synchronized boolean cancelled() {
    return stop != null;
  }

  @Override
  public void onCancel(Runnable action) {
    synchronized (this) {
      if (stop == null) {
        cancelActions.add(action);
        return;
      }
    }
    runAside(action);
  }

  @Override
  public void checkCancelled() throws StepFailure {
    Stop why;
    synchronized (this) {
      why = stop;
    }
    if (why != null) {
      throw new StepFailure(why.code(), why.reason(), why.retryable());
    }
  }

  private void runAside(Runnable action) {
    Thread.ofVirtual()
        .name("cancel " + job.id())
        .start(
            () -> {
              try {
                action.run();
              } catch (RuntimeException e) {
                LOG.warnf(
                    e,
                    "cancel action broke campaign=%s step=%s attempt=%d",
                    job.campaignId(),
                    job.step().id(),
                    job.attempt());
              }
            });
  }

  /** Publishes when the work itself says nothing. */
  private void beat() {
    try {
      synchronized (this) {
        while (!ended) {
          long leftMillis = heartbeat.minus(sinceLast()).toMillis();
          if (leftMillis <= 0) {
            publishProgress();
          } else {
            wait(leftMillis);
          }
        }
      }
    } catch (InterruptedException e) {
      // The work has ended.
      Thread.currentThread().interrupt();
    }
  }

  private Duration sinceLast() {
    return Duration.ofNanos(System.nanoTime() - lastPublishedNanos);
  }

  /** Holding the lock, so that no progress follows the result. */
  private synchronized void publishProgress() {
    if (ended) {
      return;
    }
    lastPublishedNanos = System.nanoTime();
    sequence++;
    StepProgress event =
        new StepProgress(
            job.campaignId(), job.step(), job.attempt(), now(), sequence, done, total, note);
    events
        .publish(event)
        .whenComplete(
            (ok, failure) -> {
              if (failure != null) {
                LOG.warnf(
                    "progress not published campaign=%s step=%s attempt=%d: %s",
                    job.campaignId(), job.step().id(), job.attempt(), failure);
              }
            });
  }
}
