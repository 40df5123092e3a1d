package dev.plumbline.bottleneckattribution;

import dev.plumbline.schemas.Json;
import dev.plumbline.schemas.attribution.Attribution;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StoreQueryParameters;
import org.apache.kafka.streams.errors.InvalidStateStoreException;
import org.apache.kafka.streams.state.QueryableStoreTypes;
import org.apache.kafka.streams.state.ReadOnlyKeyValueStore;

/** Reads of the current attributions, from the stores of this instance. */
@Path("/api/attributions")
public class AttributionResource {

  private final KafkaStreams streams;

  @Inject
  AttributionResource(KafkaStreams streams) {
    this.streams = streams;
  }

  /**
   * The latest window of each series, ordered by key: 200 with a list of {@link Attribution}, or
   * 503 while the stores are not readable.
   *
   * @param host only this host, when given
   * @param model only this model, when given
   */
  @GET
  @Produces(MediaType.APPLICATION_JSON)
  public Response current(@QueryParam("host") String host, @QueryParam("model") String model) {
    List<Attribution> found = new ArrayList<>();
    try (var all = store().all()) {
      while (all.hasNext()) {
        Attribution attribution = Json.read(all.next().value, Attribution.class);
        if ((host == null || host.equals(attribution.host()))
            && (model == null || model.equals(attribution.model()))) {
          found.add(attribution);
        }
      }
    } catch (InvalidStateStoreException e) {
      String sentence = "attributions are not readable while Kafka Streams is " + streams.state();
      return Response.status(Response.Status.SERVICE_UNAVAILABLE)
          .entity(Json.bytes(Map.of("error", sentence + "; try again shortly")))
          .build();
    }
    found.sort(Comparator.comparing(Attribution::key));
    return Response.ok(Json.bytes(found)).build();
  }

  private ReadOnlyKeyValueStore<String, byte[]> store() {
    return streams.store(
        StoreQueryParameters.fromNameAndType(
            AttributionProcessor.CURRENT_STORE, QueryableStoreTypes.keyValueStore()));
  }
}
