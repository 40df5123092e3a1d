package dev.plumbline.campaign;

import dev.plumbline.campaign.CampaignTopology.Outgoing;
import dev.plumbline.campaign.CampaignTopology.Settings;
import dev.plumbline.campaign.Coordinator.Decision;
import dev.plumbline.campaign.Inbox.Read;
import dev.plumbline.schemas.campaign.CampaignStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.processor.api.RecordMetadata;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jboss.logging.Logger;

/** Feeds the coordinator from topics and clock, keeps its state, and writes what it wants. */
final class CampaignProcessor implements Processor<byte[], byte[], byte[], Outgoing> {

  private static final Logger LOG = Logger.getLogger(CampaignProcessor.class);
  private static final Duration SWEEP = Duration.ofMinutes(1);

  private record Next(String campaignId, Input input) {}

  private final Settings settings;
  private ProcessorContext<byte[], Outgoing> context;
  private KeyValueStore<String, Campaign> campaigns;
  private KeyValueStore<String, Findings> findings;
  private KeyValueStore<String, Host> hosts;
  private KeyValueStore<String, CampaignStatus> statuses;

  // What must be looked at as time passes: copies of the stores, rebuilt at each start.

  private final Map<String, Campaign> open = new HashMap<>();

  private final Map<String, Instant> finished = new HashMap<>();
  private Instant listeningSince;
  private Instant lastTick;
  private Instant lastSweep;

  CampaignProcessor(Settings settings) {
    this.settings = settings;
  }

  @Override
  public void init(ProcessorContext<byte[], Outgoing> processorContext) {
    context = processorContext;
    campaigns = context.getStateStore(CampaignTopology.CAMPAIGNS);
    findings = context.getStateStore(CampaignTopology.FINDINGS);
    hosts = context.getStateStore(CampaignTopology.HOSTS);
    statuses = context.getStateStore(CampaignTopology.STATUSES);
    open.clear();
    finished.clear();
    try (KeyValueIterator<String, Campaign> all = campaigns.all()) {
      all.forEachRemaining(entry -> index(whole(entry.value)));
    }
    try (KeyValueIterator<String, CampaignStatus> all = statuses.all()) {
      all.forEachRemaining(this::indexStatus);
    }
    listeningSince = now();
    lastTick = listeningSince;
    lastSweep = listeningSince;
    context.schedule(settings.tick(), PunctuationType.WALL_CLOCK_TIME, time -> tick());
    LOG.infof("coordinator started open=%d finished=%d", open.size(), finished.size());
    open.values().forEach(this::sayWhatIsAwaited);
  }

  private void sayWhatIsAwaited(Campaign campaign) {
    Attempt attempt = campaign.state().attempt();
    if (attempt != null && !attempt.pausing() && !attempt.ending()) {
      Limits limits = settings.limits();
      LOG.infof(
          "campaign=%s step=%s attempt=%d host=%s goes on; if %s says nothing within %d s it is"
              + " asked again, after %d s it is taken for lost",
          campaign.id(),
          attempt.step().id(),
          attempt.number(),
          campaign.request().host(),
          attempt.step().worker().id(),
          limits.signsOfLife().toSeconds(),
          limits.silence().toSeconds());
    }
  }

  @Override
  public void process(Record<byte[], byte[]> record) {
    RecordMetadata source = context.recordMetadata().orElseThrow();
    switch (Inbox.read(source.topic(), record)) {
      case Read.Fed fed -> {
        try {
          feed(fed.campaignId(), fed.input());
        } catch (IllegalStateException | IllegalArgumentException e) {
          // A fault of ours must neither be lost nor stop the campaigns that are well.
          LOG.errorf(e, "campaign=%s record not handled", fed.campaignId());
          deadLetter(record, source, "internal: " + e.getMessage());
        }
      }
      case Read.NotOurs skipped -> {}
      case Read.Unreadable unreadable -> deadLetter(record, source, unreadable.reason());
    }
  }

  private void deadLetter(Record<byte[], byte[]> record, RecordMetadata source, String reason) {
    LOG.warnf(
        "dead letter topic=%s partition=%d offset=%d reason=%s",
        source.topic(), source.partition(), source.offset(), reason);
    context.forward(Outbox.deadLetter(record, source, reason));
  }

  private void tick() {
    Instant now = now();
    // After a pause of this process, silence of the others proves nothing.
    if (Duration.between(lastTick, now).compareTo(settings.limits().silence().dividedBy(2)) > 0) {
      listeningSince = now;
    }
    lastTick = now;
    for (String id : List.copyOf(open.keySet())) {
      try {
        feed(id, new Input.Tick(listeningSince));
      } catch (IllegalStateException | IllegalArgumentException e) {
        LOG.errorf(e, "campaign=%s tick not handled", id);
      }
    }
    if (!now.isBefore(lastSweep.plus(SWEEP))) {
      lastSweep = now;
      sweep(now);
    }
  }

