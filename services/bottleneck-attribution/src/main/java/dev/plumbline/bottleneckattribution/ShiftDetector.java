package dev.plumbline.bottleneckattribution;

import dev.plumbline.schemas.attribution.Alert;
import dev.plumbline.schemas.attribution.Attribution;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * Says when the bottleneck of a series changed and stayed changed (definitions, section 8). It sees
 * closed windows only, in order: they are the same in every replay, so the alerts are too. A window
 * whose margin is too small neither starts nor continues a change.
 *
 * @param minMargin as a fraction of 1
 * @param windows how many successive windows must agree
 * @param acceptAfterWindows a new bottleneck that held this long is the normal one; its alert
 *     clears
 */
record ShiftDetector(double minMargin, int windows, int acceptAfterWindows) {

  /**
   * @param normal the bottleneck before any alert; null until a first window has a clear one
   * @param candidate another bottleneck than the expected one, seen {@code streak} times in a row
   * @param since start of the first window of that streak
   * @param raised the alert that is not cleared yet, else null
   * @param shiftedTo the bottleneck of that alert
   * @param held windows that confirmed the alert since
   */
  record State(
      String normal,
      String candidate,
      int streak,
      Instant since,
      Alert raised,
      String shiftedTo,
      int held) {

    static State initial() {
      return new State(null, null, 0, null, null, null, 0);
    }

    private String expected() {
      return raised == null ? normal : shiftedTo;
    }

    private State withoutCandidate(int nowHeld) {
      return new State(normal, null, 0, null, raised, shiftedTo, nowHeld);
    }

    private State withCandidate(String bottleneck, Instant start) {
      return bottleneck.equals(candidate)
          ? new State(normal, candidate, streak + 1, since, raised, shiftedTo, held)
          : new State(normal, bottleneck, 1, start, raised, shiftedTo, held);
    }

    private static State settled(String bottleneck) {
      return new State(bottleneck, null, 0, null, null, null, 0);
    }
  }

  /** The state after a window, and what to tell: a clearing comes before a raising. */
  record Decision(State state, List<Alert> alerts) {}

  Decision next(State state, Attribution window, Instant at) {
    String bottleneck = window.bottleneck();
    if (window.margin() < minMargin) {
      return new Decision(state.withoutCandidate(state.held()), List.of());
    }
    if (state.normal() == null) {
      return new Decision(State.settled(bottleneck), List.of());
    }
    if (bottleneck.equals(state.expected())) {
      return confirmed(state.withoutCandidate(state.held() + 1), window, at);
    }
    State changed = state.withCandidate(bottleneck, window.windowStart());
    return changed.streak() < windows
        ? new Decision(changed, List.of())
        : shifted(changed, window, at);
  }

  private Decision confirmed(State state, Attribution window, Instant at) {
    if (state.raised() == null || state.held() < acceptAfterWindows) {
      return new Decision(state, List.of());
    }
    String why = state.shiftedTo() + " held for " + state.held() + " windows: the new normal";
    return new Decision(
        State.settled(state.shiftedTo()), List.of(cleared(state.raised(), why, window, at)));
  }

  private Decision shifted(State state, Attribution window, Instant at) {
    String to = state.candidate();
    if (to.equals(state.normal())) {
      return new Decision(
          State.settled(to),
          List.of(cleared(state.raised(), to + " is the bottleneck again", window, at)));
    }
    Alert raised = raised(state, window, at);
    State next = new State(state.normal(), null, 0, null, raised, to, 0);
    return state.raised() == null
        ? new Decision(next, List.of(raised))
        : new Decision(
            next,
            List.of(cleared(state.raised(), "the bottleneck is now " + to, window, at), raised));
  }

  private Alert raised(State state, Attribution window, Instant at) {
    String from = state.normal();
    String to = state.candidate();
    return new Alert(
        String.join("/", "shift", window.key(), state.since().toString(), from, to),
        Alert.Kind.SHIFT,
        Alert.State.RAISED,
        window.key(),
        state.since(),
        String.format(
            Locale.ROOT,
            "the bottleneck moved from %s to %s (%.1f %% of the step, margin %.1f points)",
            from,
            to,
            100 * window.bottleneckShare(),
            100 * window.margin()),
        evidence(window, Map.of("from", from, "to", to)),
        window.campaignId(),
        at);
  }

  private Alert cleared(Alert alert, String why, Attribution window, Instant at) {
    return new Alert(
        alert.id(),
        alert.kind(),
        Alert.State.CLEARED,
        alert.key(),
        alert.windowStart(),
        why,
        evidence(window, Map.of("reason", why)),
        window.campaignId(),
        at);
  }

  private Map<String, String> evidence(Attribution window, Map<String, String> more) {
    Map<String, String> evidence = new TreeMap<>(more);
    evidence.put("bottleneck", window.bottleneck());
    evidence.put("share", decimal(window.bottleneckShare()));
    evidence.put("margin", decimal(window.margin()));
    evidence.put("samples", Long.toString(window.samples()));
    evidence.put("lastWindowStart", window.windowStart().toString());
    evidence.put("lastWindowEnd", window.windowEnd().toString());
    evidence.put("windowP50Ns", Long.toString(window.windowP50Ns()));
    return evidence;
  }

  private static String decimal(double fraction) {
    return String.format(Locale.ROOT, "%.4f", fraction);
  }
}
