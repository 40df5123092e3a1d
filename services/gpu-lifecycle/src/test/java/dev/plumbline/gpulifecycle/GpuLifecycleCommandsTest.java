package dev.plumbline.gpulifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.plumbline.schemas.Step;
import dev.plumbline.schemas.command.Command;
import dev.plumbline.schemas.command.Job;
import dev.plumbline.schemas.event.CampaignEvent;
import dev.plumbline.schemas.event.StepEvent;
import dev.plumbline.workerkit.HostInventory;
import dev.plumbline.workerkit.Hosts;
import dev.plumbline.workerkit.StepRunner;
import io.smallrye.config.SmallRyeConfigBuilder;
import io.smallrye.reactive.messaging.kafka.api.OutgoingKafkaRecordMetadata;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import org.eclipse.microprofile.reactive.messaging.Emitter;
import org.eclipse.microprofile.reactive.messaging.Message;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GpuLifecycleCommandsTest {

  @TempDir Path dir;
  private final List<CampaignEvent> events = new CopyOnWriteArrayList<>();
  private final List<Message<?>> leases = new CopyOnWriteArrayList<>();
  private final GpuLifecycleConfig config =
      new SmallRyeConfigBuilder()
          .addDiscoveredConverters()
          .withMapping(GpuLifecycleConfig.class)
          .build()
          .getConfigMapping(GpuLifecycleConfig.class);
  private GpuLifecycleCommands commands;

  @BeforeEach
  void start() throws Exception {
    Path inventory =
        Files.writeString(
            dir.resolve("hosts.yaml"),
            "hosts:\n  here:\n    transport: local\n    workDir: " + dir.resolve("work") + "\n");
    commands =
        new GpuLifecycleCommands(
            new StepRunner(
                event -> {
                  events.add(event);
                  return CompletableFuture.completedFuture(null);
                },
                Clock.systemUTC()),
            new Hosts(() -> HostInventory.read(inventory)),
            Clock.systemUTC(),
            config,
            new Emitter<>() {
              @Override
              public CompletionStage<Void> send(byte[] payload) {
                throw new AssertionError("a lease without key and headers");
              }

              @Override
              public <M extends Message<? extends byte[]>> void send(M message) {
                leases.add(message);
                message.ack();
              }

              @Override
              public void complete() {}

              @Override
              public void error(Exception e) {}

              @Override
              public boolean isCancelled() {
                return false;
              }

              @Override
              public boolean hasRequests() {
                return true;
              }
            });
  }

  private static Job job(Step step, String host) {
    return new Job("c1", step, 1, host, 5L, Instant.now().plusSeconds(60));
  }

  private StepEvent answer(Command command) {
    commands.on(command);
    return await()
        .until(
            () ->
                events.stream()
                    .filter(e -> !(e instanceof StepEvent.StepStarted))
                    .filter(e -> !(e instanceof StepEvent.StepProgress))
                    .map(StepEvent.class::cast)
                    .findFirst()
                    .orElse(null),
            e -> e != null);
  }

  @Test
  void theDefaultsOfTheConfigurationAreTheDefaults() {
    assertThat(config.settings()).isEqualTo(Settings.defaults());
  }

  @Test
  void anUnknownHostIsAFaultWithTheNearestName() {
    StepEvent answer =
        answer(new Command.InspectHost(job(Step.INSPECT, "heer"), null, false, true));
    assertThat(((StepEvent.HostInspected) answer).faults())
        .singleElement()
        .matches(fault -> fault.message().contains("did you mean 'here'"));
  }

  @Test
  void aLeaseIsToldWithItsHostAsKey() {
    StepEvent answer = answer(new Command.AcquireLease(job(Step.LEASE, "here")));
    assertThat(((StepEvent.LeaseAcquired) answer).lease().token()).isEqualTo(5);
    assertThat(dir.resolve("work/lease.json")).hasContent("{\"token\":5,\"holder\":\"c1\"}");
    OutgoingKafkaRecordMetadata<?> metadata =
        leases.getFirst().getMetadata(OutgoingKafkaRecordMetadata.class).orElseThrow();
    assertThat(metadata.getKey()).isEqualTo("here");
    assertThat(
            new String(metadata.getHeaders().lastHeader("ce_id").value(), StandardCharsets.UTF_8))
        .isEqualTo("here/5/held");
  }

  @Test
  void aCommandOfAnotherWorkerIsRefused() {
    StepEvent answer = answer(new Command.CheckScripts(job(Step.CHECK_SCRIPTS, "here"), List.of()));
    assertThat(((StepEvent.StepFailed) answer).code()).isEqualTo("invalid");
  }
}
