package dev.plumbline.scriptdeployment;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.plumbline.embeddedkafka.TestBroker;
import dev.plumbline.schemas.Json;
import dev.plumbline.schemas.Step;
import dev.plumbline.schemas.Topic;
import dev.plumbline.schemas.command.Command;
import dev.plumbline.schemas.command.Job;
import dev.plumbline.schemas.event.CampaignEvent;
import dev.plumbline.schemas.event.StepEvent;
import io.quarkus.test.common.QuarkusTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.eclipse.microprofile.config.inject.ConfigProperty;
import org.junit.jupiter.api.Test;

/** The service as it runs, on a real broker, seen by a plain consumer. */
@QuarkusTest
@QuarkusTestResource(TestBroker.class)
class ScriptDeploymentServiceIT {

  private static final String COMMANDS = Topic.SCRIPT_DEPLOYMENT_COMMANDS.topicName();
  private static final String EVENTS = Topic.CAMPAIGN_EVENTS.topicName();

  @Inject
  @ConfigProperty(name = "kafka.bootstrap.servers")
  String bootstrap;

  private void send(String key, byte[] value) throws Exception {
    try (KafkaProducer<String, byte[]> producer =
        new KafkaProducer<>(
            Map.of("bootstrap.servers", bootstrap),
            new StringSerializer(),
            new ByteArraySerializer())) {
      producer.send(new ProducerRecord<>(COMMANDS, key, value)).get();
    }
  }

  private KafkaConsumer<String, byte[]> reader(String topic) {
    KafkaConsumer<String, byte[]> consumer =
        new KafkaConsumer<>(
            Map.of("bootstrap.servers", bootstrap, "auto.offset.reset", "earliest"),
            new StringDeserializer(),
            new ByteArrayDeserializer());
    consumer.assign(List.of(new TopicPartition(topic, 0)));
    return consumer;
  }

  /** Records of one key, until there are enough. */
  private List<ConsumerRecord<String, byte[]>> read(String topic, String key, int count) {
    List<ConsumerRecord<String, byte[]>> found = new ArrayList<>();
    try (KafkaConsumer<String, byte[]> consumer = reader(topic)) {
      await()
          .atMost(Duration.ofSeconds(60))
          .until(
              () -> {
                for (ConsumerRecord<String, byte[]> one : consumer.poll(Duration.ofMillis(200))) {
                  if (key.equals(one.key())) {
                    found.add(one);
                  }
                }
                return found.size() >= count;
              });
    }
    return found;
  }

  private static Map<String, String> headers(ConsumerRecord<String, byte[]> message) {
    Map<String, String> headers = new HashMap<>();
    for (Header header : message.headers()) {
      headers.put(header.key(), header.value() == null ? null : new String(header.value(), UTF_8));
    }
    return headers;
  }

  @Test
  void commandsBecomeEventsWithKeyAndCloudEventsHeaders() throws Exception {
    String id = "c-" + UUID.randomUUID();
    Job job = new Job(id, Step.DEPLOY, 1, "local", null, null);
    send(id, Json.bytes(new Command.DeployScripts(job, List.of("plumbline_probe.py"))));

    List<ConsumerRecord<String, byte[]>> events = read(EVENTS, id, 3);
    assertThat(events)
        .extracting(event -> headers(event).get("ce_type"))
        .containsExactly("StepStarted", "StepProgress", "ScriptsDeployed");
    ConsumerRecord<String, byte[]> last = events.getLast();
    CampaignEvent event = Json.read(last.value(), CampaignEvent.class);
    assertThat(headers(last))
        .containsEntry("ce_specversion", "1.0")
        .containsEntry("ce_id", id + "/deploy/1/ScriptsDeployed")
        .containsEntry("ce_source", "/plumbline/script-deployment")
        .containsEntry("ce_subject", id)
        .containsEntry("ce_time", event.at().toString())
        .containsEntry("content-type", "application/json");
    assertThat(((StepEvent.ScriptsDeployed) event).scripts().getFirst().preflight())
        .startsWith("plumbline_probe");
  }

  @Test
  void whatCannotBeDecodedGoesToTheDeadLettersUnchangedAndTheNextCommandIsDone() throws Exception {
    List<byte[]> rubbish =
        List.of(
            "not json {".getBytes(UTF_8),
            new byte[] {0, (byte) 0xff, 1, (byte) 0xfe},
            "{\"type\":\"FromTheFuture\",\"job\":{}}".getBytes(UTF_8),
            "{\"type\":\"CheckScripts\",\"scripts\":[]}".getBytes(UTF_8));
    String key = "bad-" + UUID.randomUUID();
    for (byte[] one : rubbish) {
      send(key, one);
    }
    String id = "c-" + UUID.randomUUID();
    Job job = new Job(id, Step.CHECK_SCRIPTS, 1, "local", null, null);
    send(id, Json.bytes(new Command.CheckScripts(job, List.of("plumbline_prob.py"))));

    List<ConsumerRecord<String, byte[]>> dead = read(COMMANDS + ".dlq", key, rubbish.size());
    for (int i = 0; i < 3; i++) {
      assertThat(dead.get(i).value()).as("record %d", i).isEqualTo(rubbish.get(i));
    }
    // This one was a command, though one that names no attempt.
    assertThat(Json.mapper().readTree(dead.get(3).value()))
        .isEqualTo(Json.mapper().readTree(rubbish.get(3)));
    assertThat(dead)
        .allSatisfy(one -> assertThat(headers(one).get("dead-letter-reason")).isNotBlank())
        .allSatisfy(one -> assertThat(headers(one)).containsEntry("dead-letter-topic", COMMANDS));
    List<ConsumerRecord<String, byte[]>> events = read(EVENTS, id, 2);
    StepEvent.ScriptsChecked checked =
        (StepEvent.ScriptsChecked) Json.read(events.getLast().value(), CampaignEvent.class);
    assertThat(checked.faults().getFirst().message())
        .contains("did you mean 'plumbline_probe.py'?");
  }
}
