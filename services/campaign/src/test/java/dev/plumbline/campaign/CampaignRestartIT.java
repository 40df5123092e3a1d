package dev.plumbline.campaign;

import static org.assertj.core.api.Assertions.assertThat;

import dev.plumbline.embeddedkafka.EmbeddedKafka;
import dev.plumbline.embeddedkafka.TopicCatalogue;
import dev.plumbline.schemas.command.Command;
import dev.plumbline.schemas.event.CampaignEvent;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Properties;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The coordinator dies in the middle and loses its disk; Kafka holds all that it needs. */
class CampaignRestartIT {

  @TempDir Path folder;

  @Test
  void aCampaignGoesOnWhereItWas() {
    try (EmbeddedKafka kafka = EmbeddedKafka.start(folder.resolve("kafka"), 0)) {
      TopicCatalogue.create(kafka.bootstrapServers());
      try (KafkaLab lab = new KafkaLab(kafka.bootstrapServers())) {
        Command micro;
        KafkaStreams first = streams(kafka.bootstrapServers(), "first");
        try {
          lab.request(Requests.full("c1", "lab"));
          lab.request(Requests.full("c2", "lab"));
          micro = lab.serveUntil(c -> c instanceof Command.RunMicroBench);
        } finally {
          // No farewell to the group: its successor has to fence it off.
          first.close(Duration.ZERO);
        }
        lab.tell(Results.of(micro.job(), Instant.now()));

        KafkaStreams second = streams(kafka.bootstrapServers(), "second");
        try {
          CampaignEvent end = lab.serveUntilEvent(e -> e.terminal() && e.campaignId().equals("c2"));
          assertThat(end).isInstanceOf(CampaignEvent.CampaignCompleted.class);
          assertThat(lab.terminals("c1"))
              .singleElement()
              .isInstanceOfSatisfying(
                  CampaignEvent.CampaignCompleted.class,
                  c -> {
                    assertThat(c.report().macro()).isNotNull();
                    assertThat(c.report().micro()).isNotNull();
                  });
        } finally {
          second.close(Duration.ofSeconds(20));
        }
        List<String> restores =
            lab.seen.stream()
                .filter(r -> r.topic().contains("gpu-lifecycle.commands"))
                .map(
                    r ->
                        new String(
                            r.headers().lastHeader("ce_id").value(),
                            java.nio.charset.StandardCharsets.UTF_8))
                .filter(id -> id.contains("/restore/"))
                .toList();
        assertThat(restores)
            .containsExactly("c1/restore/1/RestoreServer", "c2/restore/1/RestoreServer");
      }
    }
  }

  private KafkaStreams streams(String bootstrap, String disk) {
    StreamsBuilder builder = new StreamsBuilder();
    new CampaignTopology(
            new CampaignTopology.Settings(
                Limits.defaults(), Duration.ofMillis(100), Duration.ofDays(1), 100))
        .addTo(builder);
    Properties properties = new Properties();
    properties.put(StreamsConfig.APPLICATION_ID_CONFIG, "plumbline-campaign");
    properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrap);
    properties.put(StreamsConfig.STATE_DIR_CONFIG, folder.resolve(disk).toString());
    properties.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
    properties.put(StreamsConfig.consumerPrefix("session.timeout.ms"), 6000);
    properties.put(StreamsConfig.consumerPrefix("heartbeat.interval.ms"), 1000);
    KafkaStreams streams = new KafkaStreams(builder.build(), properties);
    streams.start();
    return streams;
  }
}
