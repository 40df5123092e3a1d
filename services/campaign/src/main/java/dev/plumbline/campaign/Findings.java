package dev.plumbline.campaign;

import dev.plumbline.schemas.event.StepEvent;
import dev.plumbline.schemas.event.StepEvent.GpusFreed;
import dev.plumbline.schemas.event.StepEvent.ScriptsDeployed;
import dev.plumbline.schemas.event.StepEvent.TraceCaptured;
import dev.plumbline.schemas.trace.TraceFile;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What the steps of a campaign have found so far: their result events, as they came.
 *
 * @param freeIssuedAt when the server was first asked to stop; from then on a restore is owed
 * @param stoppedAt when it stopped answering, as the earliest attempt saw it; null when unknown
 */
record Findings(
    List<StepEvent> results, Instant freeIssuedAt, Instant stoppedAt, List<String> notes) {

  static final Findings NONE = new Findings(List.of(), null, null, List.of());

  /** Name of the probe among deployed scripts. */
  private static final String PROBE = "plumbline_probe.py";

  Findings {
    results = results == null ? List.of() : List.copyOf(results);
    notes = notes == null ? List.of() : List.copyOf(notes);
  }

  Findings with(StepEvent result) {
    Findings all = new Findings(joined(results, result), freeIssuedAt, stoppedAt, notes);
    return result instanceof GpusFreed freed ? all.withStopOf(freed) : all;
  }

  /**
   * Only when the server stopped: an attempt to free that was given up may yet tell it, and the
   * next attempt finds the server down and cannot.
   */
  Findings withStopOf(GpusFreed freed) {
    boolean earlier =
        freed.stoppedAt() != null && (stoppedAt == null || freed.stoppedAt().isBefore(stoppedAt));
    return earlier ? new Findings(results, freeIssuedAt, freed.stoppedAt(), notes) : this;
  }

  Findings askedToStop(Instant now) {
    return freeIssuedAt == null ? new Findings(results, now, stoppedAt, notes) : this;
  }

  Findings note(String note) {
    return new Findings(results, freeIssuedAt, stoppedAt, joined(notes, note));
  }

  /** True once the server was asked to stop. */
  boolean mayBeDown() {
    return freeIssuedAt != null;
  }

  /** The last result of that kind. */
  <T extends StepEvent> Optional<T> last(Class<T> kind) {
    return results.stream().filter(kind::isInstance).map(kind::cast).reduce((a, b) -> b);
  }

  /** Every trace captured, in order. */
  List<TraceFile> captured() {
    return results.stream()
        .flatMap(r -> r instanceof TraceCaptured c ? c.traces().stream() : null)
        .toList();
  }

  /** Path of the deployed probe on the host: by its name, else the first script. */
  String probe() {
    return last(ScriptsDeployed.class).map(ScriptsDeployed::scripts).orElse(List.of()).stream()
        .sorted((a, b) -> Boolean.compare(isProbe(b), isProbe(a)))
        .map(ScriptsDeployed.Deployed::path)
        .findFirst()
        .orElse(null);
  }

  private static boolean isProbe(ScriptsDeployed.Deployed script) {
    return script.script().endsWith(PROBE);
  }

  private static <T> List<T> joined(List<T> list, T more) {
    List<T> all = new ArrayList<>(list);
    all.add(more);
    return all;
  }
}
