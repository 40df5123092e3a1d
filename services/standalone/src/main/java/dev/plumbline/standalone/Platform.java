package dev.plumbline.standalone;

import dev.plumbline.embeddedkafka.EmbeddedKafka;
import dev.plumbline.embeddedkafka.TopicCatalogue;
import dev.plumbline.lab.Lab;
import dev.plumbline.lab.LabOptions;
import dev.plumbline.lab.Scenario;
import io.quarkus.runtime.Quarkus;
import io.quarkus.runtime.QuarkusApplication;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/**
 * What must stand before the services start, and fall after they stop: the broker with its topics,
 * and the simulated lab when one is wanted. The services read where these are from system
 * properties.
 */
final class Platform implements AutoCloseable {

  /** In the data folder, when there is a lab: a request that a user can publish as it is. */
  static final String LAB_REQUEST = "lab-request.json";

  private final Path data;
  private final EmbeddedKafka broker;
  private final String bootstrap;
  private final Lab lab;

  private Platform(Path data, EmbeddedKafka broker, String bootstrap, Lab lab) {
    this.data = data;
    this.broker = broker;
    this.bootstrap = bootstrap;
    this.lab = lab;
  }

  /**
   * Starts the broker, unless there is one, and the lab, if wanted.
   *
   * @throws UserError when the data folder or a port cannot be had
   */
  static Platform start(PlatformOptions options) {
    Scenario scenario = options.scenario() == null ? null : scenario(options.scenario());
    Path data = folder(options.data());
    Path hosts = Defaults.inventory(data, options.hosts());
    Defaults.read(hosts);
    EmbeddedKafka broker = null;
    Lab lab = null;
    try {
      String bootstrap = options.bootstrap();
      if (bootstrap == null) {
        requireFree(options.kafkaPort(), "--kafka-port");
        broker = EmbeddedKafka.start(data.resolve("kafka"), options.kafkaPort());
        bootstrap = broker.bootstrapServers();
      }
      TopicCatalogue.create(bootstrap);
      if (scenario != null) {
        lab = Lab.start(data.resolve("lab"), scenario, LabOptions.defaults());
        hosts = LabInventory.write(data, hosts, lab);
        Files.writeString(data.resolve(LAB_REQUEST), lab.sampleRequest("lab-campaign") + "\n");
      }
      Platform platform = new Platform(data, broker, bootstrap, lab);
      platform.publishSettings(hosts);
      return platform;
    } catch (RuntimeException | IOException e) {
      closeQuietly(lab);
      closeQuietly(broker);
      throw e instanceof UserError mistake
          ? mistake
          : new UserError(
              Main.FAILED, "Plumbline could not start on " + data + ": " + e.getMessage());
    }
  }

  /**
   * Runs all services in this JVM, with {@code application} as what keeps them up; returns its exit
   * code.
   */
  int runServices(int port, Class<? extends QuarkusApplication> application, String... args) {
    requireFree(port, "--port");
    System.setProperty("quarkus.http.port", Integer.toString(port));
    System.setProperty("quarkus.kafka-streams.application-server", "localhost:" + port);
    AtomicInteger exit = new AtomicInteger(Main.FAILED);
    AtomicReference<Throwable> failure = new AtomicReference<>();
    Quarkus.run(
        application,
        (code, error) -> {
          exit.set(code);
          failure.set(error);
        },
        args);
    if (failure.get() != null) {
      throw new UserError(Main.FAILED, "The services stopped: " + failure.get().getMessage());
    }
    return exit.get();
  }

  private void publishSettings(Path hosts) {
    System.setProperty("kafka.bootstrap.servers", bootstrap);
    System.setProperty("quarkus.kafka-streams.bootstrap-servers", bootstrap);
    System.setProperty("kafka-streams.state.dir", data.resolve("streams").toString());
    System.setProperty("quarkus.log.file.path", data.resolve("logs/plumbline.log").toString());
    System.setProperty("plumbline.data-dir", data.toString());
    System.setProperty("plumbline.hosts-file", hosts.toString());
  }

  String bootstrap() {
    return bootstrap;
  }

  Path data() {
    return data;
  }

  /** The simulated lab; null when none was wanted. */
  Lab lab() {
    return lab;
  }

  @Override
  public void close() {
    closeQuietly(lab);
    closeQuietly(broker);
  }

  private static void closeQuietly(AutoCloseable part) {
    if (part == null) {
      return;
    }
    try {
      part.close();
    } catch (Exception e) {
      System.err.println("While stopping: " + e.getMessage());
    }
  }

  private static Scenario scenario(String nameOrFile) {
    try {
      Path file = Path.of(nameOrFile);
      return Files.exists(file) ? Scenario.file(file) : Scenario.named(nameOrFile);
    } catch (IllegalArgumentException e) {
      throw UserError.badInput("The lab cannot be set up: " + e.getMessage());
    }
  }

  private static Path folder(Path data) {
    try {
      Path folder = Files.createDirectories(data.toAbsolutePath().normalize());
      if (!Files.isWritable(folder)) {
        throw UserError.badInput(
            "The data folder " + data + " is not writable; choose another with --data.");
      }
      return folder;
    } catch (IOException e) {
      throw UserError.badInput(
          "The data folder "
              + data
              + " cannot be made: "
              + UserError.reason(e)
              + "; choose another with --data.");
    }
  }

  /** Says at once, and not after the broker's start, that a port cannot be had. */
  static void requireFree(int port, String option) {
    if (port == 0) {
      return;
    }
    if (port < 0 || port > 65_535) {
      throw UserError.badInput(option + " is from 0 to 65535, not " + port + ".");
    }
    try (ServerSocket probe = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
      probe.setReuseAddress(true);
    } catch (IOException e) {
      throw UserError.badInput("Port " + port + " is in use; choose another with " + option + ".");
    }
  }

  /** A port that was free a moment ago. */
  static int freePort() {
    try (ServerSocket probe = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return probe.getLocalPort();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
