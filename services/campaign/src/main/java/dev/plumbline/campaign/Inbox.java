package dev.plumbline.campaign;

import com.fasterxml.jackson.databind.exc.InvalidTypeIdException;
import dev.plumbline.schemas.CampaignRequestReader;
import dev.plumbline.schemas.Fault;
import dev.plumbline.schemas.Json;
import dev.plumbline.schemas.Topic;
import dev.plumbline.schemas.campaign.CampaignCancelRequested;
import dev.plumbline.schemas.campaign.CampaignRequest;
import dev.plumbline.schemas.campaign.CampaignRequested;
import dev.plumbline.schemas.event.CampaignEvent;
import dev.plumbline.schemas.event.StepEvent;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.streams.processor.api.Record;

/** Reads the records of the two input topics; never throws. */
final class Inbox {

  /** What a record is to the coordinator. */
  sealed interface Read {
    record Fed(String campaignId, Input input) implements Read {}

    /** A fact of our own, or of a kind that is newer than this reader. */
    record NotOurs() implements Read {}

    record Unreadable(String reason) implements Read {}
  }

  private Inbox() {}

  static Read read(String topic, Record<byte[], byte[]> record) {
    return topic.equals(Topic.CAMPAIGN_REQUESTS.topicName())
        ? request(record)
        : event(record.value());
  }

  private static Read request(Record<byte[], byte[]> record) {
    Map<String, byte[]> headers = new HashMap<>();
    for (Header header : record.headers()) {
      headers.put(header.key(), header.value());
    }
    return switch (CampaignRequestReader.read(record.value(), headers)) {
      case CampaignRequestReader.Valid valid -> valid(valid.request());
      case CampaignRequestReader.Invalid i when i.campaignId().isPresent() ->
          new Read.Fed(
              i.campaignId().get(), new Input.BadRequest(i.campaignId().get(), i.faults()));
      case CampaignRequestReader.Invalid i ->
          new Read.Unreadable("the request names no campaignId: " + sentence(i.faults()));
      case CampaignRequestReader.Undecodable u -> new Read.Unreadable("the record " + u.reason());
    };
  }

  private static Read valid(CampaignRequest request) {
    return switch (request) {
      case CampaignRequested r -> new Read.Fed(r.campaignId(), new Input.Request(r));
      case CampaignCancelRequested c ->
          new Read.Fed(c.campaignId(), new Input.Cancel(c.campaignId(), c.reason()));
    };
  }

  private static Read event(byte[] value) {
    if (value == null) {
      return new Read.Unreadable("the record has no value; an event is a JSON object");
    }
    try {
      CampaignEvent event = Json.read(value, CampaignEvent.class);
      if (event == null) {
        return new Read.Unreadable("the record is null; an event is a JSON object");
      }
      if (!(event instanceof StepEvent step)) {
        return new Read.NotOurs();
      }
      return step.campaignId() == null || step.step() == null
          ? new Read.Unreadable("the event names no campaignId or no step")
          : new Read.Fed(step.campaignId(), new Input.Told(step));
    } catch (IllegalArgumentException e) {
      boolean newer = e.getCause() instanceof InvalidTypeIdException t && t.getTypeId() != null;
      return newer ? new Read.NotOurs() : new Read.Unreadable(e.getMessage());
    }
  }

  private static String sentence(List<Fault> faults) {
    return faults.stream()
        .map(f -> f.field().isEmpty() ? f.message() : f.field() + ": " + f.message())
        .collect(Collectors.joining("; "));
  }
}
