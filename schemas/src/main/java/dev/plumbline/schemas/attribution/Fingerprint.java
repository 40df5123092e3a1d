package dev.plumbline.schemas.attribution;

import dev.plumbline.schemas.trace.StepKind;
import java.util.Locale;

/**
 * What makes two steps comparable.
 *
 * @param batchBucket smallest power of two that is at least the batch; 0 when unknown
 * @param tensorParallel ranks of the run
 */
public record Fingerprint(StepKind kind, int batchBucket, int tensorParallel) {

  /** In keys, such as {@code decode-b8-tp8}. */
  public String id() {
    return kind.name().toLowerCase(Locale.ROOT) + "-b" + batchBucket + "-tp" + tensorParallel;
  }

  public static Fingerprint of(StepKind kind, Integer batch, int tensorParallel) {
    int bucket = batch == null || batch <= 0 ? 0 : Integer.highestOneBit(batch * 2 - 1);
    return new Fingerprint(kind, bucket, tensorParallel);
  }
}
