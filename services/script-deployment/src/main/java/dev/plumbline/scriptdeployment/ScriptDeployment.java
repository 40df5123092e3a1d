package dev.plumbline.scriptdeployment;

import dev.plumbline.schemas.Fault;
import dev.plumbline.schemas.command.Command;
import dev.plumbline.schemas.event.StepEvent.ScriptsChecked;
import dev.plumbline.schemas.event.StepEvent.ScriptsDeployed;
import dev.plumbline.schemas.event.StepEvent.ScriptsDeployed.Deployed;
import dev.plumbline.scriptdeployment.ScriptSource.Script;
import dev.plumbline.workerkit.HostAccess;
import dev.plumbline.workerkit.HostException;
import dev.plumbline.workerkit.HostFence;
import dev.plumbline.workerkit.Hosts;
import dev.plumbline.workerkit.StepContext;
import dev.plumbline.workerkit.StepFailure;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** Says which scripts can be deployed, and deploys them to {@code <workDir>/scripts}. */
final class ScriptDeployment {

  private final ScriptSource source;
  private final Hosts hosts;

  ScriptDeployment(ScriptSource source, Hosts hosts) {
    this.source = source;
    this.hosts = hosts;
  }

  /** Looks only here; the host is not touched. */
  ScriptsChecked check(Command.CheckScripts command, StepContext context) {
    return new ScriptsChecked(
        command.job().campaignId(),
        command.job().step(),
        command.job().attempt(),
        context.now(),
        source.faults(command.scripts()));
  }

  /** Deploys all or fails; what is there already, unchanged, is left as it is. */
  ScriptsDeployed deploy(Command.DeployScripts command, StepContext context) throws StepFailure {
    List<Script> scripts = readAll(command.scripts());
    List<Deployed> deployed = new ArrayList<>();
    try (HostAccess host = hosts.connect(command.job().host())) {
      HostFence.check(host, command.job());
      VerifiedUpload upload = new VerifiedUpload(host, host.workDir() + "/scripts");
      Preflight preflight = new Preflight(host);
      upload.prepare();
      for (Script script : scripts) {
        context.checkCancelled();
        context.progress(deployed.size(), (long) scripts.size(), script.name());
        String path = upload.put(script.name(), script.content(), command.job().directory());
        deployed.add(
            new Deployed(
                script.name(),
                path,
                script.content().length,
                VerifiedUpload.sha256(script.content()),
                preflight.check(script, path)));
      }
    } catch (HostException e) {
      throw StepFailure.of(e);
    }
    return new ScriptsDeployed(
        command.job().campaignId(),
        command.job().step(),
        command.job().attempt(),
        context.now(),
        deployed);
  }

  private List<Script> readAll(List<String> names) throws StepFailure {
    List<Fault> faults = source.faults(names);
    if (!faults.isEmpty()) {
      throw new StepFailure(
          "invalid",
          faults.stream()
              .map(fault -> fault.field() + ": " + fault.message())
              .collect(Collectors.joining("; ")),
          false);
    }
    List<Script> scripts = new ArrayList<>();
    try {
      for (String name : names) {
        scripts.add(source.read(name));
      }
    } catch (IOException e) {
      throw new StepFailure("invalid", e.getMessage(), false, e);
    }
    return scripts;
  }
}
