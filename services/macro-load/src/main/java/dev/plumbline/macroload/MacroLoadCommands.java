package dev.plumbline.macroload;

import dev.plumbline.schemas.Fault;
import dev.plumbline.schemas.command.Command;
import dev.plumbline.schemas.command.Job;
import dev.plumbline.schemas.event.StepEvent;
import dev.plumbline.schemas.load.LoadReport;
import dev.plumbline.schemas.load.LoadSpec;
import dev.plumbline.workerkit.StepContext;
import dev.plumbline.workerkit.StepFailure;
import dev.plumbline.workerkit.StepRunner;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;
import org.eclipse.microprofile.reactive.messaging.Incoming;

/** Takes the commands of the macro step; the only class here that knows of messaging. */
@ApplicationScoped
public class MacroLoadCommands {

  private static final LoadSpec DEFAULTS =
      new LoadSpec(null, null, null, null, null, null, null, null, null);

  private final StepRunner runner;
  private final Map<String, String> environment;

  @Inject
  public MacroLoadCommands(StepRunner runner) {
    this(runner, System.getenv());
  }

  MacroLoadCommands(StepRunner runner, Map<String, String> environment) {
    this.runner = runner;
    this.environment = environment;
  }

  /** Completes when the command may be acknowledged. */
  @Incoming("macro-load-commands")
  public CompletionStage<Void> on(Command command) {
    return switch (command) {
      case Command.RunMacroLoad run -> runner.accept(run, context -> measure(run, context));
      case Command.CancelStep cancel -> runner.accept(cancel, null);
      // All other commands have topics of their own: there is nothing to decide per kind.
      default -> runner.refuse(command);
    };
  }

  private StepEvent measure(Command.RunMacroLoad run, StepContext context)
      throws StepFailure, InterruptedException {
    LoadSpec spec = run.load() == null ? DEFAULTS : run.load();
    LoadTarget target = target(run, spec);
    refuse(LoadRun.faults(target, spec), "invalid", false);
    preflight(target);
    LoadReport report = LoadRun.run(target, spec, told -> tell(context, told), context::cancelled);
    context.checkCancelled();
    if (Thread.interrupted()) {
      throw new InterruptedException("the load was interrupted");
    }
    if (report.levels().stream().allMatch(level -> level.completed() == 0)) {
      throw new StepFailure("failed", nothingSucceeded(target, report), true);
    }
    Job job = run.job();
    return new StepEvent.MacroLoadMeasured(
        job.campaignId(), job.step(), job.attempt(), context.now(), report);
  }

  private LoadTarget target(Command.RunMacroLoad run, LoadSpec spec) throws StepFailure {
    try {
      return LoadTarget.of(run.url(), run.model(), spec.apiKeyEnv(), environment);
    } catch (IllegalArgumentException e) {
      throw new StepFailure("invalid", e.getMessage(), false, e);
    }
  }

  /** An unreachable server may come up again; a model that is not served will not appear. */
  private static void preflight(LoadTarget target) throws StepFailure, InterruptedException {
    List<Fault> faults = Preflight.probe(target);
    boolean unreachable = faults.stream().allMatch(fault -> fault.field().equals("url"));
    refuse(faults, unreachable ? "unreachable" : "invalid", unreachable);
  }

  private static void refuse(List<Fault> faults, String code, boolean retryable)
      throws StepFailure {
    if (!faults.isEmpty()) {
      throw new StepFailure(
          code,
          faults.stream()
              .map(fault -> fault.field() + ": " + fault.message())
              .collect(Collectors.joining("; ")),
          retryable);
    }
  }

  private static void tell(StepContext context, ProgressListener.Progress told) {
    context.progress(
        told.ended(),
        told.total(),
        String.format(
            Locale.ROOT,
            "level %d of %d, %s%s: %.0f tokens/s, %d failed",
            told.level(),
            told.levels(),
            told.load(),
            told.warmingUp() ? ", warming up" : "",
            told.outputThroughput(),
            told.failed()));
  }

  private static String nothingSucceeded(LoadTarget target, LoadReport report) {
    Map<String, Long> failed = new TreeMap<>();
    Map<String, String> examples = new TreeMap<>();
    for (LoadReport.Level level : report.levels()) {
      level.failed().forEach((kind, count) -> failed.merge(kind, count, Long::sum));
      level.failureExamples().forEach(examples::putIfAbsent);
    }
    return "no request to "
        + target.url()
        + " succeeded: "
        + failed.entrySet().stream()
            .map(
                kind ->
                    kind.getValue()
                        + " × "
                        + kind.getKey()
                        + " ("
                        + examples.get(kind.getKey())
                        + ")")
            .collect(Collectors.joining(", "));
  }
}
