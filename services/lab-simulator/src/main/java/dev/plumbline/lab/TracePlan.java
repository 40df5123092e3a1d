package dev.plumbline.lab;

import dev.plumbline.schemas.trace.Component;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * Lays out the device events of consecutive steps on every rank so that the planted shares hold.
 *
 * <p>In a step of window W the kernels of component c last c's share of W together, and gaps make
 * up the rest. A collective ends at the same moment on all ranks; a rank that computed longer comes
 * later to it and so spends less time in it. The noise of a rank sums to zero over a step, so its
 * compute is the nominal one times its skew, and the median over ranks is the planted share.
 */
final class TracePlan {

  /** Index of a copy in {@link RankStep#kernel}: to the device before the step, back after it. */
  static final int COPY_IN = -1;

  static final int COPY_OUT = -2;

  private static final int COPIES_IN = 3;
  private static final double COPY_GAP_NS = 15_000;
  private static final double LAST_GAP_NS = 3_000;
  private static final double MAX_OFFSET_NS = 12_000;

  /**
   * Device events of one step on one rank, in order and without overlap.
   *
   * @param startNs of each event, on the time line of the plan
   * @param kernel index into the scenario's kernels, or {@link #COPY_IN}, {@link #COPY_OUT}
   * @param windowNs from the first event to the first of the next step; of the last step: to its
   *     last event
   */
  record RankStep(
      Engine.Step step, long[] startNs, long[] durationNs, int[] kernel, long windowNs) {

    long endNs() {
      int last = startNs.length - 1;
      return startNs[last] + durationNs[last];
    }
  }

  private final Scenario scenario;
  private final List<Scenario.Kernel> kernels;
  private final boolean[] collective;
  private final int[] sequence;
  private final Random random;

  TracePlan(Scenario scenario, long seed) {
    this.scenario = scenario;
    this.kernels = scenario.trace().kernels();
    this.collective = new boolean[kernels.size()];
    for (int k = 0; k < collective.length; k++) {
      collective[k] = kernels.get(k).component().equals(Component.ALL_REDUCE.id());
    }
    this.random = new Random(seed);
    List<Integer> order = new ArrayList<>();
    addAll(order, Scenario.Place.BEFORE);
    for (int layer = 0; layer < scenario.trace().layers(); layer++) {
      addAll(order, Scenario.Place.LAYER);
    }
    addAll(order, Scenario.Place.AFTER);
    this.sequence = order.stream().mapToInt(Integer::intValue).toArray();
  }

  private void addAll(List<Integer> order, Scenario.Place place) {
    for (int k = 0; k < kernels.size(); k++) {
      if (kernels.get(k).place() == place) {
        order.add(k);
      }
    }
  }

  /** Collectives in one step. */
  int collectivesPerStep() {
    return (int) Arrays.stream(sequence).filter(k -> collective[k]).count();
  }

  /**
   * Lays out steps; steps that followed each other at once stay back to back.
   *
   * @return for each rank its steps, on a time line that begins at 0
   */
  List<List<RankStep>> layOut(List<Engine.Step> steps) {
    int ranks = scenario.gpus().count();
    List<List<RankStep>> all = new ArrayList<>();
    double[] offsets = new double[ranks];
    for (int r = 0; r < ranks; r++) {
      all.add(new ArrayList<>());
      offsets[r] = random.nextDouble() * MAX_OFFSET_NS;
    }
    double at = 1_000_000;
    for (int s = 0; s < steps.size(); s++) {
      Engine.Step step = steps.get(s);
      double jitter = scenario.trace().stepJitterPercent() / 100 * (2 * random.nextDouble() - 1);
      double window = step.durationNs() * (1 + jitter);
      double[] durations = durations(window);
      double[] gaps = gaps(window);
      for (int r = 0; r < ranks; r++) {
        all.get(r).add(rank(step, at, offsets[r], durations, gaps, skew(r)));
      }
      at += window;
      if (s + 1 < steps.size()) {
        long pause = steps.get(s + 1).startNs() - step.startNs() - step.durationNs();
        at += Math.max(0, pause);
      }
    }
    return all.stream().map(TracePlan::withWindows).toList();
  }

  private double skew(int rank) {
    return scenario.trace().rankSkewPercent().get(rank) / 100;
  }

  /** Nominal duration of each kernel of the sequence; each component sums to its share exactly. */
  private double[] durations(double window) {
    double[] durations = new double[sequence.length];
    for (var share : scenario.trace().sharesPercent().entrySet()) {
      double sum = 0;
      for (int i = 0; i < sequence.length; i++) {
        if (kernels.get(sequence[i]).component().equals(share.getKey())) {
          durations[i] = kernels.get(sequence[i]).weight() * Math.max(0.5, 1 + noise(0.04));
          sum += durations[i];
        }
      }
      double scale = sum == 0 ? 0 : share.getValue() / 100 * window / sum;
      for (int i = 0; i < sequence.length; i++) {
        if (kernels.get(sequence[i]).component().equals(share.getKey())) {
          durations[i] *= scale;
        }
      }
    }
    return durations;
  }

