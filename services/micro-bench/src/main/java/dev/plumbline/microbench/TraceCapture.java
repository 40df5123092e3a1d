package dev.plumbline.microbench;

import dev.plumbline.schemas.Step;
import dev.plumbline.schemas.command.Command;
import dev.plumbline.schemas.command.Job;
import dev.plumbline.schemas.event.StepEvent.TraceCaptured;
import dev.plumbline.schemas.micro.MicroSpec;
import dev.plumbline.schemas.trace.TraceFile;
import dev.plumbline.workerkit.FileStat;
import dev.plumbline.workerkit.HostAccess;
import dev.plumbline.workerkit.HostException;
import dev.plumbline.workerkit.HostFence;
import dev.plumbline.workerkit.StepContext;
import dev.plumbline.workerkit.StepFailure;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Records traces and leaves them on the host; what goes on are references. */
final class TraceCapture {

  private static final int STEPS = 10;

  private final LiveProfile live;
  private final Clock clock;

  TraceCapture(LiveProfile live, Clock clock) {
    this.live = live;
    this.clock = clock;
  }

  TraceCaptured run(HostAccess host, Command.CaptureTrace command, StepContext context)
      throws StepFailure, InterruptedException {
    if (command.trace() == null) {
      throw new StepFailure("invalid", "the command does not say how to trace", false);
    }
    try {
      HostFence.check(host, command.job());
      List<TraceFile> traces =
          command.job().step() == Step.LIVE_TRACE
              ? live.capture(host, command, context)
              : freed(host, command, context);
      Job job = command.job();
      return new TraceCaptured(
          job.campaignId(),
          job.step(),
          job.attempt(),
          clock.instant(),
          TraceFiles.accepted(traces, command.trace().limitBytes()));
    } catch (HostException e) {
      throw StepFailure.of(e);
    }
  }

  private List<TraceFile> freed(HostAccess host, Command.CaptureTrace command, StepContext context)
      throws HostException, StepFailure {
    MicroSpec micro = command.micro();
    if (micro == null || micro.operations() == null || micro.operations().isEmpty()) {
      throw new StepFailure(
          "invalid",
          "a trace on the freed GPUs is made of the operations of plan.micro: name some with a"
              + " countPerStep",
          false);
    }
    Duration limit = MicroBench.limit(micro.timeLimitSeconds(), command.job(), clock);
    ProbeRequest request =
        new ProbeRequest(
            micro.device(),
            micro.gpus(),
            1,
            MicroBench.probeSeconds(limit),
            micro.operations(),
            false,
            new ProbeRequest.Decode(
                command.trace().batch() == null ? 1 : command.trace().batch(),
                command.trace().steps() == null ? STEPS : command.trace().steps(),
                host.workDir() + "/traces/" + command.job().directory()));
    ProbeRun.Outcome outcome =
        ProbeRun.of(
            host, MicroBench.python(host, micro), command.script(), request, limit, context);
    if (outcome.trouble() != null) {
      throw new StepFailure("failed", outcome.trouble(), false);
    }
    List<TraceFile> traces = new ArrayList<>();
    for (ProbeOutput.Trace trace : outcome.output().traces()) {
      Optional<FileStat> found = host.stat(trace.path());
      if (found.isEmpty() || found.get().bytes() != trace.bytes()) {
        throw new StepFailure(
            "failed",
            "the probe says that it wrote %d bytes to %s, and %s"
                .formatted(
                    trace.bytes(),
                    trace.path(),
                    found.map(f -> "there are " + f.bytes()).orElse("there is no such file")),
            true);
      }
      traces.add(
          new TraceFile(
              host.entry().name(), trace.path(), trace.rank(), trace.bytes(), null, "freed"));
    }
    return traces;
  }
}
