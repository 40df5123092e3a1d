package dev.plumbline.schemas.campaign;

import dev.plumbline.schemas.load.LoadSpec;
import dev.plumbline.schemas.micro.MicroSpec;
import dev.plumbline.schemas.micro.TraceSpec;
import dev.plumbline.schemas.trace.TraceFile;
import java.util.List;

/**
 * Which steps a campaign takes; the order is fixed. A part that is null is left out. {@code micro}
 * or a trace on the freed GPUs means that the server is stopped and put back.
 *
 * @param scripts scripts to deploy; null: the probe of micro-bench
 * @param traces traces that exist already, for analysis
 * @param stepPattern regular expression of step annotations, before the known ones
 */
public record Plan(
    LoadSpec macro,
    MicroSpec micro,
    TraceSpec trace,
    List<String> scripts,
    List<TraceFile> traces,
    String stepPattern) {

  /** True when the server must be stopped. */
  public boolean freesGpus() {
    return micro != null || (trace != null && trace.freed());
  }
}
