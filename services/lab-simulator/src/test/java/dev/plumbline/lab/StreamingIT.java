package dev.plumbline.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import dev.plumbline.schemas.Json;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The inference server as a client of vLLM sees it. */
class StreamingIT {

  @TempDir static Path dir;
  private static Lab lab;
  private static HttpClient http;

  @BeforeAll
  static void start() throws IOException {
    lab = Lab.start(dir, Scenario.named("kimi-k2.5-int4-8x-pcie"), LabOptions.defaults());
    http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  }

  @AfterAll
  static void stop() throws IOException {
    http.close();
    lab.close();
  }

  private static HttpRequest post(String path, String body) {
    return HttpRequest.newBuilder(URI.create(lab.httpUrl() + path))
        .timeout(Duration.ofSeconds(60))
        .header("Content-Type", "application/json")
        .POST(BodyPublishers.ofString(body))
        .build();
  }

  private static HttpResponse<String> send(String path, String body) throws Exception {
    return http.send(post(path, body), BodyHandlers.ofString());
  }

  private static String chat(int tokens, String more) {
    return """
        {"model":"moonshotai/Kimi-K2.5","messages":[{"role":"user","content":"one two three"}],
         "max_tokens":%d,"stream":true%s}"""
        .formatted(tokens, more);
  }

  private static List<String> data(String body) {
    return Stream.of(body.split("\n\n")).map(e -> e.substring("data: ".length())).toList();
  }

  @Test
  void streamsOneTokenPerChunkAndThenTheUsage() throws Exception {
    HttpResponse<String> answer =
        send("/v1/chat/completions", chat(5, ",\"stream_options\":{\"include_usage\":true}"));

    assertThat(answer.headers().firstValue("content-type"))
        .get()
        .asString()
        .contains("text/event-stream");
    List<String> events = data(answer.body());
    // role, five tokens, usage, [DONE]
    assertThat(events).hasSize(8).last().isEqualTo("[DONE]");
    JsonNode role = Json.mapper().readTree(events.getFirst());
    assertThat(role.at("/choices/0/delta/role").asText()).isEqualTo("assistant");
    assertThat(role.at("/choices/0/delta/content").asText()).isEmpty();
    for (int i = 1; i <= 5; i++) {
      JsonNode chunk = Json.mapper().readTree(events.get(i));
      assertThat(chunk.at("/choices/0/delta/content").asText()).isNotEmpty();
      assertThat(chunk.at("/choices/0/finish_reason").asText("null"))
          .isEqualTo(i == 5 ? "length" : "null");
    }
    JsonNode usage = Json.mapper().readTree(events.get(6));
    assertThat(usage.get("choices")).isEmpty();
    assertThat(usage.at("/usage/completion_tokens").asInt()).isEqualTo(5);
    // three words and the chat template's four
    assertThat(usage.at("/usage/prompt_tokens").asInt()).isEqualTo(7);
  }

  @Test
  void answersWholeAndByTheOldEndPoint() throws Exception {
    JsonNode whole =
        Json.mapper()
            .readTree(
                send(
                        "/v1/completions",
                        "{\"model\":\"moonshotai/Kimi-K2.5\",\"prompt\":[1,2,3],\"max_tokens\":4}")
                    .body());

    assertThat(whole.at("/choices/0/text").asText().strip().split(" ")).hasSize(4);
    assertThat(whole.at("/usage/prompt_tokens").asInt()).isEqualTo(3);
    assertThat(whole.at("/usage/completion_tokens").asInt()).isEqualTo(4);
  }

  @Test
  void refusesAsVllmDoes() throws Exception {
    HttpResponse<String> model =
        send("/v1/chat/completions", "{\"model\":\"gpt\",\"messages\":[],\"max_tokens\":1}");
    assertThat(model.statusCode()).isEqualTo(404);
    assertThat(Json.mapper().readTree(model.body()).at("/error/message").asText())
        .isEqualTo("The model `gpt` does not exist.");
    assertThat(send("/v1/chat/completions", "{nonsense").statusCode()).isEqualTo(400);
    assertThat(send("/v1/chat/completions", chat(0, "")).statusCode()).isEqualTo(400);
    assertThat(send("/v1/chat/completions", chat(1_000_000, "")).statusCode()).isEqualTo(400);
    assertThat(send("/nothing", "").statusCode()).isEqualTo(404);
  }

  @Test
  void batchesAllStreamsTogether() throws Exception {
    List<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
    for (int i = 0; i < 128; i++) {
      answers.add(
          http.sendAsync(
              post("/v1/chat/completions", chat(6, ",\"stream_options\":{\"include_usage\":true}")),
              BodyHandlers.ofString()));
    }
    for (var answer : answers) {
      List<String> events = data(answer.get().body());
      assertThat(events).hasSize(9).last().isEqualTo("[DONE]");
    }
    HttpResponse<String> metrics =
        http.send(
            HttpRequest.newBuilder(URI.create(lab.httpUrl() + "/metrics")).build(),
            BodyHandlers.ofString());
    assertThat(metrics.body())
        .contains("vllm:num_requests_running{")
        .contains("vllm:generation_tokens_total{");
  }

  @Test
  void aLiveProfileHoldsTheStepsThatRanAndThePlantedShare() throws Exception {
    assertThat(send("/start_profile", "").statusCode()).isEqualTo(200);
    send("/v1/chat/completions", chat(6, ""));
    assertThat(send("/stop_profile", "").statusCode()).isEqualTo(200);

    List<Path> traces;
    try (Stream<Path> files = Files.list(lab.profileDir())) {
      traces = files.filter(f -> f.toString().endsWith(".pt.trace.json.gz")).toList();
    }
    assertThat(traces).hasSize(8);
    JsonNode truth =
        Json.mapper()
            .readTree(
                Files.readAllBytes(
                    lab.truthDir().resolve(traces.getFirst().getFileName() + ".truth.json")));
    // The first of six tokens comes from the step that takes the prompt in.
    assertThat(truth.get("decodeSteps").asInt()).isEqualTo(5);
    assertThat(truth.at("/sharesPercent/all_reduce").asDouble()).isCloseTo(51.5, within(0.5));
  }

  @Test
  void aDeadEngineLeavesHealthGreen(@TempDir Path other) throws Exception {
    LabOptions options =
        LabOptions.defaults().withFaults(EnumSet.of(LabOptions.Fault.COMPLETION_DEAD));
    try (Lab dead = Lab.start(other, Scenario.named("llama-70b-fp16-2x-nvlink"), options)) {
      HttpRequest health = HttpRequest.newBuilder(URI.create(dead.httpUrl() + "/health")).build();
      assertThat(http.send(health, BodyHandlers.ofString()).statusCode()).isEqualTo(200);
      CompletableFuture<HttpResponse<String>> answer =
          http.sendAsync(
              HttpRequest.newBuilder(URI.create(dead.httpUrl() + "/v1/completions"))
                  .timeout(Duration.ofMillis(700))
                  .POST(BodyPublishers.ofString("{\"prompt\":\"a\",\"max_tokens\":1}"))
                  .build(),
              BodyHandlers.ofString());
      assertThat(answer).failsWithin(Duration.ofSeconds(10));
    }
  }
}
