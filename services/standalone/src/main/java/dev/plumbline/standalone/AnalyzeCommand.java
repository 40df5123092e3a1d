package dev.plumbline.standalone;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.plumbline.schemas.Json;
import dev.plumbline.schemas.trace.TraceReport;
import dev.plumbline.traceanalysis.AnalysisOptions;
import dev.plumbline.traceanalysis.TraceAnalysis;
import dev.plumbline.traceanalysis.TraceFiles;
import dev.plumbline.traceanalysis.TraceHtml;
import dev.plumbline.traceanalysis.TraceText;
import dev.plumbline.traceanalysis.UnreadableTrace;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Trace analysis without a broker. */
@Command(
    name = "analyze",
    description = "Analyses profiler traces; several files are the ranks of one run.",
    mixinStandardHelpOptions = true)
final class AnalyzeCommand implements Callable<Integer> {

  enum Format {
    text,
    json,
    html
  }

  @Parameters(
      arity = "1..*",
      paramLabel = "TRACE",
      description = "Files, directories, globs, or - for standard input.")
  private List<String> traces;

  @Option(
      names = "--format",
      defaultValue = "text",
      description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
  private Format format;

  @Option(
      names = "--rules",
      paramLabel = "FILE",
      description = "Component rules that are tried before the built-in ones.")
  private Path rules;

  @Option(
      names = "--step-pattern",
      paramLabel = "REGEX",
      description = "Step annotations, tried before the known forms.")
  private String stepPattern;

  @Option(names = "--all-kernels", description = "List all kernels, not the 20 largest of a rank.")
  private boolean allKernels;

  @Override
  public Integer call() throws JsonProcessingException {
    TraceReport report = analyse();
    System.out.print(
        switch (format) {
          case text -> TraceText.render(report);
          case json ->
              Json.mapper().writerWithDefaultPrettyPrinter().writeValueAsString(report) + "\n";
          case html -> TraceHtml.render(report);
        });
    System.out.flush();
    return "conclusive".equals(report.bottleneck().verdict()) ? Main.DONE : Main.INCONCLUSIVE;
  }

  private TraceReport analyse() {
    try {
      Pattern step = stepPattern == null ? null : Pattern.compile(stepPattern);
      return TraceAnalysis.analyse(
          TraceFiles.expand(traces), new AnalysisOptions(rules, step, allKernels));
    } catch (PatternSyntaxException e) {
      throw UserError.badInput(
          "--step-pattern is not a regular expression: "
              + e.getDescription()
              + " at character "
              + (e.getIndex() + 1)
              + ".");
    } catch (UnreadableTrace | IllegalArgumentException e) {
      throw UserError.badInput(e.getMessage());
    }
  }
}
