package dev.plumbline.embeddedkafka;

import java.nio.file.Path;
import org.testcontainers.kafka.KafkaContainer;

/**
 * The broker of a test, with the topics of the catalogue: the embedded one, or Kafka's own image
 * where the environment variable {@value #CHOICE} is {@code testcontainers}, as it is in the second
 * run that a Docker engine brings.
 */
public final class TestBroker implements AutoCloseable {

  static final String CHOICE = "PLUMBLINE_TEST_BROKER";
  private static final String IMAGE = "apache/kafka-native:4.1.2";

  private final String bootstrapServers;
  private final Runnable stop;

  private TestBroker(String bootstrapServers, Runnable stop) {
    this.bootstrapServers = bootstrapServers;
    this.stop = stop;
  }

  /**
   * @param folder data of the embedded broker
   */
  public static TestBroker start(Path folder) {
    TestBroker started =
        "testcontainers".equals(System.getenv(CHOICE)) ? container() : embedded(folder);
    TopicCatalogue.create(started.bootstrapServers());
    return started;
  }

  private static TestBroker embedded(Path folder) {
    EmbeddedKafka kafka = EmbeddedKafka.start(folder, 0);
    return new TestBroker(kafka.bootstrapServers(), kafka::close);
  }

  private static TestBroker container() {
    KafkaContainer kafka = new KafkaContainer(IMAGE);
    kafka.withEnv("KAFKA_AUTO_CREATE_TOPICS_ENABLE", "false").start();
    return new TestBroker(kafka.getBootstrapServers(), kafka::stop);
  }

  public String bootstrapServers() {
    return bootstrapServers;
  }

  @Override
  public void close() {
    stop.run();
  }
}
