package dev.plumbline.campaign;

import dev.plumbline.schemas.campaign.Plan;
import dev.plumbline.schemas.trace.StepKind;
import dev.plumbline.schemas.trace.TraceReport;
import dev.plumbline.schemas.trace.TraceReport.Bottleneck;
import dev.plumbline.schemas.trace.TraceReport.ComponentTime;
import dev.plumbline.schemas.trace.TraceReport.StepSummary.Kind;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** What limits the server: the bottleneck of the decode steps, or why none can be named. */
final class Verdicts {

  private record Candidate(String component, String deviceClass, double share) {}

  private Verdicts() {}

  /**
   * @param trace null when no trace was analysed
   */
  static Bottleneck of(TraceReport trace, Plan plan) {
    if (trace == null) {
      boolean wanted = plan.trace() != null || (plan.traces() != null && !plan.traces().isEmpty());
      return inconclusive(
          wanted ? "The campaign ended before a trace was analysed." : "No trace was asked for.");
    }
    Optional<Kind> decode = decode(trace);
    if (decode.isEmpty()) {
      return trace.bottleneck() == null
          ? inconclusive("The analysis names no bottleneck.")
          : trace.bottleneck();
    }
    List<Candidate> ranked = ranked(decode.get());
    if (ranked.isEmpty()) {
      return inconclusive("The decode steps of the trace hold no device time.");
    }
    Candidate first = ranked.getFirst();
    double second = ranked.size() > 1 ? ranked.get(1).share() : 0;
    // How far the trace can be trusted was judged by the analysis.
    List<String> reasons =
        trace.bottleneck() == null || trace.bottleneck().reasons() == null
            ? List.of()
            : trace.bottleneck().reasons();
    return new Bottleneck(
        first.component(),
        first.deviceClass(),
        first.share(),
        first.share() - second,
        reasons.isEmpty() ? "conclusive" : "inconclusive",
        reasons);
  }

  /** The decode steps, where the annotations tell; else the only kind of step that there is. */
  static Optional<Kind> decode(TraceReport trace) {
    if (trace == null || trace.stepSummary() == null) {
      return Optional.empty();
    }
    List<Kind> kinds = trace.stepSummary().kinds();
    return kinds.stream()
        .filter(k -> k.kind() == StepKind.DECODE)
        .findFirst()
        .or(() -> kinds.size() == 1 ? Optional.of(kinds.getFirst()) : Optional.empty());
  }

  private static List<Candidate> ranked(Kind decode) {
    List<Candidate> all = new ArrayList<>();
    for (ComponentTime c : decode.components()) {
      all.add(
          new Candidate(
              c.component().id(), c.deviceClass().name().toLowerCase(Locale.ROOT), c.share()));
    }
    Map<String, Double> idle = decode.idleShares() == null ? Map.of() : decode.idleShares();
    idle.forEach((cause, share) -> all.add(new Candidate(idle(cause), "idle", share)));
    all.removeIf(c -> c.share() <= 0);
    all.sort(
        Comparator.comparingDouble(Candidate::share)
            .reversed()
            .thenComparing(Candidate::component));
    return all;
  }

  private static Bottleneck inconclusive(String reason) {
    return new Bottleneck(null, null, 0, 0, "inconclusive", List.of(reason));
  }

  /** {@code hostBound} → {@code idle:host_bound}. */
  static String idle(String cause) {
    return "idle:" + cause.replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT);
  }
}
