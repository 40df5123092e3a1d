package dev.plumbline.campaign;

import static org.assertj.core.api.Assertions.assertThat;

import dev.plumbline.schemas.Fault;
import dev.plumbline.schemas.Step;
import dev.plumbline.schemas.campaign.CampaignRequested;
import dev.plumbline.schemas.campaign.CampaignState;
import dev.plumbline.schemas.campaign.Deadlines;
import dev.plumbline.schemas.command.Command;
import dev.plumbline.schemas.command.Job;
import dev.plumbline.schemas.event.CampaignEvent;
import dev.plumbline.schemas.event.CampaignEvent.CampaignCancelled;
import dev.plumbline.schemas.event.CampaignEvent.CampaignCompleted;
import dev.plumbline.schemas.event.CampaignEvent.CampaignFailed;
import dev.plumbline.schemas.event.CampaignEvent.CampaignRejected;
import dev.plumbline.schemas.event.StepEvent;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The turns of the story, one at a time. */
class CoordinatorTest {

  private final ModelLab lab = new ModelLab(Limits.defaults());

  @Test
  void anObservingCampaignStopsNothingAndGivesTheLeaseBack() {
    lab.request(Requests.observing("c1", "a"));
    List<Command> done = serveAll();

    assertThat(done)
        .extracting(c -> c.job().step())
        .containsExactly(
            Step.INSPECT, Step.LEASE, Step.MACRO, Step.LIVE_TRACE, Step.RESTORE, Step.ANALYSE);
    assertThat(done)
        .filteredOn(c -> c instanceof Command.RestoreServer)
        .singleElement()
        .isInstanceOfSatisfying(Command.RestoreServer.class, r -> assertThat(r.service()).isNull());
    assertThat(completed("c1").report().downtimeNs()).isZero();
  }

  @Test
  void anAnalysisTakesNoHost() {
    lab.request(Requests.full("holder", "a"));
    serveUntil(Step.MACRO);
    lab.request(Requests.analysing("c1", "a"));

    Command analyse = lab.commands.getLast();
    assertThat(analyse).isInstanceOf(Command.AnalyseTraces.class);
    assertThat(analyse.job().token()).isNull();
    lab.event(Results.of(analyse.job(), lab.now));
    assertThat(terminal("c1")).isInstanceOf(CampaignCompleted.class);
  }

  @Test
  void theServerComesBackBeforeTheAnalysis() {
    lab.request(Requests.full("c1", "a"));
    serveUntil(Step.ANALYSE);
    assertThat(lab.model("a").serverUp).isTrue();
    assertThat(lab.hosts.get("a").holder()).isNull();
  }

  @Test
  void downtimeRunsFromTheStopToTheProof() {
    lab.request(Requests.full("c1", "a"));
    Job free = serveUntil(Step.FREE).job();
    lab.event(Results.freed(free, lab.now, lab.now));
    Job deploy = lab.commands.removeLast().job();
    lab.pass(Duration.ofSeconds(10));
    lab.event(Results.of(deploy, lab.now));
    Job micro = lab.commands.removeLast().job();
    lab.pass(Duration.ofSeconds(13));
    lab.event(Results.of(micro, lab.now));
    lab.event(Results.of(lab.commands.removeLast().job(), lab.now));
    lab.event(Results.of(lab.commands.removeLast().job(), lab.now));
    lab.pass(Duration.ofSeconds(20));
    lab.event(Results.of(lab.commands.removeLast().job(), lab.now));
    assertThat(completed("c1").report().downtimeNs()).isEqualTo(23_000_000_000L);
  }

  @Test
  void theStopThatALostAttemptSawCountsForTheDowntime() {
    lab.request(Requests.full("c1", "a"));
    Job first = serveUntil(Step.FREE).job();
    StepEvent late = Results.freed(first, lab.now, lab.now);
    for (int i = 0; i < 12 && lab.commands.stream().noneMatch(c -> attempt(c, Step.FREE, 2)); i++) {
      lab.pass(Duration.ofSeconds(5));
    }
    // The second attempt finds the server down: it cannot know since when.
    Job second =
        lab.commands.stream().filter(c -> attempt(c, Step.FREE, 2)).findFirst().orElseThrow().job();
    lab.commands.clear();
    lab.event(late);
    assertThat(lab.commands).isEmpty();
    lab.event(Results.freed(second, lab.now, null));
    serveAll();
    assertThat(completed("c1").report().downtimeNs())
        .isEqualTo(Duration.between(late.at(), lab.now).toNanos());
  }

  @Test
  void everyFaultOfBothChecksIsTold() {
    lab.request(Requests.full("c1", "a"));
    Job inspect = lab.commands.removeFirst().job();
    lab.event(
        new StepEvent.HostInspected(
            "c1", Step.INSPECT, 1, lab.now, null, List.of(new Fault("host", "h"))));
    Job check = lab.commands.removeFirst().job();
    lab.event(
        new StepEvent.ScriptsChecked(
            "c1", Step.CHECK_SCRIPTS, 1, lab.now, List.of(new Fault("plan.scripts[0]", "s"))));

    assertThat(inspect.token()).isNull();
    assertThat(check.step()).isEqualTo(Step.CHECK_SCRIPTS);
    assertThat(terminal("c1"))
        .isInstanceOfSatisfying(
            CampaignRejected.class,
            r ->
                assertThat(r.faults())
                    .extracting(Fault::field)
                    .containsExactly("host", "plan.scripts[0]"));
    assertThat(lab.commands).isEmpty();
  }

