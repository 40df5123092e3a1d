package dev.plumbline.campaign;

import dev.plumbline.schemas.campaign.CampaignRequested;
import dev.plumbline.schemas.campaign.CampaignStatus;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StoreQueryParameters;
import org.apache.kafka.streams.errors.InvalidStateStoreException;
import org.apache.kafka.streams.state.QueryableStoreTypes;
import org.apache.kafka.streams.state.ReadOnlyKeyValueStore;

/** Reads what the coordinator has stored. */
@ApplicationScoped
public class CampaignViews {

  /** The stores cannot be read now: Kafka Streams is starting, or has no broker. */
  public static final class NotReadable extends Exception {
    private static final long serialVersionUID = 1;

    NotReadable(String message, Throwable cause) {
      super(message, cause);
    }
  }

  private final KafkaStreams streams;

  @Inject
  CampaignViews(KafkaStreams streams) {
    this.streams = streams;
  }

  /** All that is remembered, the newest first, without the reports. */
  public List<CampaignStatus> list() throws NotReadable {
    List<CampaignStatus> all = new ArrayList<>();
    try (var entries = this.<CampaignStatus>store(CampaignTopology.STATUSES).all()) {
      entries.forEachRemaining(e -> all.add(withoutReport(e.value)));
    } catch (InvalidStateStoreException e) {
      throw notReadable(e);
    }
    all.sort(
        Comparator.comparing(CampaignStatus::requestedAt)
            .reversed()
            .thenComparing(CampaignStatus::campaignId));
    return all;
  }

  /** Where a campaign stands, with its report once it has ended. */
  public Optional<CampaignStatus> find(String campaignId) throws NotReadable {
    try {
      return Optional.ofNullable(
          this.<CampaignStatus>store(CampaignTopology.STATUSES).get(campaignId));
    } catch (InvalidStateStoreException e) {
      throw notReadable(e);
    }
  }

  /** The request that has this id; empty when the id may still be used. */
  public Optional<CampaignRequested> request(String campaignId) throws NotReadable {
    try {
      return Optional.ofNullable(this.<Campaign>store(CampaignTopology.CAMPAIGNS).get(campaignId))
          .map(Campaign::request);
    } catch (InvalidStateStoreException e) {
      throw notReadable(e);
    }
  }

  private <T> ReadOnlyKeyValueStore<String, T> store(String name) {
    return streams.store(
        StoreQueryParameters.fromNameAndType(name, QueryableStoreTypes.keyValueStore()));
  }

  private NotReadable notReadable(InvalidStateStoreException cause) {
    return new NotReadable(
        "Campaigns cannot be read while Kafka Streams is %s; try again shortly."
            .formatted(streams.state()),
        cause);
  }

  private static CampaignStatus withoutReport(CampaignStatus s) {
    return new CampaignStatus(
        s.campaignId(),
        s.host(),
        s.model(),
        s.state(),
        s.step(),
        s.attempt(),
        s.progress(),
        s.queuePosition(),
        s.requestedAt(),
        s.stateSince(),
        s.updatedAt(),
        s.faults(),
        s.reason(),
        null);
  }
}
