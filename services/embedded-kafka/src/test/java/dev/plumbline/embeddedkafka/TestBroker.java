package dev.plumbline.embeddedkafka;

import io.quarkus.test.common.QuarkusTestResourceLifecycleManager;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.testcontainers.kafka.KafkaContainer;

/**
 * What a service needs to be tested as it is deployed: a broker with the topics of the catalogue, a
 * data folder below {@code target}, and a host inventory whose {@code local} host works in that
 * folder.
 *
 * <p>The broker is the embedded one, or Kafka's own image where the environment variable {@value
 * #CHOICE} is {@code testcontainers}, as it is in the second run that a Docker engine brings.
 */
public final class TestBroker implements QuarkusTestResourceLifecycleManager {

  static final String CHOICE = "PLUMBLINE_TEST_BROKER";
  private static final String IMAGE = "apache/kafka-native:4.1.2";

  private Runnable stop = () -> {};

  @Override
  public Map<String, String> start() {
    try {
      Path folder = Files.createTempDirectory(Path.of("target").toAbsolutePath(), "broker-");
      Path hosts = folder.resolve("hosts.yaml");
      Files.writeString(
          hosts, "hosts: {local: {transport: local, workDir: " + folder.resolve("work") + "}}\n");
      String bootstrap =
          "testcontainers".equals(System.getenv(CHOICE)) ? container() : embedded(folder);
      TopicCatalogue.create(bootstrap);
      return Map.of(
          "kafka.bootstrap.servers",
          bootstrap,
          "plumbline.data-dir",
          folder.toString(),
          "plumbline.hosts-file",
          hosts.toString(),
          "quarkus.http.test-port",
          "0",
          "quarkus.log.level",
          "WARN");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private String embedded(Path folder) {
    EmbeddedKafka kafka = EmbeddedKafka.start(folder.resolve("kafka"), 0);
    stop = kafka::close;
    return kafka.bootstrapServers();
  }

  private String container() {
    KafkaContainer kafka = new KafkaContainer(IMAGE);
    kafka.withEnv("KAFKA_AUTO_CREATE_TOPICS_ENABLE", "false");
    stop = kafka::stop;
    kafka.start();
    return kafka.getBootstrapServers();
  }

  @Override
  public void stop() {
    stop.run();
  }
}
