package dev.plumbline.gpulifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.plumbline.schemas.Step;
import dev.plumbline.schemas.campaign.ServiceUnderTest;
import dev.plumbline.schemas.command.Command;
import dev.plumbline.schemas.command.Job;
import dev.plumbline.schemas.event.StepEvent.GpusFreed;
import dev.plumbline.workerkit.StepFailure;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class FreeingTest {

  private final Given given = new Given();
  private final ScriptedHost host = ScriptedHost.serving();

  private GpusFreed free(ServiceUnderTest service, boolean allowNoGpu) throws Exception {
    Job job = given.job(Step.FREE);
    return new Freeing(
            Settings.defaults(), given.time, given.time, given.leases(host), given.renewal())
        .run(host, new Command.FreeGpus(job, service, allowNoGpu), given.context(job));
  }

  @Test
  void recordsArmsAndSaysSoBeforeItStops() throws Exception {
    GpusFreed freed = free(Given.VLLM, false);
    assertThat(host.deeds(d -> !d.startsWith("wrote baseline")))
        .startsWith("lease check 7", "wrote c1.json", "arm", "wrote c1.json")
        .containsSubsequence("arm", "published restoreOwed=true", "systemctl stop -- vllm.service");
    assertThat(freed.before().holders()).extracting("pid").containsExactly(9_000_102L, 9_000_103L);
    assertThat(freed.before().service().mainPid()).isEqualTo(9_000_100L);
    assertThat(freed.after().holders()).isEmpty();
    assertThat(freed.after().service().active()).isEqualTo("inactive");
    assertThat(freed.stoppedAt()).isNotNull();
    assertThat(host.deeds(d -> d.startsWith("SIG"))).isEmpty();
  }

  @Test
  void aStopThatFailsIsToldByTheCommandAsAPersonWouldTypeIt() {
    host.stopTrouble = "Failed to stop vllm.service: Connection timed out";
    assertThatThrownBy(() -> free(Given.VLLM, false))
        .isInstanceOf(StepFailure.class)
        .hasMessage(
            "`systemctl stop -- vllm.service` on host lab-1 failed with status 1: Failed to stop"
                + " vllm.service: Connection timed out");
    assertThat(host.active).isTrue();
    assertThat(host.files).containsKey("/home/lab/.plumbline/restore/c1.json");
  }

  /** Plumbline was away for too long: whoever uses the server now is not cut off again. */
  @Test
  void aServiceThatTheHostStartedByItselfIsNotStoppedAgain() throws Exception {
    free(Given.VLLM, false);
    host.onStart.run();
    host.fired = true;
    host.deeds.clear();
    assertThatThrownBy(() -> free(Given.VLLM, false))
        .isInstanceOf(StepFailure.class)
        .hasMessageContaining("host lab-1 has started its service again by itself");
    assertThat(host.deeds).containsExactly("lease check 7");
    assertThat(host.active).isTrue();
  }

  /** vllm 55510: the engine and its workers outlive the server that was stopped. */
  @Test
  void endsTheRecordedWorkersThatOutliveTheUnit() throws Exception {
    host.endWithUnit = Set.of(9_000_100L);
    GpusFreed freed = free(Given.VLLM, false);
    assertThat(host.deeds(d -> d.startsWith("SIG")))
        .containsExactly("SIGTERM 9000101", "SIGTERM 9000102", "SIGTERM 9000103");
    assertThat(freed.after().holders()).isEmpty();
    assertThat(freed.actions()).anyMatch(a -> a.contains("SIGTERM") && a.contains("9000103"));
  }

  /** dynamo 9343: a process that ignores SIGTERM. */
  @Test
  void killsWhatIgnoresTheFirstSignal() throws Exception {
    host.endWithUnit = Set.of(9_000_100L, 9_000_101L, 9_000_103L);
    host.deaf.put("TERM", Set.of(9_000_102L));
    GpusFreed freed = free(Given.VLLM, false);
    assertThat(host.deeds(d -> d.startsWith("SIG")))
        .containsExactly("SIGTERM 9000102", "SIGKILL 9000102");
    assertThat(freed.actions()).anyMatch(a -> a.contains("SIGKILL"));
  }

  @Test
  void givesUpOnAProcessThatNoSignalEnds() {
    host.endWithUnit = Set.of(9_000_100L, 9_000_101L, 9_000_103L);
    host.deaf.put("TERM", Set.of(9_000_102L));
    host.deaf.put("KILL", Set.of(9_000_102L));
    assertThatThrownBy(() -> free(Given.VLLM, false))
        .isInstanceOf(StepFailure.class)
        .hasMessageContaining("9000102 (state S)")
        .hasMessageContaining("survive SIGKILL");
    assertThat(host.deeds(d -> d.startsWith("SIGKILL"))).hasSize(1);
  }

  /** mxnet 4242: the parent is a zombie with a blank name, its child holds the memory. */
  @Test
  void findsTheLiveChildOfAZombie() throws Exception {
    host.add(new ScriptedHost.Proc(9_000_101, 1, "VLLM::EngineCore", "Z", 501, true));
    host.endWithUnit = Set.of(9_000_100L);
    free(Given.VLLM, false);
    assertThat(host.deeds(d -> d.startsWith("SIG")))
        .containsExactly("SIGTERM 9000102", "SIGTERM 9000103");
  }

  @Test
  void refusesForeignHoldersAndChangesNothing() {
    host.add(new ScriptedHost.Proc(9_000_900, 1, "train", "S", 77, false));
    host.holders.add(9_000_900L);
    assertThatThrownBy(() -> free(Given.VLLM, false))
        .isInstanceOf(StepFailure.class)
        .hasMessageContaining("process 9000900 (train")
        .hasMessageContaining("nothing was changed");
    assertThat(host.deeds).containsExactly("lease check 7");
  }

  /** VisEdit 5: nvidia-smi lists a process that does not exist, or a number used again since. */
  @Test
  void neverSignalsWhatOnlyNvidiaSmiLists() {
    host.apps =
        () ->
            ScriptedHost.out(
                """
                gpu_uuid, pid, process_name, used_gpu_memory [MiB]
                %s, 9999999, python3, 10000 MiB
                """
                    .formatted(ScriptedHost.UUID));
    assertThatThrownBy(() -> free(Given.VLLM, false))
        .hasMessageContaining("9999999")
        .hasMessageContaining("no such process on the host");
    assertThat(host.deeds(d -> d.startsWith("SIG"))).isEmpty();
    assertThat(host.active).isTrue();
  }

  @Test
  void aNumberUsedAgainGetsNoSignal() throws Exception {
    // The worker ends with the unit, and another process gets its number at once.
    host.endWithUnit = Set.copyOf(host.processes.keySet());
    Runnable none = () -> {};
    host.onStart = none;
    host.gpus =
        () -> {
          if (!host.active) {
            host.add(new ScriptedHost.Proc(9_000_102, 1, "innocent", "S", 9999, false));
          }
          return host.gpuTable(ScriptedHost.UUID);
        };
    free(Given.VLLM, false);
    assertThat(host.deeds(d -> d.startsWith("SIG"))).isEmpty();
    assertThat(host.processes).containsKey(9_000_102L);
  }

  /** open-gpu-kernel-modules 357: an idle GPU that shows 256 MiB and no process. */
  @Test
  void aBaselineIsNotZero() throws Exception {
    host.idleMiB = 256;
    free(Given.VLLM, false);
    assertThat(host.text("/home/lab/.plumbline/baseline.json")).contains("256.0");
  }

  @Test
  void moreThanTheBaselineIsNotFree() throws Exception {
    host.idleMiB = 256;
    host.files.put(
        "/home/lab/.plumbline/baseline.json",
        "{\"gpus\":{\"%s\":{\"usedMiB\":4,\"driver\":\"580.1\"}}}"
            .formatted(ScriptedHost.UUID)
            .getBytes(java.nio.charset.StandardCharsets.UTF_8));
    assertThatThrownBy(() -> free(Given.VLLM, false))
        .isInstanceOf(StepFailure.class)
        .hasMessageContaining("shows 256 MiB used, more than 68 MiB");
  }

  /** One of the GPUs does not come back in the list after the stop: not free. */
  @Test
  void aLostGpuIsNotFree() {
    host.gpus =
        () ->
            host.active
                ? host.gpuTable(ScriptedHost.UUID, "GPU-2")
                : host.gpuTable(ScriptedHost.UUID);
    assertThatThrownBy(() -> free(Given.VLLM, false))
        .hasMessageContaining("GPU-2 does not answer any more");
  }

  @Test
  void withoutGpuItProvesThatTheProcessesAreGone() throws Exception {
    host.gpus = () -> ScriptedHost.failed(127, "", "not found");
    assertThatThrownBy(() -> free(Given.VLLM, false)).hasMessageContaining("no GPU");
    GpusFreed freed = free(Given.VLLM, true);
    assertThat(freed.after().noGpuReason()).contains("no nvidia-smi");
    assertThat(host.processes).isEmpty();
  }

  @Test
  void aSwitchThatFiredKeepsTheStopFromHappening() {
    Job job = given.job(Step.FREE);
    Freeing freeing =
        new Freeing(
            Settings.defaults(),
            given.time,
            given.time,
            // The worker is paused here for longer than the switch waits.
            lease -> host.fired = true,
            given.renewal());
    assertThatThrownBy(
            () ->
                freeing.run(host, new Command.FreeGpus(job, Given.VLLM, false), given.context(job)))
        .isInstanceOf(StepFailure.class)
        .hasMessageContaining("has started the service again");
    assertThat(host.active).isTrue();
  }

  @Test
  void aSecondAttemptKeepsWhatWasBefore() throws Exception {
    GpusFreed first = free(Given.VLLM, false);
    given.time.take(java.time.Duration.ofSeconds(100));
    GpusFreed second = free(Given.VLLM, false);
    assertThat(second.before()).isEqualTo(first.before());
    assertThat(second.stoppedAt()).isEqualTo(first.stoppedAt());
    assertThat(host.deeds(d -> d.startsWith("systemctl stop"))).hasSize(1);
  }

  @Test
  void aServiceThatDoesNotRunIsNotOwedARestore() throws Exception {
    host.active = false;
    host.processes.clear();
    host.holders.clear();
    GpusFreed freed = free(Given.VLLM, false);
    assertThat(freed.stoppedAt()).isNull();
    assertThat(given.published).isEmpty();
    assertThat(host.deeds).doesNotContain("arm");
  }

  @Test
  void cancellationBeforeTheStopLeavesTheServiceRunning() {
    given.cancelled = true;
    assertThatThrownBy(() -> free(Given.VLLM, false)).hasMessageContaining("cancelled");
    assertThat(host.active).isTrue();
    assertThat(List.copyOf(given.published)).hasSize(1);
  }
}
