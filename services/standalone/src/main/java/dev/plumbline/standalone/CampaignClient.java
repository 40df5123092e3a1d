package dev.plumbline.standalone;

import dev.plumbline.schemas.CloudEvent;
import dev.plumbline.schemas.Json;
import dev.plumbline.schemas.Topic;
import dev.plumbline.schemas.campaign.CampaignRequest;
import dev.plumbline.schemas.campaign.CampaignStatus;
import dev.plumbline.schemas.event.CampaignEvent;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * One campaign seen from outside, through Kafka alone: publishes requests, hears what becomes of
 * them.
 */
final class CampaignClient implements AutoCloseable {

  private static final Duration BROKER_LIMIT = Duration.ofSeconds(20);

  private final KafkaProducer<String, byte[]> producer;
  private final KafkaConsumer<String, byte[]> consumer;

  /** Hears everything that is published from now on. */
  CampaignClient(String bootstrap) {
    producer =
        new KafkaProducer<>(
            Map.of(
                "bootstrap.servers",
                bootstrap,
                "acks",
                "all",
                "enable.idempotence",
                true,
                "max.block.ms",
                BROKER_LIMIT.toMillis(),
                "delivery.timeout.ms",
                (int) BROKER_LIMIT.toMillis(),
                "request.timeout.ms",
                10_000,
                "linger.ms",
                0),
            new StringSerializer(),
            new ByteArraySerializer());
    consumer =
        new KafkaConsumer<>(
            Map.of(
                "bootstrap.servers",
                bootstrap,
                "isolation.level",
                "read_committed",
                "enable.auto.commit",
                false,
                "default.api.timeout.ms",
                (int) BROKER_LIMIT.toMillis(),
                "auto.offset.reset",
                "earliest"),
            new StringDeserializer(),
            new ByteArrayDeserializer());
    List<TopicPartition> partitions =
        Stream.of(Topic.CAMPAIGN_EVENTS, Topic.CAMPAIGN_STATUS)
            .flatMap(topic -> consumer.partitionsFor(topic.topicName()).stream())
            .map(CampaignClient::partition)
            .toList();
    if (partitions.isEmpty()) {
      throw new UserError(
          Main.FAILED,
          "Kafka at " + bootstrap + " has none of Plumbline's topics: is Plumbline served there?");
    }
    consumer.assign(partitions);
    consumer.seekToEnd(partitions);
    partitions.forEach(consumer::position);
  }

  private static TopicPartition partition(PartitionInfo info) {
    return new TopicPartition(info.topic(), info.partition());
  }

  /**
   * Publishes a request and waits until the broker has it.
   *
   * @throws UserError when the broker does not answer
   */
  void publish(CampaignRequest request) throws InterruptedException {
    String type = request.getClass().getSimpleName();
    ProducerRecord<String, byte[]> message =
        new ProducerRecord<>(
            Topic.CAMPAIGN_REQUESTS.topicName(), request.campaignId(), Json.bytes(request));
    new CloudEvent(
            request.campaignId() + "/request/1/" + type,
            "/plumbline/command-line",
            type,
            request.campaignId(),
            Instant.now())
        .headers()
        .forEach((name, value) -> message.headers().add(name, value));
    try {
      producer.send(message).get(BROKER_LIMIT.toSeconds() + 5, TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      Throwable cause = e.getCause() == null ? e : e.getCause();
      throw new UserError(Main.FAILED, "The request could not be published: " + cause.getMessage());
    }
  }

  /** What was published about one campaign within {@code wait}, in order by topic. */
  List<Heard> poll(String campaignId, Duration wait) {
    return Stream.of(consumer.poll(wait))
        .flatMap(records -> java.util.stream.StreamSupport.stream(records.spliterator(), false))
        .filter(message -> campaignId.equals(message.key()) && message.value() != null)
        .map(CampaignClient::heard)
        .toList();
  }

  private static Heard heard(ConsumerRecord<String, byte[]> message) {
    return message.topic().equals(Topic.CAMPAIGN_STATUS.topicName())
        ? new Heard.Status(Json.read(message.value(), CampaignStatus.class))
        : new Heard.Event(Json.read(message.value(), CampaignEvent.class));
  }

  /** A status or an event of the campaign. */
  sealed interface Heard {
    record Status(CampaignStatus status) implements Heard {}

    record Event(CampaignEvent event) implements Heard {}
  }

  @Override
  public void close() {
    producer.close(Duration.ofSeconds(2));
    consumer.close(org.apache.kafka.clients.consumer.CloseOptions.timeout(Duration.ofSeconds(2)));
  }
}
