package dev.plumbline.standalone;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.plumbline.gpulifecycle.HostInspection;
import dev.plumbline.gpulifecycle.HostText;
import dev.plumbline.schemas.Json;
import dev.plumbline.schemas.campaign.ServiceUnderTest;
import dev.plumbline.schemas.campaign.ServiceUnderTest.Strategy;
import dev.plumbline.schemas.host.HostSnapshot;
import dev.plumbline.workerkit.HostAccess;
import dev.plumbline.workerkit.HostException;
import dev.plumbline.workerkit.HostInventory;
import dev.plumbline.workerkit.Hosts;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Hosts of the inventory. */
@Command(
    name = "hosts",
    description = "Lists the hosts of the inventory, or inspects one.",
    mixinStandardHelpOptions = true,
    subcommands = HostsCommand.Inspect.class)
final class HostsCommand implements Callable<Integer> {

  /** Where the inventory lies. */
  static final class Inventory {
    @Option(names = "--data", description = "Data folder (default: ~/.plumbline).")
    private Path data;

    @Option(
        names = "--hosts",
        description = "Host inventory (default: hosts.yaml in the data folder).")
    private Path hosts;

    HostInventory read() {
      Path folder = data == null ? Defaults.dataFolder() : data;
      return Defaults.read(Defaults.inventory(folder, hosts));
    }
  }

  @Mixin private Inventory inventory;

  @Override
  public Integer call() {
    inventory.read().names().forEach(System.out::println);
    return Main.DONE;
  }

  @Command(
      name = "inspect",
      description = "Shows what holds the GPUs of a host and what a campaign would stop.",
      mixinStandardHelpOptions = true)
  static final class Inspect implements Callable<Integer> {

    enum Format {
      text,
      json
    }

    @Mixin private Inventory inventory;

    @Parameters(paramLabel = "HOST", description = "Name in the inventory, or local.")
    private String host;

    @Option(
        names = "--unit",
        description = "systemd unit of the server that a campaign would stop.")
    private String unit;

    @Option(
        names = "--format",
        defaultValue = "text",
        description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    private Format format;

    @Override
    public Integer call() throws JsonProcessingException {
      HostSnapshot snapshot = inspect();
      System.out.print(
          switch (format) {
            case text -> HostText.render(snapshot);
            case json ->
                Json.mapper().writerWithDefaultPrettyPrinter().writeValueAsString(snapshot) + "\n";
          });
      System.out.flush();
      return Main.DONE;
    }

    private HostSnapshot inspect() {
      ServiceUnderTest service =
          unit == null
              ? null
              : new ServiceUnderTest(Strategy.SYSTEMD, unit, null, null, null, null, null);
      HostInventory hosts = inventory.read();
      try (HostAccess access = new Hosts(() -> hosts).connect(host)) {
        return HostInspection.withDefaults().inspect(access, service);
      } catch (HostException e) {
        throw new UserError(
            e.code().equals("unknown-host") ? Main.USAGE : Main.FAILED, e.getMessage());
      }
    }
  }
}
