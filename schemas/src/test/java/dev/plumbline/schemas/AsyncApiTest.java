package dev.plumbline.schemas;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** {@code asyncapi.yaml} and the topic catalogue name the same things. */
class AsyncApiTest {

  private static JsonNode api;
  private static final Map<String, JsonNode> CHANNELS = new TreeMap<>();

  @BeforeAll
  static void read() throws IOException {
    api = new YAMLMapper().readTree(Path.of("asyncapi.yaml").toFile());
    api.get("channels").forEach(c -> CHANNELS.put(c.get("address").asText(), c));
  }

  @Test
  void channelsAreTheTopics() {
    Set<String> topics = new HashSet<>();
    for (Topic topic : Topic.values()) {
      topics.add(topic.topicName());
      topic.deadLetterTopic().ifPresent(topics::add);
    }

    assertThat(api.get("asyncapi").asText()).isEqualTo("3.0.0");
    assertThat(CHANNELS.keySet()).isEqualTo(topics);
    assertThat(api.get("channels")).hasSameSizeAs(topics);
  }

  @ParameterizedTest
  @EnumSource
  void channelIsConfiguredLikeItsTopic(Topic topic) {
    JsonNode channel = CHANNELS.get(topic.topicName());

    assertConfigured(channel, topic.topicName(), topic.partitions(), topic.config());
    assertThat(channel.get("x-key").asText()).isEqualTo(topic.key().form());
    topic
        .deadLetterTopic()
        .ifPresent(
            name ->
                assertConfigured(
                    CHANNELS.get(name),
                    name,
                    Topic.DEAD_LETTER_PARTITIONS,
                    Topic.deadLetterConfig()));
  }

  private static void assertConfigured(
      JsonNode channel, String name, int partitions, Map<String, String> config) {
    JsonNode kafka = channel.at("/bindings/kafka");
    assertThat(kafka.get("topic").asText()).isEqualTo(name);
    assertThat(kafka.get("partitions").asInt()).isEqualTo(partitions);
    Map<String, String> said = new TreeMap<>();
    kafka
        .get("topicConfiguration")
        .properties()
        .forEach(
            p ->
                said.put(
                    p.getKey(),
                    p.getValue().isArray() ? p.getValue().get(0).asText() : p.getValue().asText()));
    assertThat(said).isEqualTo(new TreeMap<>(config));
  }

  @ParameterizedTest
  @EnumSource
  void channelCarriesTheMessagesOfItsTopic(Topic topic) {
    Set<String> types =
        topic.types().stream()
            .flatMap(Language::leaves)
            .map(Class::getSimpleName)
            .collect(Collectors.toSet());

    assertThat(names(CHANNELS.get(topic.topicName()).get("messages"))).isEqualTo(types);
    types.forEach(
        type -> {
          JsonNode message = api.at("/components/messages/" + type);
          assertThat(message.at("/payload/$ref").asText()).isEqualTo("./json/" + type + ".json");
          assertThat(Path.of("json", type + ".json")).isRegularFile();
          assertThat(message.at("/bindings/kafka/key/description").asText())
              .isEqualTo(topic.key().form());
        });
  }

  @Test
  void headersAreThoseOfTheEnvelope() {
    Set<String> described = names(api.at("/components/schemas/CloudEventHeaders/properties"));

    assertThat(described)
        .isEqualTo(
            new CloudEvent("id", "/source", "Type", "subject", Instant.EPOCH).headers().keySet());
  }

  @Test
  void everyReferenceLeadsSomewhere() {
    List<String> references = api.findValuesAsText("$ref");

    assertThat(references).isNotEmpty();
    assertThat(references)
        .allMatch(
            ref ->
                ref.startsWith("#")
                    ? !api.at(ref.substring(1)).isMissingNode()
                    : Path.of(ref).toFile().isFile());
  }

  @Test
  void everyMessageIsSentByOneOfUsOrAsksOne() {
    Set<String> sent = messagesOf("send");
    Set<String> received = messagesOf("receive");
    Set<String> requests = names(CHANNELS.get(Topic.CAMPAIGN_REQUESTS.topicName()).get("messages"));

    Set<String> all = names(api.at("/components/messages"));
    all.removeAll(requests);
    assertThat(sent).isEqualTo(all);
    assertThat(received).containsAll(requests);
  }

  @Test
  void eachWorkerTakesItsOwnCommands() {
    for (Worker worker : Worker.values()) {
      assertThat(
              StreamSupport.stream(api.get("operations").spliterator(), false)
                  .filter(o -> o.get("action").asText().equals("receive"))
                  .filter(o -> o.at("/tags/0/name").asText().equals(worker.id()))
                  .map(o -> api.at(o.at("/channel/$ref").asText().substring(1)))
                  .map(c -> c.get("address").asText()))
          .contains(worker.commands().topicName());
    }
    assertThat(Arrays.stream(Worker.values()).map(Worker::commands)).doesNotHaveDuplicates();
  }

  private static Set<String> messagesOf(String action) {
    Set<String> messages = new HashSet<>();
    for (JsonNode operation : api.get("operations")) {
      if (operation.get("action").asText().equals(action)) {
        operation
            .get("messages")
            .findValuesAsText("$ref")
            .forEach(ref -> messages.add(ref.substring(ref.lastIndexOf('/') + 1)));
      }
    }
    return messages;
  }

  private static Set<String> names(JsonNode object) {
    Set<String> names = new HashSet<>();
    object.fieldNames().forEachRemaining(names::add);
    return names;
  }
}
