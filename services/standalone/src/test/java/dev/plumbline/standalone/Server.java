package dev.plumbline.standalone;

import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.plumbline.schemas.Json;
import dev.plumbline.schemas.campaign.CampaignState;
import dev.plumbline.schemas.campaign.CampaignStatus;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/** A running {@code plumbline serve --lab}, spoken to over REST. */
final class Server implements AutoCloseable {

  private static final Duration LIMIT = Duration.ofSeconds(150);

  private final HttpClient http = HttpClient.newHttpClient();
  private final Packaged process;
  private final Path data;
  private final int port;
  private final int kafkaPort;

  private Server(Packaged process, Path data, int port, int kafkaPort) {
    this.process = process;
    this.data = data;
    this.port = port;
    this.kafkaPort = kafkaPort;
  }

  static Server start(Path folder, int port, int kafkaPort, String... more) throws IOException {
    Path data = folder.resolve("data");
    List<String> args =
        new ArrayList<>(
            List.of(
                "serve",
                "--data",
                data.toString(),
                "--port",
                "" + port,
                "--kafka-port",
                "" + kafkaPort));
    args.addAll(List.of(more));
    Server server =
        new Server(Packaged.start(folder, args.toArray(String[]::new)), data, port, kafkaPort);
    await("ready: " + args)
        .atMost(LIMIT)
        .until(
            () -> {
              if (!server.process.alive()) {
                throw new AssertionError("ended at its start:\n" + server.process.err());
              }
              return server.process.err().contains("Ready.");
            });
    return server;
  }

  String bootstrap() {
    return "localhost:" + kafkaPort;
  }

  Packaged process() {
    return process;
  }

  /** The request for the simulated lab under another id. */
  ObjectNode labRequest(String campaignId) throws IOException {
    ObjectNode request =
        (ObjectNode) Json.mapper().readTree(Files.readAllBytes(data.resolve("lab-request.json")));
    return request.put("campaignId", campaignId);
  }

  HttpResponse<String> post(String path, JsonNode body) throws IOException, InterruptedException {
    return http.send(
        HttpRequest.newBuilder(uri(path))
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body == null ? "" : body.toString()))
            .build(),
        HttpResponse.BodyHandlers.ofString());
  }

  HttpResponse<String> get(String path) throws IOException, InterruptedException {
    return http.send(
        HttpRequest.newBuilder(uri(path)).header("Accept", "application/json").build(),
        HttpResponse.BodyHandlers.ofString());
  }

  CampaignStatus awaitState(String campaignId, Predicate<CampaignState> wanted) {
    return await("campaign " + campaignId)
        .atMost(LIMIT)
        .pollInterval(Duration.ofMillis(50))
        .until(() -> status(campaignId), status -> status != null && wanted.test(status.state()));
  }

  private CampaignStatus status(String campaignId) throws IOException, InterruptedException {
    HttpResponse<String> response = get("/api/campaigns/" + campaignId);
    return response.statusCode() == 200
        ? Json.mapper().readValue(response.body(), CampaignStatus.class)
        : null;
  }

  private URI uri(String path) {
    return URI.create("http://localhost:" + port + path);
  }

  @Override
  public void close() {
    process.close();
  }
}
