package dev.plumbline.standalone;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.plumbline.schemas.Json;
import dev.plumbline.schemas.trace.TraceReport;
import dev.plumbline.traceanalysis.Analysed;
import dev.plumbline.traceanalysis.AnalysisOptions;
import dev.plumbline.traceanalysis.Comparing;
import dev.plumbline.traceanalysis.PerfettoTrace;
import dev.plumbline.traceanalysis.ReadProgress;
import dev.plumbline.traceanalysis.TraceAnalysis;
import dev.plumbline.traceanalysis.TraceFiles;
import dev.plumbline.traceanalysis.TraceHtml;
import dev.plumbline.traceanalysis.TraceInput;
import dev.plumbline.traceanalysis.TraceText;
import dev.plumbline.traceanalysis.UnreadableTrace;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
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

  @Option(
      names = "--against",
      paramLabel = "TRACE",
      description =
          "Compare with the traces of another run, the baseline: say it once for each of its files,"
              + " directories or globs.")
  private List<String> baseline = List.of();

  @Option(
      names = "--step",
      paramLabel = "N",
      description = "Step that --format html draws as a timeline, from 0 (default: a typical one).")
  private Integer step;

  @Option(
      names = "--perfetto",
      paramLabel = "OUT",
      description = "Also write a small trace of components and idle causes, for ui.perfetto.dev.")
  private Path perfetto;

  @Override
  public Integer call() throws JsonProcessingException {
    if (step != null && format != Format.html) {
      throw UserError.badInput("--step chooses what --format html draws: add --format html.");
    }
    Analysed analysed = analyse();
    TraceReport report = analysed.report();
    String out =
        switch (format) {
          case text -> TraceText.render(report);
          case json ->
              Json.mapper().writerWithDefaultPrettyPrinter().writeValueAsString(report) + "\n";
          case html -> html(analysed);
        };
    if (perfetto != null) {
      writePerfetto(analysed);
    }
    System.out.print(out);
    System.out.flush();
    return "conclusive".equals(report.bottleneck().verdict()) ? Main.DONE : Main.INCONCLUSIVE;
  }

  private String html(Analysed analysed) {
    try {
      return TraceHtml.render(analysed, step);
    } catch (IllegalArgumentException e) {
      throw UserError.badInput(e.getMessage());
    }
  }

  private void writePerfetto(Analysed analysed) {
    try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(perfetto))) {
      PerfettoTrace.write(analysed, out);
    } catch (IOException e) {
      throw UserError.badInput(
          "Cannot write --perfetto " + perfetto + ": name a file in a folder that can be written.");
    }
  }

  private Analysed analyse() {
    try {
      Pattern pattern = stepPattern == null ? null : Pattern.compile(stepPattern);
      // A comparison by kernel needs them all.
      boolean all = allKernels || !baseline.isEmpty();
      AnalysisOptions options = new AnalysisOptions(rules, pattern, all);
      List<TraceInput> inputs = TraceFiles.expand(traces);
      if (baseline.isEmpty()) {
        return read(inputs, options);
      }
      TraceReport before = read(TraceFiles.expand(baseline), options).report();
      Analysed analysed = read(inputs, options);
      return analysed.with(Comparing.against(analysed.report(), before, allKernels));
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

  private static Analysed read(List<TraceInput> inputs, AnalysisOptions options) {
    ReadProgress progress = ReadProgress.of(inputs);
    try (ReadingLine line = ReadingLine.start(progress)) {
      return TraceAnalysis.analysed(progress.inputs(), options);
    }
  }
}
