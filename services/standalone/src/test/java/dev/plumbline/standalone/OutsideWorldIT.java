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
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** {@code plumbline serve} as others meet it: plain Kafka clients, plain HTTP, and mistakes. */
class OutsideWorldIT {

  @TempDir static Path folder;
  private static Server server;

  @BeforeAll
  static void start() throws Exception {
    server = Server.start(folder, Platform.freePort(), Platform.freePort(), "--lab");
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @Test
  void oneLineOfJsonWithoutKeyOrHeadersStartsACampaign() throws Exception {
    ObjectNode request = quick(server.labRequest("one-line"));
    produce(request.toString().getBytes(StandardCharsets.UTF_8));

    CampaignStatus end = server.awaitState("one-line", CampaignState::terminal);

    assertThat(end.state()).as(end.reason()).isEqualTo(CampaignState.COMPLETED);
    assertThat(end.report().macro().levels()).hasSize(1);
    // REST reads the coordinator's store, which is a moment ahead of the committed events.
    List<ConsumerRecord<String, byte[]>> events =
        await()
            .atMost(Duration.ofSeconds(30))
            .until(() -> events("one-line"), OutsideWorldIT::endsWithCompletion);
    assertThat(events).allSatisfy(OutsideWorldIT::isCloudEvent);
    assertThat(events).extracting(message -> header(message, "ce_id")).doesNotHaveDuplicates();
    assertThat(events)
        .extracting(message -> header(message, "ce_type"))
        .contains("CampaignAccepted", "StepStarted", "MacroLoadMeasured");
  }

  @Test
  void restStartsListsShowsAndCancels() throws Exception {
    ObjectNode request = server.labRequest("by-rest");
    assertThat(server.post("/api/campaigns", request).statusCode()).isEqualTo(202);
    server.awaitState("by-rest", state -> state == CampaignState.MACRO);
    assertThat(server.get("/api/campaigns").body()).contains("\"by-rest\"");

    assertThat(server.post("/api/campaigns/by-rest/cancel", null).statusCode()).isBetween(200, 204);

    CampaignStatus end = server.awaitState("by-rest", CampaignState::terminal);
    assertThat(end.state()).isEqualTo(CampaignState.CANCELLED);
    assertThat(server.get("/api/campaigns/no-such").statusCode()).isEqualTo(404);
  }

  @Test
  void anUndecodableRecordIsKeptUnchangedAndTheNextRequestWorks() throws Exception {
    byte[] rubbish = {'{', '"', (byte) 0xff, 0, 'x'};
    produce(rubbish);

    String deadLetters = Topic.CAMPAIGN_REQUESTS.deadLetterTopic().orElseThrow();
    await()
        .atMost(Duration.ofSeconds(60))
        .untilAsserted(
            () ->
                assertThat(Records.all(server.bootstrap(), deadLetters))
                    .extracting(ConsumerRecord::value)
                    .containsExactly(rubbish));
    rejected(server.labRequest("after-rubbish").put("host", "nowhere"));
  }

  /** A mistake in a request that is otherwise right, and what the rejection must name. */
  record Mistake(String name, java.util.function.Consumer<ObjectNode> make, String... named) {
    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<Mistake> mistakes() {
    return Stream.of(
        new Mistake("unknown-host", r -> r.put("host", "lab-2"), "lab-2", "lab-1"),
        new Mistake(
            "unknown-unit",
            r -> ((ObjectNode) r.get("service")).put("unit", "vlm.service"),
            "vlm.service"),
        new Mistake(
            "unreachable-end-point",
            r -> ((ObjectNode) r.get("service")).put("url", "http://127.0.0.1:1"),
            "http://127.0.0.1:1"),
        new Mistake(
            "model-not-served",
            r -> ((ObjectNode) r.get("service")).put("model", "gpt-0"),
            "gpt-0",
            "moonshotai/Kimi-K2.5"),
        new Mistake(
            "missing-script",
            r -> ((ObjectNode) r.get("plan")).putArray("scripts").add("plumbline_prob.py"),
            "plumbline_prob.py",
            "plumbline_probe.py"),
        new Mistake("unknown-field", r -> r.put("hosst", "lab-1"), "hosst", "host"),
        new Mistake(
            "wrong-type",
            r -> ((ObjectNode) r.at("/plan/macro")).put("concurrency", "many"),
            "concurrency"));
  }

  @ParameterizedTest
  @MethodSource("mistakes")
  void aMistakeIsRejectedWithASentenceThatNamesIt(Mistake mistake) throws Exception {
    ObjectNode request = server.labRequest("mistake-" + mistake.name());
    mistake.make().accept(request);

    CampaignEvent.CampaignRejected rejection = rejected(request);

    String said = rejection.faults().toString();
    assertThat(said).contains(mistake.named());
    assertThat(said).doesNotContain("Exception").doesNotContain("\tat ");
  }

  @Test
  void allFaultsAreListedAtOnce() throws Exception {
    ObjectNode request = server.labRequest("two-faults");
    ((ObjectNode) request.get("service")).put("unit", "vlm.service").put("model", "gpt-0");

    assertThat(rejected(request).faults().toString()).contains("vlm.service").contains("gpt-0");
  }

  @Test
  void theSameRequestAgainIsHarmlessAndAnotherUnderItsIdIsRefused() throws Exception {
    ObjectNode request = quick(server.labRequest("twice"));
    assertThat(server.post("/api/campaigns", request).statusCode()).isEqualTo(202);
    server.awaitState("twice", CampaignState::terminal);

    produce(request.toString().getBytes(StandardCharsets.UTF_8));
    ObjectNode other = request.deepCopy();
    ((ObjectNode) other.at("/plan/macro")).put("outputTokens", 9);
    produce(other.toString().getBytes(StandardCharsets.UTF_8));

    await()
        .atMost(Duration.ofSeconds(60))
        .untilAsserted(
            () ->
                assertThat(events("twice"))
                    .extracting(message -> Json.read(message.value(), CampaignEvent.class))
                    .anyMatch(e -> e instanceof CampaignEvent.CampaignRejected r && r.conflict()));
    assertThat(events("twice"))
        .extracting(message -> Json.read(message.value(), CampaignEvent.class))
        .filteredOn(CampaignEvent::terminal)
        .hasSize(1);
  }

  /** Publishes to Kafka, past the checks of REST, and waits for the rejection. */
  private static CampaignEvent.CampaignRejected rejected(JsonNode request) throws Exception {
    produce(request.toString().getBytes(StandardCharsets.UTF_8));
    String id = request.get("campaignId").asText();
    return await(id)
        .atMost(Duration.ofSeconds(60))
        .until(
            () ->
                events(id).stream()
                    .map(message -> Json.read(message.value(), CampaignEvent.class))
                    .filter(CampaignEvent.CampaignRejected.class::isInstance)
                    .map(CampaignEvent.CampaignRejected.class::cast)
                    .findFirst(),
            java.util.Optional::isPresent)
        .orElseThrow();
  }

  /** A campaign of a second or two: one small level of load and nothing else. */
  private static ObjectNode quick(ObjectNode request) {
    ObjectNode plan = (ObjectNode) request.get("plan");
    plan.remove(List.of("micro", "trace"));
    ObjectNode macro = (ObjectNode) plan.get("macro");
    macro.putArray("concurrency").add(4);
    macro.put("outputTokens", 8);
    return request;
  }

  private static List<ConsumerRecord<String, byte[]>> events(String campaignId) {
    return Records.all(server.bootstrap(), Topic.CAMPAIGN_EVENTS).stream()
        .filter(message -> campaignId.equals(message.key()))
        .toList();
  }

  private static boolean endsWithCompletion(List<ConsumerRecord<String, byte[]>> events) {
    return !events.isEmpty() && "CampaignCompleted".equals(header(events.getLast(), "ce_type"));
  }

  private static void isCloudEvent(ConsumerRecord<String, byte[]> message) {
    assertThat(header(message, "ce_specversion")).isEqualTo("1.0");
    assertThat(header(message, "ce_source")).startsWith("/plumbline/");
    assertThat(header(message, "content-type")).startsWith("application/json");
    JsonNode value = Json.read(message.value(), JsonNode.class);
    assertThat(header(message, "ce_type")).isEqualTo(value.get("type").asText());
    assertThat(message.key()).isEqualTo(value.get("campaignId").asText());
  }

  private static String header(ConsumerRecord<String, byte[]> message, String name) {
    var header = message.headers().lastHeader(name);
    return header == null ? null : new String(header.value(), StandardCharsets.UTF_8);
  }

  private static void produce(byte[] value) throws Exception {
    Map<String, Object> config = Map.of("bootstrap.servers", server.bootstrap());
    try (KafkaProducer<String, byte[]> producer =
        new KafkaProducer<>(config, new StringSerializer(), new ByteArraySerializer())) {
      producer.send(new ProducerRecord<>(Topic.CAMPAIGN_REQUESTS.topicName(), value)).get();
    }
  }
}
