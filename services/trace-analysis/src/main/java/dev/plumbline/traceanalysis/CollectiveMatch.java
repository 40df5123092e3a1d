package dev.plumbline.traceanalysis;

import dev.plumbline.schemas.trace.Component;
import dev.plumbline.schemas.trace.DeviceClass;
import dev.plumbline.schemas.trace.TraceReport.Collectives;
import dev.plumbline.schemas.trace.TraceReport.RankWait;
import dev.plumbline.schemas.trace.TraceReport.Straggler;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Finds the same collective on several ranks and tells transfer from waiting (definitions, section
 * 2): by process group and sequence number where the trace has them, else by order within step,
 * kind, group, size and type. Where the ranks disagree on how many there are, order proves nothing
 * and none of them is matched.
 */
@SuppressWarnings({"ArrayRecordComponent", "EnumOrdinal"}) // columns, private to the engine
final class CollectiveMatch {

  private record Bucket(String step, Component component, String group, long size, long elements) {}

  /** One collective: its event on each rank, −1 where it does not take part. */
  private record Match(int[] eventOfRank) {}

  private final List<RankAnalysis> ranks;
  private long unmatched;

  private CollectiveMatch(List<RankAnalysis> ranks) {
    this.ranks = ranks;
  }

  static Collectives of(List<RankAnalysis> all) {
    List<RankAnalysis> ranks =
        all.stream().filter(rank -> rank.trace().events().count() > 0).toList();
    if (ranks.size() < 2) {
      return new Collectives(0, 0, 0, List.of(), null);
    }
    CollectiveMatch search = new CollectiveMatch(ranks);
    return search.figures(search.matches());
  }

  private List<Match> matches() {
    Map<Bucket, List<List<Integer>>> buckets = new LinkedHashMap<>();
    for (int r = 0; r < ranks.size(); r++) {
      for (int i = 0; i < ranks.get(r).components().length; i++) {
        Component component = Component.values()[ranks.get(r).components()[i]];
        if (component.deviceClass() == DeviceClass.COMMUNICATION) {
          buckets
              .computeIfAbsent(bucket(ranks.get(r), i, component), b -> emptyLists())
              .get(r)
              .add(i);
        }
      }
    }
    List<Match> matches = new ArrayList<>();
    buckets.values().forEach(lists -> match(lists, matches));
    return matches;
  }

  private List<List<Integer>> emptyLists() {
    List<List<Integer>> lists = new ArrayList<>();
    ranks.forEach(rank -> lists.add(new ArrayList<>()));
    return lists;
  }

  private static Bucket bucket(RankAnalysis rank, int event, Component component) {
    CollectiveArgs args = rank.trace().events().collective(event);
    if (args.sequence() >= 0) {
      return new Bucket("seq " + args.sequence(), component, args.group(), args.groupSize(), -1);
    }
    int step = rank.steps().stepOfEvent()[event];
    return new Bucket(
        stepKey(rank.steps(), step),
        component,
        args.group() + " " + args.type(),
        args.groupSize(),
        args.elements());
  }

  /** A numbered step is the same on every rank; others are told by their place. */
  private static String stepKey(Steps steps, int step) {
    if (step < 0) {
      return "unknown";
    }
    return steps.foundBy().equals("profiler-step")
        ? steps.steps().get(step).name()
        : Integer.toString(step);
  }

  private void match(List<List<Integer>> lists, List<Match> matches) {
    int[] counts = lists.stream().mapToInt(List::size).filter(size -> size > 0).toArray();
    boolean agreed =
        counts.length > 1 && Arrays.stream(counts).allMatch(count -> count == counts[0]);
    if (!agreed) {
      unmatched += Arrays.stream(counts).sum();
      return;
    }
    for (int k = 0; k < counts[0]; k++) {
      int[] events = new int[lists.size()];
      for (int r = 0; r < events.length; r++) {
        events[r] = lists.get(r).isEmpty() ? -1 : lists.get(r).get(k);
      }
      matches.add(new Match(events));
    }
  }

