package dev.plumbline.microbench;

import dev.plumbline.schemas.command.Command;
import dev.plumbline.workerkit.HostWork;
import dev.plumbline.workerkit.Hosts;
import dev.plumbline.workerkit.StepRunner;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.time.Clock;
import java.util.concurrent.CompletionStage;
import org.eclipse.microprofile.reactive.messaging.Incoming;

/** Takes this worker's commands from Kafka. */
@ApplicationScoped
public class MicroBenchCommands {

  private final StepRunner runner;
  private final Hosts hosts;
  private final MicroBench microBench;
  private final TraceCapture capture;

  @Inject
  MicroBenchCommands(StepRunner runner, Hosts hosts, Clock clock, MicroBenchConfig config) {
    this.runner = runner;
    this.hosts = hosts;
    this.microBench = new MicroBench(config.toolTimeout(), clock);
    this.capture = new TraceCapture(new LiveProfile(config.connectTimeout(), clock), clock);
  }

  @Incoming("micro-bench-commands")
  CompletionStage<Void> on(Command command) {
    return switch (command) {
      case Command.RunMicroBench c ->
          runner.accept(
              c, context -> HostWork.run(hosts, c.job(), host -> microBench.run(host, c, context)));
      case Command.CaptureTrace c ->
          runner.accept(
              c, context -> HostWork.run(hosts, c.job(), host -> capture.run(host, c, context)));
      case Command.CancelStep c -> runner.accept(c, null);
      case Command.InspectHost c -> runner.refuse(c);
      case Command.AcquireLease c -> runner.refuse(c);
      case Command.FreeGpus c -> runner.refuse(c);
      case Command.RestoreServer c -> runner.refuse(c);
      case Command.CheckScripts c -> runner.refuse(c);
      case Command.DeployScripts c -> runner.refuse(c);
      case Command.RunMacroLoad c -> runner.refuse(c);
      case Command.AnalyseTraces c -> runner.refuse(c);
    };
  }
}
