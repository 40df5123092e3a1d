package dev.plumbline.standalone;

import dev.plumbline.bottleneckattribution.AttributionTopology;
import dev.plumbline.campaign.CampaignTopology;
import jakarta.enterprise.inject.Produces;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;

/** One Kafka Streams application out of the coordinator's topology and the attribution's. */
class MergedTopology {

  // No scope: a client proxy of Topology would look like a topology without any operator.
  @Produces
  Topology topology(CampaignTopology campaign, AttributionTopology attribution) {
    StreamsBuilder builder = new StreamsBuilder();
    campaign.addTo(builder);
    attribution.addTo(builder);
    return builder.build();
  }
}
