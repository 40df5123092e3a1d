package dev.plumbline.macroload;

import dev.plumbline.schemas.Fault;
import dev.plumbline.schemas.load.LoadSpec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * A load spec with its defaults filled in: what each level does. The defaults are part of the
 * command line's documentation.
 *
 * @param inputTokens wanted prompt length, default 128
 * @param outputTokens wanted output length, default 128
 * @param chat chat completions (default), else text completions
 * @param requestLimit time limit of one request, default 120 s
 * @param idleLimit longest silence after the first content event: 30 s, or the request limit
 * @param drainLimit longest wait for requests in flight after the window of a timed level or after
 *     the last send of an open loop: 60 s, or the request limit
 */
record LoadPlan(
    List<Level> levels,
    int inputTokens,
    int outputTokens,
    boolean chat,
    Duration requestLimit,
    Duration idleLimit,
    Duration drainLimit) {

  static final List<Integer> DEFAULT_CONCURRENCY = List.of(1, 2, 4, 8, 16, 32);
  static final int DEFAULT_TOKENS = 128;
  static final Duration DEFAULT_REQUEST_LIMIT = Duration.ofSeconds(120);

  private static final int MAX_CONCURRENCY = 100_000;
  private static final int MAX_TOKENS = 10_000_000;

  /** One level: a load model and where it ends. */
  sealed interface Level {
    /** Requests before the window. */
    int warmup();

    /** Requests of the window; null when the length is given in seconds only. */
    Long requests();

    /** Length of the window; null when it is given in requests only. */
    Duration duration();

    /** In words, such as {@code concurrency 8}. */
    String words();
  }

  /**
   * c users, each of whom sends the next request when the last one ended.
   *
   * @param requests by default the larger of 8 and twice the concurrency; at least one per user, as
   *     with fewer the level would never hold its concurrency
   * @param warmup by default the smaller of 4 and the concurrency
   */
  record Closed(int concurrency, Long requests, Duration duration, int warmup) implements Level {
    @Override
    public String words() {
      return "concurrency " + concurrency;
    }
  }

  /**
   * Send times fixed in advance.
   *
   * @param requests by default what 10 s hold, at least 20
   * @param poisson exponential gaps (default), else constant ones
   */
  record Open(double rate, Long requests, Duration duration, int warmup, boolean poisson)
      implements Level {
    @Override
    public String words() {
      return "rate " + rate + "/s";
    }
  }

  /** Fills in the defaults of a spec that has no faults. */
  static LoadPlan of(LoadSpec spec) {
    Duration requestLimit =
        spec.requestTimeoutSeconds() == null
            ? DEFAULT_REQUEST_LIMIT
            : seconds(spec.requestTimeoutSeconds());
    return new LoadPlan(
        levels(spec),
        spec.inputTokens() == null ? DEFAULT_TOKENS : spec.inputTokens(),
        spec.outputTokens() == null ? DEFAULT_TOKENS : spec.outputTokens(),
        !"completions".equals(spec.endPoint()),
        requestLimit,
        smaller(requestLimit, Duration.ofSeconds(30)),
        smaller(requestLimit, Duration.ofSeconds(60)));
  }

  private static List<Level> levels(LoadSpec spec) {
    Duration duration = spec.durationSeconds() == null ? null : seconds(spec.durationSeconds());
    boolean onlyOpen = spec.concurrency() == null && notEmpty(spec.rate());
    List<Level> levels = new ArrayList<>();
    for (int c :
        notEmpty(spec.concurrency())
            ? spec.concurrency()
            : onlyOpen ? List.<Integer>of() : DEFAULT_CONCURRENCY) {
      Long requests =
          spec.requests() != null
              ? Long.valueOf(Math.max(spec.requests(), c))
              : duration == null ? Long.valueOf(Math.max(2L * c, 8)) : null;
      int warmup = spec.warmup() != null ? spec.warmup() : Math.min(c, 4);
      levels.add(new Closed(c, requests, duration, warmup));
    }
    for (double rate : notEmpty(spec.rate()) ? spec.rate() : List.<Double>of()) {
      Long requests =
          spec.requests() != null
              ? Long.valueOf(spec.requests())
              : duration == null ? Long.valueOf(Math.max(20, (long) Math.ceil(10 * rate))) : null;
      int warmup = spec.warmup() != null ? spec.warmup() : 4;
      levels.add(new Open(rate, requests, duration, warmup, !"constant".equals(spec.arrivals())));
    }
    return List.copyOf(levels);
  }

  /** Everything that is wrong with the spec, by field; empty when it can be run. */
  static List<Fault> faults(LoadSpec spec) {
    List<Fault> faults = new ArrayList<>();
    if (spec.concurrency() != null) {
      for (int i = 0; i < spec.concurrency().size(); i++) {
        range(faults, "concurrency[" + i + "]", spec.concurrency().get(i), 1, MAX_CONCURRENCY);
      }
      if (spec.concurrency().isEmpty() && !notEmpty(spec.rate())) {
        faults.add(new Fault("concurrency", "is empty; give at least one level, such as 1"));
      }
    }
    if (spec.rate() != null) {
      for (int i = 0; i < spec.rate().size(); i++) {
        positive(faults, "rate[" + i + "]", spec.rate().get(i), MAX_CONCURRENCY);
      }
    }
    optionalRange(faults, "requests", spec.requests(), 1, Integer.MAX_VALUE);
    optionalRange(faults, "warmup", spec.warmup(), 0, Integer.MAX_VALUE);
    optionalRange(faults, "inputTokens", spec.inputTokens(), 1, MAX_TOKENS);
    optionalRange(faults, "outputTokens", spec.outputTokens(), 1, MAX_TOKENS);
    if (spec.durationSeconds() != null) {
      positive(faults, "durationSeconds", spec.durationSeconds(), 7 * 86_400);
    }
    if (spec.requestTimeoutSeconds() != null) {
      positive(faults, "requestTimeoutSeconds", spec.requestTimeoutSeconds(), 7 * 86_400);
    }
    oneOf(faults, "endPoint", spec.endPoint(), Set.of("chat", "completions"));
    oneOf(faults, "arrivals", spec.arrivals(), Set.of("poisson", "constant"));
    return faults;
  }

  private static void optionalRange(
      List<Fault> faults, String field, Integer value, int least, int most) {
    if (value != null) {
      range(faults, field, value, least, most);
    }
  }

  private static void range(List<Fault> faults, String field, Integer value, int least, int most) {
    if (value == null || value < least || value > most) {
      faults.add(
          new Fault(field, "is " + value + "; give a whole number from " + least + " to " + most));
    }
  }

  private static void positive(List<Fault> faults, String field, Double value, int most) {
    if (value == null || !(value > 0) || value > most) {
      faults.add(new Fault(field, "is " + value + "; give a number above 0 and up to " + most));
    }
  }

  private static void oneOf(List<Fault> faults, String field, String value, Set<String> known) {
    if (value != null && !known.contains(value)) {
      faults.add(
          new Fault(field, "is " + value + "; known are " + known.stream().sorted().toList()));
    }
  }

  private static boolean notEmpty(List<?> list) {
    return list != null && !list.isEmpty();
  }

  private static Duration seconds(double seconds) {
    return Duration.ofNanos(Math.round(seconds * 1e9));
  }

  private static Duration smaller(Duration a, Duration b) {
    return a.compareTo(b) <= 0 ? a : b;
  }
}
