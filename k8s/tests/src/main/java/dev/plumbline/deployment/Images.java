package dev.plumbline.deployment;

import com.google.cloud.tools.jib.api.Containerizer;
import com.google.cloud.tools.jib.api.InvalidImageReferenceException;
import com.google.cloud.tools.jib.api.Jib;
import com.google.cloud.tools.jib.api.JibContainerBuilder;
import com.google.cloud.tools.jib.api.Ports;
import com.google.cloud.tools.jib.api.RegistryImage;
import com.google.cloud.tools.jib.api.TarImage;
import com.google.cloud.tools.jib.api.buildplan.AbsoluteUnixPath;
import com.google.cloud.tools.jib.api.buildplan.FileEntriesLayer;
import com.google.cloud.tools.jib.api.buildplan.FilePermissions;
import com.google.cloud.tools.jib.frontend.CredentialRetrieverFactory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import java.util.stream.Stream;

/**
 * Builds the container images of all services with Jib: no Docker, no Dockerfile.
 *
 * <p>Arguments: {@code [--base IMAGE] [--registry HOST/PATH | --tar FOLDER] [SERVICE…]}. Without a
 * registry each image becomes a file for {@code docker load}.
 */
public final class Images {

  static final String VERSION = "0.1.0-SNAPSHOT";
  static final String LAB = "lab-simulator";
  static final List<String> SERVICES =
      List.of(
          "campaign",
          "gpu-lifecycle",
          "script-deployment",
          "macro-load",
          "micro-bench",
          "trace-analysis",
          "bottleneck-attribution",
          LAB);

  /** Of Debian or Ubuntu kind: RocksDB needs glibc, the simulated lab bash and util-linux. */
  private static final String BASE = "eclipse-temurin:25-jre";

  private static final String USER = "1001:1001";
  private static final List<String> JVM =
      List.of(
          "java",
          "-XX:MaxRAMPercentage=70",
          "-XX:+UseSerialGC",
          "-XX:+ExitOnOutOfMemoryError",
          "-XX:+IgnoreUnrecognizedVMOptions",
          "--sun-misc-unsafe-memory-access=allow",
          "--enable-native-access=ALL-UNNAMED");

  private final Path repository;
  private final String base;

  /**
   * @param repository the root of the built working tree
   * @param base reference of the image to build upon, or {@code scratch}
   */
  Images(Path repository, String base) {
    this.repository = repository;
    this.base = base;
  }

  public static void main(String[] args) throws Exception {
    try {
      run(args);
    } catch (IllegalArgumentException | IllegalStateException e) {
      System.err.println(e.getMessage());
      System.exit(2);
    }
  }

  static void run(String[] args) throws Exception {
    String base = BASE;
    String registry = null;
    Path tars = Path.of("target", "images");
    List<String> wanted = new ArrayList<>();
    for (int i = 0; i < args.length; i++) {
      switch (args[i]) {
        case "--base" -> base = valueOf(args, i++);
        case "--registry" -> registry = valueOf(args, i++);
        case "--tar" -> tars = Path.of(valueOf(args, i++));
        default -> wanted.add(known(args[i]));
      }
    }
    Images images = new Images(root(), base);
    for (String service : wanted.isEmpty() ? SERVICES : wanted) {
      System.err.println("image " + service);
      if (registry == null) {
        Files.createDirectories(tars);
        images.toTar(service, tars.resolve(service + ".tar"));
      } else {
        images.toRegistry(service, registry + "/" + service + ":" + VERSION);
      }
    }
  }

  private static String valueOf(String[] args, int option) {
    if (option + 1 >= args.length) {
      throw new IllegalArgumentException(args[option] + " needs a value");
    }
    return args[option + 1];
  }

  private static String known(String service) {
    if (!SERVICES.contains(service)) {
      throw new IllegalArgumentException("no service " + service + ": there are " + SERVICES);
    }
    return service;
  }

  /** The nearest folder above the current one that holds the compose file. */
  static Path root() {
    Path folder = Path.of("").toAbsolutePath();
    while (folder != null && !Files.exists(folder.resolve("docker-compose.yml"))) {
      folder = folder.getParent();
    }
    if (folder == null) {
      throw new IllegalStateException(
          "not inside a working tree: docker-compose.yml is in no folder above "
              + Path.of("").toAbsolutePath());
    }
    return folder;
  }

  void toTar(String service, Path file) throws Exception {
    String name = "plumbline/" + service + ":" + VERSION;
    Containerizer to = Containerizer.to(TarImage.at(file).named(name));
    container(service).containerize(to.setOfflineMode(base.equals("scratch")));
  }

