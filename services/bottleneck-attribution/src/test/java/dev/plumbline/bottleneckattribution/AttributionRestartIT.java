package dev.plumbline.bottleneckattribution;

import static dev.plumbline.schemas.trace.Component.ALL_REDUCE;
import static dev.plumbline.schemas.trace.Component.GEMM;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.plumbline.embeddedkafka.EmbeddedKafka;
import dev.plumbline.embeddedkafka.TopicCatalogue;
import dev.plumbline.schemas.Json;
import dev.plumbline.schemas.Topic;
import dev.plumbline.schemas.attribution.Attribution;
import dev.plumbline.schemas.attribution.StepSample;
import io.smallrye.config.SmallRyeConfigBuilder;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A second instance with an empty disk goes on where the first one ended. */
class AttributionRestartIT {

  private static final AttributionSettings SETTINGS =
      new SmallRyeConfigBuilder()
          .withMapping(AttributionSettings.class)
          .build()
          .getConfigMapping(AttributionSettings.class);

  @TempDir Path folder;

  @Test
  void nothingIsLostOrCountedTwiceOverARestartWithoutState() throws Exception {
    try (EmbeddedKafka kafka = EmbeddedKafka.start(folder.resolve("kafka"), 0)) {
      String bootstrap = kafka.bootstrapServers();
      TopicCatalogue.create(bootstrap);
      double second = Duration.between(Samples.T0, Instant.now()).toSeconds();
      List<StepSample> samples = new ArrayList<>();
      for (int i = 0; i < 40; i++) {
        samples.add(Samples.at(second + i * 0.1, i, 10, Map.of(ALL_REDUCE, 60L, GEMM, 30L)));
      }
      // Nine minutes later in event time every window of the others is over.
      StepSample last = Samples.at(second + 540, 40, 10, Map.of(GEMM, 90L));
      Map<Instant, Attribution> latest = new HashMap<>();
      List<Attribution> closed = new ArrayList<>();
      try (var consumer = consumer(bootstrap)) {
        try (KafkaStreams first = start(bootstrap, "first")) {
          send(bootstrap, samples.subList(0, 25));
          follow(first, consumer, latest, closed, 10 * 25);
        }
        // The last five again: a producer that was not sure repeats them.
        send(bootstrap, samples.subList(20, 40));
        try (KafkaStreams successor = start(bootstrap, "second")) {
          send(bootstrap, List.of(last));
          follow(successor, consumer, latest, closed, 10 * 41);
        }
      }

      // Each sample is in ten windows; each window was closed exactly once.
      assertThat(closed.stream().mapToLong(Attribution::samples).sum()).isEqualTo(10 * 40);
      assertThat(closed).extracting(Attribution::windowStart).doesNotHaveDuplicates();
      assertThat(closed).allMatch(w -> latest.get(w.windowStart()).equals(w));
    }
  }

  private static long samplesIn(Map<Instant, Attribution> windows) {
    return windows.values().stream().mapToLong(Attribution::samples).sum();
  }

  private static void follow(
      KafkaStreams streams,
      KafkaConsumer<String, byte[]> consumer,
      Map<Instant, Attribution> latest,
      List<Attribution> closed,
      long samples) {
    try {
      await()
          .atMost(Duration.ofSeconds(120))
          .pollInSameThread()
          .until(
              () -> {
                for (var record : consumer.poll(Duration.ofMillis(200))) {
                  Attribution window = Json.read(record.value(), Attribution.class);
                  latest.put(window.windowStart(), window);
                  if (window.closed()) {
                    closed.add(window);
                  }
                }
                return samplesIn(latest) >= samples;
              });
    } catch (ConditionTimeoutException e) {
      throw new AssertionError(
          String.format(
              "saw %d of %d samples; Kafka Streams is %s, reader has %s, threads %s",
              samplesIn(latest),
              samples,
              streams.state(),
              consumer.assignment(),
              streams.metadataForLocalThreads()),
          e);
    }
  }

  private KafkaStreams start(String bootstrap, String disk) {
    Properties config = new Properties();
    config.put(StreamsConfig.APPLICATION_ID_CONFIG, "attribution-restart");
    config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrap);
    config.put(StreamsConfig.STATE_DIR_CONFIG, folder.resolve(disk).toString());
    config.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
    config.put(StreamsConfig.ENSURE_EXPLICIT_INTERNAL_RESOURCE_NAMING_CONFIG, "true");
    // Streams does not leave its group when it closes: the successor waits for this long.
    config.put(StreamsConfig.consumerPrefix("session.timeout.ms"), 6000);
    config.put(StreamsConfig.consumerPrefix("heartbeat.interval.ms"), 1000);
    StreamsBuilder builder = new StreamsBuilder();
    new AttributionTopology(SETTINGS).addTo(builder);
    KafkaStreams streams = new KafkaStreams(builder.build(), config);
    streams.start();
    return streams;
  }

  private static void send(String bootstrap, List<StepSample> samples) throws Exception {
    try (var producer =
        new KafkaProducer<>(
            Map.<String, Object>of("bootstrap.servers", bootstrap, "acks", "all"),
            new StringSerializer(),
            new ByteArraySerializer())) {
      for (StepSample sample : samples) {
        String topic = Topic.TRACE_SAMPLES.topicName();
        producer.send(new ProducerRecord<>(topic, sample.key(), Json.bytes(sample))).get();
      }
    }
  }

  private static KafkaConsumer<String, byte[]> consumer(String bootstrap) {
    var consumer =
        new KafkaConsumer<>(
            Map.<String, Object>of(
                "bootstrap.servers", bootstrap,
                "group.id", "attribution-restart-reader",
                "auto.offset.reset", "earliest",
                "isolation.level", "read_committed"),
            new StringDeserializer(),
            new ByteArrayDeserializer());
    consumer.subscribe(List.of(Topic.BOTTLENECK_ATTRIBUTIONS.topicName()));
    return consumer;
  }
}
