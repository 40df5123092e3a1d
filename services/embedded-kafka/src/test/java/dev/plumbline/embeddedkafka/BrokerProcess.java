package dev.plumbline.embeddedkafka;

import java.nio.file.Path;

/** A broker in a process of its own, which a test kills. */
final class BrokerProcess {

  private BrokerProcess() {}

  public static void main(String[] args) throws Exception {
    EmbeddedKafka kafka = EmbeddedKafka.start(Path.of(args[0]), 0);
    TopicCatalogue.create(kafka.bootstrapServers());
    System.out.println("ready " + kafka.bootstrapServers());
    Thread.currentThread().join();
  }
}
