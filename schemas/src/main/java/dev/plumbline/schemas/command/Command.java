package dev.plumbline.schemas.command;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import dev.plumbline.schemas.campaign.ServiceUnderTest;
import dev.plumbline.schemas.load.LoadSpec;
import dev.plumbline.schemas.micro.MicroSpec;
import dev.plumbline.schemas.micro.TraceSpec;
import dev.plumbline.schemas.trace.TraceFile;
import java.util.List;

/** What the coordinator asks of a worker, on the worker's command topic. */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "type")
@JsonSubTypes({
  @JsonSubTypes.Type(value = Command.InspectHost.class, name = "InspectHost"),
  @JsonSubTypes.Type(value = Command.AcquireLease.class, name = "AcquireLease"),
  @JsonSubTypes.Type(value = Command.FreeGpus.class, name = "FreeGpus"),
  @JsonSubTypes.Type(value = Command.RestoreServer.class, name = "RestoreServer"),
  @JsonSubTypes.Type(value = Command.CheckScripts.class, name = "CheckScripts"),
  @JsonSubTypes.Type(value = Command.DeployScripts.class, name = "DeployScripts"),
  @JsonSubTypes.Type(value = Command.RunMacroLoad.class, name = "RunMacroLoad"),
  @JsonSubTypes.Type(value = Command.RunMicroBench.class, name = "RunMicroBench"),
  @JsonSubTypes.Type(value = Command.CaptureTrace.class, name = "CaptureTrace"),
  @JsonSubTypes.Type(value = Command.AnalyseTraces.class, name = "AnalyseTraces"),
  @JsonSubTypes.Type(value = Command.CancelStep.class, name = "CancelStep")
})
public sealed interface Command {

  Job job();

  /**
   * Look at the host and the service; change nothing.
   *
   * @param service null when the campaign names none
   * @param frees true when the campaign will stop the service
   */
  record InspectHost(Job job, ServiceUnderTest service, boolean frees, boolean allowNoGpu)
      implements Command {}

  /** Write the fencing token on the host. */
  record AcquireLease(Job job) implements Command {}

  /** Arm the dead-man's switch, stop the service, prove the GPUs free. */
  record FreeGpus(Job job, ServiceUnderTest service, boolean allowNoGpu) implements Command {}

  /**
   * Put the service back if it is down, prove it by a completion, give the lease back.
   *
   * @param service null when the campaign names none: only the lease is given back
   */
  record RestoreServer(Job job, ServiceUnderTest service) implements Command {}

  /** Say which of the scripts do not exist; change nothing. */
  record CheckScripts(Job job, List<String> scripts) implements Command {}

  /** Upload the scripts, verified. */
  record DeployScripts(Job job, List<String> scripts) implements Command {}

  /** Put load on the server. */
  record RunMacroLoad(Job job, String url, String model, LoadSpec load) implements Command {}

  /**
   * Run the probe's operations.
   *
   * @param script absolute path of the deployed probe on the host
   */
  record RunMicroBench(Job job, String script, MicroSpec micro) implements Command {}

  /**
   * Record traces: of the running server when the step is {@code live-trace}, by the probe when it
   * is {@code trace}.
   *
   * @param script absolute path of the deployed probe; null for a live trace
   * @param service the running server; null on freed GPUs
   * @param micro device, interpreter and ranks for the probe; null for a live trace
   */
  record CaptureTrace(
      Job job, TraceSpec trace, String script, MicroSpec micro, ServiceUnderTest service)
      implements Command {}

  /**
   * Analyse the traces of one run, one file per rank.
   *
   * @param model for the key of the step samples
   * @param stepPattern null: the known annotations
   */
  record AnalyseTraces(Job job, List<TraceFile> traces, String model, String stepPattern)
      implements Command {}

  /** End the named attempt; answered by its StepFailed with code {@code cancelled}. */
  record CancelStep(Job job, String reason) implements Command {}
}
