package dev.plumbline.campaign;

import io.quarkus.arc.DefaultBean;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;

/** Runs the topology alone; an application that merges several brings its own {@link Topology}. */
class CampaignApplication {

  @Produces
  @Singleton
  CampaignTopology campaignTopology(CampaignConfig config) {
    return new CampaignTopology(config.settings());
  }

  // No scope: a client proxy of Topology would look like a topology without any operator.
  @Produces
  @DefaultBean
  Topology topology(CampaignTopology campaign) {
    StreamsBuilder builder = new StreamsBuilder();
    campaign.addTo(builder);
    return builder.build();
  }
}
