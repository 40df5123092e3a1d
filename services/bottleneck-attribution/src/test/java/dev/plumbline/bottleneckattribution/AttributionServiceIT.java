package dev.plumbline.bottleneckattribution;

import static dev.plumbline.schemas.trace.Component.ALL_REDUCE;
import static dev.plumbline.schemas.trace.Component.GEMM;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.plumbline.embeddedkafka.TestBroker;
import dev.plumbline.schemas.Json;
import dev.plumbline.schemas.Topic;
import dev.plumbline.schemas.attribution.Attribution;
import dev.plumbline.schemas.attribution.StepSample;
import io.quarkus.test.common.QuarkusTestResource;
import io.quarkus.test.junit.QuarkusTest;
import io.restassured.RestAssured;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.eclipse.microprofile.config.inject.ConfigProperty;
import org.junit.jupiter.api.Test;

/** The service as it is deployed, on a real broker. */
@QuarkusTest
@QuarkusTestResource(TestBroker.class)
class AttributionServiceIT {

  @ConfigProperty(name = "kafka.bootstrap.servers")
  String bootstrap;

  @Test
  void samplesBecomeAttributionsForCommittedReadersAndForRest() throws Exception {
    // Event time is now: a sample of the past would find its windows closed at once.
    double second = Duration.between(Samples.T0, Instant.now()).toMillis() / 1000.0;
    byte[] bad = "{\"id\":\"nothing else\"}".getBytes(StandardCharsets.UTF_8);
    try (var producer =
        new KafkaProducer<>(
            Map.<String, Object>of("bootstrap.servers", bootstrap, "acks", "all"),
            new StringSerializer(),
            new ByteArraySerializer())) {
      for (int i = 0; i < 20; i++) {
        StepSample sample = Samples.at(second, i, 10, Map.of(ALL_REDUCE, 60L, GEMM, 30L));
        producer.send(record(sample.key(), Json.bytes(sample))).get();
        if (i == 10) {
          producer.send(record("gpu-1/kimi", bad)).get();
          producer.send(record(sample.key(), Json.bytes(sample))).get();
        }
      }
    }

    ConsumerRecord<String, byte[]> last =
        awaitRecord(
            Topic.BOTTLENECK_ATTRIBUTIONS.topicName(),
            r -> Json.read(r.value(), Attribution.class).samples() == 20);
    assertThat(last.key()).isEqualTo(Samples.KEY);
    assertThat(new String(last.headers().lastHeader("ce_type").value(), StandardCharsets.UTF_8))
        .isEqualTo("Attribution");
    ConsumerRecord<String, byte[]> letter =
        awaitRecord(Topic.TRACE_SAMPLES.deadLetterTopic().orElseThrow(), r -> true);
    assertThat(letter.value()).isEqualTo(bad);
    assertThat(letter.headers().lastHeader("dead-letter-reason").value())
        .asString(StandardCharsets.UTF_8)
        .isEqualTo("the sample has no host");
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(
            () ->
                assertThat(RestAssured.get("/api/attributions?host=gpu-1").jsonPath())
                    .satisfies(
                        json -> {
                          assertThat(json.getList("bottleneck")).isEqualTo(List.of("all_reduce"));
                          assertThat(json.getInt("[0].samples")).isEqualTo(20);
                        }));
    assertThat(RestAssured.get("/api/attributions?host=gpu-9").jsonPath().getList("")).isEmpty();
    assertThat(RestAssured.get("/q/health/live").statusCode()).isEqualTo(200);
    assertThat(RestAssured.get("/q/health/ready").statusCode()).isEqualTo(200);
  }

  private static ProducerRecord<String, byte[]> record(String key, byte[] value) {
    return new ProducerRecord<>(Topic.TRACE_SAMPLES.topicName(), key, value);
  }

  private ConsumerRecord<String, byte[]> awaitRecord(
      String topic, java.util.function.Predicate<ConsumerRecord<String, byte[]>> wanted) {
    try (var consumer =
        new KafkaConsumer<>(
            Map.<String, Object>of(
                "bootstrap.servers",
                bootstrap,
                "group.id",
                "it-" + UUID.randomUUID(),
                "auto.offset.reset",
                "earliest",
                "isolation.level",
                "read_committed"),
            new StringDeserializer(),
            new ByteArrayDeserializer())) {
      consumer.subscribe(List.of(topic));
      List<ConsumerRecord<String, byte[]>> found = new ArrayList<>();
      await()
          .atMost(Duration.ofSeconds(60))
          .pollInSameThread()
          .until(
              () -> {
                for (var record : consumer.poll(Duration.ofMillis(200))) {
                  if (wanted.test(record)) {
                    found.add(record);
                  }
                }
                return !found.isEmpty();
              });
      return found.get(0);
    }
  }
}
