package dev.plumbline.deployment;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What the sources say about topics, ports and configuration keys. */
final class Repository {

  static final Path ROOT = Images.root();

  /** The services that are Quarkus applications of their own. */
  static final List<String> SERVICES =
      Images.SERVICES.stream().filter(service -> !service.equals(Images.LAB)).toList();

  /** Read by the platform and not declared in any of our files. */
  private static final Set<String> PLATFORM_KEYS =
      Set.of("kafka.bootstrap.servers", "quarkus.http.port", "quarkus.log.level");

  private static final Pattern CONFIG_PROPERTY =
      Pattern.compile("@ConfigProperty\\(\\s*name\\s*=\\s*\"([^\"]+)\"");
  private static final Pattern MAPPING =
      Pattern.compile("@ConfigMapping\\(\\s*prefix\\s*=\\s*\"([^\"]+)\"");
  private static final Pattern MAPPED =
      Pattern.compile("^  [\\w.<>]+ (\\w+)\\(\\);", Pattern.MULTILINE);
  private static final Pattern LOOK_UP =
      Pattern.compile("get(?:Optional)?Value\\(\\s*\"([a-z][\\w.-]+)\"");

  private Repository() {}

  /** Every topic that must exist: partitions and configuration by name. */
  static Map<String, Map<String, String>> catalogue() {
    Map<String, Map<String, String>> topics = new TreeMap<>();
    for (var topic : dev.plumbline.schemas.Topic.values()) {
      topics.put(topic.topicName(), with(topic.config(), topic.partitions()));
      topic
          .deadLetterTopic()
          .ifPresent(
              name -> topics.put(name, with(dev.plumbline.schemas.Topic.deadLetterConfig(), 1)));
    }
    return topics;
  }

  private static Map<String, String> with(Map<String, String> config, int partitions) {
    Map<String, String> all = new TreeMap<>(config);
    all.put("partitions", Integer.toString(partitions));
    return all;
  }

  static String port(String service) {
    Properties properties = new Properties();
    Path file = ROOT.resolve("services/" + service + "/src/main/resources/application.properties");
    try (var reader = Files.newBufferedReader(file)) {
      properties.load(reader);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return properties.getProperty("quarkus.http.port");
  }

  /** The environment names of all configuration keys that the service reads. */
  static Set<String> environment(String service) {
    Set<String> keys = new TreeSet<>(PLATFORM_KEYS);
    boolean worker =
        text(ROOT.resolve("services/" + service + "/pom.xml"))
            .contains("<artifactId>worker-kit</artifactId>");
    for (String module : worker ? List.of(service, "worker-kit") : List.of(service)) {
      Path sources = ROOT.resolve("services/" + module + "/src/main");
      for (Path file : files(sources, ".properties")) {
        Properties properties = new Properties();
        try (var reader = Files.newBufferedReader(file)) {
          properties.load(reader);
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
        keys.addAll(properties.stringPropertyNames());
      }
      for (Path file : files(sources, ".java")) {
        keys.addAll(keysIn(text(file)));
      }
    }
    return keys.stream().map(Repository::environmentName).collect(Collectors.toSet());
  }

  private static Set<String> keysIn(String source) {
    Set<String> keys = new TreeSet<>();
    CONFIG_PROPERTY.matcher(source).results().forEach(m -> keys.add(m.group(1)));
    LOOK_UP.matcher(source).results().forEach(m -> keys.add(m.group(1)));
    Optional<String> prefix = MAPPING.matcher(source).results().map(m -> m.group(1)).findFirst();
    prefix.ifPresent(
        p -> MAPPED.matcher(source).results().forEach(m -> keys.add(p + "." + kebab(m.group(1)))));
    return keys;
  }

  private static String kebab(String name) {
    return name.replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
  }

  /** As MicroProfile Config maps a key to an environment variable. */
  static String environmentName(String key) {
    return key.replaceAll("[^A-Za-z0-9]", "_").toUpperCase(Locale.ROOT);
  }

  static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static List<Path> files(Path folder, String suffix) {
    if (!Files.isDirectory(folder)) {
      return List.of();
    }
    try (Stream<Path> all = Files.walk(folder)) {
      return all.filter(f -> f.toString().endsWith(suffix)).sorted().toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
