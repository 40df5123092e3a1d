package dev.plumbline.campaign;

import static io.restassured.RestAssured.given;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.plumbline.embeddedkafka.TestBroker;
import dev.plumbline.schemas.Json;
import dev.plumbline.schemas.Step;
import dev.plumbline.schemas.Topic;
import dev.plumbline.schemas.command.Command;
import dev.plumbline.schemas.event.CampaignEvent;
import dev.plumbline.schemas.event.StepEvent;
import io.quarkus.test.common.QuarkusTestResource;
import io.quarkus.test.junit.QuarkusTest;
import io.restassured.RestAssured;
import io.restassured.response.Response;
import java.time.Duration;
import java.time.Instant;
import org.eclipse.microprofile.config.inject.ConfigProperty;
import org.junit.jupiter.api.Test;

/** The service as it is deployed, on a real broker, seen over REST and by a plain consumer. */
@QuarkusTest
@QuarkusTestResource(TestBroker.class)
class CampaignServiceIT {

  @ConfigProperty(name = "kafka.bootstrap.servers")
  String bootstrap;

  @Test
  void aCampaignIsStartedShownAndReportedOverRest() {
    ready();
    try (KafkaLab lab = new KafkaLab(bootstrap)) {
      Response accepted = post(Json.bytes(Requests.full("rest-1", "lab-a")));
      assertThat(accepted.statusCode()).isEqualTo(202);
      assertThat(accepted.header("Location")).endsWith("/api/campaigns/rest-1");
      assertThat(accepted.jsonPath().getString("campaignId")).isEqualTo("rest-1");

      lab.serveUntil(c -> c instanceof Command.RunMicroBench);
      await()
          .atMost(Duration.ofSeconds(20))
          .untilAsserted(
              () ->
                  assertThat(RestAssured.get("/api/campaigns/rest-1").jsonPath().getString("state"))
                      .isEqualTo("micro"));
      assertThat(RestAssured.get("/api/campaigns/rest-1/report").statusCode()).isEqualTo(404);
      assertThat(post(Json.bytes(Requests.observing("rest-1", "lab-a"))).statusCode())
          .isEqualTo(409);

      lab.tell(Results.of(job("rest-1", Step.MICRO), Instant.now()));
      lab.serveUntilEvent(e -> e.terminal() && e.campaignId().equals("rest-1"));
      await()
          .atMost(Duration.ofSeconds(20))
          .until(() -> RestAssured.get("/api/campaigns/rest-1/report").statusCode() == 200);
      assertThat(RestAssured.get("/api/campaigns/rest-1/report").jsonPath().getString("campaignId"))
          .isEqualTo("rest-1");
      String text = given().accept("text/plain").get("/api/campaigns/rest-1/report").asString();
      assertThat(text).startsWith("VERDICT");
      assertThat(RestAssured.get("/api/campaigns").jsonPath().getList("campaignId"))
          .contains("rest-1");
      assertThat(RestAssured.delete("/api/campaigns/rest-1").statusCode()).isEqualTo(409);
    }
  }

  @Test
  void aCampaignIsCancelledOverRest() {
    ready();
    try (KafkaLab lab = new KafkaLab(bootstrap)) {
      post(Json.bytes(Requests.full("rest-2", "lab-b")));
      lab.serveUntil(
          c -> c instanceof Command.RunMacroLoad && c.job().campaignId().equals("rest-2"));
      assertThat(RestAssured.delete("/api/campaigns/rest-2").statusCode()).isEqualTo(202);
      lab.serveUntil(c -> c instanceof Command.CancelStep);
      lab.tell(
          new StepEvent.StepFailed(
              "rest-2", Step.MACRO, 1, Instant.now(), "cancelled", "Cancelled.", false));
      CampaignEvent end = lab.serveUntilEvent(e -> e.terminal() && e.campaignId().equals("rest-2"));
      assertThat(end).isInstanceOf(CampaignEvent.CampaignCancelled.class);
    }
  }

  @Test
  void badRequestsAreAnsweredWithAllTheirFaults() {
    Response bad = post("{\"campaignId\":\"x\",\"hots\":\"a\",\"plan\":{}}".getBytes(UTF_8));
    assertThat(bad.statusCode()).isEqualTo(400);
    assertThat(bad.jsonPath().getList("faults.field")).contains("hots", "host");
    assertThat(post("{nonsense".getBytes(UTF_8)).statusCode()).isEqualTo(400);
    assertThat(post(new byte[0]).statusCode()).isEqualTo(400);
    assertThat(RestAssured.get("/api/campaigns/nobody").statusCode()).isIn(404, 503);
  }

  @Test
  void oneLineOfBareJsonIsEnoughAndJunkDoesNotStopIt() {
    ready();
    byte[] junk = "not JSON".getBytes(UTF_8);
    try (KafkaLab lab = new KafkaLab(bootstrap)) {
      lab.raw(Topic.CAMPAIGN_REQUESTS, "k", junk);
      lab.raw(Topic.CAMPAIGN_REQUESTS, "k", Json.bytes(Requests.observing("kcat-1", "lab-c")));
      lab.serveUntilEvent(e -> e.terminal() && e.campaignId().equals("kcat-1"));
      assertThat(lab.seen)
          .filteredOn(r -> r.topic().endsWith(".dlq"))
          .singleElement()
          .satisfies(r -> assertThat(r.value()).isEqualTo(junk));
      assertThat(lab.seen)
          .filteredOn(r -> new String(r.key(), UTF_8).equals("kcat-1"))
          .filteredOn(r -> r.topic().endsWith(".commands.v1"))
          .allSatisfy(r -> assertThat(r.headers().lastHeader("ce_type")).isNotNull());
    }
  }

  @Test
  void theDashboardIsServed() {
    assertThat(RestAssured.get("/").asString()).contains("<title>Plumbline</title>");
  }

  private static void ready() {
    await()
        .atMost(Duration.ofSeconds(60))
        .until(() -> RestAssured.get("/api/campaigns").statusCode() == 200);
  }

  private static Response post(byte[] body) {
    return given().contentType("application/json").body(body).post("/api/campaigns");
  }

  private static dev.plumbline.schemas.command.Job job(String id, Step step) {
    return new dev.plumbline.schemas.command.Job(id, step, 1, "lab-a", null, Instant.now());
  }
}
