package dev.plumbline.traceanalysis;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The rank of a trace and who told it: the metadata, else the file's name, else the caller.
 *
 * @param number null when nobody tells it
 * @param from {@code metadata}, {@code file-name}, {@code caller} or {@code unknown}
 */
record RankName(Integer number, String from) {

  /**
   * {@code rank3.…}, {@code dp0_pp0_tp0_rank3.…} (vLLM), {@code …-TP-3-DECODE} (SGLang), {@code
   * worker3_…} (PyTorch's handler with a worker name).
   */
  private static final Pattern IN_FILE_NAME =
      Pattern.compile("(?i)(?:^|[^a-z])(?:rank|tp|worker)[-_]?(\\d{1,6})(?!\\d)");

  private static final Pattern RANK = Pattern.compile("(?i)rank[-_]?(\\d{1,6})(?!\\d)");

  static RankName of(Trace trace, TraceInput input) {
    String file = input.name().substring(input.name().replace('\\', '/').lastIndexOf('/') + 1);
    Integer inName = first(RANK, file);
    if (inName == null) {
      inName = first(IN_FILE_NAME, file);
    }
    Integer inMetadata = trace.metadata().rank();
    // Every replica of a world of one calls itself rank 0: then the name knows better.
    boolean alone = Integer.valueOf(1).equals(trace.metadata().worldSize());
    Integer elsewhere = inName == null ? input.rank() : inName;
    if (inMetadata != null && !(alone && elsewhere != null && !elsewhere.equals(inMetadata))) {
      return new RankName(inMetadata, "metadata");
    } else if (inName != null) {
      return new RankName(inName, "file-name");
    } else if (input.rank() != null) {
      return new RankName(input.rank(), "caller");
    }
    return new RankName(null, "unknown");
  }

  private static Integer first(Pattern pattern, String file) {
    Matcher matcher = pattern.matcher(file);
    return matcher.find() ? Integer.valueOf(matcher.group(1)) : null;
  }
}
