package dev.plumbline.schemas;

import java.util.List;
import java.util.regex.Pattern;

/** What the values of a request may be. */
final class Limits {

  /** Names files, units and keys, hence so narrow. */
  static final Pattern CAMPAIGN_ID = Pattern.compile("[a-z0-9][a-z0-9-]{0,62}");

  /** A name in the host inventory; no slash, because keys are {@code host/model}. */
  static final Pattern HOST = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,252}");

  /** The characters of unit names, systemd.unit(5); a leading hyphen would read as an option. */
  static final Pattern UNIT = Pattern.compile("[A-Za-z0-9_@][A-Za-z0-9:_.@\\\\-]{0,254}");

  static final Pattern VARIABLE = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,127}");
  static final Pattern SHA256 = Pattern.compile("[0-9a-f]{64}");

  static final List<String> END_POINTS = List.of("chat", "completions");
  static final List<String> ARRIVALS = List.of("poisson", "constant");
  static final List<String> DEVICES = List.of("cuda", "cpu");
  static final List<String> ORIGINS = List.of("live", "freed", "given");
  static final List<String> OPERATIONS =
      List.of("gemm", "quantized_gemm", "moe", "attention", "all_reduce", "copy", "launch");

  static final long CONCURRENCY = 100_000;
  static final double RATE = 100_000;
  static final long LEVELS = 100;
  static final long REQUESTS = 10_000_000;
  static final long TOKENS = 10_000_000;
  static final long GPUS = 1_024;
  static final long REPEATS = 1_000_000;
  static final long OPERATIONS_AT_MOST = 1_000;
  static final long TRACE_STEPS = 10_000;
  static final long TRACES = 4_096;
  static final long SCRIPTS = 100;
  static final long LABELS = 64;
  static final long TEXT = 1_000;

  /** Thirty days: longer is a slip of the unit. */
  static final double SECONDS = 2_592_000;

  private Limits() {}
}
