package dev.plumbline.microbench;

import dev.plumbline.schemas.command.Command;
import dev.plumbline.schemas.command.Job;
import dev.plumbline.schemas.event.StepEvent.MicroBenchMeasured;
import dev.plumbline.schemas.host.GpuState;
import dev.plumbline.schemas.micro.MicroOperation;
import dev.plumbline.schemas.micro.MicroReport;
import dev.plumbline.schemas.micro.MicroReport.Result;
import dev.plumbline.schemas.micro.MicroSpec;
import dev.plumbline.workerkit.HostAccess;
import dev.plumbline.workerkit.HostException;
import dev.plumbline.workerkit.HostFence;
import dev.plumbline.workerkit.NvidiaSmi;
import dev.plumbline.workerkit.StepContext;
import dev.plumbline.workerkit.StepFailure;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Runs the probe's operations and says which of the numbers may be used. */
final class MicroBench {

  private static final int REPEATS = 10;

  private final Duration toolTimeout;
  private final Clock clock;

  MicroBench(Duration toolTimeout, Clock clock) {
    this.toolTimeout = toolTimeout;
    this.clock = clock;
  }

  MicroBenchMeasured run(HostAccess host, Command.RunMicroBench command, StepContext context)
      throws StepFailure {
    MicroSpec micro = command.micro();
    if (micro == null || micro.operations() == null || micro.operations().isEmpty()) {
      throw new StepFailure("invalid", "no operation to measure was named", false);
    }
    try {
      HostFence.check(host, command.job());
      NvidiaSmi smi = new NvidiaSmi(host, toolTimeout);
      List<GpuState> before = smi.gpus().states();
      List<NvidiaSmi.Process> others = before.isEmpty() ? List.of() : smi.processes();
      Duration limit = limit(micro.timeLimitSeconds(), command.job(), clock);
      ProbeRequest request =
          new ProbeRequest(
              micro.device(),
              micro.gpus(),
              micro.repeats() == null ? REPEATS : micro.repeats(),
              probeSeconds(limit),
              micro.operations(),
              true,
              null);
      ProbeRun.Outcome outcome =
          ProbeRun.of(host, python(host, micro), command.script(), request, limit, context);
      if (outcome.output().results().isEmpty() && outcome.trouble() != null) {
        throw new StepFailure("failed", outcome.trouble(), false);
      }
      MicroReport report =
          new MicroReport(
              outcome.output().hello(),
              results(micro.operations(), outcome, others),
              before,
              smi.gpus().states(),
              outcome.trouble() != null);
      Job job = command.job();
      return new MicroBenchMeasured(
          job.campaignId(), job.step(), job.attempt(), clock.instant(), report);
    } catch (HostException e) {
      throw StepFailure.of(e);
    }
  }

  static String python(HostAccess host, MicroSpec micro) {
    return micro.python() == null ? host.entry().python() : micro.python();
  }

  /** The given limit, but never beyond the step's deadline. */
  static Duration limit(Double seconds, Job job, Clock clock) throws StepFailure {
    Duration given =
        seconds == null ? Duration.ofMinutes(30) : Duration.ofMillis(Math.round(seconds * 1000));
    if (job.deadline() == null) {
      return given;
    }
    Duration left = Duration.between(clock.instant(), job.deadline()).minusSeconds(5);
    if (left.compareTo(Duration.ofSeconds(1)) < 0) {
      throw new StepFailure(
          "time-out",
          "too little time is left before the step's deadline, which deadlines.stepSeconds sets: a probe"
              + " needs more than 6 s",
          true);
    }
    return given.compareTo(left) < 0 ? given : left;
  }

  /** Less than what the host allows, so that the probe ends with its results and by itself. */
  static double probeSeconds(Duration limit) {
    return Math.max(1, limit.toMillis() / 1000.0 * 0.9);
  }

  /** One result for each operation asked, in the order asked. */
  static List<Result> results(
      List<MicroOperation> asked, ProbeRun.Outcome outcome, List<NvidiaSmi.Process> others) {
    Map<String, Result> measured =
        outcome.output().results().stream()
            .filter(result -> result.name() != null)
            .collect(Collectors.toMap(Result::name, Function.identity(), (first, again) -> again));
    List<Result> all = new ArrayList<>();
    for (MicroOperation operation : asked) {
      Result result =
          Optional.ofNullable(measured.get(operation.name()))
              .orElseGet(() -> missing(operation, outcome.trouble()));
      all.add(others.isEmpty() ? result : shared(result, others));
    }
    return List.copyOf(all);
  }

  private static Result missing(MicroOperation operation, String trouble) {
    return new Result(
        operation.name(),
        operation.operation(),
        operation.shape(),
        operation.dtype(),
        null,
        operation.countPerStep(),
        operation.component(),
        null,
        null,
        null,
        null,
        null,
        null,
        null,
        null,
        null,
        trouble == null ? "the probe did not answer for it" : trouble,
        false,
        List.of());
  }

  /** A number taken beside another process is kept and marked. */
  private static Result shared(Result result, List<NvidiaSmi.Process> others) {
    List<String> reasons = new ArrayList<>(result.reasons());
    reasons.add(
        "another process held the GPU: "
            + others.stream()
                .map(process -> process.pid() + " (" + process.name() + ")")
                .distinct()
                .collect(Collectors.joining(", ")));
    return new Result(
        result.name(),
        result.operation(),
        result.shape(),
        result.dtype(),
        result.kernel(),
        result.countPerStep(),
        result.component(),
        result.repeats(),
        result.warmup(),
        result.medianUs(),
        result.minUs(),
        result.maxUs(),
        result.p95Us(),
        result.gbPerS(),
        result.tflopPerS(),
        result.busGbPerS(),
        result.unavailable(),
        false,
        List.copyOf(reasons));
  }
}
