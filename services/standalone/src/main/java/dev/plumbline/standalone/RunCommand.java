package dev.plumbline.standalone;

import dev.plumbline.schemas.CampaignRequestReader;
import dev.plumbline.schemas.Json;
import dev.plumbline.schemas.campaign.CampaignCancelRequested;
import dev.plumbline.schemas.campaign.CampaignRequest;
import dev.plumbline.schemas.campaign.CampaignRequested;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
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

  @Option(
      names = "--bootstrap",
      description = "Publish to this Kafka, where the services run already.")
  private String bootstrap;

  @Option(names = "--data", description = "Data folder (default: ~/.plumbline).")
  private Path data;

  @Option(
      names = "--hosts",
      description = "Host inventory (default: hosts.yaml in the data folder).")
  private Path hosts;

  @Option(names = "--id", description = "Campaign id, instead of the file's.")
  private String campaignId;

  @Option(names = "--host", description = "Host, instead of the file's.")
  private String host;

  @Option(names = "--allow-no-gpu", description = "Run although the host has no GPU.")
  private boolean allowNoGpu;

  @Override
  public Integer call() throws Exception {
    CampaignRequest request = request(text());
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

  private String text() {
    try {
      return Files.readString(file);
    } catch (NoSuchFileException e) {
      throw UserError.badInput("There is no file " + file + ".");
    } catch (CharacterCodingException e) {
      throw UserError.badInput(file + " is no text in UTF-8; a request is YAML or JSON.");
    } catch (IOException e) {
      throw UserError.badInput(file + " cannot be read: " + UserError.reason(e) + ".");
    }
  }

  /** The file's request with the options of the command line put over it. */
  private CampaignRequest request(String text) {
    CampaignRequest request =
        valid(CampaignRequestReader.readYaml(withVariables(text, System.getenv())), file);
    return switch (request) {
      case CampaignRequested r ->
          new CampaignRequested(
              campaignId == null ? r.campaignId() : campaignId,
              host == null ? r.host() : host,
              r.service(),
              r.plan(),
              r.deadlines(),
              r.allowNoGpu() || allowNoGpu,
              r.requestedBy(),
              r.labels());
      case CampaignCancelRequested cancel ->
          throw UserError.badInput(
              file + " cancels a campaign; use `plumbline cancel " + cancel.campaignId() + "`.");
    };
  }

  /** Reads a request as strictly as the coordinator does. */
  static CampaignRequest readJson(Path file) throws IOException {
    return valid(CampaignRequestReader.read(Files.readAllBytes(file), Map.of()), file);
  }

  private static CampaignRequest valid(CampaignRequestReader.Result result, Path file) {
    return switch (result) {
      case CampaignRequestReader.Valid(CampaignRequest request) -> request;
      case CampaignRequestReader.Invalid invalid ->
          throw UserError.badInput(file + " is not a valid request:", invalid.faults());
      case CampaignRequestReader.Undecodable(String reason) ->
          throw UserError.badInput(file + " " + reason);
    };
  }

  static String withVariables(String text, Map<String, String> environment) {
    return VARIABLE
        .matcher(text)
        .replaceAll(
            match -> {
              String value = environment.get(match.group(1));
              if (value == null) {
                throw UserError.badInput(
                    "The environment variable " + match.group(1) + " is not set.");
              }
              return Matcher.quoteReplacement(value);
            });
  }
}
