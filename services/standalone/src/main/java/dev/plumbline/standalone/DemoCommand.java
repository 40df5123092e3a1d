package dev.plumbline.standalone;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** A whole campaign on the simulated lab. */
@Command(
    name = "demo",
    description =
        "Runs a whole campaign on the simulated lab, with embedded Kafka, and prints the report.",
    mixinStandardHelpOptions = true)
final class DemoCommand implements Callable<Integer> {

  @Option(
      names = "--scenario",
      defaultValue = "kimi-k2.5-int4-8x-pcie",
      description =
          "What the lab simulates: kimi-k2.5-int4-8x-pcie or llama-70b-fp16-2x-nvlink (default: ${DEFAULT-VALUE}).")
  private String scenario;

  @Option(names = "--data", description = "Data folder (default: a new one under ~/.plumbline).")
  private Path data;

  @Option(names = "--processes", description = "Run each service as a process of its own.")
  private boolean processes;

  @Override
  public Integer call() throws Exception {
    String stamp =
        DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss", Locale.ROOT).format(LocalDateTime.now());
    String campaignId = "demo-" + stamp;
    Path folder = data == null ? Defaults.dataFolder().resolve(campaignId) : data;
    System.err.println(
        "Starting Kafka, the services and the simulated lab "
            + scenario
            + " in "
            + folder
            + " ...");
    PlatformOptions options = new PlatformOptions(folder, null, 0, null, scenario);
    try (Platform platform = Platform.start(options)) {
      Path request = platform.data().resolve("request-" + campaignId + ".json");
      Files.writeString(request, platform.lab().sampleRequest(campaignId));
      String reports = platform.data().resolve("reports").toString();
      if (processes) {
        try (ServiceProcesses services = ServiceProcesses.start(platform, Platform.freePort())) {
          return FollowApplication.follow(
              platform.bootstrap(), RunCommand.readJson(request), Path.of(reports));
        }
      }
      return platform.runServices(
          Platform.freePort(),
          FollowApplication.class,
          platform.bootstrap(),
          request.toString(),
          reports);
    }
  }
}
