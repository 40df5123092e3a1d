package dev.plumbline.lab;

import com.fasterxml.jackson.databind.JsonNode;
import dev.plumbline.schemas.Json;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.file.FileSystemOptions;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;

/**
 * The inference server of the simulated host: the part of vLLM's HTTP API that load generators and
 * health checks use. It listens while the unit is active and refuses connections otherwise.
 */
final class InferenceServer implements LabState.Listener, AutoCloseable {

  /** Writes the trace of the steps that ran while profiling. */
  interface Profiler {
    void write(List<Engine.Step> steps) throws IOException;
  }

  private final Scenario scenario;
  private final LabState state;
  private final LabOptions options;
  private final Profiler profiler;
  private final Vertx vertx;
  private HttpServer server;
  private volatile Engine engine;
  private volatile int port;

  InferenceServer(Scenario scenario, LabState state, LabOptions options, Profiler profiler) {
    this.scenario = scenario;
    this.state = state;
    this.options = options;
    this.profiler = profiler;
    this.vertx =
        Vertx.vertx(
            new VertxOptions()
                .setEventLoopPoolSize(1)
                .setWorkerPoolSize(2)
                .setFileSystemOptions(
                    new FileSystemOptions()
                        .setFileCachingEnabled(false)
                        .setClassPathResolvingEnabled(false)));
  }

  /** Takes a port for good, whether or not the unit is active. */
  void reserve(int wanted, boolean required) {
    port = wanted;
    try {
      started();
    } catch (IllegalStateException e) {
      if (wanted == 0 || required) {
        throw e;
      }
      // The port of the last start is taken by somebody else meanwhile.
      port = 0;
      started();
    }
  }

  int port() {
    return port;
  }

  int activeBatch() {
    Engine now = engine;
    return now == null ? 0 : now.active();
  }

  @Override
  public synchronized void started() {
    Context context = vertx.getOrCreateContext();
    Engine fresh =
        new Engine(
            scenario,
            tokens -> context.runOnContext(v -> tokens.forEach(InferenceServer::deliver)));
    HttpServer next =
        vertx
            .createHttpServer(
                new HttpServerOptions()
                    .setHost(options.bindAddress())
                    .setPort(port)
                    .setTcpNoDelay(true)
                    .setIdleTimeout(0)
                    .setAcceptBacklog(1024)
                    .setMaxHeaderSize(32_768))
            .requestHandler(request -> handle(request, fresh));
    try {
      next.listen().toCompletionStage().toCompletableFuture().join();
    } catch (CompletionException e) {
      throw new IllegalStateException(
          "cannot listen for HTTP on port " + port + ": " + e.getCause().getMessage(), e);
    }
    server = next;
    port = next.actualPort();
    engine = fresh;
    fresh.start();
  }

  private static void deliver(Engine.Token token) {
    ((Completion) token.request().client).token(token);
  }

  @Override
  public synchronized void stopped() {
    if (server != null) {
      HttpServer old = server;
      server = null;
      engine.close();
      engine = null;
      // Also ends every open connection, as the end of a process does.
      old.close().toCompletionStage().toCompletableFuture().join();
    }
  }

  private void handle(HttpServerRequest request, Engine running) {
    HttpMethod method = request.method();
    switch (method + " " + request.path()) {
      case "GET /health" -> request.response().setStatusCode(state.ready() ? 200 : 503).end();
      case "GET /v1/models" -> models(request);
      case "GET /metrics" -> metrics(request, running);
      case "GET /version" -> json(request, 200, "{\"version\":\"0.11.2\"}");
      case "POST /v1/chat/completions" -> complete(request, running, true);
      case "POST /v1/completions" -> complete(request, running, false);
      case "POST /start_profile" -> startProfile(request, running);
      case "POST /stop_profile" -> stopProfile(request, running);
      default -> json(request, 404, "{\"detail\":\"Not Found\"}");
    }
  }

  private void models(HttpServerRequest request) {
    if (!state.ready()) {
      request.response().setStatusCode(503).end();
      return;
    }
    json(
        request,
        200,
        """
        {"object":"list","data":[{"id":"%s","object":"model","created":%d,"owned_by":"vllm",\
        "root":"%s","parent":null,"max_model_len":%d}]}"""
            .formatted(
                scenario.model(),
                state.nowMs() / 1000,
                scenario.model(),
                scenario.maxModelLength()));
  }