  /** One input, and all that follows from it for other campaigns of the host. */
  private void feed(String campaignId, Input first) {
    Deque<Next> inputs = new ArrayDeque<>(List.of(new Next(campaignId, first)));
    while (!inputs.isEmpty()) {
      Next next = inputs.poll();
      Campaign before = load(next.campaignId());
      String hostName = hostOf(before, next.input());
      Host known = hosts.get(hostName);
      Host host = known == null ? Host.unknown(hostName) : known;
      Decision decision = Coordinator.decide(settings.limits(), before, host, next.input(), now());
      if (decision.campaign() != null && !decision.campaign().equals(before)) {
        save(before, decision.campaign());
      }
      if (!decision.host().equals(host)) {
        hosts.put(hostName, decision.host());
      }
      decision.outputs().forEach(output -> act(output, inputs));
    }
  }

  private Campaign load(String id) {
    Campaign cached = open.get(id);
    if (cached != null) {
      return cached;
    }
    Campaign stored = campaigns.get(id);
    return stored == null ? null : whole(stored);
  }

  private Campaign whole(Campaign stored) {
    Findings found = findings.get(stored.id());
    return found == null ? stored : stored.with(found);
  }

  /** Findings are large and seldom change; a sign of life must not write them again. */
  private void save(Campaign before, Campaign campaign) {
    campaigns.put(campaign.id(), campaign.with(Findings.NONE));
    if (campaign.ended()) {
      findings.delete(campaign.id());
    } else if (before == null || !before.findings().equals(campaign.findings())) {
      findings.put(campaign.id(), campaign.findings());
    }
    index(campaign);
  }

  private static String hostOf(Campaign campaign, Input input) {
    if (campaign != null) {
      return campaign.request().host();
    }
    return input instanceof Input.Request r ? r.request().host() : "";
  }

  private void act(Output output, Deque<Next> inputs) {
    switch (output) {
      case Output.Send send -> {
        LOG.infof(
            "campaign=%s step=%s attempt=%d host=%s command=%s",
            send.command().job().campaignId(),
            send.command().job().step().id(),
            send.command().job().attempt(),
            send.command().job().host(),
            send.command().getClass().getSimpleName());
        context.forward(Outbox.command(send.command(), now()));
      }
      case Output.Publish publish -> {
        LOG.infof("campaign=%s event=%s", publish.event().campaignId(), publish.event().kind());
        context.forward(Outbox.event(publish.event()));
      }
      case Output.Tell tell -> {
        statuses.put(tell.status().campaignId(), tell.status());
        indexStatus(KeyValue.pair(tell.status().campaignId(), tell.status()));
        context.forward(Outbox.status(tell.status()));
      }
      case Output.TellAgain again -> {
        CampaignStatus status = statuses.get(again.campaignId());
        if (status != null) {
          context.forward(Outbox.status(status));
        }
      }
      case Output.Wake wake -> inputs.add(new Next(wake.campaignId(), new Input.HostChanged()));
      case Output.Ignored ignored -> LOG.debugf("ignored: %s", ignored.reason());
    }
  }

  private void index(Campaign campaign) {
    if (campaign.ended()) {
      open.remove(campaign.id());
    } else {
      open.put(campaign.id(), campaign);
    }
  }

  private void indexStatus(KeyValue<String, CampaignStatus> entry) {
    if (entry.value.state().terminal()) {
      finished.put(entry.key, entry.value.updatedAt());
    } else {
      // A refused id may be used again by the corrected request.
      finished.remove(entry.key);
    }
  }

  /** Forgets finished campaigns that are too old or too many. */
  private void sweep(Instant now) {
    List<String> byAge =
        finished.entrySet().stream()
            .filter(e -> !open.containsKey(e.getKey()))
            .sorted(Map.Entry.comparingByValue(Comparator.naturalOrder()))
            .map(Map.Entry::getKey)
            .toList();
    int tooMany = byAge.size() - settings.kept();
    for (int i = 0; i < byAge.size(); i++) {
      String id = byAge.get(i);
      boolean old = finished.get(id).plus(settings.retention()).isBefore(now);
      if (i < tooMany || old) {
        campaigns.delete(id);
        statuses.delete(id);
        finished.remove(id);
        context.forward(Outbox.statusForgotten(id, now));
      }
    }
  }

  private Instant now() {
    return Instant.ofEpochMilli(context.currentSystemTimeMs());
  }
}
