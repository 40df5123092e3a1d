package dev.plumbline.bottleneckattribution;

import static dev.plumbline.bottleneckattribution.Samples.KEY;
import static dev.plumbline.bottleneckattribution.Samples.T0;
import static dev.plumbline.schemas.trace.Component.ALL_REDUCE;
import static dev.plumbline.schemas.trace.Component.GEMM;
import static org.assertj.core.api.Assertions.assertThat;

import dev.plumbline.schemas.Json;
import dev.plumbline.schemas.Topic;
import dev.plumbline.schemas.attribution.Alert;
import dev.plumbline.schemas.attribution.Attribution;
import dev.plumbline.schemas.attribution.StepSample;
import io.smallrye.config.SmallRyeConfigBuilder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.regex.Pattern;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TestInputTopic;
import org.apache.kafka.streams.TestOutputTopic;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.test.TestRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The topology on virtual time: 5 min windows every 30 s with 2 min of grace. */
class AttributionTopologyTest {

  private final Topology topology = topology();
  private TopologyTestDriver driver;
  private TestInputTopic<String, byte[]> samples;
  private TestOutputTopic<String, byte[]> attributions;
  private TestOutputTopic<String, byte[]> alerts;
  private TestOutputTopic<String, byte[]> deadLetters;

  @BeforeEach
  void start() {
    Properties config = new Properties();
    config.put(StreamsConfig.APPLICATION_ID_CONFIG, "attribution-test");
    config.put(StreamsConfig.ENSURE_EXPLICIT_INTERNAL_RESOURCE_NAMING_CONFIG, "true");
    driver = new TopologyTestDriver(topology, config, T0);
    samples =
        driver.createInputTopic(
            Topic.TRACE_SAMPLES.topicName(), new StringSerializer(), new ByteArraySerializer());
    attributions = output(Topic.BOTTLENECK_ATTRIBUTIONS.topicName());
    alerts = output(Topic.BOTTLENECK_ALERTS.topicName());
    deadLetters = output(Topic.TRACE_SAMPLES.deadLetterTopic().orElseThrow());
  }

  @AfterEach
  void stop() {
    driver.close();
  }

  @Test
  void updatesComeWithinTheEmitIntervalAndOncePerBurst() {
    for (int i = 0; i < 100; i++) {
      send(Samples.at(i * 0.01, i, 10, Map.of(GEMM, 30L, ALL_REDUCE, 60L)));
    }

    driver.advanceWallClockTime(Duration.ofMillis(100));

    List<Attribution> updates = readAttributions();
    assertThat(updates).hasSize(10).allMatch(a -> !a.closed() && a.samples() == 100);
    assertThat(updates.get(0).shares())
        .isEqualTo(Map.of("all_reduce", 0.6, "gemm", 0.3, "idle:host_bound", 0.1));
    driver.advanceWallClockTime(Duration.ofMillis(100));
    assertThat(readAttributions()).isEmpty();
  }

  @Test
  void outputsCarryTheSeriesAsKeyAndCloudEventHeaders() {
    send(Samples.at(0, 0, 10, Map.of(GEMM, 90L)));
    driver.advanceWallClockTime(Duration.ofMillis(100));

    TestRecord<String, byte[]> first = attributions.readRecord();

    assertThat(first.key()).isEqualTo(KEY);
    assertThat(header(first.headers(), "ce_id")).isEqualTo(KEY + "/2026-03-01T11:55:30Z/1");
    assertThat(header(first.headers(), "ce_type")).isEqualTo("Attribution");
    assertThat(header(first.headers(), "ce_source")).isEqualTo("/plumbline/bottleneck-attribution");
    assertThat(header(first.headers(), "ce_specversion")).isEqualTo("1.0");
  }

  @Test
  void aWindowIsPublishedAsClosedWithoutAnyLaterRecord() {
    send(Samples.at(0, 0, 10, Map.of(GEMM, 90L)));
    driver.advanceWallClockTime(Duration.ofSeconds(1));
    readAttributions();

    // The last of its ten windows starts at 0 s: it ends at 300 s and waits for 120 s more.
    driver.advanceWallClockTime(Duration.ofSeconds(418));
    assertThat(readAttributions()).hasSize(9).allMatch(Attribution::closed);
    driver.advanceWallClockTime(Duration.ofSeconds(1));
    assertThat(readAttributions())
        .singleElement()
        .matches(a -> a.closed() && a.windowStart().equals(T0));
    assertThat(store(AttributionProcessor.PANES_STORE).approximateNumEntries()).isZero();
  }

