package dev.plumbline.traceanalysis;

import dev.plumbline.schemas.trace.TraceReport.Speedup;
import dev.plumbline.schemas.trace.TraceReport.WhatIf;
import java.util.List;
import java.util.stream.DoubleStream;

/** What a faster part would bring (definitions, section 3), from exposed time. */
public final class Gains {

  private static final double[] FACTORS = {1.25, 1.5, 2, 4};
  private static final double LEAST_SHARE = 0.01;
  private static final int MOST = 6;

  private Gains() {}

  /** Speed-up of a step of which a share becomes faster by a factor: 1 / (1 − f + f/k). */
  public static double stepSpeedup(double share, double factor) {
    return 1 / (1 - share + share / factor);
  }

  /**
   * How tokens per second grow with speculative decoding: a / c.
   *
   * @param acceptedTokens mean tokens per verification step, at least 1
   * @param verificationCost verification step ÷ plain step, at least 1
   */
  public static double speculative(double acceptedTokens, double verificationCost) {
    return acceptedTokens / verificationCost;
  }

  static List<WhatIf> of(List<Verdict.Share> shares) {
    boolean hostBound = !shares.isEmpty() && shares.getFirst().name().equals("idle:host_bound");
    return shares.stream()
        .filter(share -> share.share() >= LEAST_SHARE)
        .limit(MOST)
        .map(share -> whatIf(share, hostBound))
        .toList();
  }

  private static WhatIf whatIf(Verdict.Share share, boolean hostBound) {
    List<Speedup> speedups =
        DoubleStream.of(FACTORS)
            .mapToObj(factor -> new Speedup(factor, stepSpeedup(share.share(), factor)))
            .toList();
    String note = null;
    if (hostBound && !share.deviceClass().equals("idle")) {
      note =
          "The steps are bound by the host: the device would only wait longer, so this gains"
              + " nothing until launches come sooner.";
    } else if (share.deviceClass().equals("communication")) {
      note = "This time holds waiting for other ranks, which a faster transfer does not remove.";
    }
    // A trace without idle time in which one component does everything has no finite bound.
    double upperBound = share.share() >= 1 ? Double.MAX_VALUE : 1 / (1 - share.share());
    return new WhatIf(share.name(), share.share(), speedups, upperBound, note);
  }
}
