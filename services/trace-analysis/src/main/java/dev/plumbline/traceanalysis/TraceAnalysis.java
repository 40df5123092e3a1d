package dev.plumbline.traceanalysis;

import dev.plumbline.schemas.trace.TraceReport;
import dev.plumbline.schemas.trace.TraceReport.Integrity;
import dev.plumbline.schemas.trace.TraceReport.Rank;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Analyses the traces of one run, one file per rank. */
public final class TraceAnalysis {

  private static final long YEAR_2010_NS = 1_262_304_000_000_000_000L;

  private TraceAnalysis() {}

  /**
   * A report and when its run was recorded.
   *
   * @param recordedAt the first device event of all ranks, by the host's clock; null when the
   *     traces do not tell
   */
  public record Dated(TraceReport report, Instant recordedAt) {}

  /** The report of {@link #dated}. */
  public static TraceReport analyse(List<TraceInput> inputs, AnalysisOptions options) {
    return dated(inputs, options).report();
  }

  /**
   * Reads and analyses all files, side by side.
   *
   * @param inputs the ranks of one run; each file is a rank
   * @return the report, ranks in ascending order
   * @throws UnreadableTrace naming the first file that cannot be analysed at all
   * @throws IllegalArgumentException if there is no input or the user's rules are faulty
   */
  public static Dated dated(List<TraceInput> inputs, AnalysisOptions options) {
    Analysed analysed = analysed(inputs, options);
    return new Dated(analysed.report(), recordedAt(analysed.ranks()));
  }

  /** The same with the single events, which a timeline shows; they take memory while it is held. */
  public static Analysed analysed(List<TraceInput> inputs, AnalysisOptions options) {
    if (inputs.isEmpty()) {
      throw new IllegalArgumentException("There is no trace to analyse: name at least one file.");
    }
    ComponentRules rules = ComponentRules.load(options.userRules());
    List<RankAnalysis> ranks = new ArrayList<>(side(inputs, rules, options));
    ranks.sort(
        Comparator.comparing(
            rank -> rank.report().rank(), Comparator.nullsLast(Comparator.naturalOrder())));
    List<Rank> reports = withDoubles(ranks.stream().map(RankAnalysis::report).toList());
    List<Rank> withWork = reports.stream().filter(rank -> rank.deviceEvents() > 0).toList();
    List<Verdict.Share> shares = Verdict.shares(withWork);
    TraceReport report =
        new TraceReport(
            reports,
            CollectiveMatch.of(ranks),
            StepStatistics.of(reports),
            Verdict.bottleneck(
                withWork.isEmpty() ? reports : withWork,
                shares,
                ranks.stream().anyMatch(rank -> rank.trace().metadata().withStack())),
            Gains.of(shares));
    return new Analysed(report, List.copyOf(ranks));
  }

  private static Instant recordedAt(List<RankAnalysis> ranks) {
    return ranks.stream()
        .map(RankAnalysis::trace)
        .filter(trace -> trace.events().count() > 0)
        .map(TraceAnalysis::start)
        .filter(Objects::nonNull)
        .min(Comparator.naturalOrder())
        .orElse(null);
  }

  /** Times are relative to the base that the file names, or were absolute before there was one. */
  private static Instant start(Trace trace) {
    long first = trace.events().firstStart();
    Long base = trace.metadata().baseNs();
    if (base != null) {
      return Instant.EPOCH.plusNanos(base).plusNanos(first);
    }
    return first > YEAR_2010_NS ? Instant.EPOCH.plusNanos(first) : null;
  }

  /** The files side by side, as many at a time as there are processors. */
  private static List<RankAnalysis> side(
      List<TraceInput> inputs, ComponentRules rules, AnalysisOptions options) {
    int threads = Math.min(inputs.size(), Runtime.getRuntime().availableProcessors());
    try (ExecutorService workers = Executors.newFixedThreadPool(threads)) {
      List<Future<RankAnalysis>> running = new ArrayList<>();
      for (TraceInput input : inputs) {
        Callable<RankAnalysis> work = () -> one(input, rules, options);
        running.add(workers.submit(work));
      }
      List<RankAnalysis> done = new ArrayList<>();
      try {
        for (Future<RankAnalysis> future : running) {
          done.add(future.get());
        }
      } catch (ExecutionException e) {
        workers.shutdownNow();
        throw e.getCause() instanceof RuntimeException cause
            ? cause
            : new IllegalStateException(e.getCause());
      } catch (InterruptedException e) {
        workers.shutdownNow();
        Thread.currentThread().interrupt();
        throw new IllegalStateException("The analysis was interrupted.", e);
      }
      return done;
    }
  }

  private static RankAnalysis one(TraceInput input, ComponentRules rules, AnalysisOptions options) {
    Trace trace =
        TraceReader.read(
            input,
            name -> StepName.parse(name, options.stepPattern()).isPresent(),
            options.limits());
    return RankAnalysis.of(trace, RankName.of(trace, input), rules, options);
  }

  /**
   * Two files that claim the same rank are both kept, and say so. One without device work claims
   * none: a front end may name a rank that is another's.
   */
  private static List<Rank> withDoubles(List<Rank> ranks) {
    Map<Integer, Long> claims =
        ranks.stream()
            .filter(rank -> rank.deviceEvents() > 0)
            .map(Rank::rank)
            .filter(Objects::nonNull)
            .collect(Collectors.groupingBy(Function.identity(), Collectors.counting()));
    return ranks.stream()
        .map(
            rank ->
                rank.deviceEvents() > 0
                        && claims.getOrDefault(rank.rank() == null ? -1 : rank.rank(), 1L) > 1
                    ? warned(rank)
                    : rank)
        .toList();
  }

  private static Rank warned(Rank rank) {
    Integrity i = rank.integrity();
    List<String> warnings = new ArrayList<>(i.warnings());
    warnings.add("Several files say that they are rank " + rank.rank() + ".");
    return rank.withIntegrity(i.withWarnings(List.copyOf(warnings)));
  }
}
