package dev.plumbline.macroload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.plumbline.schemas.Step;
import dev.plumbline.schemas.command.Command;
import dev.plumbline.schemas.command.Job;
import dev.plumbline.schemas.event.CampaignEvent;
import dev.plumbline.schemas.event.StepEvent;
import dev.plumbline.schemas.load.LoadSpec;
import dev.plumbline.workerkit.StepRunner;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Commands in, events out, with a real server and no broker. */
@Timeout(60)
class MacroLoadCommandsIT {

  private final List<CampaignEvent> events = new CopyOnWriteArrayList<>();
  private final MacroLoadCommands commands =
      new MacroLoadCommands(
          new StepRunner(
              event -> {
                events.add(event);
                return CompletableFuture.completedFuture(null);
              },
              Clock.systemUTC()),
          Map.of("LAB_KEY", "k"));

  private static Job job() {
    return new Job("c1", Step.MACRO, 1, "lab-1", null, null);
  }

  private static Command.RunMacroLoad load(String url, String model, String keyEnv) {
    return new Command.RunMacroLoad(
        job(), url, model, new LoadSpec(List.of(1, 2), 8, null, 0, 16, 5, "chat", 20.0, keyEnv));
  }

  private StepEvent answerTo(Command command) {
    commands.on(command).toCompletableFuture().join();
    return answer();
  }

  private StepEvent answer() {
    await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> events.stream().anyMatch(MacroLoadCommandsIT::ends));
    return (StepEvent) events.stream().filter(MacroLoadCommandsIT::ends).findFirst().orElseThrow();
  }

  private static boolean ends(CampaignEvent event) {
    return event instanceof StepEvent.MacroLoadMeasured || event instanceof StepEvent.StepFailed;
  }

  private static StepEvent.StepFailed failed(StepEvent event, String code, boolean retryable) {
    assertThat(event).isInstanceOf(StepEvent.StepFailed.class);
    StepEvent.StepFailed failed = (StepEvent.StepFailed) event;
    assertThat(failed.code()).isEqualTo(code);
    assertThat(failed.retryable()).isEqualTo(retryable);
    return failed;
  }

  @Test
  void aLoadIsMeasured() throws Exception {
    try (ScriptedServer server =
        new ScriptedServer((request, answer) -> answer.stream().tokens(5, 1).finish(17, 5))) {
      StepEvent event = answerTo(load(server.url(), "m", "LAB_KEY"));
      assertThat(event).isInstanceOf(StepEvent.MacroLoadMeasured.class);
      StepEvent.MacroLoadMeasured measured = (StepEvent.MacroLoadMeasured) event;
      assertThat(measured.campaignId()).isEqualTo("c1");
      assertThat(measured.report().levels()).hasSize(2);
      assertThat(measured.report().levels())
          .allSatisfy(level -> assertThat(level.completed()).isEqualTo(8));
      assertThat(server.requests.getFirst().head()).contains("Bearer k");
      assertThat(events.getFirst()).isInstanceOf(StepEvent.StepStarted.class);
    }
  }

  @Test
  void aModelThatIsNotServedIsRefusedBeforeAnyLoad() throws Exception {
    try (ScriptedServer server = new ScriptedServer((request, answer) -> answer.reset())) {
      StepEvent.StepFailed failed =
          failed(answerTo(load(server.url(), "other", null)), "invalid", false);
      assertThat(failed.reason()).contains("does not serve other; it serves m, lora-1");
      assertThat(server.requests).isEmpty();
    }
  }

  @Test
  void anUnreachableServerMayBeTriedAgain() throws Exception {
    String url;
    try (ScriptedServer server = new ScriptedServer((request, answer) -> answer.reset())) {
      url = server.url();
    }
    assertThat(failed(answerTo(load(url, "m", null)), "unreachable", true).reason())
        .contains(url, "cannot be reached");
  }

  @Test
  void nothingButFailuresIsAFailureWithItsReasons() throws Exception {
    try (ScriptedServer server =
        new ScriptedServer(
            (request, answer) ->
                answer.whole(
                    500, "application/json", "{\"error\":{\"message\":\"engine dead\"}}"))) {
      assertThat(failed(answerTo(load(server.url(), "m", null)), "failed", true).reason())
          .endsWith("succeeded: 16 × http_500 (HTTP 500: engine dead)");
    }
  }

  @Test
  void badSpecAndMissingKeyAreInvalid() {
    Command.RunMacroLoad bad =
        new Command.RunMacroLoad(
            job(),
            "http://h",
            "m",
            new LoadSpec(List.of(0), null, null, null, null, null, null, null, null));
    assertThat(failed(answerTo(bad), "invalid", false).reason()).contains("concurrency[0]: is 0");
    events.clear();
    Command.RunMacroLoad noKey =
        new Command.RunMacroLoad(
            new Job("c2", Step.MACRO, 1, "lab-1", null, null),
            "http://h",
            "m",
            new LoadSpec(null, null, null, null, null, null, null, null, "NO_SUCH"));
    assertThat(failed(answerTo(noKey), "invalid", false).reason()).contains("NO_SUCH is not set");
  }

  @Test
  void aCommandOfAnotherWorkerIsRefused() {
    assertThat(failed(answerTo(new Command.AcquireLease(job())), "invalid", false).reason())
        .contains("AcquireLease");
  }

  @Test
  void cancellingStopsTheLoad() throws Exception {
    CountDownLatch busy = new CountDownLatch(1);
    try (ScriptedServer server =
        new ScriptedServer(
            (request, answer) -> {
              busy.countDown();
              answer.hang();
            })) {
      commands.on(load(server.url(), "m", null)).toCompletableFuture().join();
      busy.await();
      commands.on(new Command.CancelStep(job(), "not needed")).toCompletableFuture().join();
      failed(answer(), "cancelled", false);
    }
  }
}
