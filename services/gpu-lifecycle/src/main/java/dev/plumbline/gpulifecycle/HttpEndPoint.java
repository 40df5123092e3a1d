package dev.plumbline.gpulifecycle;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.plumbline.schemas.Json;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** An {@link EndPoint} over HTTP. */
final class HttpEndPoint implements EndPoint {

  private static final int FEW_TOKENS = 16;
  private static final String PROMPT = "Say in one word that you are ready.";

  private final HttpClient client;
  private final String base;

  private HttpEndPoint(HttpClient client, String base) {
    this.client = client;
    this.base = base;
  }

  /** A client for inference servers: some of them stumble over an offer of HTTP/2. */
  static HttpClient client(Duration connectTimeout) {
    return HttpClient.newBuilder()
        .version(HttpClient.Version.HTTP_1_1)
        .connectTimeout(connectTimeout)
        .build();
  }

  /**
   * @param url base URL without {@code /v1}
   * @throws IOException with one sentence when it is no such URL
   */
  static HttpEndPoint at(HttpClient client, String url) throws IOException {
    String base = url == null ? "" : url.replaceFirst("/+$", "");
    try {
      URI uri = URI.create(base);
      if (!("http".equals(uri.getScheme()) || "https".equals(uri.getScheme()))
          || uri.getHost() == null) {
        throw new IOException("\"" + url + "\" is not a URL such as http://host:8000");
      }
    } catch (IllegalArgumentException e) {
      throw new IOException("\"" + url + "\" is not a URL: " + e.getMessage(), e);
    }
    return new HttpEndPoint(client, base);
  }

  @Override
  public List<String> models(Duration timeout) throws IOException, InterruptedException {
    JsonNode answer = expect200(send(request("/v1/models").GET(), timeout), "/v1/models");
    List<String> models = new ArrayList<>();
    answer.path("data").forEach(model -> models.add(model.path("id").asText()));
    return models;
  }

  @Override
  public String complete(String model, Duration timeout) throws IOException, InterruptedException {
    HttpResponse<String> chat =
        send(
            post(
                "/v1/chat/completions",
                Map.of(
                    "model",
                    model,
                    "messages",
                    List.of(Map.of("role", "user", "content", PROMPT)),
                    "max_tokens",
                    FEW_TOKENS)),
            timeout);
    JsonNode choice;
    if (chat.statusCode() == 400 || chat.statusCode() == 404 || chat.statusCode() == 405) {
      // A model without a chat template answers plain completions only.
      String path = "/v1/completions";
      HttpResponse<String> plain =
          send(
              post(path, Map.of("model", model, "prompt", PROMPT, "max_tokens", FEW_TOKENS)),
              timeout);
      choice = expect200(plain, path).path("choices").path(0);
    } else {
      choice = expect200(chat, "/v1/chat/completions").path("choices").path(0);
    }
    JsonNode message = choice.path("message");
    for (JsonNode text :
        List.of(
            choice.path("text"),
            message.path("content"),
            message.path("reasoning_content"),
            message.path("reasoning"))) {
      if (text.isTextual() && !text.textValue().isBlank()) {
        return text.textValue();
      }
    }
    throw new IOException(base + " answered a completion without text");
  }

  private HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create(base + path)).header("Accept", "application/json");
  }

  private HttpRequest.Builder post(String path, Map<String, Object> body) {
    return request(path)
        .header("Content-Type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofByteArray(Json.bytes(body)));
  }

  /** The client's own time-out ends with the headers; this one covers the body too. */
  private HttpResponse<String> send(HttpRequest.Builder request, Duration timeout)
      throws IOException, InterruptedException {
    CompletableFuture<HttpResponse<String>> answer =
        client.sendAsync(request.timeout(timeout).build(), HttpResponse.BodyHandlers.ofString());
    try {
      return answer.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      throw new IOException(late(timeout), e);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof HttpTimeoutException) {
        throw new IOException(late(timeout), e);
      }
      if (e.getCause() instanceof ConnectException) {
        throw new IOException(base + " refuses the connection: nothing listens there", e);
      }
      throw new IOException(base + " cannot be asked: " + e.getCause().getMessage(), e);
    } finally {
      answer.cancel(true);
    }
  }

  private String late(Duration timeout) {
    return base + " did not answer within " + timeout.toSeconds() + " s";
  }

  private JsonNode expect200(HttpResponse<String> response, String path) throws IOException {
    if (response.statusCode() != 200) {
      String body = response.body().strip().replaceAll("\\s+", " ");
      throw new IOException(
          "%s%s answered with status %d%s"
              .formatted(
                  base,
                  path,
                  response.statusCode(),
                  body.isEmpty() ? "" : ": " + body.substring(0, Math.min(200, body.length()))));
    }
    try {
      return Json.mapper().readTree(response.body());
    } catch (JsonProcessingException e) {
      throw new IOException(base + path + " answered with something that is not JSON", e);
    }
  }
}
