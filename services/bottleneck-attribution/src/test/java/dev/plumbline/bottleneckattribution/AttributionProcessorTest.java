package dev.plumbline.bottleneckattribution;

import static dev.plumbline.bottleneckattribution.Samples.T0;
import static dev.plumbline.schemas.trace.Component.GEMM;
import static org.assertj.core.api.Assertions.assertThat;

import dev.plumbline.schemas.Json;
import dev.plumbline.schemas.attribution.Attribution;
import dev.plumbline.schemas.attribution.StepSample;
import io.smallrye.config.SmallRyeConfigBuilder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.processor.api.MockProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A processor that takes over the stores of another one. */
class AttributionProcessorTest {

  private static final AttributionSettings SETTINGS =
      new SmallRyeConfigBuilder()
          .withMapping(AttributionSettings.class)
          .build()
          .getConfigMapping(AttributionSettings.class);

  private MockProcessorContext<byte[], Outgoing> context;
  private AttributionProcessor processor;

  @BeforeEach
  void start() {
    restart();
  }

  @Test
  void aRestartAfterHoursClosesNoWindowBeforeTheUnreadSamplesAreCounted() {
    long later = T0.plus(Duration.ofHours(3)).toEpochMilli();
    process(Samples.at(0, 0, 10, Map.of(GEMM, 90L)), T0.toEpochMilli());

    restart();
    punctuate(later);
    process(Samples.at(1, 1, 10, Map.of(GEMM, 90L)), later);
    punctuate(later + 1_000);

    assertThat(published()).isNotEmpty().noneMatch(Attribution::closed);
    assertThat(published().get(published().size() - 1).samples()).isEqualTo(2);
  }

  @Test
  void whatWasNotPublishedBeforeTheRestartIsPublishedAfterIt() {
    process(Samples.at(0, 0, 10, Map.of(GEMM, 90L)), T0.toEpochMilli());
    assertThat(published()).isEmpty();

    restart();
    punctuate(T0.plusSeconds(1).toEpochMilli());

    assertThat(published()).hasSize(10).allMatch(a -> a.samples() == 1 && !a.closed());
  }

  @Test
  void aSampleThatWasCountedBeforeTheRestartIsADuplicateAfterIt() {
    StepSample sample = Samples.at(0, 0, 10, Map.of(GEMM, 90L));
    process(sample, T0.toEpochMilli());

    restart();
    process(sample, T0.plusSeconds(1).toEpochMilli());
    punctuate(T0.plusSeconds(2).toEpochMilli());

    assertThat(published()).hasSize(10).allMatch(a -> a.samples() == 1);
  }

  /** A context as a task has it when it starts: it does not know the time yet. */
  private void restart() {
    MockProcessorContext<byte[], Outgoing> next = new MockProcessorContext<>();
    next.setCurrentSystemTimeMs(0);
    for (String name :
        List.of(
            AttributionProcessor.SERIES_STORE,
            AttributionProcessor.PANES_STORE,
            AttributionProcessor.CURRENT_STORE)) {
      KeyValueStore<String, byte[]> store =
          Stores.keyValueStoreBuilder(
                  Stores.inMemoryKeyValueStore(name), Serdes.String(), Serdes.ByteArray())
              .withLoggingDisabled()
              .build();
      store.init(next.getStateStoreContext(), store);
      next.addStateStore(store);
      if (context != null) {
        try (var kept = context.<KeyValueStore<String, byte[]>>getStateStore(name).all()) {
          kept.forEachRemaining(entry -> store.put(entry.key, entry.value));
        }
      }
    }
    context = next;
    processor =
        new AttributionProcessor(
            SETTINGS,
            new WindowSpec(SETTINGS.windowSize(), SETTINGS.windowAdvance(), SETTINGS.windowGrace()),
            new ShiftDetector(0.02, 2, 120),
            new SampleReader(SETTINGS.maxAhead()));
    processor.init(context);
  }

  private void process(StepSample sample, long nowMs) {
    context.setCurrentSystemTimeMs(nowMs);
    processor.process(
        new Record<>(sample.key().getBytes(StandardCharsets.UTF_8), Json.bytes(sample), nowMs));
  }

  private void punctuate(long nowMs) {
    context.setCurrentSystemTimeMs(nowMs);
    context.scheduledPunctuators().stream()
        .filter(scheduled -> !scheduled.cancelled())
        .toList()
        .forEach(scheduled -> scheduled.getPunctuator().punctuate(nowMs));
  }

  private List<Attribution> published() {
    return context.forwarded().stream()
        .filter(f -> f.record().value().to() == Outgoing.To.ATTRIBUTIONS)
        .map(f -> Json.read(f.record().value().value(), Attribution.class))
        .toList();
  }
}
