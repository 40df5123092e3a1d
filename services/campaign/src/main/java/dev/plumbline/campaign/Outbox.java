package dev.plumbline.campaign;

import dev.plumbline.campaign.CampaignTopology.Outgoing;
import dev.plumbline.schemas.CloudEvent;
import dev.plumbline.schemas.Json;
import dev.plumbline.schemas.Topic;
import dev.plumbline.schemas.campaign.CampaignStatus;
import dev.plumbline.schemas.command.Command;
import dev.plumbline.schemas.event.CampaignEvent;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.processor.api.RecordMetadata;

/** Makes the records that the coordinator writes: topic, key, CloudEvents headers, JSON. */
final class Outbox {

  private static final String SOURCE = "/plumbline/campaign";

  private Outbox() {}

  static Record<byte[], Outgoing> command(Command command, Instant now) {
    String type = command.getClass().getSimpleName();
    String id = command.job().campaignId();
    return record(
        command.job().step().worker().commands().topicName(),
        id,
        new CloudEvent(command.job().id() + "/" + type, SOURCE, type, id, now),
        Json.bytes(command));
  }

  static Record<byte[], Outgoing> event(CampaignEvent event) {
    return record(
        Topic.CAMPAIGN_EVENTS.topicName(),
        event.campaignId(),
        new CloudEvent(event.id(), SOURCE, event.kind(), event.campaignId(), event.at()),
        Json.bytes(event));
  }

  static Record<byte[], Outgoing> status(CampaignStatus status) {
    return status(status.campaignId(), status.updatedAt(), Json.bytes(status));
  }

  /** Removes the status from the compacted topic. */
  static Record<byte[], Outgoing> statusForgotten(String campaignId, Instant now) {
    return status(campaignId, now, null);
  }

  private static Record<byte[], Outgoing> status(String id, Instant at, byte[] value) {
    return record(
        Topic.CAMPAIGN_STATUS.topicName(),
        id,
        new CloudEvent(id + "/status/" + at, SOURCE, "CampaignStatus", id, at),
        value);
  }

  /** Key, bytes and headers as they came; why and where from in further headers. */
  static Record<byte[], Outgoing> deadLetter(
      Record<byte[], byte[]> original, RecordMetadata source, String reason) {
    Headers headers = new RecordHeaders(original.headers());
    headers.add("dead-letter-reason", utf8(reason));
    headers.add("dead-letter-topic", utf8(source.topic()));
    headers.add("dead-letter-partition", utf8(Integer.toString(source.partition())));
    headers.add("dead-letter-offset", utf8(Long.toString(source.offset())));
    String topic =
        (source.topic().equals(Topic.CAMPAIGN_REQUESTS.topicName())
                ? Topic.CAMPAIGN_REQUESTS
                : Topic.CAMPAIGN_EVENTS)
            .deadLetterTopic()
            .orElseThrow();
    return new Record<>(
        original.key(), new Outgoing(topic, original.value()), original.timestamp(), headers);
  }

  private static Record<byte[], Outgoing> record(
      String topic, String key, CloudEvent event, byte[] value) {
    Headers headers = new RecordHeaders();
    event.headers().forEach(headers::add);
    return new Record<>(
        utf8(key), new Outgoing(topic, value), event.time().toEpochMilli(), headers);
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
