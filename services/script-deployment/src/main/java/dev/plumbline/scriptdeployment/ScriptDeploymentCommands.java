package dev.plumbline.scriptdeployment;

import dev.plumbline.schemas.command.Command;
import dev.plumbline.workerkit.Hosts;
import dev.plumbline.workerkit.StepRunner;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.util.concurrent.CompletionStage;
import org.eclipse.microprofile.reactive.messaging.Incoming;

/**
 * Takes the commands of the check and deploy steps; the only class here that knows of messaging.
 */
@ApplicationScoped
public class ScriptDeploymentCommands {

  private final StepRunner runner;
  private final ScriptDeployment deployment;

  @Inject
  public ScriptDeploymentCommands(StepRunner runner, Hosts hosts, ScriptDeploymentConfig config) {
    this.runner = runner;
    this.deployment = new ScriptDeployment(new ScriptSource(config.directory()), hosts);
  }

  /** Completes when the command may be acknowledged. */
  @Incoming("script-deployment-commands")
  public CompletionStage<Void> on(Command command) {
    return switch (command) {
      case Command.CheckScripts check ->
          runner.accept(check, context -> deployment.check(check, context));
      case Command.DeployScripts deploy ->
          runner.accept(deploy, context -> deployment.deploy(deploy, context));
      case Command.CancelStep cancel -> runner.accept(cancel, null);
      // All other commands have topics of their own: there is nothing to decide per kind.
      default -> runner.refuse(command);
    };
  }
}
