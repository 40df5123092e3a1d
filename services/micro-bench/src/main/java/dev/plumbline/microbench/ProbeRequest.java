package dev.plumbline.microbench;

import dev.plumbline.schemas.micro.MicroOperation;
import java.util.List;

/**
 * What the probe is asked, as the JSON file that it reads.
 *
 * @param gpus ranks for what needs several; null: all GPUs
 * @param timeLimitSeconds after it the probe answers what is left as unavailable
 * @param measure false: the operations only shape the traced step
 * @param decode null: no trace
 */
record ProbeRequest(
    String device,
    Integer gpus,
    int repeats,
    double timeLimitSeconds,
    List<MicroOperation> operations,
    boolean measure,
    Decode decode) {

  /**
   * @param traceDir absolute path on the host; one trace a rank is written there
   */
  record Decode(int batch, int steps, String traceDir) {}
}
