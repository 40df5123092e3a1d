package dev.plumbline.microbench;

import dev.plumbline.schemas.trace.TraceFile;
import dev.plumbline.workerkit.StepFailure;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What file names say of traces, and how much of them is accepted. */
final class TraceFiles {

  static final long DEFAULT_LIMIT_BYTES = 2L << 30;

  private static final Pattern TRACE = Pattern.compile(".*\\.json(\\.gz)?");

  /**
   * Names in use: {@code dp0_pp0_tp1_rank1.17….pt.trace.json.gz} and {@code rank1.….} (vLLM),
   * {@code …-TP-1.trace.json.gz} (SGLang), {@code rank-1.….}, {@code worker1_….}.
   */
  private static final List<Pattern> RANKS =
      List.of(
          Pattern.compile("(?i)(?:^|[^a-z])rank[-_.]?(\\d{1,6})(?!\\d)"),
          Pattern.compile("(?i)(?:^|[^a-z])tp[-_.]?(\\d{1,6})(?!\\d)"),
          Pattern.compile("(?i)(?:^|[^a-z])worker[-_.]?(\\d{1,6})(?!\\d)"));

  private TraceFiles() {}

  /** The API server of vLLM writes a trace of itself, which is no rank's. */
  static boolean isTrace(String name) {
    return TRACE.matcher(name).matches() && !name.contains("async_llm");
  }

  /** Null when the name does not tell. */
  static Integer rank(String name) {
    for (Pattern pattern : RANKS) {
      Matcher matcher = pattern.matcher(name);
      if (matcher.find()) {
        return Integer.valueOf(matcher.group(1));
      }
    }
    return null;
  }

  /**
   * The traces by rank.
   *
   * @throws StepFailure when there is none, or all together are larger than the limit
   */
  static List<TraceFile> accepted(List<TraceFile> traces, Long limitBytes) throws StepFailure {
    if (traces.isEmpty()) {
      throw new StepFailure("failed", "no trace was written", false);
    }
    long limit = limitBytes == null ? DEFAULT_LIMIT_BYTES : limitBytes;
    long bytes = traces.stream().mapToLong(TraceFile::bytes).sum();
    if (bytes > limit) {
      throw new StepFailure(
          "refused",
          "the traces have %d bytes, more than the limit of %d: record fewer steps, or raise"
                  .formatted(bytes, limit)
              + " plan.trace.limitBytes; the first is "
              + traces.getFirst().path(),
          false);
    }
    return traces.stream()
        .sorted(
            Comparator.comparing(
                    TraceFile::rank, Comparator.nullsLast(Comparator.<Integer>naturalOrder()))
                .thenComparing(TraceFile::path))
        .toList();
  }
}