  /** Gap before each kernel; the first is the wait for the launch. They sum to the idle share. */
  private double[] gaps(double window) {
    double idle = scenario.trace().idlePercent() / 100 * window;
    double fixed =
        scenario.trace().hostGapUs() * 1000 + (COPIES_IN - 1) * COPY_GAP_NS + LAST_GAP_NS;
    double inside = Math.max(0, 0.7 * (idle - fixed));
    double[] gaps = new double[sequence.length];
    double sum = 0;
    for (int i = 1; i < gaps.length; i++) {
      gaps[i] = Math.max(0.3, 1 + noise(0.25));
      sum += gaps[i];
    }
    for (int i = 1; i < gaps.length; i++) {
      gaps[i] *= inside / sum;
    }
    gaps[0] = Math.max(2 * MAX_OFFSET_NS, idle - fixed - inside);
    return gaps;
  }

  private double noise(double sigma) {
    return sigma * random.nextGaussian();
  }

  private RankStep rank(
      Engine.Step step, double at, double offset, double[] durations, double[] gaps, double skew) {
    int n = sequence.length + COPIES_IN + 1;
    long[] start = new long[n];
    long[] duration = new long[n];
    int[] kernel = new int[n];
    double copy =
        scenario.trace().sharesPercent().getOrDefault(Component.MEMCPY.id(), 0.0)
            / 100
            * step.durationNs()
            / (COPIES_IN + 1);
    double cursor = at + offset;
    int e = 0;
    for (int c = 0; c < COPIES_IN; c++) {
      put(start, duration, kernel, e++, cursor, cursor + copy, COPY_IN);
      cursor += copy + (c + 1 < COPIES_IN ? COPY_GAP_NS : 0);
    }
    cursor += gaps[0] - offset;
    double nominal = cursor;
    double[] scale = scales(durations, skew);
    for (int i = 0; i < sequence.length; i++) {
      double gap = i == 0 ? 0 : gaps[i];
      cursor += gap;
      nominal += gap + durations[i];
      double end = cursor + durations[i] * scale[i];
      if (collective[sequence[i]]) {
        // All leave together, but for the time in which the last flag travels.
        end = Math.max(cursor + 0.3 * durations[i], nominal + 150 * random.nextDouble());
      }
      put(start, duration, kernel, e++, cursor, end, sequence[i]);
      cursor = collective[sequence[i]] ? Math.max(end, nominal) : end;
    }
    cursor += LAST_GAP_NS;
    put(start, duration, kernel, e, cursor, cursor + copy, COPY_OUT);
    return new RankStep(step, start, duration, kernel, 0);
  }

  /** By how much this rank computes slower in each stretch between two collectives. */
  private double[] scales(double[] durations, double skew) {
    List<int[]> stretches = new ArrayList<>();
    int from = 0;
    for (int i = 0; i <= sequence.length; i++) {
      if (i == sequence.length || collective[sequence[i]]) {
        stretches.add(new int[] {from, i});
        from = i + 1;
      }
    }
    double[] shifts = new double[stretches.size()];
    double typical = 0;
    for (int i = 0; i < sequence.length; i++) {
      typical += collective[sequence[i]] ? durations[i] / collectivesPerStep() : 0;
    }
    double mean = 0;
    for (int s = 0; s < shifts.length; s++) {
      double limit = 0.2 * typical;
      shifts[s] = Math.max(-limit, Math.min(limit, noise(0.03 * typical)));
      mean += shifts[s] / shifts.length;
    }
    double[] scale = new double[sequence.length];
    for (int s = 0; s < shifts.length; s++) {
      double compute = 0;
      for (int i = stretches.get(s)[0]; i < stretches.get(s)[1]; i++) {
        compute += durations[i];
      }
      double factor = compute == 0 ? 1 : 1 + skew + (shifts[s] - mean) / compute;
      for (int i = stretches.get(s)[0]; i < stretches.get(s)[1]; i++) {
        scale[i] = Math.max(0.2, factor);
      }
    }
    return scale;
  }

  private static void put(
      long[] start, long[] duration, int[] kernel, int at, double from, double to, int which) {
    start[at] = Math.round(from);
    duration[at] = Math.round(to) - start[at];
    kernel[at] = which;
  }

  private static List<RankStep> withWindows(List<RankStep> steps) {
    List<RankStep> result = new ArrayList<>();
    for (int s = 0; s < steps.size(); s++) {
      RankStep step = steps.get(s);
      long end = s + 1 < steps.size() ? steps.get(s + 1).startNs()[0] : step.endNs();
      result.add(
          new RankStep(
              step.step(),
              step.startNs(),
              step.durationNs(),
              step.kernel(),
              end - step.startNs()[0]));
    }
    return result;
  }
}
