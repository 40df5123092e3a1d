package dev.plumbline.schemas.micro;

import dev.plumbline.schemas.host.GpuState;
import java.util.List;
import java.util.Map;

/**
 * What the probe measured (definitions, section 6).
 *
 * @param probe versions and capabilities as the probe's {@code hello} gave them
 * @param partial true when the probe was cut short
 */
public record MicroReport(
    Map<String, String> probe,
    List<Result> results,
    List<GpuState> gpusBefore,
    List<GpuState> gpusAfter,
    boolean partial) {

  /**
   * One operation at one size. Times are microseconds, as the definitions say; null when
   * unavailable.
   *
   * @param kernel name of the kernel used, null when unknown
   * @param unavailable why the operation was not run, else null
   * @param valid false with {@code reasons} when the number must not be used
   */
  public record Result(
      String name,
      String operation,
      Map<String, Long> shape,
      String dtype,
      String kernel,
      Integer countPerStep,
      String component,
      Integer repeats,
      Integer warmup,
      Double medianUs,
      Double minUs,
      Double maxUs,
      Double p95Us,
      Double gbPerS,
      Double tflopPerS,
      Double busGbPerS,
      String unavailable,
      boolean valid,
      List<String> reasons) {}
}
