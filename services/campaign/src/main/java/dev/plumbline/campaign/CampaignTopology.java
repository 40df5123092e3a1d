package dev.plumbline.campaign;

import dev.plumbline.schemas.Json;
import dev.plumbline.schemas.Topic;
import dev.plumbline.schemas.campaign.CampaignStatus;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorSupplier;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;

/**
 * Runs the {@link Coordinator} on Kafka Streams: requests and events in, commands, events, status
 * and dead letters out, all in one transaction with the state.
 */
public final class CampaignTopology {

  static final String CAMPAIGNS = "campaign-campaigns";
  static final String FINDINGS = "campaign-findings";
  static final String HOSTS = "campaign-hosts";

  /** The last status told of each campaign, by campaignId; may be queried. */
  public static final String STATUSES = "campaign-statuses";

  /**
   * What the topology is told from outside.
   *
   * @param tick how often deadlines are looked at
   * @param retention how long a finished campaign is remembered
   * @param kept how many finished campaigns are remembered at most
   */
  public record Settings(Limits limits, Duration tick, Duration retention, int kept) {}

  /**
   * A record to write.
   *
   * @param value null deletes the key from a compacted topic
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record Outgoing(String topic, byte[] value) {}

  private final Settings settings;

  public CampaignTopology(Settings settings) {
    this.settings = settings;
  }

  /** Adds sources, processor, stores and sinks; nothing else of the builder is touched. */
  public void addTo(StreamsBuilder builder) {
    builder.stream(
            List.of(Topic.CAMPAIGN_REQUESTS.topicName(), Topic.CAMPAIGN_EVENTS.topicName()),
            Consumed.with(Serdes.ByteArray(), Serdes.ByteArray()).withName("campaign-inputs"))
        .process(new Coordination(settings), Named.as("campaign-coordinator"))
        .to(
            (key, outgoing, context) -> outgoing.topic(),
            Produced.with(Serdes.ByteArray(), outgoing()).withName("campaign-outputs"));
  }

  private record Coordination(Settings settings)
      implements ProcessorSupplier<byte[], byte[], byte[], Outgoing> {
    @Override
    public Processor<byte[], byte[], byte[], Outgoing> get() {
      return new CampaignProcessor(settings);
    }

    @Override
    public Set<StoreBuilder<?>> stores() {
      return Set.of(
          store(CAMPAIGNS, Campaign.class),
          store(FINDINGS, Findings.class),
          store(HOSTS, Host.class),
          store(STATUSES, CampaignStatus.class));
    }
  }

  private static <T> StoreBuilder<?> store(String name, Class<T> type) {
    return Stores.keyValueStoreBuilder(
        Stores.persistentKeyValueStore(name), Serdes.String(), json(type));
  }

  private static <T> Serde<T> json(Class<T> type) {
    return Serdes.serdeFrom(
        (topic, value) -> value == null ? null : Json.bytes(value),
        (topic, bytes) -> bytes == null ? null : Json.read(bytes, type));
  }

  private static Serde<Outgoing> outgoing() {
    return Serdes.serdeFrom(
        (topic, outgoing) -> outgoing.value(),
        (topic, bytes) -> {
          throw new UnsupportedOperationException("outgoing records are only written");
        });
  }
}
