package dev.plumbline.schemas;

import dev.plumbline.schemas.attribution.Alert;
import dev.plumbline.schemas.attribution.Attribution;
import dev.plumbline.schemas.attribution.StepSample;
import dev.plumbline.schemas.campaign.CampaignRequest;
import dev.plumbline.schemas.campaign.CampaignStatus;
import dev.plumbline.schemas.command.Command;
import dev.plumbline.schemas.event.CampaignEvent;
import dev.plumbline.schemas.host.HostLease;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The topic catalogue: what AsyncAPI, docker-compose, the Kubernetes manifests and the embedded
 * broker are held to.
 *
 * <p>Requests, commands and campaign events have one partition: the coordinator queues campaigns
 * per host, which needs one total order, and campaigns are few.
 */
public enum Topic {
  CAMPAIGN_REQUESTS(
      "plumbline.campaign.requests.v1", Key.CAMPAIGN_ID, 1, Duration.ofDays(7), false, true),
  GPU_LIFECYCLE_COMMANDS(
      "plumbline.gpu-lifecycle.commands.v1", Key.CAMPAIGN_ID, 1, Duration.ofDays(1), false, true),
  SCRIPT_DEPLOYMENT_COMMANDS(
      "plumbline.script-deployment.commands.v1",
      Key.CAMPAIGN_ID,
      1,
      Duration.ofDays(1),
      false,
      true),
  MACRO_LOAD_COMMANDS(
      "plumbline.macro-load.commands.v1", Key.CAMPAIGN_ID, 1, Duration.ofDays(1), false, true),
  MICRO_BENCH_COMMANDS(
      "plumbline.micro-bench.commands.v1", Key.CAMPAIGN_ID, 1, Duration.ofDays(1), false, true),
  TRACE_ANALYSIS_COMMANDS(
      "plumbline.trace-analysis.commands.v1", Key.CAMPAIGN_ID, 1, Duration.ofDays(1), false, true),
  CAMPAIGN_EVENTS(
      "plumbline.campaign.events.v1", Key.CAMPAIGN_ID, 1, Duration.ofDays(30), false, true),
  CAMPAIGN_STATUS("plumbline.campaign.status.v1", Key.CAMPAIGN_ID, 1, null, true, false),
  HOST_LEASES("plumbline.hosts.leases.v1", Key.HOST, 1, null, true, false),
  TRACE_SAMPLES("plumbline.trace.samples.v1", Key.HOST_MODEL, 4, Duration.ofDays(3), false, true),
  BOTTLENECK_ATTRIBUTIONS(
      "plumbline.bottleneck.attributions.v1",
      Key.HOST_MODEL_FINGERPRINT,
      4,
      Duration.ofDays(7),
      false,
      false),
  BOTTLENECK_ALERTS(
      "plumbline.bottleneck.alerts.v1",
      Key.HOST_MODEL_FINGERPRINT,
      4,
      Duration.ofDays(30),
      false,
      false);

  /** What a record's key holds. */
  public enum Key {
    CAMPAIGN_ID("campaignId"),
    HOST("host"),
    HOST_MODEL("host/model"),
    HOST_MODEL_FINGERPRINT("host/model/fingerprint");

    private final String form;

    Key(String form) {
      this.form = form;
    }

    public String form() {
      return form;
    }
  }

  /** Dead letters stay for people to read. */
  public static final Duration DEAD_LETTER_RETENTION = Duration.ofDays(30);

  /** Dead letters are few, and people read them in order. */
  public static final int DEAD_LETTER_PARTITIONS = 1;

  private final String topicName;
  private final Key key;
  private final int partitions;
  private final Duration retention;
  private final boolean compacted;
  private final boolean deadLetters;

  Topic(
      String topicName,
      Key key,
      int partitions,
      Duration retention,
      boolean compacted,
      boolean deadLetters) {
    this.topicName = topicName;
    this.key = key;
    this.partitions = partitions;
    this.retention = retention;
    this.compacted = compacted;
    this.deadLetters = deadLetters;
  }

  public String topicName() {
    return topicName;
  }

  public Key key() {
    return key;
  }

  public int partitions() {
    return partitions;
  }

  /** How long records stay; empty for a compacted topic. */
  public Optional<Duration> retention() {
    return Optional.ofNullable(retention);
  }

  public boolean compacted() {
    return compacted;
  }

  /**
   * Where a consumer puts a record that it cannot decode; empty where nothing of ours consumes the
   * topic.
   */
  public Optional<String> deadLetterTopic() {
    return deadLetters ? Optional.of(topicName + ".dlq") : Optional.empty();
  }

  /** The record types on this topic; a sealed type stands for all that it permits. */
  public List<Class<?>> types() {
    return switch (this) {
      case CAMPAIGN_REQUESTS -> List.of(CampaignRequest.class);
      case GPU_LIFECYCLE_COMMANDS ->
          List.of(
              Command.InspectHost.class,
              Command.AcquireLease.class,
              Command.FreeGpus.class,
              Command.RestoreServer.class,
              Command.CancelStep.class);
      case SCRIPT_DEPLOYMENT_COMMANDS ->
          List.of(
              Command.CheckScripts.class, Command.DeployScripts.class, Command.CancelStep.class);
      case MACRO_LOAD_COMMANDS -> List.of(Command.RunMacroLoad.class, Command.CancelStep.class);
      case MICRO_BENCH_COMMANDS ->
          List.of(
              Command.RunMicroBench.class, Command.CaptureTrace.class, Command.CancelStep.class);
      case TRACE_ANALYSIS_COMMANDS ->
          List.of(Command.AnalyseTraces.class, Command.CancelStep.class);
      case CAMPAIGN_EVENTS -> List.of(CampaignEvent.class);
      case CAMPAIGN_STATUS -> List.of(CampaignStatus.class);
      case HOST_LEASES -> List.of(HostLease.class);
      case TRACE_SAMPLES -> List.of(StepSample.class);
      case BOTTLENECK_ATTRIBUTIONS -> List.of(Attribution.class);
      case BOTTLENECK_ALERTS -> List.of(Alert.class);
    };
  }

  /** The broker's configuration of this topic. */
  public Map<String, String> config() {
    return compacted
        ? Map.of("cleanup.policy", "compact")
        : Map.of("cleanup.policy", "delete", "retention.ms", Long.toString(retention.toMillis()));
  }

  /** The broker's configuration of the dead-letter topics. */
  public static Map<String, String> deadLetterConfig() {
    return Map.of(
        "cleanup.policy",
        "delete",
        "retention.ms",
        Long.toString(DEAD_LETTER_RETENTION.toMillis()));
  }
}