  @Test
  void laterRecordsCloseAWindowToo() {
    send(Samples.at(0, 0, 10, Map.of(GEMM, 90L)));
    send(Samples.at(150, 1, 10, Map.of(GEMM, 90L)));

    assertThat(readAttributions())
        .singleElement()
        .matches(a -> a.closed() && a.windowStart().equals(T0.minusSeconds(270)));
  }

  @Test
  void duplicatesAndLateSamplesChangeNothing() {
    StepSample first = Samples.at(0, 0, 10, Map.of(GEMM, 90L));
    send(first);
    send(Samples.at(500, 1, 10, Map.of(GEMM, 90L)));
    readAttributions();
    driver.advanceWallClockTime(Duration.ofMillis(100));
    readAttributions();

    send(first);
    send(Samples.at(500, 1, 10, Map.of(GEMM, 90L)));
    driver.advanceWallClockTime(Duration.ofMillis(100));

    assertThat(readAttributions()).isEmpty();
    assertThat(total("late-samples-total")).isEqualTo(1.0);
    assertThat(total("duplicate-samples-total")).isEqualTo(1.0);
  }

  @Test
  void aBadRecordGoesToTheDeadLettersUnchangedAndItsNeighboursCount() {
    byte[] bad = {'{', 0, (byte) 0xff, '!'};
    send(Samples.at(0, 0, 10, Map.of(GEMM, 90L)));
    Headers headers =
        new RecordHeaders().add("traceparent", "00-ab".getBytes(StandardCharsets.UTF_8));
    samples.pipeInput(new TestRecord<>("gpu-1/kimi", bad, headers));
    samples.pipeInput("gpu-1/kimi", null);
    send(Samples.at(1, 1, 10, Map.of(GEMM, 90L)));
    driver.advanceWallClockTime(Duration.ofMillis(100));

    TestRecord<String, byte[]> letter = deadLetters.readRecord();
    assertThat(letter.key()).isEqualTo("gpu-1/kimi");
    assertThat(letter.value()).isEqualTo(bad);
    assertThat(header(letter.headers(), "dead-letter-reason"))
        .startsWith("not a valid StepSample: ");
    assertThat(header(letter.headers(), "dead-letter-topic"))
        .isEqualTo("plumbline.trace.samples.v1");
    assertThat(header(letter.headers(), "dead-letter-partition")).isEqualTo("0");
    assertThat(header(letter.headers(), "dead-letter-offset")).isEqualTo("1");
    assertThat(header(letter.headers(), "traceparent")).isEqualTo("00-ab");
    assertThat(deadLetters.readRecord().value()).isNull();
    assertThat(readAttributions()).hasSize(10).allMatch(a -> a.samples() == 2);
  }

  @Test
  void aShiftIsRaisedAndClearedOnceEach() {
    // Ten minutes of all-reduce, ten of gemm, ten of all-reduce; one sample in each half minute.
    for (int i = 0; i < 60; i++) {
      boolean shifted = i >= 20 && i < 40;
      send(Samples.at(30 * i, i, 0, shifted ? gemmBound() : reduceBound()));
      driver.advanceWallClockTime(Duration.ofSeconds(30));
    }
    driver.advanceWallClockTime(Duration.ofMinutes(8));

    List<Alert> told =
        alerts.readRecordsToList().stream().map(r -> Json.read(r.value(), Alert.class)).toList();

    assertThat(told)
        .extracting(Alert::state)
        .containsExactly(Alert.State.RAISED, Alert.State.CLEARED);
    assertThat(told).extracting(Alert::id).containsOnly(told.get(0).id());
    // Window k covers samples k..k+9; gemm leads (60:30) from 6 of 10 on: from sample 16, at 480 s.
    assertThat(told.get(0).windowStart()).isEqualTo(T0.plusSeconds(480));
    assertThat(told.get(0).evidence())
        .containsEntry("from", "all_reduce")
        .containsEntry("to", "gemm");
    assertThat(told.get(0).campaignId()).isEqualTo("c-1");
  }

