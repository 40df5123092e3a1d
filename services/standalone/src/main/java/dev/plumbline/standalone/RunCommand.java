package dev.plumbline.standalone;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import dev.plumbline.schemas.CampaignRequestReader;
import dev.plumbline.schemas.Json;
import dev.plumbline.schemas.campaign.CampaignRequest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** One campaign from a file. */
@Command(
    name = "run",
    description = "Publishes a campaign request, follows it and prints the report.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "The file is YAML or JSON; ${NAME} in it is replaced by the environment variable of that name.",
      "Without --bootstrap the services and an embedded Kafka run for as long as the campaign."
    })
final class RunCommand implements Callable<Integer> {

  private static final Pattern VARIABLE = Pattern.compile("\\$\\{([A-Za-z_][A-Za-z0-9_]*)}");

  @Option(names = "-f", required = true, paramLabel = "FILE", description = "The request.")
  private Path file;

  @Option(names = "--bootstrap", description = "Publish to this Kafka, where the services run already.")
  private String bootstrap;

  @Option(names = "--data", description = "Data folder (default: ~/.plumbline).")
  private Path data;

  @Option(names = "--hosts", description = "Host inventory (default: hosts.yaml in the data folder).")
  private Path hosts;

  @Option(names = "--id", description = "Campaign id, instead of the file's.")
  private String campaignId;

  @Option(names = "--host", description = "Host, instead of the file's.")
  private String host;

  @Option(names = "--allow-no-gpu", description = "Run although the host has no GPU.")
  private boolean allowNoGpu;

  @Override
  public Integer call() throws Exception {
    CampaignRequest request = request(Files.exists(file) ? Files.readString(file) : missing());
    Path folder = data == null ? Defaults.dataFolder() : data;
    if (bootstrap != null) {
      return FollowApplication.follow(bootstrap, request, folder.resolve("reports"));
    }
    System.err.println("Starting Kafka and the services in " + folder + " ...");
    try (Platform platform = Platform.start(new PlatformOptions(folder, null, 0, hosts, null))) {
      Path copy = platform.data().resolve("request-" + request.campaignId() + ".json");
      Files.write(copy, Json.bytes(request));
      return platform.runServices(
          Platform.freePort(),
          FollowApplication.class,
          platform.bootstrap(),
          copy.toString(),
          platform.data().resolve("reports").toString());
    }
  }

  private String missing() {
    throw UserError.badInput("There is no file " + file + ".");
  }

  private CampaignRequest request(String text) throws IOException {
    ObjectMapper yaml = new ObjectMapper(new YAMLFactory());
    JsonNode tree;
    try {
      tree = yaml.readTree(withVariables(text, System.getenv()));
    } catch (JsonProcessingException e) {
      String where =
          e.getLocation() == null
              ? ""
              : " line " + e.getLocation().getLineNr() + ", column " + e.getLocation().getColumnNr();
      throw UserError.badInput(
          file + where + ": not valid YAML or JSON: " + e.getOriginalMessage().lines().findFirst().orElse(""));
    }
    if (!(tree instanceof ObjectNode request)) {
      throw UserError.badInput(file + ": a request is an object with the fields of CampaignRequested.");
    }
    if (campaignId != null) {
      request.put("campaignId", campaignId);
    }
    if (host != null) {
      request.put("host", host);
    }
    if (allowNoGpu) {
      request.put("allowNoGpu", true);
    }
    return read(Json.mapper().writeValueAsBytes(request), file);
  }

  /** Reads a request as strictly as the coordinator does. */
  static CampaignRequest readJson(Path file) throws IOException {
    return read(Files.readAllBytes(file), file);
  }

  private static CampaignRequest read(byte[] json, Path file) {
    return switch (CampaignRequestReader.read(json, Map.of())) {
      case CampaignRequestReader.Result.Valid(CampaignRequest request) -> request;
      case CampaignRequestReader.Result.Invalid invalid ->
          throw UserError.badInput(file + " is not a valid request:", invalid.faults());
      case CampaignRequestReader.Result.Undecodable(String reason) ->
          throw UserError.badInput(file + ": " + reason);
    };
  }

  static String withVariables(String text, Map<String, String> environment) {
    return VARIABLE
        .matcher(text)
        .replaceAll(
            match -> {
              String value = environment.get(match.group(1));
              if (value == null) {
                throw UserError.badInput("The environment variable " + match.group(1) + " is not set.");
              }
              return Matcher.quoteReplacement(value);
            });
  }
}
