package dev.plumbline.campaign;

import static org.assertj.core.api.Assertions.assertThat;

import dev.plumbline.schemas.campaign.CampaignRequested;
import dev.plumbline.schemas.command.Command;
import dev.plumbline.schemas.event.CampaignEvent;
import dev.plumbline.schemas.event.StepEvent;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/**
 * Whatever the order, loss, repetition and lateness of messages, whoever fails or cancels: every
 * campaign ends once, and no host is left with its server down.
 */
class CoordinatorPropertyTest {

  private static final Limits LIMITS =
      new Limits(
          Map.of(),
          Duration.ofHours(6),
          Duration.ofSeconds(30),
          Duration.ofSeconds(20),
          3,
          Duration.ofSeconds(2),
          Duration.ofMinutes(1),
          Duration.ofHours(2),
          Duration.ofMinutes(5));

  /**
   * One thing that happens.
   *
   * @param pick which of the pending messages, campaigns or amounts it concerns
   * @param luck how it goes
   */
  record Happening(Kind kind, int pick, int luck) {}

  enum Kind {
    REQUEST,
    REQUEST_OTHER,
    CANCEL,
    WORK,
    WORK_TWICE,
    LOSE_COMMAND,
    HEAR,
    HEAR_TWICE,
    LOSE_EVENT,
    PASS,
    RESTART
  }

  @Provide
  Arbitrary<List<Happening>> happenings() {
    Arbitrary<Kind> kinds =
        Arbitraries.frequency(
            net.jqwik.api.Tuple.of(3, Kind.REQUEST),
            net.jqwik.api.Tuple.of(1, Kind.REQUEST_OTHER),
            net.jqwik.api.Tuple.of(1, Kind.CANCEL),
            net.jqwik.api.Tuple.of(14, Kind.WORK),
            net.jqwik.api.Tuple.of(2, Kind.WORK_TWICE),
            net.jqwik.api.Tuple.of(1, Kind.LOSE_COMMAND),
            net.jqwik.api.Tuple.of(22, Kind.HEAR),
            net.jqwik.api.Tuple.of(3, Kind.HEAR_TWICE),
            net.jqwik.api.Tuple.of(1, Kind.LOSE_EVENT),
            net.jqwik.api.Tuple.of(6, Kind.PASS),
            net.jqwik.api.Tuple.of(1, Kind.RESTART));
    return Combinators.combine(
            kinds, Arbitraries.integers().between(0, 30), Arbitraries.integers().between(0, 41))
        .as(Happening::new)
        .list()
        .ofMaxSize(300);
  }

  @Property(tries = 400)
  void everyCampaignEndsOnceAndEveryServerComesBack(
      @ForAll("happenings") List<Happening> happenings) {
    ModelLab lab = new ModelLab(LIMITS);
    lab.model("a").restoreFailuresLeft = 4;
    happenings.forEach(h -> apply(lab, h));
    finish(lab);

    assertAllTerminal(lab);
    lab.model.forEach((name, host) -> assertThat(host.serverUp).as("server of " + name).isTrue());
    lab.hosts.forEach((name, host) -> assertThat(host.holder()).as("holder of " + name).isNull());
    lab.hosts.forEach((name, host) -> assertThat(host.queue()).isEmpty());
    lab.checkFairness();
  }

  @Property(tries = 100)
  void aHostThatNeverComesBackFailsItsCampaignAndIsClosedToOthers(
      @ForAll("happenings") List<Happening> happenings) {
    ModelLab lab = new ModelLab(LIMITS);
    lab.model("a").neverRestores = true;
    happenings.forEach(h -> apply(lab, h));
    finish(lab);

    assertAllTerminal(lab);
    lab.model.forEach(
        (name, host) -> {
          String holder = lab.hosts.getOrDefault(name, Host.unknown(name)).holder();
          if (!host.serverUp) {
            assertThat(holder).as("holder of " + name).isNotNull();
            assertThat(lab.terminals(holder).getFirst())
                .isInstanceOfSatisfying(
                    CampaignEvent.CampaignFailed.class, f -> assertThat(f.restored()).isFalse());
          } else {
            assertThat(holder).as("holder of " + name).isNull();
          }
        });
    lab.checkFairness();
  }

  private static void assertAllTerminal(ModelLab lab) {
    lab.campaigns.keySet().forEach(id -> assertThat(lab.terminals(id)).as(id).hasSize(1));
  }

  private static void apply(ModelLab lab, Happening h) {
    switch (h.kind()) {
      case REQUEST -> lab.request(request(h.pick() % 6));
      case REQUEST_OTHER -> lab.request(request(h.pick() % 6, "somebody else"));
      case CANCEL -> lab.cancel("c" + h.pick() % 7);
      case WORK -> work(lab, h, true);
      case WORK_TWICE -> work(lab, h, false);
      case LOSE_COMMAND -> take(lab.commands, h.pick(), true);
      case HEAR -> hear(lab, h, true);
      case HEAR_TWICE -> hear(lab, h, false);
      case LOSE_EVENT -> take(lab.events, h.pick(), true);
      case PASS -> lab.pass(Duration.ofSeconds(h.pick() + (h.luck() == 41 ? 4000 : 0)));
      case RESTART -> lab.restart();
    }
  }

  private static void work(ModelLab lab, Happening h, boolean remove) {
    Command command = take(lab.commands, h.pick(), remove);
    if (command != null) {
      // Two in three go well.
      lab.work(command, h.luck() % 3 == 0 ? h.luck() : 0);
    }
  }

  private static void hear(ModelLab lab, Happening h, boolean remove) {
    StepEvent event = take(lab.events, h.pick(), remove);
    if (event != null) {
      lab.event(event);
    }
  }

  /** Mostly the oldest; at times one out of order. */
  private static <T> T take(List<T> pending, int pick, boolean remove) {
    if (pending.isEmpty()) {
      return null;
    }
    int index = pick < 20 ? 0 : pick % pending.size();
    return remove ? pending.remove(index) : pending.get(index);
  }

  /** From here on nothing is lost and all workers do well, host a's restore apart. */
  private static void finish(ModelLab lab) {
    for (int round = 0; round < 3000 && unfinished(lab); round++) {
      while (!lab.commands.isEmpty()) {
        lab.work(lab.commands.removeFirst(), 0);
      }
      while (!lab.events.isEmpty()) {
        lab.event(lab.events.removeFirst());
      }
      lab.pass(Duration.ofSeconds(10));
    }
  }

  private static boolean unfinished(ModelLab lab) {
    return !lab.commands.isEmpty()
        || !lab.events.isEmpty()
        || lab.campaigns.values().stream().anyMatch(c -> lab.terminals(c.id()).isEmpty())
        || lab.campaigns.values().stream()
            .anyMatch(
                c ->
                    c.state() instanceof Campaign.Owing
                        && !lab.model(c.request().host()).neverRestores);
  }

  private static CampaignRequested request(int number) {
    return request(number, "test");
  }

  private static CampaignRequested request(int number, String by) {
    String id = "c" + number;
    String host = number % 2 == 0 ? "a" : "b";
    CampaignRequested plain =
        switch (number) {
          case 4 -> Requests.observing(id, host);
          case 5 -> Requests.analysing(id, host);
          default -> Requests.full(id, host);
        };
    return new CampaignRequested(
        id,
        host,
        plain.service(),
        plain.plan(),
        plain.deadlines(),
        plain.allowNoGpu(),
        by,
        plain.labels());
  }
}
