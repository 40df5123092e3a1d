package dev.plumbline.workerkit;

import dev.plumbline.schemas.Step;
import dev.plumbline.schemas.command.Command;
import dev.plumbline.schemas.command.Job;
import dev.plumbline.schemas.event.CampaignEvent;
import dev.plumbline.schemas.event.StepEvent;
import io.quarkus.runtime.ShutdownEvent;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Inject;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.jboss.logging.Logger;

/**
 * Accept, record, run: the message asks for work, it is not the work.
 *
 * <p>A command is checked, its start published and stored, then the returned stage completes, so
 * that the record is acknowledged; only then does the work run, on a virtual thread. A command that
 * comes again finds its attempt running and attaches to it, or ended and gets the same answer.
 */
@ApplicationScoped
public class StepRunner {

  private static final Logger LOG = Logger.getLogger(StepRunner.class);
  private static final Duration HEARTBEAT = Duration.ofSeconds(5);
  private static final Duration LONGEST_BACK_OFF = Duration.ofSeconds(30);
  private static final int ANSWERS_KEPT = 200;
  private static final int BACK_OFF_PER_HEARTBEAT = 5;
  private static final String GOING_DOWN = "the worker is going down";

  /** How long cancelled work may take before its waits are interrupted, in heartbeats. */
  private static final int CANCEL_GRACE_HEARTBEATS = 3;

  /** For the work to end when asked to, then when interrupted, then for what is left to say. */
  private static final Duration SHUTDOWN_WAIT = Duration.ofSeconds(3);

