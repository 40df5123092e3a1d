package dev.plumbline.macroload;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.plumbline.schemas.Fault;
import dev.plumbline.schemas.Json;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Looks before the load whether the server answers and serves the model; puts no load on it. */
public final class Preflight {

  private static final Duration TIME_OUT = Duration.ofSeconds(10);

  private Preflight() {}

  /**
   * What stands in the way of a load run; empty when nothing does. A server that does not list its
   * models (404 or 405 on {@code /v1/models}) is given the benefit of the doubt.
   */
  public static List<Fault> probe(LoadTarget target) throws InterruptedException {
    Optional<Fault> unreadable = target.fault();
    if (unreadable.isPresent()) {
      return List.of(unreadable.get());
    }
    try (HttpClient client = HttpClient.newBuilder().connectTimeout(TIME_OUT).build()) {
      HttpRequest.Builder request =
          HttpRequest.newBuilder(target.at("/v1/models")).timeout(TIME_OUT).GET();
      if (target.apiKey() != null) {
        request.header("Authorization", "Bearer " + target.apiKey());
      }
      HttpResponse<String> answer =
          client.send(request.build(), HttpResponse.BodyHandlers.ofString());
      return judge(target, answer.statusCode(), answer.body());
    } catch (IOException e) {
      return List.of(
          new Fault(
              "url",
              "the server at "
                  + target.url()
                  + " cannot be reached: "
                  + Refusal.words(e)
                  + "; check the address and that the server runs"));
    }
  }

  /** A target without an API key. */
  public static List<Fault> probe(String url, String model) throws InterruptedException {
    return probe(new LoadTarget(url, model));
  }

  static List<Fault> judge(LoadTarget target, int status, String body) {
    String at = "the server at " + target.url();
    return switch (status) {
      case 200 -> judgeModels(target, body);
      case 404, 405 -> List.of();
      case 401, 403 ->
          List.of(
              new Fault(
                  "apiKeyEnv",
                  at
                      + " refuses the API key with HTTP "
                      + status
                      + "; name the environment variable that holds the right one"));
      default ->
          List.of(
              new Fault(
                  "url",
                  at
                      + " answers its list of models with HTTP "
                      + status
                      + ": "
                      + Refusal.words(body)));
    };
  }

  private static List<Fault> judgeModels(LoadTarget target, String body) {
    List<String> served = new ArrayList<>();
    try {
      JsonNode json = Json.mapper().readTree(body);
      if (json == null || !json.path("data").isArray()) {
        return List.of(notOpenAi(target, body));
      }
      json.path("data").forEach(model -> served.add(model.path("id").asText()));
    } catch (JsonProcessingException e) {
      return List.of(notOpenAi(target, body));
    }
    if (target.model() != null && served.contains(target.model())) {
      return List.of();
    }
    return List.of(
        new Fault(
            "model",
            "the server at "
                + target.url()
                + " does not serve "
                + (target.model() == null ? "a model without a name" : target.model())
                + "; it serves "
                + (served.isEmpty() ? "no model" : String.join(", ", served))));
  }

  private static Fault notOpenAi(LoadTarget target, String body) {
    return new Fault(
        "url",
        "the server at "
            + target.url()
            + " does not answer /v1/models as an OpenAI-compatible server does, but with "
            + Refusal.words(body));
  }
}
