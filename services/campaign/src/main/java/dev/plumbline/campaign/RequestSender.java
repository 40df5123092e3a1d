package dev.plumbline.campaign;

import dev.plumbline.schemas.CloudEvent;
import dev.plumbline.schemas.Json;
import dev.plumbline.schemas.Topic;
import dev.plumbline.schemas.campaign.CampaignRequest;
import io.smallrye.common.annotation.Identifier;
import jakarta.annotation.PreDestroy;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Puts requests on their topic and waits until all replicas have them. */
@ApplicationScoped
public class RequestSender {

  /** Kafka did not take the request in time; it may be asked again with the same id. */
  public static final class BrokerAway extends Exception {
    private static final long serialVersionUID = 1;

    BrokerAway(String message, Throwable cause) {
      super(message, cause);
    }
  }

  private final Map<String, Object> kafka;
  private final Duration timeout;
  private final Clock clock = Clock.systemUTC();
  private KafkaProducer<byte[], byte[]> producer;

  @Inject
  RequestSender(
      @Identifier("default-kafka-broker") Map<String, Object> kafka, CampaignConfig config) {
    this(kafka, config.sendTimeout());
  }

  RequestSender(Map<String, Object> kafka, Duration timeout) {
    this.kafka = Map.copyOf(kafka);
    this.timeout = timeout;
  }

  /**
   * Returns when the request is safe in Kafka.
   *
   * @throws BrokerAway after the time limit, with one sentence
   */
  public void send(CampaignRequest request) throws BrokerAway {
    String type = request.getClass().getSimpleName();
    String id = request.campaignId();
    Instant now = clock.instant();
    ProducerRecord<byte[], byte[]> record =
        new ProducerRecord<>(
            Topic.CAMPAIGN_REQUESTS.topicName(),
            id.getBytes(StandardCharsets.UTF_8),
            Json.bytes(request));
    new CloudEvent(id + "/request/" + type, "/plumbline/campaign/rest", type, id, now)
        .headers()
        .forEach(record.headers()::add);
    try {
      producer().send(record).get(2 * timeout.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException | KafkaException e) {
      throw new BrokerAway(
          "Kafka at %s did not take the request within %d s; is it running? The request may be sent again."
              .formatted(kafka.get("bootstrap.servers"), timeout.toSeconds()),
          e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new BrokerAway("The service is stopping; send the request again.", e);
    }
  }

  private synchronized KafkaProducer<byte[], byte[]> producer() {
    if (producer == null) {
      Map<String, Object> config = new HashMap<>(kafka);
      config.put("acks", "all");
      config.put("enable.idempotence", true);
      // Both the wait for metadata and the wait for the acknowledgement are bounded.
      config.put("max.block.ms", timeout.toMillis());
      config.put("request.timeout.ms", (int) timeout.toMillis() / 2);
      config.put("delivery.timeout.ms", (int) timeout.toMillis());
      config.put("linger.ms", 0);
      config.remove("key.serializer");
      config.remove("value.serializer");
      producer = new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
    }
    return producer;
  }

  @PreDestroy
  synchronized void close() {
    if (producer != null) {
      producer.close(Duration.ofSeconds(1));
    }
  }
}
