package dev.plumbline.microbench;

import dev.plumbline.schemas.Json;
import dev.plumbline.schemas.campaign.ServiceUnderTest;
import dev.plumbline.schemas.command.Command;
import dev.plumbline.schemas.micro.TraceSpec;
import dev.plumbline.schemas.trace.TraceFile;
import dev.plumbline.workerkit.FileStat;
import dev.plumbline.workerkit.HostAccess;
import dev.plumbline.workerkit.HostException;
import dev.plumbline.workerkit.StepContext;
import dev.plumbline.workerkit.StepFailure;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Profiles the running server through {@code /start_profile} and {@code /stop_profile} while it
 * answers a few requests, and finds the traces that it wrote.
 */
final class LiveProfile {

  private static final Logger LOG = System.getLogger(LiveProfile.class.getName());

  private static final int OK = 200;
  private static final int STEPS = 10;
  private static final Duration PROFILE_CALL = Duration.ofMinutes(10);
  private static final Duration LOOK_EVERY = Duration.ofSeconds(1);
  private static final String PROMPT =
      "Write a long story about a plumb line, and do not stop before you are told to.";

  private final HttpClient client;
  private final Clock clock;

  LiveProfile(Duration connectTimeout, Clock clock) {
    // Some inference servers stumble over an offer of HTTP/2.
    this.client =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(connectTimeout)
            .build();
    this.clock = clock;
  }

  List<TraceFile> capture(HostAccess host, Command.CaptureTrace command, StepContext context)
      throws HostException, StepFailure, InterruptedException {
    TraceSpec trace = command.trace();
    ServiceUnderTest service = command.service();
    if (service == null || trace.profileDir() == null || !trace.profileDir().startsWith("/")) {
      throw new StepFailure(
          "invalid",
          "a live trace needs a service, and plan.trace.profileDir: the absolute path of the folder"
              + " on the host into which its server writes traces",
          false);
    }
    Instant end = clock.instant().plus(MicroBench.limit(null, command.job(), clock));
    String base = service.url().replaceFirst("/+$", "");
    context.progress(0, 3L, "starting the server's profiler");
    Map<String, Long> before = sizes(host, trace.profileDir());
    if (!started(base, left(end))) {
      // An attempt that was killed may have left it on: its trace is none of ours.
      context.progress(0, 3L, "stopping a profile that an earlier attempt left on");
      endForeign(base);
      before = sizes(host, trace.profileDir());
      if (!started(base, left(end))) {
        throw notEnabled(base);
      }
    }
    try {
      context.checkCancelled();
      context.progress(1, 3L, "requests under the profiler");
      load(base, service.model(), trace, left(end));
    } finally {
      // Whatever happened: a server left under its profiler is slow, and fills its disk.
      stop(base);
    }
    context.progress(2, 3L, "waiting for the traces");
    return written(host, trace.profileDir(), before, end, context);
  }

  /** False when the server refused. */
  private boolean started(String base, Duration timeout) throws StepFailure, InterruptedException {
    boolean answered = false;
    try {
      int status = send(post(base + "/start_profile", ""), min(timeout, PROFILE_CALL)).statusCode();
      answered = true;
      return status == OK;
    } finally {
      if (!answered) {
        // It may have begun all the same.
        stopQuietly(base);
      }
    }
  }

  private void endForeign(String base) throws StepFailure, InterruptedException {
    if (send(post(base + "/stop_profile", ""), PROFILE_CALL).statusCode() != OK) {
      throw notEnabled(base);
    }
  }

  private static StepFailure notEnabled(String base) {
    return new StepFailure(
        "refused",
        base
            + "/start_profile was refused: start the server with its profiler enabled (vLLM:"
            + " VLLM_TORCH_PROFILER_DIR or --profiler-config)",
        false);
  }

  private void stopQuietly(String base) throws InterruptedException {
    try {
      stop(base);
    } catch (StepFailure e) {
      LOG.log(Level.INFO, "after an unanswered start of the profiler: {0}", e.getMessage());
    }
  }

  private void stop(String base) throws StepFailure, InterruptedException {
    HttpResponse<String> answer = send(post(base + "/stop_profile", ""), PROFILE_CALL);
    if (answer.statusCode() != OK) {
      throw new StepFailure(
          "failed",
          "%s/stop_profile answered with status %d: the server may still be under its profiler"
              .formatted(base, answer.statusCode()),
          false);
    }
  }

