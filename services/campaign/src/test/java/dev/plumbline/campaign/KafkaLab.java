package dev.plumbline.campaign;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;

import dev.plumbline.schemas.Json;
import dev.plumbline.schemas.Topic;
import dev.plumbline.schemas.Worker;
import dev.plumbline.schemas.campaign.CampaignRequested;
import dev.plumbline.schemas.command.Command;
import dev.plumbline.schemas.event.CampaignEvent;
import dev.plumbline.schemas.event.StepEvent;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** A plain consumer and producer on a real broker, which plays the workers. */
final class KafkaLab implements AutoCloseable {

  private final KafkaConsumer<byte[], byte[]> consumer;
  private final KafkaProducer<byte[], byte[]> producer;
  final List<ConsumerRecord<byte[], byte[]>> seen = new ArrayList<>();

  KafkaLab(String bootstrap) {
    producer =
        new KafkaProducer<>(
            Map.of("bootstrap.servers", bootstrap, "acks", "all"),
            new ByteArraySerializer(),
            new ByteArraySerializer());
    consumer =
        new KafkaConsumer<>(
            Map.of(
                "bootstrap.servers",
                bootstrap,
                "group.id",
                "lab-" + UUID.randomUUID(),
                "auto.offset.reset",
                "earliest",
                "isolation.level",
                "read_committed"),
            new ByteArrayDeserializer(),
            new ByteArrayDeserializer());
    consumer.subscribe(
        Stream.concat(
                Arrays.stream(Worker.values()).map(w -> w.commands().topicName()),
                Stream.of(
                    Topic.CAMPAIGN_EVENTS.topicName(),
                    Topic.CAMPAIGN_STATUS.topicName(),
                    Topic.CAMPAIGN_REQUESTS.deadLetterTopic().orElseThrow()))
            .toList());
  }

  void request(CampaignRequested request) {
    raw(Topic.CAMPAIGN_REQUESTS, request.campaignId(), Json.bytes(request));
  }

  void raw(Topic topic, String key, byte[] value) {
    try {
      producer.send(new ProducerRecord<>(topic.topicName(), key.getBytes(UTF_8), value)).get();
    } catch (InterruptedException | java.util.concurrent.ExecutionException e) {
      throw new IllegalStateException(e);
    }
  }

  void tell(StepEvent event) {
    raw(Topic.CAMPAIGN_EVENTS, event.campaignId(), Json.bytes(event));
  }

  /** Answers every command with success until one is found that shall be left alone. */
  Command serveUntil(Predicate<Command> wanted) {
    List<Command> found = new ArrayList<>();
    until(
        record -> {
          if (!record.topic().contains(".commands.")) {
            return false;
          }
          Command command = Json.read(record.value(), Command.class);
          if (wanted.test(command)) {
            found.add(command);
            return true;
          }
          if (!(command instanceof Command.CancelStep)) {
            tell(Results.of(command.job(), Instant.now()));
          }
          return false;
        });
    return found.getFirst();
  }

  /** Answers every command with success until an event is found. */
  CampaignEvent serveUntilEvent(Predicate<CampaignEvent> wanted) {
    List<CampaignEvent> found = new ArrayList<>();
    until(
        record -> {
          if (record.topic().contains(".commands.")) {
            Command command = Json.read(record.value(), Command.class);
            if (!(command instanceof Command.CancelStep)) {
              tell(Results.of(command.job(), Instant.now()));
            }
          } else if (record.topic().equals(Topic.CAMPAIGN_EVENTS.topicName())) {
            CampaignEvent event = Json.read(record.value(), CampaignEvent.class);
            if (wanted.test(event)) {
              found.add(event);
              return true;
            }
          }
          return false;
        });
    return found.getFirst();
  }

  /** Reads on until a record is met; all records of a poll are looked at. */
  void until(Predicate<ConsumerRecord<byte[], byte[]>> wanted) {
    await()
        .atMost(Duration.ofSeconds(90))
        .pollInSameThread()
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(10))
        .until(
            () -> {
              boolean met = false;
              for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(200))) {
                seen.add(record);
                met |= wanted.test(record);
              }
              return met;
            });
  }

  List<CampaignEvent> terminals(String campaignId) {
    return seen.stream()
        .filter(r -> r.topic().equals(Topic.CAMPAIGN_EVENTS.topicName()))
        .map(r -> Json.read(r.value(), CampaignEvent.class))
        .filter(e -> e.terminal() && e.campaignId().equals(campaignId))
        .toList();
  }

  @Override
  public void close() {
    consumer.close();
    producer.close();
  }
}
