package dev.plumbline.campaign;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.plumbline.campaign.CampaignViews.NotReadable;
import dev.plumbline.campaign.RequestSender.BrokerAway;
import dev.plumbline.schemas.CampaignRequestReader;
import dev.plumbline.schemas.Fault;
import dev.plumbline.schemas.Json;
import dev.plumbline.schemas.campaign.CampaignCancelRequested;
import dev.plumbline.schemas.campaign.CampaignRequested;
import dev.plumbline.schemas.campaign.CampaignStatus;
import io.smallrye.common.annotation.Blocking;
import jakarta.inject.Inject;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.Response.Status;
import java.io.IOException;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/** Starts, lists, shows and cancels campaigns. Faults are told as {@code {"faults": […]}}. */
@Path("/api/campaigns")
@Blocking
@Produces(MediaType.APPLICATION_JSON)
public class CampaignResource {

  private final RequestSender sender;
  private final CampaignViews views;

  @Inject
  CampaignResource(RequestSender sender, CampaignViews views) {
    this.sender = sender;
    this.views = views;
  }

  /**
   * Asks for a campaign: 202 with its id and place; 400 with every fault; 409 when the id belongs
   * to another request; 503 when Kafka does not take it in time. Without a campaignId one is made.
   */
  @POST
  @Consumes({MediaType.APPLICATION_JSON, MediaType.WILDCARD})
  public Response request(byte[] body) {
    return switch (CampaignRequestReader.read(withId(body), Map.of())) {
      case CampaignRequestReader.Undecodable u ->
          faults(Status.BAD_REQUEST, new Fault("", "The request " + u.reason() + "."));
      case CampaignRequestReader.Invalid i -> faults(Status.BAD_REQUEST, i.faults());
      case CampaignRequestReader.Valid v when v.request() instanceof CampaignRequested r ->
          accept(r);
      case CampaignRequestReader.Valid v -> cancel(v.request().campaignId());
    };
  }

  @GET
  public Response list() {
    try {
      return ok(views.list());
    } catch (NotReadable e) {
      return unavailable(e.getMessage());
    }
  }

  @GET
  @Path("{id}")
  public Response show(@PathParam("id") String id) {
    try {
      return views.find(id).map(CampaignResource::ok).orElseGet(() -> unknown(id));
    } catch (NotReadable e) {
      return unavailable(e.getMessage());
    }
  }

  @GET
  @Path("{id}/report")
  public Response report(@PathParam("id") String id) {
    return report(id, false);
  }

  @GET
  @Path("{id}/report")
  @Produces(MediaType.TEXT_PLAIN + ";charset=UTF-8;qs=0.5")
  public Response reportText(@PathParam("id") String id) {
    return report(id, true);
  }

  @POST
  @Path("{id}/cancel")
  @Consumes(MediaType.WILDCARD)
  public Response cancelByPost(@PathParam("id") String id) {
    return cancel(id);
  }

  @DELETE
  @Path("{id}")
  public Response cancelByDelete(@PathParam("id") String id) {
    return cancel(id);
  }

  private Response accept(CampaignRequested request) {
    String id = request.campaignId();
    try {
      Optional<CampaignRequested> known = views.request(id);
      if (known.isPresent() && !known.get().equals(request)) {
        return faults(
            Status.CONFLICT,
            new Fault(
                "campaignId",
                "The id " + id + " belongs to another request already; choose another id."));
      }
    } catch (NotReadable e) {
      // The coordinator rejects a conflict as well; the request itself only needs the topic.
    }
    try {
      sender.send(request);
      return Response.accepted(Json.bytes(Map.of("campaignId", id)))
          .location(URI.create("/api/campaigns/" + id))
          .build();
    } catch (BrokerAway e) {
      return unavailable(e.getMessage());
    }
  }

  private Response cancel(String id) {
    try {
      Optional<CampaignStatus> status = views.find(id);
      if (status.isEmpty()) {
        return unknown(id);
      }
      if (status.get().state().terminal()) {
        return faults(
            Status.CONFLICT,
            new Fault(
                "campaignId",
                "Campaign %s has ended already: %s."
                    .formatted(
                        id, status.get().state().name().toLowerCase(java.util.Locale.ROOT))));
      }
      sender.send(new CampaignCancelRequested(id, "asked for over REST", "rest"));
      return Response.accepted(Json.bytes(Map.of("campaignId", id))).build();
    } catch (NotReadable | BrokerAway e) {
      return unavailable(e.getMessage());
    }
  }

  private Response report(String id, boolean text) {
    try {
      Optional<CampaignStatus> status = views.find(id);
      if (status.isEmpty()) {
        return unknown(id);
      }
      if (status.get().report() == null) {
        String state = status.get().state().name().toLowerCase(java.util.Locale.ROOT);
        return faults(
            Status.NOT_FOUND,
            new Fault("", "Campaign %s has no report: it is %s.".formatted(id, state)));
      }
      return text
          ? Response.ok(ReportText.render(status.get().report())).build()
          : ok(status.get().report());
    } catch (NotReadable e) {
      return unavailable(e.getMessage());
    }
  }

  private static byte[] withId(byte[] body) {
    try {
      JsonNode node = Json.mapper().readTree(body);
      if (node instanceof ObjectNode object
          && !object.has("campaignId")
          && !object.has("specversion")) {
        object.put("campaignId", "campaign-" + UUID.randomUUID());
        return Json.bytes(object);
      }
    } catch (IOException e) {
      // The reader says what is wrong with it.
    }
    return body;
  }

  private static Response ok(Object value) {
    return Response.ok(Json.bytes(value)).build();
  }

  private static Response unknown(String id) {
    return faults(
        Status.NOT_FOUND, new Fault("campaignId", "There is no campaign with the id " + id + "."));
  }

  private static Response unavailable(String sentence) {
    return faults(Status.SERVICE_UNAVAILABLE, new Fault("", sentence));
  }

  private static Response faults(Status status, Fault fault) {
    return faults(status, List.of(fault));
  }

  private static Response faults(Status status, List<Fault> faults) {
    return Response.status(status)
        .type(MediaType.APPLICATION_JSON)
        .entity(Json.bytes(Map.of("faults", faults)))
        .build();
  }
}
