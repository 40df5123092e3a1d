package dev.plumbline.macroload;

import dev.plumbline.schemas.load.LoadReport;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Runs one level on one event loop: warm-up until it has drained, then the window, then the drain.
 * Always ends: each request has a time limit, a silent stream an idle limit, the drain a limit of
 * its own, and the cancel flag is looked at on every tick.
 */
final class LevelRun {

  private static final int TICK_MS = 10;
  private static final int OPEN_LOOP_TICK_MS = 1;
  private static final long LIMITS_EVERY_NS = 50_000_000;

  /** A timed level against a server that refuses at once would only spin. */
  private static final int FAILURE_PAUSE_MS = 100;

  /** Failures that cost their whole time limit: a level of nothing else is not worth its length. */
  private static final List<String> SLOW_FAILURES = List.of(Failure.TIME_OUT, Failure.IDLE);

  private final Vertx vertx;
  private final StreamClient client;
  private final LoadPlan plan;
  private final LoadPlan.Level level;
  private final CancelFlag cancel;
  private final LongSupplier clock;
  private final SendSchedule schedule;
  private final CompletableFuture<LoadReport.Level> result = new CompletableFuture<>();
  private final InFlight inFlight;
  private final ArrayDeque<Exchange> idle = new ArrayDeque<>();
  private final ClientHealth health = new ClientHealth();
  private long nextIndex;
  private LevelRecorder recorder;
  private long wanted;
  private long sent;
  private long closeAtNs;
  private long drainUntilNs = Long.MAX_VALUE;
  private boolean windowClosed;
  private long outstanding;
  private long endedEvents;
  private long retriedAtOpen;
  private long limitsDueNs;
  private boolean partial;
  private boolean stopped;
  private final Supplier<Map<String, Double>> serverMetrics;
  private Map<String, Double> metricsAtClose = Map.of();
  private volatile Snapshot snapshot = new Snapshot(true, 0, 0, 0);

  /** What the outside may see while the level runs. */
  record Snapshot(boolean warmingUp, long completed, long failed, long contentEvents) {}

  /**
   * @param firstIndex number of the first request, so that no two of a run have the same prompt
   * @param serverMetrics the newest values scraped from the server; must not block
   */
  LevelRun(
      Vertx vertx,
      StreamClient client,
      LoadPlan plan,
      LoadPlan.Level level,
      long firstIndex,
      Supplier<Map<String, Double>> serverMetrics,
      CancelFlag cancel,
      LongSupplier clock) {
    this.vertx = vertx;
    this.client = client;
    this.plan = plan;
    this.inFlight = new InFlight(plan);
    this.level = level;
    this.nextIndex = firstIndex;
    this.serverMetrics = serverMetrics;
    this.cancel = cancel;
    this.clock = clock;
    this.schedule = level instanceof LoadPlan.Open open ? SendSchedule.of(open, firstIndex) : null;
  }

  /** Starts the level; the result completes on the event loop. */
  CompletableFuture<LoadReport.Level> start(Context loop) {
    // A fault of our own must end the level with its reason, not leave the caller waiting.
    loop.exceptionHandler(result::completeExceptionally);
    loop.runOnContext(ignored -> begin());
    return result;
  }

  Snapshot snapshot() {
    return snapshot;
  }

  /** Number of the first request of the next level. */
  long nextIndex() {
    return nextIndex;
  }

  private void begin() {
    vertx.setPeriodic(schedule == null ? TICK_MS : OPEN_LOOP_TICK_MS, this::tick);
    if (level.warmup() > 0) {
      phase(level.warmup(), clock.getAsLong(), Long.MAX_VALUE);
    } else {
      open();
    }
  }

  private void open() {
    long now = clock.getAsLong();
    recorder = new LevelRecorder(now, schedule != null);
    health.windowOpened();
    retriedAtOpen = client.retried();
    phase(
        level.requests() == null ? Long.MAX_VALUE : level.requests(),
        now,
        level.duration() == null ? Long.MAX_VALUE : now + level.duration().toNanos());
  }

  private void phase(long wantedRequests, long beginNs, long closeAt) {
    wanted = wantedRequests;
    closeAtNs = closeAt;
    sent = 0;
    if (recorder != null && closeAt != Long.MAX_VALUE) {
      recorder.closeBy(closeAt);
    }
    if (level instanceof LoadPlan.Closed closed) {
      long users = Math.min(closed.concurrency(), wanted);
      for (long user = 0; user < users; user++) {
        sendNext(beginNs);
      }
    } else {
      schedule.begin(beginNs);
      sendDue(clock.getAsLong());
    }
  }

  private boolean maySend(long nowNs) {
    return !stopped && sent < wanted && nowNs < closeAtNs;
  }

  private void sendNext(long intendedNs) {
    sent++;
    outstanding++;
    Exchange exchange = idle.isEmpty() ? new Exchange() : idle.pop();
    exchange.start(intendedNs);
    CallSlot slot = new CallSlot();
    StreamClient.Call call = client.send(nextIndex++, exchange, slot::ended);
    slot.began(call);
  }

