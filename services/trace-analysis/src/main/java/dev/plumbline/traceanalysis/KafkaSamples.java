package dev.plumbline.traceanalysis;

import dev.plumbline.schemas.CloudEvent;
import dev.plumbline.schemas.Json;
import dev.plumbline.schemas.attribution.StepSample;
import io.smallrye.reactive.messaging.kafka.api.OutgoingKafkaRecordMetadata;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.eclipse.microprofile.reactive.messaging.Channel;
import org.eclipse.microprofile.reactive.messaging.Emitter;
import org.eclipse.microprofile.reactive.messaging.Message;
import org.eclipse.microprofile.reactive.messaging.OnOverflow;

/** Step samples on Kafka: {@code host/model} as key, CloudEvents 1.0 in binary mode. */
@ApplicationScoped
class KafkaSamples implements SampleSink {

  private final Emitter<byte[]> emitter;

  KafkaSamples(
      @Channel("trace-samples") @OnOverflow(OnOverflow.Strategy.UNBOUNDED_BUFFER)
          Emitter<byte[]> emitter) {
    this.emitter = emitter;
  }

  @Override
  public CompletionStage<Void> publish(List<StepSample> samples) {
    return CompletableFuture.allOf(
        samples.stream().map(this::send).toArray(CompletableFuture[]::new));
  }

  private CompletableFuture<Void> send(StepSample sample) {
    CompletableFuture<Void> stored = new CompletableFuture<>();
    RecordHeaders headers = new RecordHeaders();
    new CloudEvent(
            sample.id(), "/plumbline/trace-analysis", "StepSample", sample.key(), sample.at())
        .headers()
        .forEach(headers::add);
    emitter.send(
        Message.of(
                Json.bytes(sample),
                () -> {
                  stored.complete(null);
                  return CompletableFuture.completedFuture(null);
                },
                failure -> {
                  stored.completeExceptionally(failure);
                  return CompletableFuture.completedFuture(null);
                })
            .addMetadata(
                OutgoingKafkaRecordMetadata.<String>builder()
                    .withKey(sample.key())
                    .withHeaders(headers)
                    .build()));
    return stored;
  }
}
