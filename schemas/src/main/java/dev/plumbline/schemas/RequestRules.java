package dev.plumbline.schemas;

import dev.plumbline.schemas.campaign.CampaignCancelRequested;
import dev.plumbline.schemas.campaign.CampaignRequest;
import dev.plumbline.schemas.campaign.CampaignRequested;
import dev.plumbline.schemas.campaign.Deadlines;
import dev.plumbline.schemas.campaign.Plan;
import dev.plumbline.schemas.campaign.ServiceUnderTest;
import dev.plumbline.schemas.campaign.ServiceUnderTest.Strategy;
import dev.plumbline.schemas.load.LoadSpec;
import dev.plumbline.schemas.micro.MicroOperation;
import dev.plumbline.schemas.micro.MicroSpec;
import dev.plumbline.schemas.micro.TraceSpec;
import dev.plumbline.schemas.trace.Component;
import dev.plumbline.schemas.trace.TraceFile;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/** What a request must hold beyond the right types: required fields, ranges, and what fits what. */
final class RequestRules {

  private final Faults faults;
  private final Checks checks;

  RequestRules(Faults faults) {
    this.faults = faults;
    this.checks = new Checks(faults);
  }

  /**
   * @param request the part of the request that has the right types
   */
  void check(CampaignRequest request) {
    checks.required("campaignId", request.campaignId(), "choose a new id for the campaign");
    checks.form(
        "campaignId",
        request.campaignId(),
        Limits.CAMPAIGN_ID,
        "1 to 63 lower-case letters, digits and hyphens that begin with a letter or digit");
    switch (request) {
      case CampaignRequested campaign -> campaign(campaign);
      case CampaignCancelRequested cancel -> {
        checks.text("reason", cancel.reason());
        checks.text("requestedBy", cancel.requestedBy());
      }
    }
  }

  private void campaign(CampaignRequested request) {
    checks.required("host", request.host(), "name a host of the inventory");
    checks.form("host", request.host(), Limits.HOST, "a name of letters, digits, '.', '_' and '-'");
    checks.required("plan", request.plan(), "say which steps to take");
    checks.text("requestedBy", request.requestedBy());
    Plan plan =
        request.plan() == null ? new Plan(null, null, null, null, null, null) : request.plan();
    if (request.service() != null) {
      service(request.service(), plan);
    }
    plan(plan, request);
    deadlines(request.deadlines());
    labels(request.labels());
  }

  private void service(ServiceUnderTest service, Plan plan) {
    checks.required("service.strategy", service.strategy(), "choose systemd, process or none");
    checks.required("service.url", service.url(), "give the base URL of the server's API");
    checks.url("service.url", service.url());
    checks.required("service.model", service.model(), "name the served model");
    checks.text("service.model", service.model());
    checks.form("service.unit", service.unit(), Limits.UNIT, "the name of a systemd unit");
    checks.absolute("service.pidFile", service.pidFile());
    checks.texts("service.start", service.start(), Limits.SCRIPTS);
    checks.seconds("service.readyTimeoutSeconds", service.readyTimeoutSeconds());
    if (service.strategy() == Strategy.SYSTEMD) {
      checks.required("service.unit", service.unit(), "strategy systemd needs the unit to stop");
    }
    if (service.strategy() == Strategy.PROCESS) {
      checks.required(
          "service.pidFile", service.pidFile(), "strategy process needs the server's pid file");
      checks.required(
          "service.start", service.start(), "strategy process needs the command that starts it");
    }
    if (service.strategy() == Strategy.NONE && plan.freesGpus()) {
      faults.add(
          "service.strategy",
          "none means never stopped, but the plan needs free GPUs: choose systemd or process, or"
              + " leave out plan.micro and plan.trace.freed");
    }
  }

  private void plan(Plan plan, CampaignRequested request) {
    macro(plan.macro());
    micro(plan.micro());
    trace(plan.trace());
    checks.texts("plan.scripts", plan.scripts(), Limits.SCRIPTS);
    traces(plan.traces());
    checks.regex("plan.stepPattern", plan.stepPattern());
    boolean live = plan.trace() != null && plan.trace().live();
    if (request.service() == null && (plan.macro() != null || live)) {
      faults.missing(
          "service",
          (plan.macro() != null ? "plan.macro" : "plan.trace.live") + " needs a running server");
    }
    boolean asked =
        Stream.of(plan.macro(), plan.micro(), plan.trace(), plan.traces()).anyMatch(p -> p != null);
    boolean unclear =
        Stream.of("plan", "plan.macro", "plan.micro", "plan.trace", "plan.traces")
            .anyMatch(faults::at);
    if (!asked && !unclear) {
      faults.add("plan", "asks for nothing: give macro, micro, trace or traces");
    }
  }

