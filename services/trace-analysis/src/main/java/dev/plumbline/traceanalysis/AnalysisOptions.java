package dev.plumbline.traceanalysis;

import java.nio.file.Path;
import java.util.regex.Pattern;

/**
 * What the caller may choose.
 *
 * @param userRules component rules read before the built-in ones; null for none
 * @param stepPattern an annotation whose name contains a match is a step; null for the known forms
 * @param allKernels report every kernel, not only the largest
 * @param limits past which a file is refused
 */
public record AnalysisOptions(
    Path userRules, Pattern stepPattern, boolean allKernels, ReadLimits limits) {

  public AnalysisOptions(Path userRules, Pattern stepPattern, boolean allKernels) {
    this(userRules, stepPattern, allKernels, ReadLimits.defaults());
  }

  public static AnalysisOptions defaults() {
    return new AnalysisOptions(null, null, false);
  }
}
