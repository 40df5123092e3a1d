package dev.plumbline.campaign;

import static org.assertj.core.api.Assertions.assertThat;

import dev.plumbline.campaign.Coordinator.Decision;
import dev.plumbline.schemas.Json;
import dev.plumbline.schemas.Step;
import dev.plumbline.schemas.campaign.CampaignRequested;
import dev.plumbline.schemas.command.Command;
import dev.plumbline.schemas.command.Job;
import dev.plumbline.schemas.event.CampaignEvent;
import dev.plumbline.schemas.event.StepEvent;
import dev.plumbline.schemas.event.StepEvent.StepFailed;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A model of everything around the coordinator: stores, topics that lose, repeat and reorder, and
 * workers on hosts that obey the fencing token. Each move is checked against what must always hold.
 */
final class ModelLab {

  /** The truth about one host, which the coordinator does not see. */
  static final class ModelHost {
    boolean serverUp = true;
    long newestToken;
    boolean leaseHeld;
    int restoreFailuresLeft;
    boolean neverRestores;
  }

  final Limits limits;
  Instant now = Instant.parse("2026-01-01T00:00:00Z");
  Instant listeningSince = now;
  final Map<String, Campaign> campaigns = new LinkedHashMap<>();
  final Map<String, Host> hosts = new HashMap<>();
  final Map<String, ModelHost> model = new HashMap<>();
  final List<Command> commands = new ArrayList<>();
  final List<StepEvent> events = new ArrayList<>();
  final List<CampaignEvent> published = new ArrayList<>();
  private final Map<String, List<String>> acceptedByHost = new HashMap<>();
  private final Map<String, List<String>> leasedByHost = new HashMap<>();
  private final Map<String, Long> lastToken = new HashMap<>();
  private final Set<String> asked = new HashSet<>();

  ModelLab(Limits limits) {
    this.limits = limits;
  }

  ModelHost model(String host) {
    return model.computeIfAbsent(host, h -> new ModelHost());
  }

  void request(CampaignRequested request) {
    feed(request.campaignId(), request.host(), new Input.Request(request));
  }

  void cancel(String id) {
    Campaign campaign = campaigns.get(id);
    feed(id, campaign == null ? "none" : campaign.request().host(), new Input.Cancel(id, "test"));
  }

  void event(StepEvent event) {
    Campaign campaign = campaigns.get(event.campaignId());
    feed(
        event.campaignId(),
        campaign == null ? "none" : campaign.request().host(),
        new Input.Told(event));
  }

  void pass(Duration time) {
    now = now.plus(time);
    for (Campaign campaign : List.copyOf(campaigns.values())) {
      if (!campaign.ended()) {
        feed(campaign.id(), campaign.request().host(), new Input.Tick(listeningSince));
      }
    }
  }

  /** The coordinator's process dies and comes back: all it has is what it wrote. */
  void restart() {
    campaigns.replaceAll(
        (id, c) -> {
          Campaign read = Json.read(Json.bytes(c), Campaign.class);
          assertThat(read).isEqualTo(c);
          return read;
        });
    hosts.replaceAll(
        (name, h) -> {
          Host read = Json.read(Json.bytes(h), Host.class);
          assertThat(read).isEqualTo(h);
          return read;
        });
    listeningSince = now;
  }

  private void feed(String id, String hostName, Input first) {
    record Next(String id, Input input) {}
    Deque<Next> inputs = new ArrayDeque<>(List.of(new Next(id, first)));
    while (!inputs.isEmpty()) {
      Next next = inputs.poll();
      Host host = hosts.getOrDefault(hostName, Host.unknown(hostName));
      Decision decision =
          Coordinator.decide(limits, campaigns.get(next.id()), host, next.input(), now);
      if (decision.campaign() != null) {
        campaigns.put(next.id(), decision.campaign());
      }
      hosts.put(hostName, decision.host());
      for (Output output : decision.outputs()) {
        switch (output) {
          case Output.Send send -> sent(send.command());
          case Output.Publish publish -> published(publish.event(), hostName);
          case Output.Wake wake -> inputs.add(new Next(wake.campaignId(), new Input.HostChanged()));
          case Output.Tell tell -> assertThat(tell.status().campaignId()).isEqualTo(next.id());
          case Output.TellAgain again -> assertThat(campaigns).containsKey(again.campaignId());
          case Output.Ignored ignored -> {}
        }
      }
      checkHolder(decision.host());
    }
  }

