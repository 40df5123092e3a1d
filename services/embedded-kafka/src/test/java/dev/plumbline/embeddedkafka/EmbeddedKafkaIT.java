package dev.plumbline.embeddedkafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.plumbline.schemas.Topic;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EmbeddedKafkaIT {

  private static final String TOPIC = Topic.CAMPAIGN_EVENTS.topicName();

  @TempDir Path folder;

  @Test
  void dataSurvivesARestartOnTheSamePort() throws Exception {
    // Given a record, then a stop
    int port;
    try (EmbeddedKafka first = EmbeddedKafka.start(folder, 0)) {
      TopicCatalogue.create(first.bootstrapServers());
      send(first.bootstrapServers(), TOPIC, "c-1", "one");
      port = Integer.parseInt(first.bootstrapServers().split(":")[1]);
    }
    // When it starts again on that port
    try (EmbeddedKafka second = EmbeddedKafka.start(folder, port)) {
      assertThat(second.bootstrapServers()).isEqualTo("127.0.0.1:" + port);
      TopicCatalogue.create(second.bootstrapServers());
      send(second.bootstrapServers(), TOPIC, "c-1", "two");
      // Then both are there
      assertThat(read(second.bootstrapServers(), TOPIC, 2)).containsExactly("one", "two");
    }
  }

  @Test
  void acknowledgedRecordsSurviveAKill() throws Exception {
    // Given a broker in a process of its own that is ended by SIGKILL
    Process child =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                BrokerProcess.class.getName(),
                folder.toString())
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    String bootstrap;
    try (var lines = child.inputReader()) {
      String line = lines.readLine();
      while (line != null && !line.startsWith("ready ")) {
        line = lines.readLine();
      }
      assertThat(line).as("the child's broker started").isNotNull();
      bootstrap = line.substring("ready ".length());
      send(bootstrap, TOPIC, "c-1", "before the kill");
    } finally {
      child.destroyForcibly();
      assertThat(child.waitFor(30, TimeUnit.SECONDS)).isTrue();
    }
    // When a broker starts on the same folder and port
    int port = Integer.parseInt(bootstrap.split(":")[1]);
    try (EmbeddedKafka again = EmbeddedKafka.start(folder, port)) {
      // Then the record is there and new ones are taken
      send(again.bootstrapServers(), TOPIC, "c-1", "after");
      assertThat(read(again.bootstrapServers(), TOPIC, 2))
          .containsExactly("before the kill", "after");
    }
  }

  @Test
  void theCatalogueIsCreatedOnceWithItsDeadLetters() throws Exception {
    try (EmbeddedKafka kafka = EmbeddedKafka.start(folder, 0)) {
      TopicCatalogue.create(kafka.bootstrapServers());
      TopicCatalogue.create(kafka.bootstrapServers());
      try (Admin admin = Admin.create(Map.of("bootstrap.servers", kafka.bootstrapServers()))) {
        var names = admin.listTopics().names().get();
        assertThat(names)
            .contains(
                "plumbline.campaign.requests.v1",
                "plumbline.campaign.requests.v1.dlq",
                "plumbline.script-deployment.commands.v1.dlq",
                "plumbline.campaign.status.v1")
            .doesNotContain("plumbline.campaign.status.v1.dlq");
        assertThat(config(admin, "plumbline.campaign.requests.v1", "retention.ms"))
            .isEqualTo("604800000"); // 7 days
        assertThat(config(admin, "plumbline.campaign.requests.v1.dlq", "retention.ms"))
            .isEqualTo("2592000000"); // 30 days
        assertThat(config(admin, "plumbline.campaign.status.v1", "cleanup.policy"))
            .isEqualTo("compact");
      }
    }
  }

  @Test
  void aTopicWithOtherPartitionsIsNamed() throws Exception {
    try (EmbeddedKafka kafka = EmbeddedKafka.start(folder, 0)) {
      try (Admin admin = Admin.create(Map.of("bootstrap.servers", kafka.bootstrapServers()))) {
        admin
            .createTopics(List.of(new NewTopic(TOPIC, Optional.of(3), Optional.empty())))
            .all()
            .get();
      }
      assertThatThrownBy(() -> TopicCatalogue.create(kafka.bootstrapServers()))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining(TOPIC + " has 3 partitions but Plumbline needs 1");
    }
  }

  @Test
  void topicsAreNotCreatedByUse() {
    try (EmbeddedKafka kafka = EmbeddedKafka.start(folder, 0)) {
      assertThatThrownBy(() -> send(kafka.bootstrapServers(), "nobody-made-this", "k", "v"))
          .isInstanceOf(ExecutionException.class)
          .hasCauseInstanceOf(TimeoutException.class);
    }
  }

  @Test
  void aPortInUseIsNamed() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
      assertThatThrownBy(() -> EmbeddedKafka.start(folder, taken.getLocalPort()))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("127.0.0.1:" + taken.getLocalPort() + ": the port is in use");
    }
  }

  @Test
  void aFolderInUseIsNamed() {
    try (EmbeddedKafka kafka = EmbeddedKafka.start(folder, 0)) {
      assertThatThrownBy(() -> EmbeddedKafka.start(folder, 0))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining(folder + " is in use");
      assertThat(kafka.bootstrapServers()).startsWith("127.0.0.1:");
    }
  }

  private static String config(Admin admin, String topic, String key) throws Exception {
    ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
    return admin.describeConfigs(List.of(resource)).all().get().get(resource).get(key).value();
  }

  private static void send(String bootstrap, String topic, String key, String value)
      throws Exception {
    Map<String, Object> config = Map.of("bootstrap.servers", bootstrap, "max.block.ms", 5000);
    try (KafkaProducer<String, String> producer =
        new KafkaProducer<>(config, new StringSerializer(), new StringSerializer())) {
      producer.send(new ProducerRecord<>(topic, key, value)).get();
    }
  }

  private static List<String> read(String bootstrap, String topic, int count) {
    List<String> values = new ArrayList<>();
    try (KafkaConsumer<String, String> consumer =
        new KafkaConsumer<>(
            Map.of("bootstrap.servers", bootstrap, "auto.offset.reset", "earliest"),
            new StringDeserializer(),
            new StringDeserializer())) {
      consumer.assign(List.of(new TopicPartition(topic, 0)));
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
      while (values.size() < count && System.nanoTime() < end) {
        for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(200))) {
          values.add(record.value());
        }
      }
    }
    return values;
  }
}