  private void toRegistry(String service, String name) throws Exception {
    RegistryImage image = RegistryImage.named(name);
    // Where `docker login` or a credential helper has put the credentials.
    CredentialRetrieverFactory credentials =
        CredentialRetrieverFactory.forImage(
            com.google.cloud.tools.jib.api.ImageReference.parse(name), log -> {});
    image.addCredentialRetriever(credentials.dockerConfig());
    container(service).containerize(Containerizer.to(image));
  }

  private JibContainerBuilder container(String service)
      throws IOException, InvalidImageReferenceException {
    return service.equals(LAB) ? lab() : quarkus(service);
  }

  private JibContainerBuilder quarkus(String service)
      throws IOException, InvalidImageReferenceException {
    Path app = built(repository.resolve("services/" + service + "/target/quarkus-app"), service);
    List<String> entry = new ArrayList<>(JVM);
    entry.add("-Djava.util.logging.manager=org.jboss.logmanager.LogManager");
    entry.addAll(List.of("-jar", "/app/quarkus-run.jar"));
    // Libraries change rarely, so they are a layer of their own below the application.
    return from(entry, "/data")
        .addFileEntriesLayer(layer("libraries", app.resolve("lib"), "/app/lib"))
        .addFileEntriesLayer(
            FileEntriesLayer.builder()
                .setName("application")
                .addEntryRecursive(app.resolve("app"), AbsoluteUnixPath.get("/app/app"))
                .addEntryRecursive(app.resolve("quarkus"), AbsoluteUnixPath.get("/app/quarkus"))
                .addEntry(
                    app.resolve("quarkus-run.jar"), AbsoluteUnixPath.get("/app/quarkus-run.jar"))
                .build())
        .setExposedPorts(Ports.parse(List.of(port(service))));
  }

  private JibContainerBuilder lab() throws IOException, InvalidImageReferenceException {
    Path lib = built(repository.resolve("k8s/tests/target/lab-simulator/lib"), LAB);
    List<String> entry = new ArrayList<>(JVM);
    entry.addAll(List.of("-cp", "/app/lib/*", "dev.plumbline.lab.Lab"));
    return from(entry, "/hosts")
        .addFileEntriesLayer(layer("libraries", lib, "/app/lib"))
        .setExposedPorts(Ports.parse(List.of("2222", "8000")));
  }

  /**
   * @param data folder that the user of the image owns; a volume mounted there starts with its
   *     owner
   */
  private JibContainerBuilder from(List<String> entry, String data)
      throws IOException, InvalidImageReferenceException {
    Path empty = Files.createDirectories(repository.resolve("k8s/tests/target/empty"));
    JibContainerBuilder builder = base.equals("scratch") ? Jib.fromScratch() : Jib.from(base);
    return builder
        .setUser(USER)
        .setEntrypoint(entry)
        .addEnvironmentVariable("HOME", data)
        .addFileEntriesLayer(
            FileEntriesLayer.builder()
                .setName("data")
                .addEntry(
                    empty,
                    AbsoluteUnixPath.get(data),
                    FilePermissions.fromOctalString("755"),
                    FileEntriesLayer.DEFAULT_MODIFICATION_TIME,
                    USER)
                .build());
  }

  private static FileEntriesLayer layer(String name, Path folder, String at) throws IOException {
    return FileEntriesLayer.builder()
        .setName(name)
        .addEntryRecursive(folder, AbsoluteUnixPath.get(at))
        .build();
  }

  private static Path built(Path folder, String service) throws IOException {
    boolean built = Files.isDirectory(folder);
    if (built) {
      try (Stream<Path> content = Files.list(folder)) {
        built = content.findAny().isPresent();
      }
    }
    if (!built) {
      throw new IllegalStateException(
          String.format(
              Locale.ROOT,
              "%s is not built: %s is missing; run ./mvnw install -DskipTests",
              service,
              folder));
    }
    return folder;
  }

  /** The port that the service listens on by its own properties. */
  private String port(String service) throws IOException {
    Path file =
        repository.resolve("services/" + service + "/src/main/resources/application.properties");
    Properties properties = new Properties();
    try (var reader = Files.newBufferedReader(file)) {
      properties.load(reader);
    }
    String port = properties.getProperty("quarkus.http.port");
    if (port == null) {
      throw new IllegalStateException(file + " has no quarkus.http.port");
    }
    return port;
  }
}
