package dev.plumbline.bottleneckattribution;

import dev.plumbline.schemas.Topic;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.Set;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Branched;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorSupplier;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;

/**
 * The part of the Kafka Streams topology that is this service's. Every operator and store has a
 * name that starts with {@code attribution-}, so that it can share a builder with others.
 */
@Singleton
public class AttributionTopology {

  private final AttributionSettings settings;
  private final WindowSpec spec;

  /**
   * @throws IllegalArgumentException if the windows do not fit together
   */
  @Inject
  public AttributionTopology(AttributionSettings settings) {
    this.settings = settings;
    this.spec =
        new WindowSpec(settings.windowSize(), settings.windowAdvance(), settings.windowGrace());
  }

  /** Adds source, processor, stores and sinks. */
  public void addTo(StreamsBuilder builder) {
    Serde<byte[]> bytes = Serdes.ByteArray();
    KStream<byte[], Outgoing> outgoing =
        builder.stream(
                Topic.TRACE_SAMPLES.topicName(),
                Consumed.with(bytes, bytes).withName("attribution-samples"))
            .process(new Windows(), Named.as("attribution-windows"));
    outgoing
        .split(Named.as("attribution-to-"))
        .branch(
            (key, value) -> value.to() == Outgoing.To.ATTRIBUTIONS,
            sink("attributions", Topic.BOTTLENECK_ATTRIBUTIONS.topicName()))
        .branch(
            (key, value) -> value.to() == Outgoing.To.ALERTS,
            sink("alerts", Topic.BOTTLENECK_ALERTS.topicName()))
        .defaultBranch(sink("dead-letters", Topic.TRACE_SAMPLES.deadLetterTopic().orElseThrow()));
  }

  private static Branched<byte[], Outgoing> sink(String name, String topic) {
    return Branched.withConsumer(
        branch ->
            branch
                .mapValues(Outgoing::value, Named.as("attribution-" + name + "-value"))
                .to(
                    topic,
                    Produced.with(Serdes.ByteArray(), Serdes.ByteArray())
                        .withName("attribution-" + name + "-sink")),
        name);
  }

  private final class Windows implements ProcessorSupplier<byte[], byte[], byte[], Outgoing> {

    @Override
    public Processor<byte[], byte[], byte[], Outgoing> get() {
      return new AttributionProcessor(
          settings,
          spec,
          new ShiftDetector(
              settings.shiftMargin(), settings.shiftWindows(), settings.shiftAcceptWindows()),
          new SampleReader(settings.maxAhead()));
    }

    @Override
    public Set<StoreBuilder<?>> stores() {
      return Set.of(
          store(AttributionProcessor.SERIES_STORE),
          store(AttributionProcessor.PANES_STORE),
          store(AttributionProcessor.CURRENT_STORE));
    }

    private StoreBuilder<?> store(String name) {
      return Stores.keyValueStoreBuilder(
          Stores.inMemoryKeyValueStore(name), Serdes.String(), Serdes.ByteArray());
    }
  }
}
