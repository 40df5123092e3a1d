package dev.plumbline.microbench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.plumbline.schemas.Step;
import dev.plumbline.schemas.command.Command;
import dev.plumbline.schemas.command.Job;
import dev.plumbline.schemas.event.CampaignEvent;
import dev.plumbline.schemas.event.StepEvent;
import dev.plumbline.schemas.micro.MicroSpec;
import dev.plumbline.workerkit.HostInventory;
import dev.plumbline.workerkit.Hosts;
import dev.plumbline.workerkit.StepRunner;
import io.smallrye.config.SmallRyeConfigBuilder;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MicroBenchCommandsTest {

  @TempDir Path dir;
  private final List<CampaignEvent> events = new CopyOnWriteArrayList<>();

  private StepEvent.StepFailed failure(Command command) {
    MicroBenchCommands commands =
        new MicroBenchCommands(
            new StepRunner(
                event -> {
                  events.add(event);
                  return CompletableFuture.completedFuture(null);
                },
                Clock.systemUTC()),
            new Hosts(() -> HostInventory.read(dir.resolve("absent.yaml"))),
            Clock.systemUTC(),
            new SmallRyeConfigBuilder()
                .addDiscoveredConverters()
                .withMapping(MicroBenchConfig.class)
                .build()
                .getConfigMapping(MicroBenchConfig.class));
    commands.on(command);
    return await()
        .until(
            () ->
                events.stream()
                    .filter(StepEvent.StepFailed.class::isInstance)
                    .map(StepEvent.StepFailed.class::cast)
                    .findFirst()
                    .orElse(null),
            e -> e != null);
  }

  private static Job job(Step step, String host) {
    return new Job("c1", step, 1, host, 5L, Instant.now().plusSeconds(60));
  }

  @Test
  void eachMistakeIsOneSentence() {
    MicroSpec none = new MicroSpec("cpu", null, null, null, null, List.of());
    assertThat(failure(new Command.RunMicroBench(job(Step.MICRO, "local"), "/p.py", none)).reason())
        .isEqualTo("no operation to measure was named");
    events.clear();
    assertThat(failure(new Command.RunMicroBench(job(Step.MICRO, "locl"), "/p.py", none)).reason())
        .contains("did you mean 'local'");
    events.clear();
    assertThat(failure(new Command.AcquireLease(job(Step.LEASE, "local"))).code())
        .isEqualTo("invalid");
  }
}