  private Collectives figures(List<Match> matches) {
    int count = ranks.size();
    long[] offsets = clockOffsets(matches);
    long[] waits = new long[count];
    long[] last = new long[count];
    long[] took = new long[count];
    long transferTotal = 0;
    for (Match match : matches) {
      long transfer = Long.MAX_VALUE;
      int latest = -1;
      for (int r = 0; r < count; r++) {
        if (match.eventOfRank[r] >= 0) {
          transfer = Math.min(transfer, duration(match, r));
          if (latest < 0 || start(match, r, offsets) > start(match, latest, offsets)) {
            latest = r;
          }
        }
      }
      transferTotal += transfer;
      last[latest]++;
      for (int r = 0; r < count; r++) {
        if (match.eventOfRank[r] >= 0) {
          waits[r] += duration(match, r) - transfer;
          took[r]++;
        }
      }
    }
    List<RankWait> rankWaits = new ArrayList<>();
    for (int r = 0; r < count; r++) {
      Long offset = offsets[r] == 0 ? null : offsets[r];
      rankWaits.add(new RankWait(ranks.get(r).report().rank(), waits[r], last[r], offset));
    }
    return new Collectives(
        matches.size(),
        unmatched,
        transferTotal,
        rankWaits,
        straggler(last, took, waits, transferTotal));
  }

  /**
   * The rank that arrives last far more often than chance would have it (three standard
   * deviations), in at least half of its collectives, and makes the others wait for at least 1 % of
   * the transfer time.
   */
  private Straggler straggler(long[] last, long[] took, long[] waits, long transferNs) {
    int worst = 0;
    for (int r = 1; r < last.length; r++) {
      worst = last[r] > last[worst] ? r : worst;
    }
    if (took[worst] == 0) {
      return null;
    }
    double share = (double) last[worst] / took[worst];
    double chance = 1.0 / last.length;
    double deviation = Math.sqrt(chance * (1 - chance) / took[worst]);
    long othersWait = Arrays.stream(waits).sum() - waits[worst];
    boolean standsOut =
        share >= 0.5
            && share > chance + 3 * deviation
            && (double) othersWait / (last.length - 1) >= 0.01 * transferNs;
    return standsOut ? new Straggler(ranks.get(worst).report().rank(), share) : null;
  }

  /**
   * A collective runs on all its ranks at once for some moment. Where that is not so for most of
   * them, the clocks differ: the ends are taken as simultaneous and the median difference is the
   * offset. Ranks of one host need none.
   */
  private long[] clockOffsets(List<Match> matches) {
    long[] offsets = new long[ranks.size()];
    for (int r = 1; r < offsets.length; r++) {
      int rank = r;
      List<Match> shared =
          matches.stream()
              .filter(match -> match.eventOfRank[0] >= 0 && match.eventOfRank[rank] >= 0)
              .toList();
      long apart =
          shared.stream()
              .filter(
                  match ->
                      start(match, 0, offsets) > end(match, rank)
                          || start(match, rank, new long[offsets.length]) > end(match, 0))
              .count();
      if (2 * apart > shared.size()) {
        long[] differences =
            shared.stream().mapToLong(match -> end(match, rank) - end(match, 0)).sorted().toArray();
        offsets[r] = differences[differences.length / 2];
      }
    }
    return offsets;
  }

  private long duration(Match match, int rank) {
    return ranks.get(rank).trace().events().duration(match.eventOfRank[rank]);
  }

  private long start(Match match, int rank, long[] offsets) {
    Trace trace = ranks.get(rank).trace();
    return trace.events().start(match.eventOfRank[rank]) + base(trace) - offsets[rank];
  }

  private long end(Match match, int rank) {
    Trace trace = ranks.get(rank).trace();
    return trace.events().end(match.eventOfRank[rank]) + base(trace);
  }

  private static long base(Trace trace) {
    Long base = trace.metadata().baseNs();
    return base == null ? 0 : base;
  }
}
