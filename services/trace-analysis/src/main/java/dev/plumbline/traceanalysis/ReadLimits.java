package dev.plumbline.traceanalysis;

/**
 * How much of a file is read before it is refused. The size of a file never matters for the memory:
 * what is kept of it does, and a compressed file of a few megabytes may hold any amount of text.
 *
 * @param plainBytes most bytes of JSON in one file, decompressed
 * @param ratio most bytes of JSON per compressed byte. Traces of torch.profiler have 10 to 30;
 *     deflate cannot pass 1032
 * @param keptEvents most device events, launches and annotations kept of one file, about 130 bytes
 *     of memory each while they are put in order
 */
public record ReadLimits(long plainBytes, int ratio, int keptEvents) {

  private static final long GIB = 1L << 30;

  /** 256 GiB of JSON, 200 bytes of it per compressed byte, 20 million events. */
  public static ReadLimits defaults() {
    return new ReadLimits(256 * GIB, 200, 20_000_000);
  }

  public ReadLimits {
    if (plainBytes < 1 || ratio < 1 || keptEvents < 1) {
      throw new IllegalArgumentException("Limits of reading must be 1 or more.");
    }
  }
}
