package dev.plumbline.gpulifecycle;

import dev.plumbline.schemas.CloudEvent;
import dev.plumbline.schemas.Json;
import dev.plumbline.schemas.command.Command;
import dev.plumbline.schemas.host.HostLease;
import dev.plumbline.workerkit.HostException;
import dev.plumbline.workerkit.HostWork;
import dev.plumbline.workerkit.Hosts;
import dev.plumbline.workerkit.StepFailure;
import dev.plumbline.workerkit.StepRunner;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import io.smallrye.reactive.messaging.kafka.api.OutgoingKafkaRecordMetadata;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Inject;
import java.net.http.HttpClient;
import java.time.Clock;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.eclipse.microprofile.reactive.messaging.Channel;
import org.eclipse.microprofile.reactive.messaging.Emitter;
import org.eclipse.microprofile.reactive.messaging.Incoming;
import org.eclipse.microprofile.reactive.messaging.Message;
import org.eclipse.microprofile.reactive.messaging.OnOverflow;
import org.jboss.logging.Logger;

/** Takes this worker's commands from Kafka and says there who holds a host. */
@ApplicationScoped
public class GpuLifecycleCommands {

  private static final Logger LOG = Logger.getLogger(GpuLifecycleCommands.class);
  private static final String SOURCE = "/plumbline/gpu-lifecycle";

  /** A fact that is not stored by then counts as not told, and nothing is stopped. */
  private static final int PUBLISH_SECONDS = 60;

  private final StepRunner runner;
  private final Hosts hosts;
  private final Emitter<byte[]> leases;
  private final LeaseRenewal renewal;
  private final Inspecting inspecting;
  private final Leasing leasing;
  private final Freeing freeing;
  private final Restoring restoring;

  @Inject
  GpuLifecycleCommands(
      StepRunner runner,
      Hosts hosts,
      Clock clock,
      GpuLifecycleConfig config,
      @Channel("hosts-leases") @OnOverflow(OnOverflow.Strategy.UNBOUNDED_BUFFER)
          Emitter<byte[]> leases) {
    this.runner = runner;
    this.hosts = hosts;
    this.leases = leases;
    Settings settings = config.settings();
    HttpClient client = HttpEndPoint.client(settings.toolTimeout());
    EndPoint.Source endPoints = url -> HttpEndPoint.at(client, url);
    this.renewal = new LeaseRenewal(hosts::connect, settings, clock, Thread::sleep);
    this.inspecting = new Inspecting(settings, clock, hosts::connect, endPoints);
    this.leasing = new Leasing(settings, clock, this::publish, endPoints);
    this.freeing = new Freeing(settings, clock, Thread::sleep, this::publish, renewal);
    this.restoring = new Restoring(settings, clock, Thread::sleep, this::publish, endPoints);
  }

  /** Restores that were owed when the last process ended are owed still. */
  void onStart(@Observes StartupEvent event) {
    try {
      renewal.resume(hosts.inventory().names());
    } catch (HostException e) {
      LOG.errorf("no lease is renewed: %s", e.getMessage());
    }
  }

  void onStop(@Observes ShutdownEvent event) {
    renewal.close();
  }

  @Incoming("gpu-lifecycle-commands")
  CompletionStage<Void> on(Command command) {
    return switch (command) {
      case Command.InspectHost c -> runner.accept(c, context -> inspecting.run(c));
      case Command.AcquireLease c ->
          runner.accept(c, context -> HostWork.run(hosts, c.job(), host -> leasing.run(host, c)));
      case Command.FreeGpus c ->
          runner.accept(
              c, context -> HostWork.run(hosts, c.job(), host -> freeing.run(host, c, context)));
      case Command.RestoreServer c ->
          runner.accept(
              c, context -> HostWork.run(hosts, c.job(), host -> restoring.run(host, c, context)));
      case Command.CancelStep c -> runner.accept(c, null);
      case Command.CheckScripts c -> runner.refuse(c);
      case Command.DeployScripts c -> runner.refuse(c);
      case Command.RunMacroLoad c -> runner.refuse(c);
      case Command.RunMicroBench c -> runner.refuse(c);
      case Command.CaptureTrace c -> runner.refuse(c);
      case Command.AnalyseTraces c -> runner.refuse(c);
    };
  }

  private void publish(HostLease lease) throws StepFailure, InterruptedException {
    CompletableFuture<Void> stored = new CompletableFuture<>();
    RecordHeaders headers = new RecordHeaders();
    new CloudEvent(id(lease), SOURCE, "HostLease", lease.host(), lease.at())
        .headers()
        .forEach(headers::add);
    leases.send(
        Message.of(
                Json.bytes(lease),
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
                    .withKey(lease.host())
                    .withHeaders(headers)
                    .build()));
    try {
      stored.get(PUBLISH_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      throw new StepFailure(
          "unreachable",
          "the lease of host " + lease.host() + " could not be stored on Kafka: " + e.getMessage(),
          true,
          e);
    }
  }

  /** The same fact told twice has the same id. */
  private static String id(HostLease lease) {
    String state =
        lease.holder() == null ? "released" : lease.restoreOwed() ? "restore-owed" : "held";
    return lease.host() + "/" + lease.token() + "/" + state;
  }
}
