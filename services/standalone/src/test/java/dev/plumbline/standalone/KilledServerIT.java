package dev.plumbline.standalone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.plumbline.schemas.Json;
import dev.plumbline.schemas.Topic;
import dev.plumbline.schemas.campaign.CampaignState;
import dev.plumbline.schemas.campaign.CampaignStatus;
import dev.plumbline.schemas.event.CampaignEvent;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The whole JVM dies in the middle; started again, it finishes what it was asked for. */
class KilledServerIT {

  @TempDir Path folder;

  @Test
  void aCampaignKilledInTheMicroStepIsFinishedAndTheServerRuns() throws Exception {
    int port = Platform.freePort();
    int kafkaPort = Platform.freePort();
    ObjectNode request;
    try (Server first = Server.start(folder, port, kafkaPort, "--lab")) {
      request = first.labRequest("killed");
      assertThat(first.post("/api/campaigns", request).statusCode()).isEqualTo(202);
      first.awaitState("killed", state -> state == CampaignState.MICRO);
      first.process().kill();
    }

    try (Server second = Server.start(folder, port, kafkaPort, "--lab")) {
      CampaignStatus end = second.awaitState("killed", CampaignState::terminal);

      assertThat(end.state()).as(end.reason()).isEqualTo(CampaignState.COMPLETED);
      assertThat(end.report().micro().results()).isNotEmpty();
      assertThat(end.report().verdict().component()).isEqualTo("all_reduce");
      assertThat(
              completion(
                  request.at("/service/url").asText(), request.at("/service/model").asText()))
          .isNotBlank();
      // REST reads the coordinator's store, which is a moment ahead of the committed events.
      await()
          .atMost(Duration.ofSeconds(30))
          .untilAsserted(
              () ->
                  assertThat(Records.all(second.bootstrap(), Topic.CAMPAIGN_EVENTS))
                      .extracting(message -> Json.read(message.value(), CampaignEvent.class))
                      .filteredOn(CampaignEvent::terminal)
                      .hasSize(1));
    }
  }

  private static String completion(String url, String model) throws Exception {
    ObjectNode body =
        Json.mapper()
            .createObjectNode()
            .put("model", model)
            .put("prompt", "one two")
            .put("max_tokens", 3);
    HttpResponse<byte[]> response =
        HttpClient.newHttpClient()
            .send(
                HttpRequest.newBuilder(URI.create(url + "/v1/completions"))
                    .header("Content-Type", "application/json")
                    .POST(HttpRequest.BodyPublishers.ofString(body.toString()))
                    .build(),
                HttpResponse.BodyHandlers.ofByteArray());
    JsonNode answer = Json.mapper().readTree(response.body());
    return answer.at("/choices/0/text").asText();
  }
}