  /** Joins a call with its end, which may come before {@code send} has returned. */
  private final class CallSlot {
    private StreamClient.Call call;
    private boolean over;

    void began(StreamClient.Call begun) {
      call = begun;
      if (!over) {
        inFlight.add(begun);
      }
    }

    void ended(Exchange exchange) {
      over = true;
      inFlight.remove(call);
      if (recorder != null) {
        recorder.take(exchange);
        endedEvents += exchange.contentEvents();
      }
      boolean failedNow = exchange.failure() != null;
      idle.push(exchange);
      // Not from within the callback: a server that refuses at once must not grow the stack.
      if (failedNow && level.requests() == null) {
        vertx.setTimer(FAILURE_PAUSE_MS, ignored -> userIsFree());
      } else {
        vertx.getOrCreateContext().runOnContext(ignored -> userIsFree());
      }
    }
  }

  private void userIsFree() {
    outstanding--;
    if (result.isDone()) {
      return;
    }
    long now = clock.getAsLong();
    giveUpWhenHopeless(now);
    if (level instanceof LoadPlan.Closed) {
      if (maySend(now)) {
        sendNext(now);
        return;
      }
      if (recorder != null) {
        close(Math.min(now, closeAtNs));
      }
    }
    endPhaseWhenDrained(now);
  }

  private void sendDue(long nowNs) {
    while (maySend(schedule.nextNs()) && schedule.nextNs() <= nowNs) {
      long intended = schedule.nextNs();
      schedule.advance();
      sendNext(intended);
    }
    if (recorder != null && !maySend(schedule.nextNs())) {
      // The last request's own gap belongs to the schedule: n requests at rate r take n/r.
      long end = Math.min(schedule.nextNs(), closeAtNs);
      recorder.closeBy(end);
      if (nowNs >= end) {
        close(end);
      }
    }
  }

  private void close(long atNs) {
    if (windowClosed) {
      return;
    }
    windowClosed = true;
    recorder.closeBy(atNs);
    health.windowClosed();
    metricsAtClose = serverMetrics.get();
    if (level.duration() != null || schedule != null) {
      drainUntilNs = clock.getAsLong() + plan.drainLimit().toNanos();
    }
  }

  private void giveUpWhenHopeless(long nowNs) {
    int users = level instanceof LoadPlan.Closed closed ? closed.concurrency() : 8;
    if (recorder != null
        && !stopped
        && recorder.failed() >= Math.max(users, 8)
        && recorder.onlyFailed(SLOW_FAILURES)) {
      stop(nowNs, Failure.CANCELLED, "the level was given up: no request was answered in time");
    }
  }

  private void stop(long nowNs, String kind, String message) {
    stopped = true;
    partial |= !windowClosed || !inFlight.isEmpty();
    inFlight.abortAll(kind, message);
    if (recorder == null) {
      // Cancelled in the warm-up: a level without a window.
      recorder = new LevelRecorder(nowNs, schedule != null);
      health.windowOpened();
    }
    close(nowNs);
    endPhaseWhenDrained(nowNs);
  }

  private void endPhaseWhenDrained(long nowNs) {
    if (result.isDone() || outstanding > 0 || maySend(nowNs)) {
      return;
    }
    if (recorder == null) {
      open();
    } else if (windowClosed) {
      finish();
    }
  }

  private void finish() {
    publish();
    result.complete(
        recorder.report(level, health, client.retried() - retriedAtOpen, partial, metricsAtClose));
  }

  private void tick(long timer) {
    if (result.isDone()) {
      vertx.cancelTimer(timer);
      return;
    }
    long now = clock.getAsLong();
    health.ticked(now, (schedule == null ? TICK_MS : OPEN_LOOP_TICK_MS) * 1_000_000L);
    if (schedule != null && !stopped) {
      sendDue(now);
    }
    if (now >= limitsDueNs) {
      limitsDueNs = now + LIMITS_EVERY_NS;
      checkLimits(now);
    }
    if (schedule != null) {
      endPhaseWhenDrained(now);
    }
  }

  private void checkLimits(long now) {
    publish();
    if (cancel.cancelled() && !stopped) {
      stop(now, Failure.CANCELLED, "the run was cancelled");
      return;
    }
    if (now >= drainUntilNs) {
      inFlight.abortAll(
          Failure.CANCELLED,
          "did not end within the drain limit of " + InFlight.words(plan.drainLimit()));
      return;
    }
    if (level instanceof LoadPlan.Closed && recorder != null && now >= closeAtNs) {
      close(closeAtNs);
    }
    inFlight.checkLimits(now);
  }

  private void publish() {
    long events = endedEvents + inFlight.contentEvents();
    snapshot =
        recorder == null
            ? new Snapshot(true, 0, 0, 0)
            : new Snapshot(false, recorder.completed(), recorder.failed(), events);
  }
}
