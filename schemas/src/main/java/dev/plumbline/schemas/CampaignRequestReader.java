package dev.plumbline.schemas;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.plumbline.schemas.campaign.CampaignCancelRequested;
import dev.plumbline.schemas.campaign.CampaignRequest;
import dev.plumbline.schemas.campaign.CampaignRequested;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * Reads what anyone may have sent as a request: a CloudEvent in binary or structured mode, or bare
 * JSON. Unlike the readers of our own events it is strict: a field that is not understood would
 * silently not be done. It lists every fault and never throws.
 */
public final class CampaignRequestReader {

  private static final Map<String, Class<? extends CampaignRequest>> TYPES =
      Map.of(
          "CampaignRequested", CampaignRequested.class,
          "CampaignCancelRequested", CampaignCancelRequested.class);
  private static final List<String> TYPE_NAMES =
      List.of("CampaignRequested", "CampaignCancelRequested");

  /** What came of reading. */
  public sealed interface Result {}

  /** A request that can be acted on. */
  public record Valid(CampaignRequest request) implements Result {}

  /**
   * An object, but no request.
   *
   * @param campaignId as it was sent, also when it is itself at fault; empty when there is none
   * @param faults all that is wrong, at least one
   */
  public record Invalid(Optional<String> campaignId, List<Fault> faults) implements Result {}

  /**
   * No object at all.
   *
   * @param reason one sentence, which begins with what "the record" or "the file" is
   */
  public record Undecodable(String reason) implements Result {}

  private CampaignRequestReader() {}

  /**
   * @param value the record's value; null for a record without one
   * @param headers the record's headers, values in UTF-8; a header that occurs twice counts once
   */
  public static Result read(byte[] value, Map<String, byte[]> headers) {
    if (value == null) {
      return new Undecodable("has no value; a request is a JSON object");
    }
    String contentType = header(headers, "content-type").toLowerCase(Locale.ROOT);
    if (contentType.startsWith("application/cloudevents-batch")) {
      return new Undecodable("is a batch of CloudEvents; send one request in each record");
    }
    try {
      JsonNode root = Document.json(value).root();
      boolean structured =
          contentType.startsWith("application/cloudevents")
              || (root.has("specversion") && (root.has("data") || root.has("data_base64")));
      if (!structured) {
        return request(root, header(headers, "ce_type"), "ce_type");
      }
      return request(data(root), root.path("type").asText(""), "the type of the CloudEvent");
    } catch (Document.Unreadable e) {
      return new Undecodable(e.getMessage());
    }
  }

  /** The same for a YAML (or JSON) file; faults begin with the line that they are on. */
  public static Result readYaml(String text) {
    try {
      Document document = Document.yaml(text);
      return switch (request(document.root(), "", "")) {
        case Invalid invalid ->
            new Invalid(
                invalid.campaignId(),
                invalid.faults().stream().map(f -> located(f, document)).toList());
        case Valid valid -> valid;
        case Undecodable undecodable -> undecodable;
      };
    } catch (Document.Unreadable e) {
      return new Undecodable(e.getMessage());
    }
  }

  private static JsonNode data(JsonNode event) throws Document.Unreadable {
    if (event.has("data_base64")) {
      try {
        return Document.json(event.get("data_base64").binaryValue()).root();
      } catch (IOException | RuntimeException e) {
        throw new Document.Unreadable("is a CloudEvent whose data_base64 is not base 64");
      }
    }
    if (!event.path("data").isObject()) {
      throw new Document.Unreadable("is a CloudEvent whose data is no JSON object");
    }
    return event.get("data");
  }

  /**
   * @param announced the type that the envelope names; empty without an envelope
   * @param announcedBy where it does
   */
  private static Result request(JsonNode root, String announced, String announcedBy) {
    if (!(root instanceof ObjectNode object)) {
      return new Undecodable(
          "is a JSON " + root.getNodeType().name().toLowerCase(Locale.ROOT) + ", not an object");
    }
    Faults faults = new Faults();
    Optional<CampaignRequest> request =
        type(object, announced, announcedBy, faults).flatMap(t -> decode(object, t, faults));
    if (request.isPresent() && faults.isEmpty()) {
      return new Valid(request.get());
    }
    JsonNode id = object.path("campaignId");
    return new Invalid(
        Optional.ofNullable(id.textValue()).filter(text -> !text.isBlank()).map(Faults::shortened),
        faults.list());
  }

  private static Optional<Class<? extends CampaignRequest>> type(
      ObjectNode object, String announced, String announcedBy, Faults faults) {
    JsonNode own = object.path("type");
    if (!own.isMissingNode() && !own.isTextual()) {
      faults.add("type", "must be one of " + String.join(", ", TYPE_NAMES));
      return Optional.empty();
    }
    String named = own.isTextual() ? own.textValue() : announced;
    if (!named.isEmpty() && !announced.isEmpty() && !named.equals(announced)) {
      faults.add(
          "type",
          "says \"%s\" where %s says \"%s\"; let both say the same"
              .formatted(Faults.shortened(named), announcedBy, Faults.shortened(announced)));
      return Optional.empty();
    }
    String name = named.isEmpty() && own.isMissingNode() ? TYPE_NAMES.getFirst() : named;
    if (!TYPES.containsKey(name)) {
      faults.add("type", Faults.unknown("type", name, TYPE_NAMES));
    }
    return Optional.ofNullable(TYPES.get(name));
  }

  private static Optional<CampaignRequest> decode(
      ObjectNode object, Class<? extends CampaignRequest> type, Faults faults) {
    ObjectNode fields = object.deepCopy();
    fields.remove("type");
    ObjectNode fitting = new Shape(type, faults).fitting(fields);
    fitting.put("type", type.getSimpleName());
    try {
      CampaignRequest request = Json.mapper().treeToValue(fitting, type);
      new RequestRules(faults).check(request);
      return Optional.of(request);
    } catch (JsonProcessingException e) {
      faults.add("", "cannot be read: " + Faults.shortened(e.getOriginalMessage()));
      return Optional.empty();
    }
  }

  private static Fault located(Fault fault, Document document) {
    String path = fault.field();
    while (!document.lines().containsKey(path)) {
      int cut = Math.max(path.lastIndexOf('.'), path.lastIndexOf('['));
      path = cut < 0 ? "" : path.substring(0, cut);
    }
    return new Fault(fault.field(), "line " + document.lines().get(path) + ": " + fault.message());
  }

  private static String header(Map<String, byte[]> headers, String name) {
    return headers.entrySet().stream()
        .filter(h -> h.getKey().equalsIgnoreCase(name) && h.getValue() != null)
        .map(h -> new String(h.getValue(), StandardCharsets.UTF_8).strip())
        .findFirst()
        .orElse("");
  }
}