  @Test
  void aHostThatCannotBeLookedAtRejectsTheCampaign() {
    lab.request(Requests.observing("c1", "a"));
    lab.event(failure(lab.commands.removeFirst().job(), false));
    assertThat(terminal("c1"))
        .isInstanceOfSatisfying(
            CampaignRejected.class,
            r -> assertThat(r.faults()).containsExactly(new Fault("host", "It broke.")));
  }

  @Test
  void eventsOfAnOldAttemptAreIgnored() {
    lab.request(Requests.full("c1", "a"));
    Job first = serveUntil(Step.MICRO).job();
    lab.event(failure(first, true));
    lab.pass(Duration.ofSeconds(3));
    Job second = lab.commands.removeLast().job();
    assertThat(second.attempt()).isEqualTo(2);

    lab.event(failure(first, false));
    lab.event(Results.of(first, lab.now));
    assertThat(state("c1")).isEqualTo(CampaignState.MICRO);
    assertThat(lab.commands).isEmpty();
    lab.event(Results.of(second, lab.now));
    assertThat(state("c1")).isEqualTo(CampaignState.TRACING);
  }

  @Test
  void aWorkerThatEndedWithUsIsAskedForTheSameAttemptOnceMore() {
    lab.request(Requests.full("c1", "a"));
    Command micro = serveUntil(Step.MICRO);
    lab.pass(Duration.ofSeconds(5));
    lab.restart();
    lab.pass(Duration.ofSeconds(9));
    assertThat(lab.commands).isEmpty();
    lab.pass(Duration.ofSeconds(1));
    assertThat(lab.commands).containsExactly(micro);
    assertThat(lab.campaigns.get("c1").progress().note()).contains("asked micro-bench again");

    lab.commands.clear();
    lab.pass(Duration.ofSeconds(15));
    assertThat(lab.commands).isEmpty();
    lab.event(Results.of(micro.job(), lab.now));
    assertThat(state("c1")).isEqualTo(CampaignState.TRACING);
  }

  @Test
  void aWorkerThatOutlivedUsIsLeftInPeace() {
    lab.request(Requests.full("c1", "a"));
    Job micro = serveUntil(Step.MICRO).job();
    lab.restart();
    lab.pass(Duration.ofSeconds(5));
    lab.event(new StepEvent.StepProgress("c1", Step.MICRO, 1, lab.now, 7, 1, 4L, "copy"));
    lab.pass(Duration.ofSeconds(20));
    assertThat(lab.commands).isEmpty();
    lab.event(Results.of(micro, lab.now));
    assertThat(state("c1")).isEqualTo(CampaignState.TRACING);
  }

  @Test
  void aRestoreProvenByAnOldAttemptCounts() {
    lab.request(Requests.full("c1", "a"));
    Job first = serveUntil(Step.RESTORE).job();
    lab.event(failure(first, true));
    lab.pass(Duration.ofSeconds(3));
    assertThat(lab.commands.removeLast().job().attempt()).isEqualTo(2);

    lab.event(Results.of(first, lab.now));
    assertThat(state("c1")).isEqualTo(CampaignState.ANALYSING);
    assertThat(lab.hosts.get("a").holder()).isNull();
  }

  @Test
  void aFailedStepKeepsWhatWasMeasured() {
    lab.request(Requests.full("c1", "a"));
    lab.event(failure(serveUntil(Step.MICRO).job(), false));
    serveAll();
    assertThat(terminal("c1"))
        .isInstanceOfSatisfying(
            CampaignFailed.class,
            f -> {
              assertThat(f.step()).isEqualTo(Step.MICRO);
              assertThat(f.reason()).isEqualTo("micro failed: It broke.");
              assertThat(f.restored()).isTrue();
              assertThat(f.report().macro()).isNotNull();
              assertThat(f.report().verdict().verdict()).isEqualTo("inconclusive");
            });
  }

  @Test
  void aCancelledStepIsWaitedForBeforeTheServerIsRestored() {
    lab.request(Requests.full("c1", "a"));
    Job micro = serveUntil(Step.MICRO).job();
    lab.cancel("c1");
    assertThat(lab.commands)
        .singleElement()
        .isInstanceOfSatisfying(
            Command.CancelStep.class, c -> assertThat(c.job().id()).isEqualTo(micro.id()));
    lab.commands.clear();

    // What it measured until then is kept.
    lab.event(Results.of(micro, lab.now));
    assertThat(lab.commands).singleElement().isInstanceOf(Command.RestoreServer.class);
    serveAll();
    assertThat(terminal("c1"))
        .isInstanceOfSatisfying(
            CampaignCancelled.class,
            c -> {
              assertThat(c.restored()).isTrue();
              assertThat(c.report().micro()).isNotNull();
            });
  }