  private final Events events;
  private final Clock clock;
  private final Duration heartbeat;
  private final Map<String, StepRun> running = new HashMap<>();
  private final Map<String, StepEvent> answers =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, StepEvent> eldest) {
          return size() > ANSWERS_KEPT;
        }
      };
  private boolean stopping;

  @Inject
  public StepRunner(Events events, Clock clock) {
    this(events, clock, HEARTBEAT);
  }

  StepRunner(Events events, Clock clock, Duration heartbeat) {
    this.events = events;
    this.clock = clock;
    this.heartbeat = heartbeat;
  }

  /**
   * Takes a command; {@code CancelStep} is handled here.
   *
   * @param work for the command; not used for {@code CancelStep}
   * @return completes when the command may be acknowledged; fails when it names no attempt, or when
   *     its start could not be published
   */
  public CompletionStage<Void> accept(Command command, StepWork work) {
    Job job = command.job();
    String fault = fault(job);
    if (fault != null) {
      return CompletableFuture.failedFuture(
          new IllegalArgumentException(command.getClass().getSimpleName() + ": " + fault));
    }
    if (command instanceof Command.CancelStep cancel) {
      return cancel(cancel);
    }
    StepRun fresh = new StepRun(job, events, clock, heartbeat);
    StepEvent refusal = refusal(fresh);
    synchronized (this) {
      StepEvent answer = answers.get(job.id());
      if (answer != null) {
        return publish(answer);
      }
      if (running.containsKey(job.id())) {
        return CompletableFuture.completedFuture(null);
      }
      if (refusal != null) {
        answers.put(job.id(), refusal);
        return publish(refusal);
      }
      running.put(job.id(), fresh);
    }
    return start(fresh, work);
  }

  /** Answers a command that another worker should have got. */
  public CompletionStage<Void> refuse(Command command) {
    String name = command.getClass().getSimpleName();
    return accept(
        command,
        context -> {
          throw new StepFailure("invalid", name + " is not a command for this worker", false);
        });
  }

  /** Work that is too late must not begin: the coordinator has gone on without it. */
  private StepEvent refusal(StepRun fresh) {
    Instant deadline = fresh.job().deadline();
    if (deadline != null && deadline.isBefore(clock.instant())) {
      return fresh.failed(
          "time-out", "its deadline " + deadline + " had passed before the work began", true);
    }
    synchronized (this) {
      return stopping ? fresh.failed("interrupted", GOING_DOWN, true) : null;
    }
  }

  private CompletionStage<Void> start(StepRun run, StepWork work) {
    Job job = run.job();
    return publish(run.started())
        .handle(
            (ok, failure) -> {
              if (failure != null) {
                end(run);
                throw new CompletionException(
                    "the start of " + job.id() + " could not be published", failure);
              }
              log("step started", job, "");
              Thread.ofVirtual().name("step " + job.id()).start(() -> finish(run, run.run(work)));
              return null;
            });
  }

  /** Publishes the answer until it is stored: the work behind it may have taken an hour. */
  private void finish(StepRun run, StepEvent answer) {
    Job job = run.job();
    log("step ended", job, said(answer));
    StepEvent current = answer;
    Duration backOff = heartbeat.dividedBy(BACK_OFF_PER_HEARTBEAT);
    try {
      while (true) {
        synchronized (this) {
          answers.put(job.id(), current);
        }
        Throwable failure =
            publish(current).handle((ok, t) -> cause(t)).toCompletableFuture().get();
        if (failure == null) {
          return;
        }
        LOG.warnf("answer not published job=%s: %s", job.id(), failure);
        if (failure instanceof IllegalArgumentException && current == answer) {
          current = run.failed("internal", failure.getMessage(), false);
          continue;
        }
        Thread.sleep(backOff);
        Duration doubled = backOff.multipliedBy(2);
        backOff = doubled.compareTo(LONGEST_BACK_OFF) < 0 ? doubled : LONGEST_BACK_OFF;
      }
    } catch (InterruptedException | ExecutionException e) {
      LOG.errorf("answer lost, the worker is going down job=%s", job.id());
    } finally {
      end(run);
    }
  }

  private CompletionStage<Void> cancel(Command.CancelStep cancel) {
    Job job = cancel.job();
    StepRun run;
    StepEvent answer;
    synchronized (this) {
      run = running.get(job.id());
      answer = answers.get(job.id());
      if (run == null && answer == null) {
        // Kept, so that the command itself, should it come after this, is not begun.
        answer =
            new StepRun(job, events, clock, heartbeat)
                .failed("cancelled", cancel.reason() + "; it was not running here", false);
        answers.put(job.id(), answer);
      }
    }
    if (answer != null) {
      return publish(answer);
    }
    log("step cancelled", job, " reason=" + cancel.reason());
    run.stop("cancelled", cancel.reason(), false);
    CompletableFuture.delayedExecutor(
            heartbeat.multipliedBy(CANCEL_GRACE_HEARTBEATS).toMillis(), TimeUnit.MILLISECONDS)
        .execute(run::interrupt);
    return CompletableFuture.completedFuture(null);
  }

  void onShutdown(@Observes ShutdownEvent event) {
    shutdown(SHUTDOWN_WAIT);
  }

  /** Ends all work; each attempt is answered, so that the coordinator can try again at once. */
  void shutdown(Duration wait) {
    List<StepRun> left;
    synchronized (this) {
      stopping = true;
      left = List.copyOf(running.values());
    }
    left.forEach(run -> run.stop("interrupted", GOING_DOWN, true));
    left = leftAfter(left, wait);
    left.forEach(StepRun::interrupt);
    left = leftAfter(left, wait);
    CompletableFuture.allOf(
            left.stream()
                .map(run -> publish(run.failed("interrupted", GOING_DOWN, true)))
                .map(CompletionStage::toCompletableFuture)
                .toArray(CompletableFuture[]::new))
        .completeOnTimeout(null, wait.toMillis(), TimeUnit.MILLISECONDS)
        .exceptionally(failure -> null)
        .join();
  }

  private static List<StepRun> leftAfter(List<StepRun> runs, Duration wait) {
    CompletableFuture.allOf(runs.stream().map(StepRun::over).toArray(CompletableFuture[]::new))
        .completeOnTimeout(null, wait.toMillis(), TimeUnit.MILLISECONDS)
        .join();
    return runs.stream().filter(run -> !run.over().isDone()).toList();
  }

  private void end(StepRun run) {
    synchronized (this) {
      running.remove(run.job().id());
    }
    run.over().complete(null);
  }

  private CompletionStage<Void> publish(CampaignEvent event) {
    try {
      return events.publish(event);
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private static Throwable cause(Throwable failure) {
    return failure instanceof CompletionException && failure.getCause() != null
        ? failure.getCause()
        : failure;
  }

  private static String fault(Job job) {
    if (job == null || job.campaignId() == null || job.campaignId().isBlank()) {
      return "it names no campaign";
    }
    if (job.step() == null || job.step() == Step.UNKNOWN) {
      return "it names no known step";
    }
    return job.attempt() < 1 ? "the attempt must be 1 or more but is " + job.attempt() : null;
  }

  private static String said(StepEvent answer) {
    return answer instanceof StepEvent.StepFailed failed
        ? " code=" + failed.code() + " reason=" + failed.reason()
        : " event=" + answer.kind();
  }

  private static void log(String what, Job job, String more) {
    LOG.infof(
        "%s campaign=%s step=%s attempt=%d host=%s%s",
        what, job.campaignId(), job.step().id(), job.attempt(), job.host(), more);
  }
}
