package dev.plumbline.workerkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import dev.plumbline.schemas.Step;
import dev.plumbline.schemas.command.Command;
import dev.plumbline.schemas.command.Job;
import dev.plumbline.schemas.event.CampaignEvent;
import dev.plumbline.schemas.event.StepEvent;
import dev.plumbline.schemas.event.StepEvent.ScriptsChecked;
import dev.plumbline.schemas.event.StepEvent.StepFailed;
import dev.plumbline.schemas.event.StepEvent.StepProgress;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class StepRunnerTest {

  private static final Instant NOW = Instant.parse("2026-01-01T12:00:00Z");
  private static final Duration NEVER = Duration.ofHours(1);
  private static final Duration QUICK = Duration.ofMillis(20);

  private final Recorded events = new Recorded();
  private final StepRunner runner = runner(NEVER);

  private StepRunner runner(Duration heartbeat) {
    return new StepRunner(events, Clock.fixed(NOW, ZoneOffset.UTC), heartbeat);
  }

  /** Keeps what was published; fails while it is told to. */
  private static final class Recorded implements Events {
    final List<CampaignEvent> all = new CopyOnWriteArrayList<>();
    final AtomicInteger failures = new AtomicInteger();
    volatile RuntimeException failure = new IllegalStateException("no broker");
    volatile CompletableFuture<Void> stored = CompletableFuture.completedFuture(null);

    @Override
    public CompletionStage<Void> publish(CampaignEvent event) {
      if (!(event instanceof StepEvent.StepStarted) && failures.getAndDecrement() > 0) {
        return CompletableFuture.failedFuture(failure);
      }
      all.add(event);
      return stored;
    }

    List<String> kinds() {
      return all.stream().map(CampaignEvent::kind).toList();
    }

    StepFailed failed() {
      await().until(() -> all.stream().anyMatch(StepFailed.class::isInstance));
      return (StepFailed) all.stream().filter(StepFailed.class::isInstance).findFirst().get();
    }
  }

  private static Job job(int attempt) {
    return new Job("c-1", Step.CHECK_SCRIPTS, attempt, "lab-1", null, NOW.plusSeconds(60));
  }

  private static Command command(Job job) {
    return new Command.CheckScripts(job, List.of());
  }

  private static StepEvent result(StepContext context) {
    Job job = context.job();
    return new ScriptsChecked(
        job.campaignId(), job.step(), job.attempt(), context.now(), List.of());
  }

  @Test
  void theStartIsStoredBeforeTheAcknowledgementAndTheWork() {
    // Given a broker that has not yet stored the start
    AtomicBoolean worked = new AtomicBoolean();
    events.stored = new CompletableFuture<>();
    CompletableFuture<Void> acknowledged =
        runner
            .accept(
                command(job(1)),
                context -> {
                  worked.set(true);
                  return result(context);
                })
            .toCompletableFuture();
    assertThat(events.kinds()).containsExactly("StepStarted");
    assertThat(acknowledged).isNotDone();
    assertThat(worked).isFalse();
    // When it has
    events.stored.complete(null);
    // Then
    assertThat(acknowledged).isCompleted();
    await().until(() -> events.kinds().equals(List.of("StepStarted", "ScriptsChecked")));
    assertThat(events.all.getLast().id()).isEqualTo("c-1/check-scripts/1/ScriptsChecked");
    assertThat(events.all.getLast().at()).isEqualTo(NOW);
  }

  @Test
  void workOutlivesTheAcknowledgement() throws Exception {
    CountDownLatch end = new CountDownLatch(1);
    CompletableFuture<Void> acknowledged =
        runner
            .accept(
                command(job(1)),
                context -> {
                  end.await();
                  return result(context);
                })
            .toCompletableFuture();
    acknowledged.get();
    assertThat(events.kinds()).containsExactly("StepStarted");
    end.countDown();
    await().until(() -> events.kinds().contains("ScriptsChecked"));
  }

  @Test
  void aDuplicateAttachesToTheRunningAttemptAndGetsTheSameAnswerLater() {
    AtomicInteger runs = new AtomicInteger();
    CountDownLatch end = new CountDownLatch(1);
    StepWork work =
        context -> {
          runs.incrementAndGet();
          end.await();
          return result(context);
        };
    runner.accept(command(job(1)), work);
    assertThat(runner.accept(command(job(1)), work).toCompletableFuture()).isCompleted();
    end.countDown();
    await().until(() -> events.kinds().equals(List.of("StepStarted", "ScriptsChecked")));
    runner.accept(command(job(1)), work);
    await()
        .until(
            () ->
                events.kinds().equals(List.of("StepStarted", "ScriptsChecked", "ScriptsChecked")));
    assertThat(events.all.get(2)).isEqualTo(events.all.get(1));
    assertThat(runs).hasValue(1);
    // Another attempt is other work.
    runner.accept(command(job(2)), work);
    await().until(() -> runs.get() == 2);
  }

  @Test
  void aFailureSaysCodeReasonAndWhetherToRetry() {
    runner.accept(
        command(job(1)),
        context -> {
          throw new StepFailure("refused", "the unit is not loaded", false);
        });
    assertThat(events.failed())
        .isEqualTo(
            new StepFailed(
                "c-1", Step.CHECK_SCRIPTS, 1, NOW, "refused", "the unit is not loaded", false));
  }

  @Test
  void aHostsFailureKeepsItsCode() {
    runner.accept(
        command(job(1)),
        context -> {
          throw StepFailure.of(new HostException("unreachable", "no route", true));
        });
    assertThat(events.failed().code()).isEqualTo("unreachable");
    assertThat(events.failed().retryable()).isTrue();
  }

  @Test
  void brokenWorkIsAnsweredToo() {
    runner.accept(
        command(job(1)),
        context -> {
          throw new IllegalStateException("a bug");
        });
    assertThat(events.failed().code()).isEqualTo("internal");
    assertThat(events.failed().reason()).contains("a bug");
  }

  @Test
  void silentWorkGivesSignsOfLifeThatEndWithTheResult() {
    StepRunner quick = runner(QUICK);
    CountDownLatch end = new CountDownLatch(1);
    quick.accept(
        command(job(1)),
        context -> {
          context.progress(3, 9L, "level 4");
          end.await();
          return result(context);
        });
    await().until(() -> events.all.size() >= 4);
    end.countDown();
    await().until(() -> events.kinds().contains("ScriptsChecked"));
    assertThat(events.kinds().getLast()).isEqualTo("ScriptsChecked");
    List<StepProgress> signs =
        events.all.stream()
            .filter(StepProgress.class::isInstance)
            .map(StepProgress.class::cast)
            .toList();
    assertThat(signs.getFirst())
        .isEqualTo(new StepProgress("c-1", Step.CHECK_SCRIPTS, 1, NOW, 1, 3, 9L, "level 4"));
    assertThat(signs).extracting(StepProgress::sequence).isSorted().doesNotHaveDuplicates();
  }

  @Test
  void talkativeWorkIsNotPublishedWordByWord() {
    runner.accept(
        command(job(1)),
        context -> {
          for (int i = 0; i < 1000; i++) {
            context.progress(i, 1000L, null);
          }
          return result(context);
        });
    await().until(() -> events.kinds().contains("ScriptsChecked"));
    assertThat(events.kinds()).containsExactly("StepStarted", "StepProgress", "ScriptsChecked");
  }

  @Test
  void cancellingEndsTheWorkWithItsReason() {
    CountDownLatch actions = new CountDownLatch(2);
    runner.accept(
        command(job(1)),
        context -> {
          context.onCancel(actions::countDown);
          context.onCancel(actions::countDown);
          actions.await();
          context.checkCancelled();
          return result(context);
        });
    assertThat(
            runner
                .accept(new Command.CancelStep(job(1), "the user said so"), null)
                .toCompletableFuture())
        .isCompleted();
    assertThat(events.failed().code()).isEqualTo("cancelled");
    assertThat(events.failed().reason()).isEqualTo("the user said so");
    assertThat(events.failed().retryable()).isFalse();
  }

  @Test
  void whatGoesWrongWhileCancellingIsNotHidden() throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(1);
    runner.accept(
        command(job(1)),
        context -> {
          CountDownLatch cancelled = new CountDownLatch(1);
          context.onCancel(cancelled::countDown);
          begun.countDown();
          cancelled.await();
          throw new StepFailure("failed", "still alive after SIGKILL: 4711", false);
        });
    begun.await();
    runner.accept(new Command.CancelStep(job(1), "enough"), null);
    assertThat(events.failed().code()).isEqualTo("cancelled");
    assertThat(events.failed().reason()).startsWith("enough").contains("4711");
  }

  @Test
  void workThatDoesNotHeedTheCancellationIsInterrupted() {
    StepRunner quick = runner(QUICK);
    quick.accept(
        command(job(1)),
        context -> {
          new CountDownLatch(1).await();
          return result(context);
        });
    quick.accept(new Command.CancelStep(job(1), "enough"), null);
    assertThat(events.failed().code()).isEqualTo("cancelled");
  }

  @Test
  void aCancellationBeforeItsCommandKeepsItFromRunning() {
    runner.accept(new Command.CancelStep(job(1), "enough"), null);
    assertThat(events.failed().code()).isEqualTo("cancelled");
    runner.accept(
        command(job(1)),
        context -> {
          throw new IllegalStateException("must not run");
        });
    assertThat(events.kinds()).containsExactly("StepFailed", "StepFailed");
    assertThat(events.all.get(1)).isEqualTo(events.all.get(0));
  }

  @Test
  void aCancellationAfterTheEndGetsTheResultAgain() {
    runner.accept(command(job(1)), StepRunnerTest::result);
    await().until(() -> events.kinds().contains("ScriptsChecked"));
    runner.accept(new Command.CancelStep(job(1), "enough"), null);
    assertThat(events.kinds()).containsExactly("StepStarted", "ScriptsChecked", "ScriptsChecked");
  }

  @Test
  void workWhoseDeadlineHasPassedDoesNotBegin() {
    Job late = new Job("c-1", Step.CHECK_SCRIPTS, 1, "lab-1", null, NOW.minusSeconds(1));
    runner.accept(
        command(late),
        context -> {
          throw new IllegalStateException("must not run");
        });
    assertThat(events.kinds()).containsExactly("StepFailed");
    assertThat(events.failed().code()).isEqualTo("time-out");
  }

  @Test
  void aCommandThatNamesNoAttemptIsNotAcknowledged() {
    for (Job bad :
        new Job[] {
          null,
          new Job(" ", Step.DEPLOY, 1, "h", null, null),
          new Job("c", null, 1, "h", null, null),
          new Job("c", Step.UNKNOWN, 1, "h", null, null),
          new Job("c", Step.DEPLOY, 0, "h", null, null)
        }) {
      Throwable failure =
          catchThrowable(
              () ->
                  runner.accept(command(bad), StepRunnerTest::result).toCompletableFuture().get());
      assertThat(failure).hasMessageContaining("CheckScripts: ");
    }
    assertThat(events.all).isEmpty();
  }

  @Test
  void aCommandForAnotherWorkerIsAnswered() {
    runner.refuse(command(job(1)));
    assertThat(events.failed().code()).isEqualTo("invalid");
    assertThat(events.failed().reason()).contains("CheckScripts");
  }

  @Test
  void aStartThatCannotBePublishedIsNotAcknowledgedAndMayComeAgain() {
    events.stored = CompletableFuture.failedFuture(new IllegalStateException("no broker"));
    assertThat(runner.accept(command(job(1)), StepRunnerTest::result).toCompletableFuture())
        .isCompletedExceptionally();
    events.stored = CompletableFuture.completedFuture(null);
    runner.accept(command(job(1)), StepRunnerTest::result);
    await().until(() -> events.kinds().contains("ScriptsChecked"));
  }

  @Test
  void aResultIsPublishedAgainUntilItIsStored() {
    events.failures.set(3);
    runner(QUICK).accept(command(job(1)), StepRunnerTest::result);
    await().until(() -> events.kinds().contains("ScriptsChecked"));
  }

  @Test
  void aResultThatCanNeverBeStoredBecomesAFailure() {
    events.failure = new IllegalArgumentException("the event is too large");
    events.failures.set(1);
    runner.accept(command(job(1)), StepRunnerTest::result);
    assertThat(events.failed().code()).isEqualTo("internal");
    assertThat(events.failed().reason()).isEqualTo("the event is too large");
    assertThat(events.failed().retryable()).isFalse();
  }

  @Test
  void aShutdownAnswersWhatRunsAndTakesNothingNew() {
    CountDownLatch begun = new CountDownLatch(2);
    runner.accept(
        command(job(1)),
        context -> {
          CountDownLatch cancelled = new CountDownLatch(1);
          context.onCancel(cancelled::countDown);
          begun.countDown();
          cancelled.await();
          context.checkCancelled();
          return result(context);
        });
    runner.accept(
        command(job(2)),
        context -> {
          begun.countDown();
          new CountDownLatch(1).await();
          return result(context);
        });
    await().until(() -> begun.getCount() == 0);
    runner.shutdown(QUICK);
    runner.accept(command(job(3)), StepRunnerTest::result);
    await().until(() -> events.kinds().stream().filter("StepFailed"::equals).count() >= 3);
    assertThat(events.all.stream().filter(StepFailed.class::isInstance).map(StepFailed.class::cast))
        .allSatisfy(
            failed -> {
              assertThat(failed.code()).isEqualTo("interrupted");
              assertThat(failed.retryable()).isTrue();
            })
        .extracting(StepFailed::attempt)
        .contains(1, 2, 3);
  }
}
