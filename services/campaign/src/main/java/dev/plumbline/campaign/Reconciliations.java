package dev.plumbline.campaign;

import dev.plumbline.schemas.campaign.Reconciliation;
import dev.plumbline.schemas.campaign.Reconciliation.Item;
import dev.plumbline.schemas.load.LoadReport;
import dev.plumbline.schemas.load.LoadReport.Level;
import dev.plumbline.schemas.micro.MicroReport;
import dev.plumbline.schemas.micro.MicroReport.Result;
import dev.plumbline.schemas.trace.Component;
import dev.plumbline.schemas.trace.TraceReport;
import dev.plumbline.schemas.trace.TraceReport.ComponentTime;
import dev.plumbline.schemas.trace.TraceReport.StepSummary.Kind;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Holds micro, trace and macro figures against each other (definitions, section 7). */
final class Reconciliations {

  /** Unexplained device work above this share of the traced busy time is a finding. */
  private static final double UNEXPLAINED_LIMIT = 0.2;

  private Reconciliations() {}

  /**
   * At one concurrency; any of the three parts may be null.
   *
   * @return null when fewer than two of the parts are there: nothing to hold against each other
   */
  static Reconciliation of(
      int concurrency, LoadReport macro, MicroReport micro, TraceReport trace) {
    Optional<Kind> decode = Verdicts.decode(trace);
    int parts = (macro == null ? 0 : 1) + (micro == null ? 0 : 1) + (decode.isEmpty() ? 0 : 1);
    if (parts < 2) {
      return null;
    }
    List<String> findings = new ArrayList<>();
    Map<String, Long> traced = tracedByComponent(decode);
    List<Item> items = items(concurrency, micro, traced, findings);
    Long predicted = items.isEmpty() ? null : items.stream().mapToLong(Item::perStepNs).sum();
    Long busy = decode.map(k -> k.busyNs().median()).orElse(null);
    Long window = decode.map(k -> k.windowNs().median()).orElse(null);
    Long step = macroStepNs(concurrency, macro, findings);
    Long unexplained = predicted == null || busy == null ? null : busy - predicted;
    judge(predicted, busy, step, findings);
    return new Reconciliation(
        concurrency,
        predicted,
        busy,
        window,
        step,
        ratio(predicted, busy),
        ratio(window, step),
        busy == null || step == null || step < busy ? null : Long.valueOf(step - busy),
        unexplained,
        items,
        micro == null ? List.of() : missing(items, traced),
        findings);
  }

  private static void judge(Long predicted, Long busy, Long step, List<String> findings) {
    if (predicted != null && busy != null && busy - predicted > UNEXPLAINED_LIMIT * busy) {
      findings.add(
          String.format(
              Locale.ROOT,
              "%.0f %% of the traced device work is not explained by the operations measured.",
              100.0 * (busy - predicted) / busy));
    }
    if (predicted != null && busy != null && predicted > busy) {
      findings.add(
          "The operations measured take longer alone than the whole step in the trace: their sizes"
              + " or counts are not those of the server, or their work overlaps there.");
    }
    if (busy != null && step != null && step < busy) {
      findings.add(
          "The device is busy for longer in the trace than a step takes without the profiler: the"
              + " two were not taken at the same load.");
    }
  }

  private static Map<String, Long> tracedByComponent(Optional<Kind> decode) {
    Map<String, Long> traced = new HashMap<>();
    decode.ifPresent(
        k -> {
          for (ComponentTime c : k.components()) {
            traced.merge(c.component().id(), c.exposedNs(), Long::sum);
          }
        });
    return traced;
  }

  private static List<Item> items(
      int concurrency, MicroReport micro, Map<String, Long> traced, List<String> findings) {
    List<Item> items = new ArrayList<>();
    for (Result r : micro == null ? List.<Result>of() : micro.results()) {
      if (r.countPerStep() == null) {
        continue;
      }
      if (r.unavailable() != null || r.medianUs() == null) {
        findings.add("%s is left out: %s.".formatted(r.name(), sentence(r.unavailable())));
      } else if (!r.valid()) {
        findings.add(
            "%s is left out: %s."
                .formatted(
                    r.name(),
                    r.reasons() == null || r.reasons().isEmpty()
                        ? "its measurement is not valid"
                        : String.join("; ", r.reasons())));
      } else if (batchOf(r) != null && batchOf(r) != concurrency) {
        findings.add(
            "%s is left out: it was measured at batch %d, the trace was taken at %d."
                .formatted(r.name(), batchOf(r), concurrency));
      } else {
        String component = component(r);
        long perStepNs = Math.round(r.countPerStep() * r.medianUs() * 1000);
        items.add(
            new Item(
                r.name(),
                component,
                r.countPerStep(),
                r.medianUs(),
                perStepNs,
                component == null ? null : traced.get(component)));
      }
    }
    return items;
  }

  /** The batch an operation was measured at: its {@code batch}, for a decode GEMM its {@code m}. */
  private static Long batchOf(Result result) {
    Map<String, Long> shape = result.shape() == null ? Map.of() : result.shape();
    return shape.getOrDefault("batch", shape.get("m"));
  }

  private static String component(Result result) {
    if (result.component() != null) {
      return result.component();
    }
    return switch (result.operation()) {
      case "moe" -> Component.MOE_GEMM.id();
      case "copy" -> Component.MEMCPY.id();
      default -> Component.find(result.operation()).map(Component::id).orElse(null);
    };
  }

  private static List<String> missing(List<Item> items, Map<String, Long> traced) {
    Set<String> explained = new LinkedHashSet<>();
    items.forEach(i -> explained.add(i.component()));
    return traced.entrySet().stream()
        .filter(e -> e.getValue() > 0 && !explained.contains(e.getKey()))
        .sorted(Map.Entry.<String, Long>comparingByValue().reversed())
        .map(Map.Entry::getKey)
        .toList();
  }

  private static Long macroStepNs(int concurrency, LoadReport macro, List<String> findings) {
    if (macro == null) {
      return null;
    }
    Optional<Long> step =
        macro.levels().stream()
            .filter(l -> l.concurrency() != null && l.concurrency() == concurrency)
            .map(Level::tpotNs)
            .filter(t -> t != null && t.p50() != null)
            .map(LoadReport.Latency::p50)
            .findFirst();
    if (step.isEmpty()) {
      findings.add(
          "No TPOT was measured at concurrency %d, where the trace was taken; ask for that level."
              .formatted(concurrency));
    }
    return step.orElse(null);
  }

  private static Double ratio(Long part, Long whole) {
    return part == null || whole == null || whole == 0
        ? null
        : Double.valueOf((double) part / whole);
  }

  private static String sentence(String unavailable) {
    return unavailable == null ? "it has no median" : unavailable;
  }
}