  private void macro(LoadSpec macro) {
    if (macro == null) {
      return;
    }
    String at = "plan.macro.";
    checks.size(at + "concurrency", macro.concurrency(), Limits.LEVELS);
    for (int i = 0; macro.concurrency() != null && i < macro.concurrency().size(); i++) {
      checks.range(
          at + "concurrency[" + i + "]", macro.concurrency().get(i), 1, Limits.CONCURRENCY);
    }
    checks.size(at + "rate", macro.rate(), Limits.LEVELS);
    for (int i = 0; macro.rate() != null && i < macro.rate().size(); i++) {
      checks.rate(at + "rate[" + i + "]", macro.rate().get(i));
    }
    checks.oneOf(at + "arrivals", macro.arrivals(), Limits.ARRIVALS);
    checks.range(at + "requests", macro.requests(), 1, Limits.REQUESTS);
    checks.seconds(at + "durationSeconds", macro.durationSeconds());
    if (macro.requests() != null && macro.durationSeconds() != null) {
      faults.add(at + "durationSeconds", "is used instead of requests; give one of the two");
    }
    checks.range(at + "warmup", macro.warmup(), 0, Limits.REQUESTS);
    checks.range(at + "inputTokens", macro.inputTokens(), 1, Limits.TOKENS);
    checks.range(at + "outputTokens", macro.outputTokens(), 1, Limits.TOKENS);
    checks.oneOf(at + "endPoint", macro.endPoint(), Limits.END_POINTS);
    checks.seconds(at + "requestTimeoutSeconds", macro.requestTimeoutSeconds());
    if (macro.apiKeyEnv() != null && !Limits.VARIABLE.matcher(macro.apiKeyEnv()).matches()) {
      // The value is not repeated: it may be the key itself.
      faults.add(at + "apiKeyEnv", "must be the name of an environment variable, not a key");
    }
  }

  private void micro(MicroSpec micro) {
    if (micro == null) {
      return;
    }
    String at = "plan.micro.";
    checks.required(at + "device", micro.device(), "choose cuda or cpu");
    checks.oneOf(at + "device", micro.device(), Limits.DEVICES);
    checks.range(at + "gpus", micro.gpus(), 1, Limits.GPUS);
    checks.absolute(at + "python", micro.python());
    checks.range(at + "repeats", micro.repeats(), 1, Limits.REPEATS);
    checks.seconds(at + "timeLimitSeconds", micro.timeLimitSeconds());
    checks.required(at + "operations", micro.operations(), "say what to measure");
    checks.size(at + "operations", micro.operations(), Limits.OPERATIONS_AT_MOST);
    Set<String> names = new HashSet<>();
    for (int i = 0; micro.operations() != null && i < micro.operations().size(); i++) {
      if (micro.operations().get(i) != null) {
        operation(at + "operations[" + i + "].", micro.operations().get(i), names);
      }
    }
  }

  private void operation(String at, MicroOperation operation, Set<String> names) {
    checks.required(at + "name", operation.name(), "name the operation");
    checks.text(at + "name", operation.name());
    if (operation.name() != null && !names.add(operation.name())) {
      faults.add(
          at + "name",
          "\"" + Faults.shortened(operation.name()) + "\" is used twice; names differ");
    }
    checks.required(
        at + "operation", operation.operation(), "one of " + String.join(", ", Limits.OPERATIONS));
    checks.oneOf(at + "operation", operation.operation(), Limits.OPERATIONS);
    if (operation.shape() != null) {
      operation
          .shape()
          .forEach((side, n) -> checks.range(at + "shape." + side, n, 1, Long.MAX_VALUE));
    }
    checks.text(at + "dtype", operation.dtype());
    checks.range(at + "countPerStep", operation.countPerStep(), 1, Limits.REPEATS);
    checks.oneOf(
        at + "component",
        operation.component(),
        Arrays.stream(Component.values()).map(Component::id).toList());
  }

  private void trace(TraceSpec trace) {
    if (trace == null) {
      return;
    }
    String at = "plan.trace.";
    if (!trace.live() && !trace.freed() && !faults.at(at + "live") && !faults.at(at + "freed")) {
      faults.add("plan.trace", "must set live, freed or both to true");
    }
    checks.range(at + "batch", trace.batch(), 1, Limits.CONCURRENCY);
    checks.range(at + "steps", trace.steps(), 1, Limits.TRACE_STEPS);
    checks.range(at + "limitBytes", trace.limitBytes(), 1, Long.MAX_VALUE);
    checks.absolute(at + "profileDir", trace.profileDir());
    if (trace.live()) {
      checks.required(
          at + "profileDir",
          trace.profileDir(),
          "a live trace needs the folder into which the server writes its traces");
    }
  }

  private void traces(List<TraceFile> traces) {
    checks.size("plan.traces", traces, Limits.TRACES);
    Set<String> files = new HashSet<>();
    for (int i = 0; traces != null && i < traces.size(); i++) {
      TraceFile file = traces.get(i);
      if (file == null) {
        continue;
      }
      String at = "plan.traces[" + i + "].";
      checks.form(at + "host", file.host(), Limits.HOST, "a name of the host inventory");
      checks.required(at + "path", file.path(), "give the absolute path of the trace");
      checks.absolute(at + "path", file.path());
      if (file.path() != null && !files.add(file.host() + ":" + file.path())) {
        faults.add(at + "path", "is listed twice; list each trace once");
      }
      checks.range(at + "rank", file.rank(), 0, Integer.MAX_VALUE);
      checks.range(at + "bytes", file.bytes(), 0, Long.MAX_VALUE);
      checks.form(at + "sha256", file.sha256(), Limits.SHA256, "64 lower-case hexadecimal digits");
      checks.oneOf(at + "origin", file.origin(), Limits.ORIGINS);
    }
  }

  private void deadlines(Deadlines deadlines) {
    if (deadlines == null) {
      return;
    }
    checks.seconds("deadlines.campaignSeconds", deadlines.campaignSeconds());
    if (deadlines.stepSeconds() != null) {
      deadlines
          .stepSeconds()
          .forEach((step, limit) -> checks.seconds("deadlines.stepSeconds." + step.id(), limit));
    }
  }

  private void labels(Map<String, String> labels) {
    if (labels == null) {
      return;
    }
    if (labels.size() > Limits.LABELS) {
      faults.add(
          "labels", "has " + labels.size() + " entries; at most " + Limits.LABELS + " are allowed");
    }
    labels.forEach((name, value) -> checks.text(Shape.join("labels", name), value));
  }
}
