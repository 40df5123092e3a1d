package dev.plumbline.gpulifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.plumbline.schemas.Fault;
import dev.plumbline.schemas.Step;
import dev.plumbline.schemas.campaign.ServiceUnderTest;
import dev.plumbline.schemas.command.Command;
import dev.plumbline.schemas.event.StepEvent.HostInspected;
import dev.plumbline.workerkit.HostException;
import java.util.List;
import org.junit.jupiter.api.Test;

class InspectingTest {

  private final Given given = new Given();
  private final ScriptedHost host = ScriptedHost.serving();

  private HostInspected inspect(LeaseRenewal.Connector hosts, boolean allowNoGpu)
      throws InterruptedException {
    return new Inspecting(Settings.defaults(), given.time, hosts, given.endPoints())
        .run(new Command.InspectHost(given.job(Step.INSPECT), Given.VLLM, true, allowNoGpu));
  }

  private List<Fault> faults() throws InterruptedException {
    return inspect(name -> host, false).faults();
  }

  @Test
  void aServingHostIsFine() throws InterruptedException {
    HostInspected inspected = inspect(name -> host, false);
    assertThat(inspected.faults()).isEmpty();
    assertThat(inspected.snapshot().holders()).allMatch(holder -> holder.ofService());
    assertThat(host.deeds).isEmpty();
    assertThat(HostText.render(inspected.snapshot()))
        .contains("vllm.service: active, main process 9000100")
        .contains("70000 / 143771")
        .contains("belongs to the service");
  }

  @Test
  void listsAllFaultsAtOnce() throws InterruptedException {
    host.loadState = "not-found";
    given.models = List.of("llama");
    assertThat(faults())
        .extracting(Fault::field)
        // The unit is not known, so its processes are foreign.
        .containsExactlyInAnyOrder("service.unit", "service.model", "host", "host");
    assertThat(faults())
        .extracting(Fault::message)
        .anyMatch(m -> m.contains("unit vllm.service is not loaded on host lab-1"))
        .anyMatch(m -> m.contains("model \"kimi\" is not served") && m.contains("served: llama"));
  }

  @Test
  void anUnreachableHostStillHasItsEndPointLookedAt() throws InterruptedException {
    given.models = List.of();
    HostInspected inspected =
        inspect(
            name -> {
              throw new HostException("unknown-host", "no host lab-l; did you mean lab-1?", false);
            },
            false);
    assertThat(inspected.snapshot()).isNull();
    assertThat(inspected.faults())
        .extracting(Fault::message)
        .containsExactly(
            "no host lab-l; did you mean lab-1?",
            "model \"kimi\" is not served at http://lab-1:8000; served: none");
  }

  /** What cannot be proven now cannot be proven after the restore either. */
  @Test
  void aServerThatCompletesNothingIsNotStopped() throws InterruptedException {
    given.completionTrouble = "http://lab-1:8000 did not answer within 20 s";
    assertThat(faults())
        .containsExactly(
            new Fault(
                "service.url",
                "the server lists its model and completes nothing (http://lab-1:8000 did not answer"
                    + " within 20 s): stopped, it could not be proven back; repair it first"));
    HostInspected observed =
        new Inspecting(Settings.defaults(), given.time, name -> host, given.endPoints())
            .run(new Command.InspectHost(given.job(Step.INSPECT), Given.VLLM, false, false));
    assertThat(observed.faults()).isEmpty();
  }

  @Test
  void noGpuIsAFaultUnlessAllowed() throws InterruptedException {
    host.gpus = () -> ScriptedHost.failed(127, "", "not found");
    assertThat(faults())
        .singleElement()
        .matches(f -> f.message().contains("has no GPU") && f.message().contains("--allow-no-gpu"));
    assertThat(inspect(name -> host, true).faults()).isEmpty();
  }

  @Test
  void foreignHoldersAndHiddenOnesAreNamed() throws InterruptedException {
    host.add(new ScriptedHost.Proc(9_000_900, 1, "train", "S", 77, false));
    host.holders.add(9_000_900L);
    assertThat(faults())
        .singleElement()
        .matches(
            f ->
                f.message().contains("process 9000900 (train")
                    && f.message().contains("never killed"));
    // nvidia-docker 1460: the list is empty inside a container, the memory is not.
    host.apps = () -> ScriptedHost.out("gpu_uuid, pid, process_name, used_gpu_memory [MiB]\n");
    assertThat(faults())
        .singleElement()
        .matches(f -> f.message().contains("70000 MiB in use and no process is listed"));
  }

  @Test
  void optionsAreNoUnitNames() throws InterruptedException {
    for (String unit : List.of("--force", "", "a b", "x;reboot", "*")) {
      ServiceUnderTest service =
          new ServiceUnderTest(
              ServiceUnderTest.Strategy.SYSTEMD, unit, null, null, "http://h", "kimi", null);
      HostInspected inspected =
          new Inspecting(Settings.defaults(), given.time, name -> host, given.endPoints())
              .run(new Command.InspectHost(given.job(Step.INSPECT), service, false, false));
      assertThat(inspected.faults()).extracting(Fault::field).containsExactly("service.unit");
    }
  }
}