  private void sent(Command command) {
    commands.add(command);
    Job job = command.job();
    boolean again = !(command instanceof Command.CancelStep) && !asked.add(job.id());
    if (command instanceof Command.AcquireLease && job.attempt() == 1 && !again) {
      assertThat(job.token()).isGreaterThan(lastToken.getOrDefault(job.host(), 0L));
      lastToken.put(job.host(), job.token());
      leasedByHost.computeIfAbsent(job.host(), h -> new ArrayList<>()).add(job.campaignId());
    }
    boolean touchesHost = job.step().compareTo(Step.LEASE) >= 0 && job.step() != Step.ANALYSE;
    if (touchesHost) {
      assertThat(hosts.get(job.host()).holder()).isEqualTo(job.campaignId());
    }
  }

  private void published(CampaignEvent event, String host) {
    published.add(event);
    if (event instanceof CampaignEvent.CampaignAccepted) {
      acceptedByHost.computeIfAbsent(host, h -> new ArrayList<>()).add(event.campaignId());
    }
    if (event.terminal()) {
      assertThat(terminals(event.campaignId())).as("terminal events").hasSize(1);
    }
  }

  List<CampaignEvent> terminals(String id) {
    return published.stream().filter(e -> e.terminal() && e.campaignId().equals(id)).toList();
  }

  private void checkHolder(Host host) {
    List<String> holders =
        campaigns.values().stream()
            .filter(c -> c.request().host().equals(host.name()))
            .filter(
                c ->
                    c.state() instanceof Campaign.Working
                        || c.state() instanceof Campaign.Restoring
                        || c.state() instanceof Campaign.Owing)
            .map(Campaign::id)
            .toList();
    assertThat(holders).isEqualTo(host.holder() == null ? List.of() : List.of(host.holder()));
  }

  /** Who got the host, in the order of acceptance; those that left the queue are skipped. */
  void checkFairness() {
    leasedByHost.forEach(
        (host, leased) -> {
          List<String> accepted = new ArrayList<>(acceptedByHost.get(host));
          accepted.retainAll(leased);
          assertThat(leased).isEqualTo(accepted);
        });
  }

  /**
   * A worker does what it is told, or fails.
   *
   * @param luck 0 = all goes well; else which way it fails
   */
  void work(Command command, int luck) {
    Job job = command.job();
    if (command instanceof Command.CancelStep) {
      events.add(fail(job, "cancelled", false));
      return;
    }
    events.add(new StepEvent.StepStarted(job.campaignId(), job.step(), job.attempt(), now));
    if (luck % 7 == 6) {
      return; // dies on the way
    }
    if (luck % 7 == 5) {
      events.add(fail(job, "internal", true));
    } else if (luck % 7 == 4 && job.step() != Step.RESTORE) {
      events.add(fail(job, "invalid", false));
    } else {
      events.add(onHost(job));
    }
  }

  private StepEvent onHost(Job job) {
    ModelHost host = model(job.host());
    boolean fenced = job.token() != null && job.token() < host.newestToken;
    boolean held = job.token() != null && job.token() == host.newestToken && host.leaseHeld;
    return switch (job.step()) {
      case LEASE -> {
        if (fenced || (job.token() == host.newestToken && !host.leaseHeld)) {
          yield fail(job, "refused", false);
        }
        host.newestToken = job.token();
        host.leaseHeld = true;
        yield Results.of(job, now);
      }
      case FREE -> {
        if (!held) {
          yield fail(job, "refused", false);
        }
        boolean wasUp = host.serverUp;
        host.serverUp = false;
        yield Results.freed(job, now, wasUp ? now : null);
      }
      case MACRO, LIVE_TRACE, DEPLOY, MICRO, TRACE ->
          held ? Results.of(job, now) : fail(job, "refused", false);
      case RESTORE -> {
        if (fenced) {
          yield fail(job, "refused", false);
        }
        if (!host.serverUp && (host.neverRestores || host.restoreFailuresLeft-- > 0)) {
          yield fail(job, "time-out", true);
        }
        host.serverUp = true;
        host.leaseHeld = host.leaseHeld && job.token() != host.newestToken;
        yield Results.of(job, now);
      }
      case INSPECT, CHECK_SCRIPTS, ANALYSE, UNKNOWN -> Results.of(job, now);
    };
  }

  private StepFailed fail(Job job, String code, boolean retryable) {
    return new StepFailed(
        job.campaignId(), job.step(), job.attempt(), now, code, "It is " + code + ".", retryable);
  }
}
