package dev.plumbline.lab;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * Continuous batching: one loop, one step for all active requests, one token for each of them per
 * step. A step lasts as long as the scenario says for its batch; requests are taken in between two
 * steps, their prompts lengthen the step that takes them in.
 */
final class Engine implements AutoCloseable {

  /** A request in the engine; its fields belong to the engine's thread. */
  static final class Request {
    final int promptTokens;
    final int maxTokens;
    final Object client;
    volatile boolean gone;
    int done;

    Request(int promptTokens, int maxTokens, Object client) {
      this.promptTokens = promptTokens;
      this.maxTokens = maxTokens;
      this.client = client;
    }
  }

  /** One token for one request. */
  record Token(Request request, int index, boolean last) {}

  /**
   * A step that ran.
   *
   * @param startNs on the monotonic clock
   * @param contexts requests whose prompt was taken in, with {@code contextTokens} tokens together
   * @param generations requests that decoded one token
   */
  record Step(long startNs, long durationNs, int contexts, int contextTokens, int generations) {
    int batch() {
      return contexts + generations;
    }

    boolean decodeOnly() {
      return contexts == 0;
    }
  }

  /** A late step is followed at once by the next, so that a busy machine does not slow the lab. */
  private static final long CATCH_UP_NS = TimeUnit.MILLISECONDS.toNanos(200);

  /** More steps than this are not kept for a trace; a real profiler is limited likewise. */
  static final int MAX_PROFILED_STEPS = 48;

  private final Scenario scenario;
  private final Consumer<List<Token>> deliver;
  private final BlockingQueue<Request> inbox = new LinkedBlockingQueue<>();
  private final Deque<Request> waiting = new ArrayDeque<>();
  private final List<Request> active = new ArrayList<>();
  private final AtomicLong generated = new AtomicLong();
  private final AtomicLong prompted = new AtomicLong();
  private final Thread thread;
  private volatile boolean running = true;
  private volatile int activeNow;
  private volatile int waitingNow;
  private volatile List<Step> profile;

  Engine(Scenario scenario, Consumer<List<Token>> deliver) {
    this.scenario = scenario;
    this.deliver = deliver;
    this.thread = Thread.ofPlatform().daemon().name("lab-engine").unstarted(this::loop);
  }

  void start() {
    thread.start();
  }

  void submit(Request request) {
    inbox.add(request);
  }

  int active() {
    return activeNow;
  }

  int waiting() {
    return waitingNow + inbox.size();
  }

  long generatedTokens() {
    return generated.get();
  }

  long promptTokens() {
    return prompted.get();
  }

  /** Begins to record steps; false if that is being done already. */
  synchronized boolean startProfile() {
    if (profile != null) {
      return false;
    }
    profile = new ArrayList<>();
    return true;
  }

  /** The steps since {@link #startProfile}, or null if it was not called. */
  synchronized List<Step> stopProfile() {
    List<Step> steps = profile;
    profile = null;
    return steps == null ? null : List.copyOf(steps);
  }

  private void loop() {
    long end = System.nanoTime();
    while (running) {
      try {
        admit();
      } catch (InterruptedException e) {
        return;
      }
      long now = System.nanoTime();
      // Back to back unless there was nothing to do.
      long start = now - end < CATCH_UP_NS && activeNow > 0 ? end : now;
      int contexts = 0;
      int contextTokens = 0;
      for (Request r : active) {
        if (r.done == 0) {
          contexts++;
          contextTokens += r.promptTokens;
        }
      }
      int batch = active.size();
      activeNow = batch;
      long duration = scenario.stepNs(batch, contextTokens);
      end = start + duration;
      while (running && System.nanoTime() < end) {
        LockSupport.parkNanos(end - System.nanoTime());
      }
      record(new Step(start, duration, contexts, contextTokens, batch - contexts));
      prompted.addAndGet(contextTokens);
      hand();
      activeNow = active.size();
    }
  }

  private void admit() throws InterruptedException {
    inbox.drainTo(waiting);
    active.removeIf(r -> r.gone);
    if (active.isEmpty() && waiting.isEmpty()) {
      activeNow = 0;
      waiting.add(inbox.take());
      inbox.drainTo(waiting);
    }
    while (active.size() < scenario.engine().maxBatch() && !waiting.isEmpty()) {
      active.add(waiting.poll());
    }
    waitingNow = waiting.size();
  }

  private void hand() {
    List<Token> tokens = new ArrayList<>(active.size());
    for (Request r : active) {
      r.done++;
      tokens.add(new Token(r, r.done - 1, r.done >= r.maxTokens));
    }
    active.removeIf(r -> r.done >= r.maxTokens);
    generated.addAndGet(tokens.size());
    deliver.accept(tokens);
  }

  private synchronized void record(Step step) {
    List<Step> steps = profile;
    if (steps != null && steps.size() < MAX_PROFILED_STEPS) {
      steps.add(step);
    }
  }

  @Override
  public void close() {
    running = false;
    thread.interrupt();
  }
}
