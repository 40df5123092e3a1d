package dev.plumbline.macroload;

import dev.plumbline.schemas.Fault;
import dev.plumbline.schemas.load.LoadReport;
import dev.plumbline.schemas.load.LoadSpec;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.file.FileSystemOptions;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;

/** A load run: the levels of a spec one after the other against one server, and their report. */
public final class LoadRun {

  private static final System.Logger LOG = System.getLogger(LoadRun.class.getName());
  private static final int OPEN_LOOP_CONNECTIONS = 20_000;

  /** Given-up connections hold their place in the pool until they are closed. */
  private static final int SPARE_CONNECTIONS = 64;

  private static final long PROGRESS_EVERY_MS = 500;

  private final LoadTarget target;
  private final LoadPlan plan;
  private final ProgressListener listener;
  private final CancelFlag cancel;
  private final long seed;
  private final long beganNs = System.nanoTime();
  private volatile boolean interrupted;

  private LoadRun(
      LoadTarget target, LoadPlan plan, ProgressListener listener, CancelFlag cancel, long seed) {
    this.target = target;
    this.plan = plan;
    this.listener = listener;
    this.cancel = cancel;
    this.seed = seed;
  }

  /** Everything that is wrong with what is asked for, by field; empty when it can be run. */
  public static List<Fault> faults(LoadTarget target, LoadSpec spec) {
    List<Fault> faults = new ArrayList<>();
    target.fault().ifPresent(faults::add);
    if (target.model() == null || target.model().isBlank()) {
      faults.add(new Fault("model", "is missing; give the name under which the server serves it"));
    }
    faults.addAll(LoadPlan.faults(spec));
    return faults;
  }

  /**
   * Runs all levels; blocks until the last one has drained. A server that fails, refuses or is not
   * there gives a report with failures counted, not an exception. Once cancelled (or the calling
   * thread interrupted, which stays so) it ends within a second, with what was measured until then
   * and the level marked partial.
   *
   * @throws IllegalArgumentException with one sentence per fault when the target or spec has {@link
   *     #faults}
   */
  public static LoadReport run(
      LoadTarget target, LoadSpec spec, ProgressListener listener, CancelFlag cancel) {
    // A new seed per run: prompts that no earlier run has sent, so that no prefix cache knows them.
    return run(target, spec, listener, cancel, ThreadLocalRandom.current().nextLong());
  }

  static LoadReport run(
      LoadTarget target, LoadSpec spec, ProgressListener listener, CancelFlag cancel, long seed) {
    List<Fault> faults = faults(target, spec);
    if (!faults.isEmpty()) {
      throw new IllegalArgumentException(
          faults.stream()
              .map(fault -> fault.field() + ": " + fault.message())
              .collect(Collectors.joining("; ")));
    }
    return new LoadRun(target, LoadPlan.of(spec), listener, cancel, seed).run();
  }

  private LoadReport run() {
    Vertx vertx = Vertx.vertx(vertxOptions());
    try (HttpClient control = HttpClient.newHttpClient()) {
      Requests requests = new Requests(target.model(), plan, seed);
      StreamClient client =
          new StreamClient(vertx, target, requests, connections(), System::nanoTime);
      List<LoadReport.Level> levels = levels(vertx, client, control);
      control.shutdownNow();
      return new LoadReport(
          target.url(),
          target.model(),
          plan.chat() ? "chat" : "completions",
          levels,
          ScalingFit.saturation(levels),
          ScalingFit.usl(levels));
    } finally {
      vertx.close().toCompletionStage().toCompletableFuture().join();
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private List<LoadReport.Level> levels(Vertx vertx, StreamClient client, HttpClient control) {
    Context loop = vertx.getOrCreateContext();
    warmUp(vertx, loop);
    List<LoadReport.Level> levels = new ArrayList<>();
    long index = 0;
    for (LoadPlan.Level level : plan.levels()) {
      try (ServerMetrics metrics = ServerMetrics.start(control, target)) {
        LevelRun run =
            new LevelRun(
                vertx,
                client,
                plan,
                level,
                index,
                metrics::values,
                this::isCancelled,
                System::nanoTime);
        LoadReport.Level result = await(run, run.start(loop), levels.size() + 1, level);
        index = run.nextIndex();
        levels.add(result);
        if (result.partial() || isCancelled()) {
          // Cancelled, or the server answers nothing in time: further levels would only repeat it.
          break;
        }
      }
    }
    return levels;
  }

  private void warmUp(Vertx vertx, Context loop) {
    try {
      ClientWarmup.run(vertx, loop);
    } catch (InterruptedException e) {
      interrupted = true;
    } catch (Exception e) {
      // The load can be measured all the same: a cold start shows as the client's delay in the
      // report.
      LOG.log(System.Logger.Level.WARNING, "the client could not warm itself up", e);
    }
  }

  private LoadReport.Level await(
      LevelRun run, CompletableFuture<LoadReport.Level> result, int number, LoadPlan.Level level) {
    long eventsBefore = 0;
    long lastNs = System.nanoTime();
    while (true) {
      try {
        return result.get(PROGRESS_EVERY_MS, TimeUnit.MILLISECONDS);
      } catch (TimeoutException e) {
        LevelRun.Snapshot now = run.snapshot();
        long nowNs = System.nanoTime();
        double perSecond = Math.max(0, now.contentEvents() - eventsBefore) * 1e9 / (nowNs - lastNs);
        eventsBefore = now.contentEvents();
        lastNs = nowNs;
        listener.progress(progress(now, number, level, perSecond, nowNs));
      } catch (InterruptedException e) {
        interrupted = true;
      } catch (ExecutionException e) {
        throw new IllegalStateException(
            "the load level " + level.words() + " failed: " + e.getCause().getMessage(),
            e.getCause());
      }
    }
  }

  private ProgressListener.Progress progress(
      LevelRun.Snapshot now, int number, LoadPlan.Level level, double perSecond, long nowNs) {
    return new ProgressListener.Progress(
        number,
        plan.levels().size(),
        level.words(),
        now.warmingUp(),
        now.completed() + now.failed(),
        now.failed(),
        level.requests(),
        perSecond,
        nowNs - beganNs);
  }

  private boolean isCancelled() {
    return interrupted || cancel.cancelled();
  }

  private int connections() {
    int most = 1;
    for (LoadPlan.Level level : plan.levels()) {
      most =
          Math.max(
              most,
              switch (level) {
                case LoadPlan.Closed closed -> closed.concurrency();
                case LoadPlan.Open open -> OPEN_LOOP_CONNECTIONS;
              });
    }
    return most + SPARE_CONNECTIONS;
  }

  /** One event loop carries the load, the other one the stream on which the client warms itself. */
  private static VertxOptions vertxOptions() {
    return new VertxOptions()
        .setEventLoopPoolSize(2)
        .setWorkerPoolSize(1)
        .setInternalBlockingPoolSize(1)
        .setPreferNativeTransport(true)
        .setBlockedThreadCheckInterval(Duration.ofMinutes(1).toMillis())
        .setFileSystemOptions(
            new FileSystemOptions()
                .setClassPathResolvingEnabled(false)
                .setFileCachingEnabled(false));
  }
}
