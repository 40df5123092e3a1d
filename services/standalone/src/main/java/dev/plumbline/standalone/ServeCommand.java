package dev.plumbline.standalone;

import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Everything in one JVM, or as processes, until stopped. */
@Command(
    name = "serve",
    description = "Runs all services with embedded Kafka, dashboard and REST API, until stopped.",
    mixinStandardHelpOptions = true)
final class ServeCommand implements Callable<Integer> {

  @Option(
      names = "--port",
      defaultValue = "8080",
      description = "Port of dashboard and REST (default: ${DEFAULT-VALUE}).")
  private int port;

  @Option(
      names = "--kafka-port",
      defaultValue = "9092",
      description = "Port of the embedded Kafka (default: ${DEFAULT-VALUE}).")
  private int kafkaPort;

  @Option(names = "--bootstrap", description = "Use this Kafka instead of the embedded one.")
  private String bootstrap;

  @Option(names = "--data", description = "Data folder (default: ~/.plumbline).")
  private Path data;

  @Option(
      names = "--hosts",
      description = "Host inventory (default: hosts.yaml in the data folder).")
  private Path hosts;

  @Option(
      names = "--lab",
      arity = "0..1",
      fallbackValue = "kimi-k2.5-int4-8x-pcie",
      paramLabel = "SCENARIO",
      description = "Add the simulated lab as host lab-1 (default scenario: ${FALLBACK-VALUE}).")
  private String scenario;

  @Option(names = "--processes", description = "Run each service as a process of its own.")
  private boolean processes;

  @Override
  public Integer call() throws Exception {
    Path folder = data == null ? Defaults.dataFolder() : data;
    if (processes) {
      ServiceProcesses.endLeftovers(folder);
    }
    Platform.requireFree(port, "--port");
    System.err.println("Starting Plumbline in " + folder + " ...");
    try (Platform platform =
        Platform.start(new PlatformOptions(folder, bootstrap, kafkaPort, hosts, scenario))) {
      String ready = greeting(platform);
      if (processes) {
        try (ServiceProcesses services = ServiceProcesses.start(platform, port)) {
          System.err.println(ready);
          return services.waitForEnd();
        }
      }
      return platform.runServices(port, ServeApplication.class, ready);
    }
  }

  private String greeting(Platform platform) {
    StringBuilder text = new StringBuilder("Ready.\n");
    text.append("  dashboard and REST  http://localhost:").append(port).append("/\n");
    text.append("  Kafka               ").append(platform.bootstrap()).append('\n');
    text.append("  data and logs       ").append(platform.data()).append('\n');
    if (platform.lab() != null) {
      text.append("  simulated lab       host lab-1, ")
          .append(platform.lab().httpUrl())
          .append('\n');
      text.append("  a request for it    ")
          .append(platform.data().resolve(Platform.LAB_REQUEST))
          .append('\n');
    }
    return text.append("Stop with Ctrl-C.").toString();
  }
}