  @Test
  void aFastClockOfOneHostDoesNotCloseTheWindowsOfAnother() {
    send(Samples.of("gpu-2", "c-2/tracing/1/0/0", 590, 10, Map.of(GEMM, 90L)));
    send(Samples.at(0, 0, 10, Map.of(GEMM, 90L)));
    driver.advanceWallClockTime(Duration.ofMillis(100));

    assertThat(readAttributions()).filteredOn(a -> a.host().equals("gpu-1")).hasSize(10);
  }

  @Test
  void theCurrentStoreHoldsTheLastFiveMinutesOfEachSeries() {
    send(Samples.at(0, 0, 10, Map.of(GEMM, 90L)));
    send(Samples.at(61, 1, 10, Map.of(GEMM, 90L)));
    driver.advanceWallClockTime(Duration.ofMillis(100));

    Attribution current =
        Json.read(store(AttributionProcessor.CURRENT_STORE).get(KEY), Attribution.class);

    assertThat(current.windowEnd()).isEqualTo(T0.plusSeconds(90));
    assertThat(current.samples()).isEqualTo(2);
    driver.advanceWallClockTime(Duration.ofMinutes(8));
    assertThat(Json.read(store(AttributionProcessor.CURRENT_STORE).get(KEY), Attribution.class))
        .matches(a -> a.closed() && a.windowStart().equals(current.windowStart()));
  }

  @Test
  void aSeriesThatIsGoneForLongIsForgotten() {
    send(Samples.at(0, 0, 10, Map.of(GEMM, 90L)));
    driver.advanceWallClockTime(Duration.ofDays(29));
    assertThat(store(AttributionProcessor.SERIES_STORE).get(KEY)).isNotNull();
    driver.advanceWallClockTime(Duration.ofDays(2));

    assertThat(store(AttributionProcessor.SERIES_STORE).get(KEY)).isNull();
    assertThat(store(AttributionProcessor.CURRENT_STORE).get(KEY)).isNull();
  }

  @Test
  void everyOperatorAndStoreHasItsName() {
    List<String> names =
        Pattern.compile("(?:Source|Processor|Sink): (\\S+)|stores: \\[([^\\]]*)\\]")
            .matcher(topology.describe().toString())
            .results()
            .flatMap(
                m -> List.of((m.group(1) == null ? m.group(2) : m.group(1)).split(", ")).stream())
            .filter(name -> !name.isEmpty())
            .toList();

    assertThat(names).hasSizeGreaterThan(10).allMatch(name -> name.startsWith("attribution-"));
  }

  private static Map<dev.plumbline.schemas.trace.Component, Long> reduceBound() {
    return Map.of(ALL_REDUCE, 60L, GEMM, 30L);
  }

  private static Map<dev.plumbline.schemas.trace.Component, Long> gemmBound() {
    return Map.of(ALL_REDUCE, 30L, GEMM, 60L);
  }

  private static Topology topology() {
    AttributionSettings settings =
        new SmallRyeConfigBuilder()
            .withMapping(AttributionSettings.class)
            .build()
            .getConfigMapping(AttributionSettings.class);
    StreamsBuilder builder = new StreamsBuilder();
    new AttributionTopology(settings).addTo(builder);
    return builder.build();
  }

  private TestOutputTopic<String, byte[]> output(String topic) {
    return driver.createOutputTopic(topic, new StringDeserializer(), new ByteArrayDeserializer());
  }

  private KeyValueStore<String, byte[]> store(String name) {
    return driver.getKeyValueStore(name);
  }

  private void send(StepSample sample) {
    samples.pipeInput(sample.key(), Json.bytes(sample));
  }

  private List<Attribution> readAttributions() {
    return attributions.readValuesToList().stream()
        .map(json -> Json.read(json, Attribution.class))
        .toList();
  }

  private double total(String metric) {
    return driver.metrics().entrySet().stream()
        .filter(m -> m.getKey().name().equals(metric))
        .mapToDouble(m -> (double) m.getValue().metricValue())
        .sum();
  }

  private static String header(Headers headers, String name) {
    Header header = headers.lastHeader(name);
    return header == null ? null : new String(header.value(), StandardCharsets.UTF_8);
  }
}
