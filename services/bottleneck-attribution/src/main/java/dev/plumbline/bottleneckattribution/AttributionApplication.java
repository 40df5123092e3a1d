package dev.plumbline.bottleneckattribution;

import io.quarkus.arc.DefaultBean;
import jakarta.enterprise.inject.Produces;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;

/** Runs the topology alone; an application that merges several brings its own {@link Topology}. */
class AttributionApplication {

  // No scope: a client proxy of Topology would look like a topology without any operator.
  @Produces
  @DefaultBean
  Topology topology(AttributionTopology attribution) {
    StreamsBuilder builder = new StreamsBuilder();
    attribution.addTo(builder);
    return builder.build();
  }
}
