package dev.plumbline.campaign;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.plumbline.schemas.Json;
import dev.plumbline.schemas.Step;
import dev.plumbline.schemas.Topic;
import dev.plumbline.schemas.Worker;
import dev.plumbline.schemas.campaign.CampaignCancelRequested;
import dev.plumbline.schemas.campaign.CampaignRequested;
import dev.plumbline.schemas.campaign.CampaignState;
import dev.plumbline.schemas.campaign.CampaignStatus;
import dev.plumbline.schemas.command.Command;
import dev.plumbline.schemas.event.CampaignEvent;
import dev.plumbline.schemas.event.StepEvent;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TestInputTopic;
import org.apache.kafka.streams.TestOutputTopic;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.test.TestRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CampaignTopologyTest {

  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  @TempDir Path state;
  private Instant now = START;
  private TopologyTestDriver driver;
  private TestInputTopic<byte[], byte[]> requests;
  private TestInputTopic<byte[], byte[]> events;
  private final Map<Topic, TestOutputTopic<byte[], byte[]>> outputs = new EnumMap<>(Topic.class);

  @BeforeEach
  void start() {
    start(
        new CampaignTopology.Settings(
            Limits.defaults(), Duration.ofMillis(500), Duration.ofDays(30), 1000));
  }

  private void start(CampaignTopology.Settings settings) {
    StreamsBuilder builder = new StreamsBuilder();
    new CampaignTopology(settings).addTo(builder);
    Properties properties = new Properties();
    properties.put(StreamsConfig.APPLICATION_ID_CONFIG, "campaign-test");
    properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "unused:1");
    properties.put(StreamsConfig.STATE_DIR_CONFIG, state.toString());
    properties.put(StreamsConfig.ENSURE_EXPLICIT_INTERNAL_RESOURCE_NAMING_CONFIG, true);
    driver = new TopologyTestDriver(builder.build(), properties, now);
    ByteArraySerializer bytes = new ByteArraySerializer();
    requests = driver.createInputTopic(Topic.CAMPAIGN_REQUESTS.topicName(), bytes, bytes);
    events = driver.createInputTopic(Topic.CAMPAIGN_EVENTS.topicName(), bytes, bytes);
    for (Topic topic : Topic.values()) {
      outputs.put(topic, output(topic.topicName()));
    }
  }

  private TestOutputTopic<byte[], byte[]> output(String topic) {
    return driver.createOutputTopic(
        topic, new ByteArrayDeserializer(), new ByteArrayDeserializer());
  }

  @AfterEach
  void stop() {
    driver.close();
  }

  @Test
  void aCampaignRunsThroughAllItsStepsInOrder() {
    request(Requests.full("c1", "lab"));

    List<String> steps = new ArrayList<>();
    serve(steps, null);

    assertThat(steps)
        .containsExactly(
            "inspect",
            "check-scripts",
            "lease",
            "macro",
            "free",
            "deploy",
            "micro",
            "trace",
            "restore",
            "analyse");
    assertThat(kinds()).containsExactly("CampaignAccepted", "CampaignCompleted");
    assertThat(statuses().getLast().state()).isEqualTo(CampaignState.COMPLETED);
  }

  @Test
  void everyRecordHasItsKeyAndCloudEventHeaders() {
    request(Requests.observing("c1", "lab"));
    TestRecord<byte[], byte[]> command = outputs.get(Topic.GPU_LIFECYCLE_COMMANDS).readRecord();
    TestRecord<byte[], byte[]> status = outputs.get(Topic.CAMPAIGN_STATUS).readRecord();

    assertThat(new String(command.key(), UTF_8)).isEqualTo("c1");
    assertThat(header(command, "ce_id")).isEqualTo("c1/inspect/1/InspectHost");
    assertThat(header(command, "ce_type")).isEqualTo("InspectHost");
    assertThat(header(command, "ce_source")).isEqualTo("/plumbline/campaign");
    assertThat(header(command, "ce_specversion")).isEqualTo("1.0");
    assertThat(new String(status.key(), UTF_8)).isEqualTo("c1");
    assertThat(header(status, "ce_type")).isEqualTo("CampaignStatus");
  }

  @Test
  void anUndecodableRecordGoesToTheDeadLettersAsItCameAndConsumptionGoesOn() {
    byte[] junk = {'{', (byte) 0xff, 0, 1};
    requests.pipeInput(new TestRecord<>("k".getBytes(UTF_8), junk, now));
    events.pipeInput(new TestRecord<>("k".getBytes(UTF_8), junk, now));
    request(Requests.full("c1", "lab"));

    for (Topic topic : List.of(Topic.CAMPAIGN_REQUESTS, Topic.CAMPAIGN_EVENTS)) {
      TestRecord<byte[], byte[]> letter =
          output(topic.deadLetterTopic().orElseThrow()).readRecord();
      assertThat(letter.value()).isEqualTo(junk);
      assertThat(new String(letter.key(), UTF_8)).isEqualTo("k");
      assertThat(header(letter, "dead-letter-topic")).isEqualTo(topic.topicName());
      assertThat(header(letter, "dead-letter-reason")).isNotBlank();
    }
    assertThat(commands(Worker.GPU_LIFECYCLE)).hasSize(1);
  }

  @Test
  void aRequestWithFaultsIsRejectedWithAllOfThemAndTheCorrectedOneIsTaken() {
    requests.pipeInput(
        new TestRecord<>(
            null,
            """
            {"campaignId":"c1","host":"lab","plam":{},"service":{"strategy":"systemd",
             "url":"http://lab:8000","model":"m"},"plan":{"macro":{"concurrency":[0]}}}
            """
                .getBytes(UTF_8),
            now));
    CampaignEvent.CampaignRejected rejected = (CampaignEvent.CampaignRejected) events().getFirst();
    assertThat(rejected.conflict()).isFalse();
    assertThat(rejected.faults())
        .extracting(f -> f.field())
        .contains("plam", "service.unit", "plan.macro.concurrency[0]");

    request(Requests.full("c1", "lab"));
    assertThat(commands(Worker.GPU_LIFECYCLE)).hasSize(1);
  }

  @Test
  void theSameRequestIsAnsweredWithItsFirstOutcomeAndAnotherIsRejected() {
    request(Requests.full("c1", "lab"));
    serve(new ArrayList<>(), null);
    CampaignStatus first = statuses().getLast();
    events();

    request(Requests.full("c1", "lab"));
    assertThat(statuses()).containsExactly(first);
    assertThat(events()).isEmpty();

    request(Requests.observing("c1", "lab"));
    assertThat(events())
        .singleElement()
        .isInstanceOfSatisfying(
            CampaignEvent.CampaignRejected.class, r -> assertThat(r.conflict()).isTrue());
    assertThat(statuses()).isEmpty();
  }

  @Test
  void aSilentWorkerIsAskedAgainAndTheServerRestoredWhenItStaysSilent() {
    request(Requests.full("c1", "lab"));
    List<String> steps = new ArrayList<>();
    serve(steps, Step.MICRO);
    assertThat(steps).endsWith("deploy");

    List<Command> micro = new ArrayList<>();
    for (int i = 0; i < 60 && steps.stream().noneMatch("restore"::equals); i++) {
      pass(Duration.ofSeconds(5));
      micro.addAll(commands(Worker.MICRO_BENCH));
      serve(steps, Step.MICRO);
    }
    assertThat(micro.stream().filter(c -> c instanceof Command.RunMicroBench))
        .extracting(c -> c.job().attempt())
        .contains(2, 3);
    assertThat(micro.stream().filter(c -> c instanceof Command.CancelStep)).hasSize(3);
    assertThat(steps).endsWith("restore").doesNotContain("analyse");
    assertThat(events())
        .last()
        .isInstanceOfSatisfying(
            CampaignEvent.CampaignFailed.class,
            f -> {
              assertThat(f.step()).isEqualTo(Step.MICRO);
              assertThat(f.restored()).isTrue();
              assertThat(f.report().macro()).isNotNull();
              assertThat(f.reason()).contains("micro failed 3 times").contains("micro-bench");
            });
  }

  @Test
  void aCancelledCampaignRestoresFirst() {
    request(Requests.full("c1", "lab"));
    List<String> steps = new ArrayList<>();
    serve(steps, Step.MICRO);
    Command running = commands(Worker.MICRO_BENCH).getFirst();

    byte[] cancel = Json.bytes(new CampaignCancelRequested("c1", "enough", "test"));
    requests.pipeInput(new TestRecord<>("c1".getBytes(UTF_8), cancel, now));
    assertThat(commands(Worker.MICRO_BENCH)).singleElement().isInstanceOf(Command.CancelStep.class);
    assertThat(events()).noneMatch(CampaignEvent::terminal);

    tell(
        new StepEvent.StepFailed(
            "c1", Step.MICRO, running.job().attempt(), now, "cancelled", "Cancelled.", false));
    serve(steps, null);
    assertThat(steps).endsWith("restore");
    assertThat(kinds()).containsExactly("CampaignCancelled");
  }

  @Test
  void allOfTheStateIsInTheStores() {
    request(Requests.full("c1", "lab"));
    List<String> steps = new ArrayList<>();
    serve(steps, Step.MICRO);
    Command lost = commands(Worker.MICRO_BENCH).getFirst();
    request(Requests.full("c2", "lab"));
    serve(steps, Step.MICRO);

    // What a restore from the changelog gives: the same bytes in new stores.
    Map<String, Object> before =
        Map.of(
            CampaignTopology.CAMPAIGNS, contents(CampaignTopology.CAMPAIGNS),
            CampaignTopology.FINDINGS, contents(CampaignTopology.FINDINGS),
            CampaignTopology.HOSTS, contents(CampaignTopology.HOSTS),
            CampaignTopology.STATUSES, contents(CampaignTopology.STATUSES));
    driver.close();
    start();
    before.forEach(this::fill);

    tell(Results.of(lost.job(), now));
    serve(steps, null);
    assertThat(kinds()).containsExactly("CampaignCompleted", "CampaignCompleted");
  }

  @Test
  void finishedCampaignsAreForgottenAfterTheirTime() {
    driver.close();
    start(
        new CampaignTopology.Settings(
            Limits.defaults(), Duration.ofMillis(500), Duration.ofHours(1), 1000));
    request(Requests.full("c1", "lab"));
    serve(new ArrayList<>(), null);
    statuses();

    pass(Duration.ofMinutes(59));
    assertThat(contents(CampaignTopology.STATUSES)).hasSize(1);
    pass(Duration.ofMinutes(3));
    assertThat(contents(CampaignTopology.STATUSES)).isEmpty();
    assertThat(contents(CampaignTopology.CAMPAIGNS)).isEmpty();
    assertThat(contents(CampaignTopology.FINDINGS)).isEmpty();
    TestRecord<byte[], byte[]> tombstone = outputs.get(Topic.CAMPAIGN_STATUS).readRecord();
    assertThat(tombstone.value()).isNull();
    assertThat(new String(tombstone.key(), UTF_8)).isEqualTo("c1");
  }

  @Test
  void aSilenceWhileWeWereNotListeningProvesNothing() {
    request(Requests.full("c1", "lab"));
    serve(new ArrayList<>(), Step.MICRO);
    commands(Worker.MICRO_BENCH);

    // The process is held for ten minutes: one late tick, then the next.
    pass(Duration.ofMinutes(10));
    pass(Duration.ofSeconds(1));
    assertThat(commands(Worker.MICRO_BENCH)).isEmpty();
  }

  private void fill(String store, Object contents) {
    ((Map<?, ?>) contents).forEach((key, value) -> driver.getKeyValueStore(store).put(key, value));
    // The indexes are rebuilt at the start of the processor, as after a restore.
  }

  private Map<Object, Object> contents(String store) {
    Map<Object, Object> all = new java.util.TreeMap<>();
    try (var entries = driver.getKeyValueStore(store).all()) {
      entries.forEachRemaining(e -> all.put(e.key, e.value));
    }
    return all;
  }

  /** Plays all workers until nothing is asked any more; the silent step is left unanswered. */
  private void serve(List<String> steps, Step silent) {
    boolean asked = true;
    while (asked) {
      asked = false;
      for (Worker worker : Worker.values()) {
        if (silent != null && silent.worker() == worker) {
          continue;
        }
        for (Command command : commands(worker)) {
          if (command instanceof Command.CancelStep) {
            continue;
          }
          asked = true;
          steps.add(command.job().step().id());
          tell(Results.of(command.job(), now));
        }
      }
    }
  }

  private void pass(Duration time) {
    now = now.plus(time);
    driver.advanceWallClockTime(time);
  }

  private void request(CampaignRequested request) {
    requests.pipeInput(
        new TestRecord<>(request.campaignId().getBytes(UTF_8), Json.bytes(request), now));
  }

  private void tell(StepEvent event) {
    events.pipeInput(new TestRecord<>(event.campaignId().getBytes(UTF_8), Json.bytes(event), now));
  }

  private List<Command> commands(Worker worker) {
    return outputs.get(worker.commands()).readValuesToList().stream()
        .map(b -> Json.read(b, Command.class))
        .toList();
  }

  private List<CampaignEvent> events() {
    return outputs.get(Topic.CAMPAIGN_EVENTS).readValuesToList().stream()
        .map(b -> Json.read(b, CampaignEvent.class))
        .toList();
  }

  private List<String> kinds() {
    return events().stream().map(CampaignEvent::kind).toList();
  }

  private List<CampaignStatus> statuses() {
    return outputs.get(Topic.CAMPAIGN_STATUS).readValuesToList().stream()
        .map(b -> Json.read(b, CampaignStatus.class))
        .toList();
  }

  private static String header(TestRecord<byte[], byte[]> record, String name) {
    Header header = record.headers().lastHeader(name);
    return header == null ? null : new String(header.value(), UTF_8);
  }
}
