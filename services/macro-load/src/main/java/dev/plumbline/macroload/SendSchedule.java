package dev.plumbline.macroload;

import java.util.SplittableRandom;

/**
 * The send times of an open loop, fixed in advance and absolute: a late send does not move the next
 * ones. Poisson arrivals have exponential gaps of mean 1/rate, constant ones equal gaps.
 */
final class SendSchedule {

  private final double rate;
  private final boolean poisson;
  private final SplittableRandom random;
  private long beginNs;
  private double nextSeconds;
  private long sequence;

  private SendSchedule(double rate, boolean poisson, long seed) {
    this.rate = rate;
    this.poisson = poisson;
    this.random = new SplittableRandom(seed);
  }

  static SendSchedule of(LoadPlan.Open level, long seed) {
    return new SendSchedule(level.rate(), level.poisson(), seed);
  }

  /** The first send is due now. */
  void begin(long nowNs) {
    beginNs = nowNs;
    nextSeconds = 0;
    sequence = 0;
  }

  /** When the next request is to be sent. */
  long nextNs() {
    return beginNs + Math.round(nextSeconds * 1e9);
  }

  /** Goes on to the request after. */
  void advance() {
    sequence++;
    // Constant times from the count, not by adding gaps: no rounding drift over a long run.
    nextSeconds = poisson ? nextSeconds - Math.log1p(-random.nextDouble()) / rate : sequence / rate;
  }
}
