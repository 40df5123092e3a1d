package dev.plumbline.standalone;

import dev.plumbline.macroload.LoadRun;
import dev.plumbline.macroload.LoadTarget;
import dev.plumbline.macroload.Preflight;
import dev.plumbline.macroload.ProgressListener.Progress;
import dev.plumbline.macroload.ReportFormat;
import dev.plumbline.schemas.Fault;
import dev.plumbline.schemas.load.LoadReport;
import dev.plumbline.schemas.load.LoadSpec;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The load generator alone. */
@Command(
    name = "load",
    description =
        "Puts load on an OpenAI-compatible streaming server and measures it token by token.",
    mixinStandardHelpOptions = true)
final class LoadCommand implements Callable<Integer> {

  enum EndPoint {
    chat,
    completions
  }

  @Option(names = "--url", required = true, description = "Base URL of the server.")
  private String url;

  @Option(names = "--model", required = true, description = "Name of the served model.")
  private String model;

  @Option(
      names = "--concurrency",
      split = ",",
      paramLabel = "N",
      description = "Levels of the closed loop, such as 1,2,4 (default: 1,2,4,8,16,32).")
  private List<Integer> concurrency;

  @Option(
      names = "--rate",
      split = ",",
      paramLabel = "R",
      description = "Levels of the open loop in requests per second, such as 5,10.")
  private List<Double> rate;

  @Option(names = "--arrivals", description = "Open loop: poisson (default) or constant.")
  private String arrivals;

  @Option(
      names = "--requests",
      description = "Requests per level (default: the larger of 8 and twice the concurrency).")
  private Integer requests;

  @Option(
      names = "--duration",
      paramLabel = "SECONDS",
      description = "Length of a level, instead of --requests.")
  private Double duration;

  @Option(
      names = "--warmup",
      description = "Requests before the window of each level (default: up to 4).")
  private Integer warmup;

  @Option(names = "--input-tokens", description = "Wanted length of a prompt (default: 128).")
  private Integer inputTokens;

  @Option(names = "--output-tokens", description = "Wanted length of an answer (default: 128).")
  private Integer outputTokens;

  @Option(
      names = "--end-point",
      defaultValue = "chat",
      description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
  private EndPoint endPoint;

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      description = "Time limit of one request (default: 120).")
  private Double timeout;

  @Option(
      names = "--api-key-env",
      paramLabel = "NAME",
      description = "Environment variable that holds the API key.")
  private String apiKeyEnv;

  @Option(
      names = "--format",
      defaultValue = "text",
      description = "text, json, csv, html or vllm (default: ${DEFAULT-VALUE}).")
  private String format;

  @Override
  public Integer call() throws InterruptedException {
    ReportFormat writer =
        ReportFormat.named(format)
            .orElseThrow(
                () ->
                    UserError.badInput(
                        "--format is one of " + ReportFormat.names() + ", not " + format + "."));
    LoadTarget target = target();
    LoadSpec spec = spec();
    refuse(LoadRun.faults(target, spec));
    refuse(Preflight.probe(target));
    AtomicBoolean cancelled = new AtomicBoolean();
    sun.misc.Signal.handle(new sun.misc.Signal("INT"), signal -> cancelled.set(true));
    LoadReport report = LoadRun.run(target, spec, this::show, cancelled::get);
    System.err.println();
    System.out.print(writer.write(report));
    System.out.flush();
    if (cancelled.get()) {
      return Main.INTERRUPTED;
    }
    boolean measured = report.levels().stream().anyMatch(level -> level.completed() > 0);
    if (!measured) {
      System.err.println("No request succeeded; the kinds of failure are in the report.");
    }
    return measured ? Main.DONE : Main.FAILED;
  }

  private static void refuse(List<Fault> faults) {
    if (!faults.isEmpty()) {
      throw UserError.badInput("The load cannot be run:", faults);
    }
  }

  private LoadTarget target() {
    try {
      return LoadTarget.of(url, model, apiKeyEnv, System.getenv());
    } catch (IllegalArgumentException e) {
      throw UserError.badInput(e.getMessage());
    }
  }

  private LoadSpec spec() {
    List<Integer> levels =
        concurrency == null && rate == null ? List.of(1, 2, 4, 8, 16, 32) : concurrency;
    return new LoadSpec(
        levels,
        requests,
        duration,
        warmup,
        inputTokens,
        outputTokens,
        endPoint.name(),
        timeout,
        apiKeyEnv,
        rate,
        arrivals);
  }

  private void show(Progress p) {
    String line =
        String.format(
            Locale.ROOT,
            "%6.1f s  level %d/%d  %s  %s %d%s  %.0f tok/s%s",
            p.elapsedNs() / 1e9,
            p.level(),
            p.levels(),
            p.load(),
            p.warmingUp() ? "warming up" : "ended",
            p.ended(),
            p.total() == null ? "" : "/" + p.total(),
            p.outputThroughput(),
            p.failed() > 0 ? "  failed " + p.failed() : "");
    boolean terminal = "1".equals(System.getenv("PLUMBLINE_TTY"));
    System.err.print(terminal ? "\r\u001b[K" + line : line + "\n");
    System.err.flush();
  }
}
