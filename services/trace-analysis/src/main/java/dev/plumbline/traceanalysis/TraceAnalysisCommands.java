package dev.plumbline.traceanalysis;

import dev.plumbline.schemas.command.Command;
import dev.plumbline.workerkit.Hosts;
import dev.plumbline.workerkit.StepRunner;
import jakarta.enterprise.context.ApplicationScoped;
import java.nio.file.Path;
import java.util.concurrent.CompletionStage;
import org.eclipse.microprofile.config.inject.ConfigProperty;
import org.eclipse.microprofile.reactive.messaging.Incoming;

/** Takes the commands of this worker. */
@ApplicationScoped
class TraceAnalysisCommands {

  private final StepRunner runner;
  private final AnalyseWork work;

  TraceAnalysisCommands(
      StepRunner runner,
      Hosts hosts,
      SampleSink samples,
      TraceAnalysisConfig config,
      @ConfigProperty(name = "plumbline.data-dir", defaultValue = "~/.plumbline") String dataDir) {
    this.runner = runner;
    Path reports =
        config
            .reportDirectory()
            .map(TraceAnalysisCommands::path)
            .orElseGet(() -> path(dataDir).resolve("analyses"));
    Path rules = config.rulesFile().map(TraceAnalysisCommands::path).orElse(null);
    this.work = new AnalyseWork(hosts, samples, new ReportStore(reports), rules);
  }

  private static Path path(String text) {
    return text.startsWith("~/")
        ? Path.of(System.getProperty("user.home"), text.substring(2))
        : Path.of(text);
  }

  @Incoming("trace-analysis-commands")
  CompletionStage<Void> on(Command command) {
    return switch (command) {
      case Command.AnalyseTraces analyse ->
          runner.accept(analyse, context -> work.run(analyse, context));
      case Command.CancelStep cancel -> runner.accept(cancel, null);
      case Command.InspectHost c -> runner.refuse(c);
      case Command.AcquireLease c -> runner.refuse(c);
      case Command.FreeGpus c -> runner.refuse(c);
      case Command.RestoreServer c -> runner.refuse(c);
      case Command.CheckScripts c -> runner.refuse(c);
      case Command.DeployScripts c -> runner.refuse(c);
      case Command.RunMacroLoad c -> runner.refuse(c);
      case Command.RunMicroBench c -> runner.refuse(c);
      case Command.CaptureTrace c -> runner.refuse(c);
    };
  }
}
