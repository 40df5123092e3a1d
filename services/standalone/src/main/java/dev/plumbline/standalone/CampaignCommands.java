package dev.plumbline.standalone;

import com.fasterxml.jackson.core.type.TypeReference;
import dev.plumbline.schemas.Json;
import dev.plumbline.schemas.campaign.CampaignStatus;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Commands that ask a running Plumbline over REST. */
final class CampaignCommands {

  private CampaignCommands() {}

  private abstract static class Remote implements Callable<Integer> {

    @Option(
        names = "--url",
        defaultValue = Defaults.SERVER_URL,
        description = "Where Plumbline serves (default: ${DEFAULT-VALUE}).")
    private String url;

    HttpResponse<byte[]> send(String method, String path, String accept)
        throws InterruptedException {
      try (HttpClient http =
          HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(5)).build()) {
        HttpRequest request =
            HttpRequest.newBuilder(URI.create(url + "/api/campaigns" + path))
                .method(method, HttpRequest.BodyPublishers.noBody())
                .header("Accept", accept)
                .timeout(Duration.ofSeconds(30))
                .build();
        HttpResponse<byte[]> response = http.send(request, HttpResponse.BodyHandlers.ofByteArray());
        if (response.statusCode() >= 400) {
          throw refused(response);
        }
        return response;
      } catch (ConnectException e) {
        throw new UserError(
            Main.FAILED,
            "Nothing answers at "
                + url
                + "; start `plumbline serve`, or name the place with --url.");
      } catch (IOException e) {
        throw new UserError(Main.FAILED, url + " did not answer: " + e.getMessage());
      } catch (IllegalArgumentException e) {
        throw UserError.badInput(
            "--url is one such as " + Defaults.SERVER_URL + ", not " + url + ".");
      }
    }

    private UserError refused(HttpResponse<byte[]> response) {
      int code = response.statusCode() == 404 ? Main.USAGE : Main.FAILED;
      return faults(response.body())
          .map(said -> new UserError(code, said))
          .orElseGet(
              () ->
                  new UserError(
                      code,
                      url
                          + " answered HTTP "
                          + response.statusCode()
                          + ", not as Plumbline does; name the place with --url."));
    }

    /** What Plumbline says against a call; empty when it was not Plumbline that answered. */
    private static Optional<String> faults(byte[] body) {
      try {
        String said =
            Json.mapper().readTree(body).path("faults").findValuesAsText("message").stream()
                .collect(Collectors.joining("\n"));
        return said.isEmpty() ? Optional.empty() : Optional.of(said);
      } catch (IOException e) {
        return Optional.empty();
      }
    }

    /** The path of a campaign, whatever stands in its id. */
    static String path(String id) {
      if (id.isBlank()) {
        throw UserError.badInput("The campaign id is empty.");
      }
      return "/" + URLEncoder.encode(id, StandardCharsets.UTF_8).replace("+", "%20");
    }

    CampaignStatus status(String id) throws InterruptedException {
      return Json.read(send("GET", path(id), "application/json").body(), CampaignStatus.class);
    }
  }

  @Command(
      name = "status",
      description = "Shows all campaigns, or one.",
      mixinStandardHelpOptions = true)
  static final class Status extends Remote {

    @Parameters(arity = "0..1", paramLabel = "CAMPAIGN")
    private String id;

    @Override
    public Integer call() throws Exception {
      List<CampaignStatus> all =
          id == null
              ? Json.mapper()
                  .readValue(
                      send("GET", "", "application/json").body(),
                      new TypeReference<List<CampaignStatus>>() {})
              : List.of(status(id));
      System.out.printf(
          Locale.ROOT,
          "%-32s %-12s %-11s %-14s %s%n",
          "CAMPAIGN",
          "HOST",
          "STATE",
          "STEP",
          "SINCE");
      for (CampaignStatus campaign : all) {
        System.out.printf(
            Locale.ROOT,
            "%-32s %-12s %-11s %-14s %s%n",
            campaign.campaignId(),
            campaign.host() == null ? "-" : campaign.host(),
            campaign.state().name().toLowerCase(Locale.ROOT),
            campaign.step() == null ? "-" : campaign.step().id(),
            campaign.stateSince());
      }
      return Main.DONE;
    }
  }

  @Command(
      name = "watch",
      description = "Follows a campaign to its end.",
      mixinStandardHelpOptions = true)
  static final class Watch extends Remote {

    @Parameters(paramLabel = "CAMPAIGN")
    private String id;

    @Override
    public Integer call() throws Exception {
      ProgressLine progress = ProgressLine.standardError();
      while (true) {
        CampaignStatus status = status(id);
        progress.show(status);
        if (status.state().terminal()) {
          progress.end();
          return Outcome.tell(status, Defaults.dataFolder().resolve("reports"));
        }
        TimeUnit.MILLISECONDS.sleep(500);
      }
    }
  }

  @Command(
      name = "report",
      description = "Prints the report of a campaign that has ended.",
      mixinStandardHelpOptions = true)
  static final class Report extends Remote {

    @Parameters(paramLabel = "CAMPAIGN")
    private String id;

    @Option(
        names = "--format",
        defaultValue = "text",
        description = "text or json (default: ${DEFAULT-VALUE}).")
    private String format;

    @Override
    public Integer call() throws Exception {
      String accept =
          switch (format) {
            case "text" -> "text/plain";
            case "json" -> "application/json";
            default -> throw UserError.badInput("--format is text or json, not " + format + ".");
          };
      System.out.write(send("GET", path(id) + "/report", accept).body());
      System.out.flush();
      return Main.DONE;
    }
  }

  @Command(
      name = "cancel",
      description = "Cancels a campaign; the server is put back first.",
      mixinStandardHelpOptions = true)
  static final class Cancel extends Remote {

    @Parameters(paramLabel = "CAMPAIGN")
    private String id;

    @Override
    public Integer call() throws Exception {
      send("POST", path(id) + "/cancel", "application/json");
      System.err.println(
          "Asked to cancel "
              + id
              + "; `plumbline watch "
              + id
              + "` shows when the server is back.");
      return Main.DONE;
    }
  }
}
