package dev.plumbline.gpulifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.plumbline.schemas.Step;
import dev.plumbline.schemas.command.Command;
import dev.plumbline.schemas.command.Job;
import dev.plumbline.schemas.event.StepEvent.ServerRestored;
import dev.plumbline.workerkit.StepFailure;
import org.junit.jupiter.api.Test;

class RestoringTest {

  private final Given given = new Given();
  private final ScriptedHost host = ScriptedHost.serving();

  private void freed() throws Exception {
    Job job = given.job(Step.FREE);
    new Freeing(Settings.defaults(), given.time, given.time, given.leases(host), given.renewal())
        .run(host, new Command.FreeGpus(job, Given.VLLM, false), given.context(job));
    host.deeds.clear();
    given.published.clear();
  }

  private ServerRestored restore() throws Exception {
    Job job = given.job(Step.RESTORE);
    return new Restoring(
            Settings.defaults(), given.time, given.time, given.leases(host), given.endPoints())
        .run(host, new Command.RestoreServer(job, Given.VLLM), given.context(job));
  }

  @Test
  void startsProvesDisarmsAndGivesTheHostBack() throws Exception {
    freed();
    ServerRestored restored = restore();
    assertThat(host.deeds)
        .containsExactly(
            "lease check 7",
            "start",
            "disarm",
            "wrote c1.done.json",
            "lease release 7",
            "published restoreOwed=false");
    assertThat(restored.proof()).isEqualTo("Ready.");
    assertThat(restored.restoredAt()).isNotNull();
    assertThat(given.published.getFirst().holder()).isNull();
  }

  @Test
  void aSecondTimeSaysTheSameAndStartsNothing() throws Exception {
    freed();
    ServerRestored first = restore();
    host.deeds.clear();
    ServerRestored second = restore();
    assertThat(second.restoredAt()).isEqualTo(first.restoredAt());
    assertThat(second.proof()).isEqualTo(first.proof());
    assertThat(host.deeds).containsExactly("lease release 7", "published restoreOwed=false");
  }

  @Test
  void whatWasNeverStoppedIsNotStarted() throws Exception {
    ServerRestored restored = restore();
    assertThat(restored.restoredAt()).isNull();
    assertThat(host.deeds).containsExactly("lease release 7", "published restoreOwed=false");
  }

  @Test
  void findsThatTheSwitchDidIt() throws Exception {
    freed();
    host.fired = true;
    host.onStart.run();
    ServerRestored restored = restore();
    assertThat(host.deeds).doesNotContain("start").contains("disarm");
    assertThat(restored.actions()).anyMatch(a -> a.contains("by itself"));
  }

  /** vllm 39863: healthy, models listed, completions hang. */
  @Test
  void aServerThatCompletesNothingIsNotBack() throws Exception {
    freed();
    given.completionTrouble = "http://lab-1:8000 did not answer within 60 s";
    assertThatThrownBy(this::restore)
        .isInstanceOf(StepFailure.class)
        .hasMessageContaining("`systemctl start vllm.service`")
        .hasMessageContaining("did not answer within")
        .matches(e -> ((StepFailure) e).retryable());
    // Restarted once, never disarmed, still owed.
    assertThat(host.deeds(d -> d.startsWith("systemctl stop"))).hasSize(1);
    assertThat(host.deeds(d -> d.equals("start"))).hasSize(2);
    assertThat(host.deeds).doesNotContain("disarm");
    assertThat(host.files).containsKey("/home/lab/.plumbline/restore/c1.json");
    assertThat(given.published).isEmpty();

    // The next attempt only waits: a server that is restarted each time never loads.
    host.deeds.clear();
    assertThatThrownBy(this::restore).isInstanceOf(StepFailure.class);
    assertThat(host.deeds(d -> d.startsWith("systemctl stop") || d.equals("start"))).isEmpty();
  }

  /** A limit shorter than the service needs: the attempts together wait long enough. */
  @Test
  void anAttemptThatIsTooShortLeavesTheServerToLoad() throws Exception {
    freed();
    given.completionTrouble = "http://lab-1:8000 did not answer";
    Job brief = new Job("c1", Step.RESTORE, 1, "lab-1", 7L, given.time.instant().plusSeconds(2));
    Restoring restoring =
        new Restoring(
            Settings.defaults(), given.time, given.time, given.leases(host), given.endPoints());
    assertThatThrownBy(
            () ->
                restoring.run(
                    host, new Command.RestoreServer(brief, Given.VLLM), given.context(brief)))
        .isInstanceOf(StepFailure.class)
        .matches(e -> ((StepFailure) e).retryable());
    assertThat(host.deeds(d -> d.startsWith("systemctl stop"))).isEmpty();
    assertThat(host.deeds(d -> d.equals("start"))).hasSize(1);

    given.completionTrouble = null;
    host.deeds.clear();
    assertThat(restore().proof()).isEqualTo("Ready.");
    assertThat(host.deeds).doesNotContain("start");
  }

  @Test
  void startsAgainWhenTheServiceEnded() throws Exception {
    freed();
    int[] starts = {0};
    Runnable start = host.onStart;
    host.onStart =
        () -> {
          // The first start fails as with a port that is still in use.
          if (++starts[0] > 1) {
            given.completionTrouble = null;
            start.run();
          }
        };
    given.completionTrouble = "http://lab-1:8000 refuses the connection";
    assertThat(restore().proof()).isEqualTo("Ready.");
    assertThat(starts[0]).isEqualTo(2);
  }

  @Test
  void aSickToolDoesNotKeepTheRestoreOwed() throws Exception {
    freed();
    host.gpus = () -> ScriptedHost.failed(9, "NVIDIA-SMI has failed", "");
    ServerRestored restored = restore();
    assertThat(restored.restoredAt()).isNotNull();
    assertThat(restored.after()).isNull();
  }

  @Test
  void anotherCampaignIsNotLeasedAHostThatOwes() throws Exception {
    freed();
    Job other = new Job("c2", Step.LEASE, 1, "lab-1", 8L, given.time.instant().plusSeconds(60));
    Leasing leasing =
        new Leasing(Settings.defaults(), given.time, given.leases(host), given.endPoints());
    given.completionTrouble = "nothing listens";
    assertThatThrownBy(() -> leasing.run(host, new Command.AcquireLease(other)))
        .isInstanceOf(StepFailure.class)
        .hasMessageContaining("still owes a restore since campaign c1");
    // Somebody started it by hand: the debt is closed, the lease given.
    given.completionTrouble = null;
    assertThat(leasing.run(host, new Command.AcquireLease(other)).lease().holder()).isEqualTo("c2");
    assertThat(host.files).doesNotContainKey("/home/lab/.plumbline/restore/c1.json");
  }
}
