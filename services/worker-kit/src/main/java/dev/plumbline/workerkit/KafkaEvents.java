package dev.plumbline.workerkit;

import dev.plumbline.schemas.CloudEvent;
import dev.plumbline.schemas.Json;
import dev.plumbline.schemas.event.CampaignEvent;
import dev.plumbline.schemas.event.StepEvent;
import io.smallrye.reactive.messaging.kafka.api.OutgoingKafkaRecordMetadata;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.eclipse.microprofile.config.inject.ConfigProperty;
import org.eclipse.microprofile.reactive.messaging.Channel;
import org.eclipse.microprofile.reactive.messaging.Emitter;
import org.eclipse.microprofile.reactive.messaging.Message;
import org.eclipse.microprofile.reactive.messaging.OnOverflow;

/**
 * Campaign events on Kafka: the campaign as key, CloudEvents 1.0 in binary mode.
 *
 * <p>Key and headers are set here and not by the connector, which would make up a new {@code ce_id}
 * at each send and drop the key.
 */
@ApplicationScoped
class KafkaEvents implements Events {

  private final Emitter<byte[]> emitter;
  private final String service;

  @Inject
  KafkaEvents(
      @Channel("campaign-events") @OnOverflow(OnOverflow.Strategy.UNBOUNDED_BUFFER)
          Emitter<byte[]> emitter,
      @ConfigProperty(name = "quarkus.application.name", defaultValue = "worker") String service) {
    this.emitter = emitter;
    this.service = service;
  }

  @Override
  public CompletionStage<Void> publish(CampaignEvent event) {
    CompletableFuture<Void> stored = new CompletableFuture<>();
    CloudEvent envelope =
        new CloudEvent(event.id(), source(event), event.kind(), event.campaignId(), event.at());
    RecordHeaders headers = new RecordHeaders();
    envelope.headers().forEach(headers::add);
    emitter.send(
        Message.of(
                Json.bytes(event),
                () -> {
                  stored.complete(null);
                  return CompletableFuture.completedFuture(null);
                },
                failure -> {
                  stored.completeExceptionally(translate(event, failure));
                  return CompletableFuture.completedFuture(null);
                })
            .addMetadata(
                OutgoingKafkaRecordMetadata.<String>builder()
                    .withKey(event.campaignId())
                    .withHeaders(headers)
                    .build()));
    return stored;
  }

  /** The worker that says it, wherever it runs. */
  private String source(CampaignEvent event) {
    boolean worker = event instanceof StepEvent step && step.step().worker() != null;
    return "/plumbline/" + (worker ? ((StepEvent) event).step().worker().id() : service);
  }

  private static Throwable translate(CampaignEvent event, Throwable failure) {
    for (Throwable t = failure; t != null; t = t.getCause()) {
      if (t instanceof RecordTooLargeException) {
        return new IllegalArgumentException(
            "the event " + event.id() + " is too large for its topic: " + t.getMessage(), failure);
      }
    }
    return failure;
  }
}