  @Test
  void aCancelledStepThatDoesNotEndIsWaitedForOnlySoLong() {
    lab.request(Requests.full("c1", "a"));
    serveUntil(Step.MICRO);
    lab.cancel("c1");
    lab.commands.clear();
    lab.pass(Duration.ofSeconds(19));
    assertThat(lab.commands).isEmpty();
    lab.pass(Duration.ofSeconds(1));
    assertThat(lab.commands).singleElement().isInstanceOf(Command.RestoreServer.class);
  }

  @Test
  void theCampaignsLimitEndsItWhereverItIs() {
    CampaignRequested plain = Requests.full("c1", "a");
    lab.request(
        new CampaignRequested(
            "c1",
            "a",
            plain.service(),
            plain.plan(),
            new Deadlines(60.0, Map.of(Step.MACRO, 600.0)),
            false,
            null,
            null));
    Job macro = serveUntil(Step.MACRO).job();
    assertThat(macro.deadline()).isEqualTo(lab.now.plusSeconds(60));
    lab.request(Requests.full("c2", "a"));
    serveAll();
    lab.pass(Duration.ofSeconds(60));
    assertThat(lab.commands.removeFirst()).isInstanceOf(Command.CancelStep.class);
    lab.event(failure(macro, false));
    serveAll();

    assertThat(terminal("c1"))
        .isInstanceOfSatisfying(
            CampaignFailed.class,
            f -> assertThat(f.reason()).contains("time limit passed during macro"));
    assertThat(terminal("c2")).isInstanceOf(CampaignCompleted.class);
  }

  @Test
  void aRestoreThatFailsForHoursIsToldAndTriedOnWhileTheHostStaysClosed() {
    lab.model("a").neverRestores = true;
    lab.request(Requests.full("c1", "a"));
    serveUntil(Step.RESTORE);
    lab.request(Requests.observing("c2", "a"));
    for (int i = 0; i < 5 * 60; i++) {
      serveAll();
      lab.pass(Duration.ofMinutes(1));
    }
    assertThat(terminal("c1"))
        .isInstanceOfSatisfying(
            CampaignFailed.class,
            f -> {
              assertThat(f.restored()).isFalse();
              assertThat(f.step()).isEqualTo(Step.RESTORE);
              assertThat(f.reason()).contains("a could not be put back within 14400 s");
            });
    assertThat(state("c2")).isEqualTo(CampaignState.QUEUED);
    lab.request(Requests.observing("c3", "a"));
    assertThat(terminal("c3"))
        .isInstanceOfSatisfying(
            CampaignRejected.class,
            r -> assertThat(r.faults().getFirst().message()).contains("c1 is still owed"));

    // Somebody repairs it: the next attempt finds it well.
    lab.model("a").neverRestores = false;
    for (int i = 0; i < 10; i++) {
      lab.pass(Duration.ofMinutes(1));
      serveAll();
    }
    assertThat(lab.terminals("c1")).hasSize(1);
    assertThat(terminal("c2")).isInstanceOf(CampaignCompleted.class);
  }

  @Test
  void tokensOutliveALostStore() {
    assertThat(Host.unknown("a").lease("c1", lab.now).token()).isEqualTo(lab.now.getEpochSecond());
    Host held = new Host("a", lab.now.getEpochSecond() + 5, null, List.of(), null);
    assertThat(held.lease("c2", lab.now).token()).isEqualTo(lab.now.getEpochSecond() + 6);
  }

  private static boolean attempt(Command command, Step step, int number) {
    return !(command instanceof Command.CancelStep)
        && command.job().step() == step
        && command.job().attempt() == number;
  }

  private StepEvent failure(Job job, boolean retryable) {
    return new StepEvent.StepFailed(
        job.campaignId(), job.step(), job.attempt(), lab.now, "internal", "It broke.", retryable);
  }

  /** Lets the model's workers do everything up to the given step's command, which it takes. */
  private Command serveUntil(Step step) {
    while (lab.commands.getFirst().job().step() != step) {
      serveOne();
    }
    return lab.commands.removeFirst();
  }

  private List<Command> serveAll() {
    List<Command> done = new java.util.ArrayList<>();
    while (!lab.commands.isEmpty()) {
      done.add(serveOne());
    }
    return done;
  }

  private Command serveOne() {
    Command command = lab.commands.removeFirst();
    lab.work(command, 0);
    while (!lab.events.isEmpty()) {
      lab.event(lab.events.removeFirst());
    }
    return command;
  }

  private CampaignState state(String id) {
    return Statuses.state(lab.campaigns.get(id));
  }

  private CampaignEvent terminal(String id) {
    assertThat(lab.terminals(id)).hasSize(1);
    return lab.terminals(id).getFirst();
  }

  private CampaignCompleted completed(String id) {
    return (CampaignCompleted) terminal(id);
  }
}
