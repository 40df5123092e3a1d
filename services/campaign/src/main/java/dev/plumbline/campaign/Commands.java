package dev.plumbline.campaign;

import dev.plumbline.schemas.campaign.CampaignRequested;
import dev.plumbline.schemas.campaign.Plan;
import dev.plumbline.schemas.campaign.ServiceUnderTest;
import dev.plumbline.schemas.command.Command;
import dev.plumbline.schemas.command.Job;
import dev.plumbline.schemas.micro.MicroSpec;
import dev.plumbline.schemas.trace.TraceFile;
import java.util.List;

/** What to ask of a worker for one attempt of a step. */
final class Commands {

  /** What is deployed when the plan names no scripts. */
  private static final List<String> PROBE = List.of("plumbline_probe.py");

  private Commands() {}

  static Command of(Campaign campaign, Attempt attempt) {
    CampaignRequested request = campaign.request();
    Plan plan = request.plan();
    Findings found = campaign.findings();
    ServiceUnderTest service = request.service();
    Job job = job(campaign, attempt);
    return switch (attempt.step()) {
      case INSPECT -> new Command.InspectHost(job, service, plan.freesGpus(), request.allowNoGpu());
      case CHECK_SCRIPTS -> new Command.CheckScripts(job, scripts(plan));
      case LEASE -> new Command.AcquireLease(job);
      case MACRO -> new Command.RunMacroLoad(job, service.url(), service.model(), plan.macro());
      case LIVE_TRACE -> new Command.CaptureTrace(job, plan.trace(), null, null, service);
      case FREE -> new Command.FreeGpus(job, service, request.allowNoGpu());
      case DEPLOY -> new Command.DeployScripts(job, scripts(plan));
      case MICRO -> new Command.RunMicroBench(job, found.probe(), plan.micro());
      case TRACE ->
          new Command.CaptureTrace(job, plan.trace(), found.probe(), probeSpec(request), null);
      // A server that was never asked to stop is not touched: only the lease goes back.
      case RESTORE -> new Command.RestoreServer(job, found.mayBeDown() ? service : null);
      case ANALYSE ->
          new Command.AnalyseTraces(job, toAnalyse(campaign), model(request), plan.stepPattern());
      case UNKNOWN -> throw new IllegalArgumentException("no worker does an unknown step");
    };
  }

  static Command.CancelStep cancel(Campaign campaign, Attempt attempt, String reason) {
    return new Command.CancelStep(job(campaign, attempt), reason);
  }

  /**
   * The traces of one run: of the running server if it was traced, else of the probe, else those
   * given. Runs are not mixed: their steps are not the same.
   */
  static List<TraceFile> toAnalyse(Campaign campaign) {
    List<TraceFile> captured = campaign.findings().captured();
    List<TraceFile> live = captured.stream().filter(t -> "live".equals(t.origin())).toList();
    if (!live.isEmpty()) {
      return live;
    }
    List<TraceFile> given = campaign.request().plan().traces();
    return !captured.isEmpty() || given == null ? captured : given;
  }

  static String model(CampaignRequested request) {
    return request.service() == null ? null : request.service().model();
  }

  private static Job job(Campaign campaign, Attempt attempt) {
    return new Job(
        campaign.id(),
        attempt.step(),
        attempt.number(),
        campaign.request().host(),
        campaign.token(),
        attempt.deadline());
  }

  private static List<String> scripts(Plan plan) {
    return plan.scripts() == null || plan.scripts().isEmpty() ? PROBE : plan.scripts();
  }

  private static MicroSpec probeSpec(CampaignRequested request) {
    return request.plan().micro() != null
        ? request.plan().micro()
        : new MicroSpec(request.allowNoGpu() ? "cpu" : "cuda", null, null, null, null, List.of());
  }
}