  /** So many requests at once that each decode step has the wanted batch. */
  private void load(String base, String model, TraceSpec trace, Duration timeout)
      throws StepFailure, InterruptedException {
    int batch = trace.batch() == null ? 1 : trace.batch();
    int tokens = 1 + (trace.steps() == null ? STEPS : trace.steps());
    // ignore_eos is known to vLLM and SGLang; others leave it out of account.
    byte[] body =
        Json.bytes(
            Map.of(
                "model",
                model,
                "prompt",
                PROMPT,
                "max_tokens",
                tokens,
                "ignore_eos",
                true,
                "temperature",
                0));
    List<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
    for (int i = 0; i < batch; i++) {
      answers.add(
          client.sendAsync(
              HttpRequest.newBuilder(URI.create(base + "/v1/completions"))
                  .header("Content-Type", "application/json")
                  .timeout(timeout)
                  .POST(HttpRequest.BodyPublishers.ofByteArray(body))
                  .build(),
              HttpResponse.BodyHandlers.ofString()));
    }
    try {
      for (CompletableFuture<HttpResponse<String>> answer : answers) {
        int status = await(answer, timeout, base + "/v1/completions").statusCode();
        if (status != OK) {
          throw new StepFailure(
              "failed",
              "%s/v1/completions answered with status %d under the profiler"
                  .formatted(base, status),
              true);
        }
      }
    } finally {
      answers.forEach(answer -> answer.cancel(true));
    }
  }

  /** The files that are new or have grown, once they grow no more. */
  private List<TraceFile> written(
      HostAccess host, String directory, Map<String, Long> before, Instant end, StepContext context)
      throws HostException, StepFailure, InterruptedException {
    Map<String, Long> last = Map.of();
    while (true) {
      context.checkCancelled();
      Map<String, Long> now = new TreeMap<>(sizes(host, directory));
      now.entrySet().removeIf(file -> file.getValue().equals(before.get(file.getKey())));
      if (!now.isEmpty() && now.equals(last) && !now.containsValue(0L)) {
        return now.entrySet().stream()
            .map(
                file ->
                    new TraceFile(
                        host.entry().name(),
                        directory + "/" + file.getKey(),
                        TraceFiles.rank(file.getKey()),
                        file.getValue(),
                        null,
                        "live"))
            .toList();
      }
      if (clock.instant().isAfter(end)) {
        throw new StepFailure(
            "failed",
            "the server was profiled and wrote no complete trace to "
                + directory
                + " on host "
                + host.entry().name()
                + ": is this the folder that its profiler writes to?",
            false);
      }
      last = now;
      Thread.sleep(LOOK_EVERY);
    }
  }

  private static Map<String, Long> sizes(HostAccess host, String directory) throws HostException {
    if (host.stat(directory).isEmpty()) {
      return Map.of();
    }
    Map<String, Long> sizes = new TreeMap<>();
    for (String name : host.list(directory)) {
      Optional<FileStat> file =
          TraceFiles.isTrace(name) ? host.stat(directory + "/" + name) : Optional.empty();
      file.ifPresent(f -> sizes.put(name, f.bytes()));
    }
    return sizes;
  }

  private static HttpRequest.Builder post(String url, String body) throws StepFailure {
    try {
      return HttpRequest.newBuilder(URI.create(url))
          .POST(HttpRequest.BodyPublishers.ofString(body));
    } catch (IllegalArgumentException e) {
      throw new StepFailure("invalid", url + " is not a URL: " + e.getMessage(), false);
    }
  }

  private HttpResponse<String> send(HttpRequest.Builder request, Duration timeout)
      throws StepFailure, InterruptedException {
    HttpRequest built = request.timeout(timeout).build();
    return await(
        client.sendAsync(built, HttpResponse.BodyHandlers.ofString()),
        timeout,
        built.uri().toString());
  }

  private static HttpResponse<String> await(
      CompletableFuture<HttpResponse<String>> answer, Duration timeout, String url)
      throws StepFailure, InterruptedException {
    try {
      return answer.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      throw new StepFailure(
          "time-out", url + " did not answer within " + timeout.toSeconds() + " s", true);
    } catch (ExecutionException e) {
      String why =
          e.getCause() instanceof IOException && e.getCause().getMessage() != null
              ? e.getCause().getMessage()
              : e.getCause().getClass().getSimpleName();
      throw new StepFailure("unreachable", url + " cannot be asked: " + why, true);
    } finally {
      answer.cancel(true);
    }
  }

  private Duration left(Instant end) throws StepFailure {
    Duration left = Duration.between(clock.instant(), end);
    if (!left.isPositive()) {
      throw new StepFailure("time-out", "no time is left for a live trace", true);
    }
    return left;
  }

  private static Duration min(Duration one, Duration other) {
    return one.compareTo(other) < 0 ? one : other;
  }
}
