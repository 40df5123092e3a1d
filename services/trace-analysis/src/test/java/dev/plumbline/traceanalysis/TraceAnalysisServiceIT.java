package dev.plumbline.traceanalysis;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.plumbline.embeddedkafka.TestBroker;
import dev.plumbline.schemas.Json;
import dev.plumbline.schemas.Step;
import dev.plumbline.schemas.Topic;
import dev.plumbline.schemas.attribution.StepSample;
import dev.plumbline.schemas.command.Command;
import dev.plumbline.schemas.command.Job;
import dev.plumbline.schemas.event.CampaignEvent;
import dev.plumbline.schemas.event.StepEvent.TracesAnalysed;
import dev.plumbline.schemas.trace.TraceFile;
import io.quarkus.test.common.QuarkusTestResource;
import io.quarkus.test.junit.QuarkusTest;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
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

/** The service as it is deployed, on a real broker, seen by a plain producer and consumer. */
@QuarkusTest
@QuarkusTestResource(TestBroker.class)
class TraceAnalysisServiceIT {

  @ConfigProperty(name = "kafka.bootstrap.servers")
  String bootstrap;

  @Test
  void aCommandBecomesSamplesAndOneResultAndRubbishGoesToTheDeadLetters() throws Exception {
    byte[] rubbish = "{\"type\": \"AnalyseTraces\", \"job\": 7".getBytes(UTF_8);
    List<TraceFile> traces =
        List.of(
            trace("nccl-eager-rank0.pt.trace.json.gz"), trace("nccl-eager-rank1.pt.trace.json.gz"));
    Instant deadline = Instant.now().plusSeconds(300);
    Job job = new Job("c-it", Step.ANALYSE, 1, "local", null, deadline);
    String topic = Topic.TRACE_ANALYSIS_COMMANDS.topicName();
    try (KafkaProducer<String, byte[]> producer =
        new KafkaProducer<>(
            Map.of("bootstrap.servers", bootstrap),
            new StringSerializer(),
            new ByteArraySerializer())) {
      byte[] command = Json.bytes(new Command.AnalyseTraces(job, traces, "kimi", null));
      for (byte[] value : List.of(rubbish, command, command)) {
        producer.send(new ProducerRecord<>(topic, "c-it", value)).get();
      }
    }
    List<ConsumerRecord<String, byte[]>> events = new ArrayList<>();
    List<ConsumerRecord<String, byte[]>> samples = new ArrayList<>();
    List<ConsumerRecord<String, byte[]>> dead = new ArrayList<>();
    try (KafkaConsumer<String, byte[]> consumer = consumer()) {
      await()
          .atMost(Duration.ofSeconds(60))
          .until(
              () -> {
                for (ConsumerRecord<String, byte[]> record :
                    consumer.poll(Duration.ofMillis(200))) {
                  if (record.topic().equals(Topic.TRACE_SAMPLES.topicName())) {
                    samples.add(record);
                  } else if (record.topic().equals(Topic.CAMPAIGN_EVENTS.topicName())) {
                    events.add(record);
                  } else {
                    dead.add(record);
                  }
                }
                return types(events).contains("TracesAnalysed") && !dead.isEmpty();
              });
    }

    assertThat(dead.getFirst().value()).isEqualTo(rubbish);
    assertThat(types(events)).startsWith("StepStarted").containsOnlyOnce("StepStarted");
    TracesAnalysed result =
        events.stream()
            .filter(record -> header(record, "ce_type").equals("TracesAnalysed"))
            .map(record -> (TracesAnalysed) Json.read(record.value(), CampaignEvent.class))
            .findFirst()
            .orElseThrow();
    assertThat(result.report().bottleneck().component()).isEqualTo("all_reduce");
    assertThat(result.report().collectives().straggler().rank()).isEqualTo(1);
    assertThat(Path.of(java.net.URI.create(result.reference()))).exists();
    assertThat(result.samples()).isEqualTo(8);
    assertThat(samples).hasSize(8);
    ConsumerRecord<String, byte[]> first = samples.getFirst();
    assertThat(first.key()).isEqualTo("local/kimi");
    StepSample sample = Json.read(first.value(), StepSample.class);
    assertThat(header(first, "ce_id")).isEqualTo(sample.id()).startsWith("c-it/analyse/1/");
    assertThat(header(first, "ce_specversion")).isEqualTo("1.0");
    assertThat(header(first, "content-type")).isEqualTo("application/json");
  }

  private static TraceFile trace(String name) {
    return new TraceFile(
        "local", SharedData.resource(name).toAbsolutePath().toString(), null, null, null, "given");
  }

  private static List<String> types(List<ConsumerRecord<String, byte[]>> records) {
    return records.stream().map(record -> header(record, "ce_type")).toList();
  }

  private static String header(ConsumerRecord<String, byte[]> record, String name) {
    return new String(record.headers().lastHeader(name).value(), UTF_8);
  }

  private KafkaConsumer<String, byte[]> consumer() {
    KafkaConsumer<String, byte[]> consumer =
        new KafkaConsumer<>(
            Map.of(
                "bootstrap.servers", bootstrap,
                "group.id", "trace-analysis-it",
                "auto.offset.reset", "earliest",
                "isolation.level", "read_committed"),
            new StringDeserializer(),
            new ByteArrayDeserializer());
    consumer.subscribe(
        List.of(
            Topic.CAMPAIGN_EVENTS.topicName(),
            Topic.TRACE_SAMPLES.topicName(),
            Topic.TRACE_ANALYSIS_COMMANDS.deadLetterTopic().orElseThrow()));
    return consumer;
  }
}