  private void metrics(HttpServerRequest request, Engine running) {
    String labels = "{engine=\"0\",model_name=\"" + scenario.model() + "\"}";
    double cache = Math.min(1.0, running.active() / (2.0 * scenario.engine().maxBatch()));
    StringBuilder text = new StringBuilder();
    metric(text, "num_requests_running", "gauge", labels, running.active());
    metric(text, "num_requests_waiting", "gauge", labels, running.waiting());
    metric(text, "kv_cache_usage_perc", "gauge", labels, cache);
    metric(text, "prompt_tokens_total", "counter", labels, running.promptTokens());
    metric(text, "generation_tokens_total", "counter", labels, running.generatedTokens());
    metric(text, "num_preemptions_total", "counter", labels, 0);
    request.response().putHeader("Content-Type", "text/plain; version=0.0.4").end(text.toString());
  }

  private static void metric(
      StringBuilder text, String name, String type, String labels, double value) {
    text.append("# TYPE vllm:").append(name).append(' ').append(type).append('\n');
    text.append("vllm:").append(name).append(labels);
    text.append(String.format(Locale.ROOT, " %.4f%n", value));
  }

  private void complete(HttpServerRequest request, Engine running, boolean chat) {
    request
        .body()
        .onSuccess(
            body -> {
              if (!state.ready()) {
                error(request, 503, "ServiceUnavailableError", "The model is still loading.");
                return;
              }
              try {
                JsonNode json = Json.mapper().readTree(body.getBytes());
                accept(request, running, json, chat);
              } catch (IOException e) {
                error(request, 400, "BadRequestError", "The body is not valid JSON.");
              }
            });
  }

  private void accept(HttpServerRequest request, Engine running, JsonNode json, boolean chat) {
    String model = json.path("model").asText(scenario.model());
    if (!model.equals(scenario.model())) {
      error(request, 404, "NotFoundError", "The model `" + model + "` does not exist.");
      return;
    }
    JsonNode prompt = json.path(chat ? "messages" : "prompt");
    if (prompt.isMissingNode() || (chat && !prompt.isArray())) {
      String missing = chat ? "messages" : "prompt";
      error(request, 400, "BadRequestError", "Field required: '" + missing + "'.");
      return;
    }
    int promptTokens = Math.max(1, Completion.promptTokens(prompt, chat));
    int fallback = chat ? 256 : 16;
    int wanted = json.path("max_completion_tokens").asInt(json.path("max_tokens").asInt(fallback));
    if (wanted < 1) {
      error(request, 400, "BadRequestError", "max_tokens must be at least 1, got " + wanted + ".");
      return;
    }
    if (promptTokens + wanted > scenario.maxModelLength()) {
      error(
          request,
          400,
          "BadRequestError",
          "This model's maximum context length is %d tokens. However, you requested %d tokens."
              .formatted(scenario.maxModelLength(), promptTokens + wanted));
      return;
    }
    Completion completion =
        new Completion(request.response(), scenario.model(), json, chat, state.nowMs());
    Engine.Request work = new Engine.Request(promptTokens, wanted, completion);
    completion.begin(work);
    HttpServerResponse response = request.response();
    response.closeHandler(v -> work.gone = true);
    response.exceptionHandler(v -> work.gone = true);
    if (!state.fault(LabOptions.Fault.COMPLETION_DEAD)) {
      running.submit(work);
    }
  }

  private void startProfile(HttpServerRequest request, Engine running) {
    boolean begun = running.startProfile();
    request.response().setStatusCode(begun ? 200 : 400).end();
  }

  private void stopProfile(HttpServerRequest request, Engine running) {
    List<Engine.Step> steps = running.stopProfile();
    if (steps == null) {
      error(request, 400, "BadRequestError", "Profiling was not started.");
      return;
    }
    vertx
        .executeBlocking(
            () -> {
              profiler.write(steps);
              return null;
            })
        .onSuccess(v -> request.response().end())
        .onFailure(e -> error(request, 500, "InternalServerError", "cannot write the trace: " + e));
  }

  private static void json(HttpServerRequest request, int status, String text) {
    request
        .response()
        .setStatusCode(status)
        .putHeader("Content-Type", "application/json")
        .end(text);
  }

  /** As vLLM words it: {@code {"error": {"message", "type", "param", "code"}}}. */
  private static void error(HttpServerRequest request, int status, String type, String message) {
    var error = Json.mapper().createObjectNode();
    error
        .putObject("error")
        .put("message", message)
        .put("type", type)
        .putNull("param")
        .put("code", status);
    json(request, status, error.toString());
  }

  @Override
  public void close() {
    stopped();
    vertx.close().toCompletionStage().toCompletableFuture().orTimeout(5, TimeUnit.SECONDS).join();
  }
}
