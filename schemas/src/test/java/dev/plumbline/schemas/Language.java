package dev.plumbline.schemas;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaLocation;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import dev.plumbline.schemas.campaign.CampaignReport;
import dev.plumbline.schemas.load.LoadReport;
import dev.plumbline.schemas.micro.MicroReport;
import dev.plumbline.schemas.trace.TraceReport;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.stream.Stream;

/** The published files beside the records, as the contract tests look at them. */
final class Language {

  static final Path SCHEMAS = Path.of("json");
  static final Path EXAMPLES = Path.of("examples");
  static final String BASE = "https://plumbline.dev/schemas/v1/";

  private static final SchemaRegistry REGISTRY =
      SchemaRegistry.withDefaultDialect(
          SpecificationVersion.DRAFT_2020_12,
          registry -> registry.schemas(url -> url.startsWith(BASE) ? text(file(url)) : null));

  private Language() {}

  /** Every message on a topic and every output of the command line, by name. */
  static Map<String, Class<?>> messages() {
    Map<String, Class<?>> all = new TreeMap<>();
    Stream.concat(
            Arrays.stream(Topic.values()).flatMap(t -> t.types().stream()),
            Stream.of(TraceReport.class, LoadReport.class, MicroReport.class, CampaignReport.class))
        .flatMap(Language::leaves)
        .forEach(type -> all.put(type.getSimpleName(), type));
    return all;
  }

  /** The records that a sealed type permits, or the record itself. */
  static Stream<Class<?>> leaves(Class<?> type) {
    return type.isSealed()
        ? Arrays.stream(type.getPermittedSubclasses()).flatMap(Language::leaves)
        : Stream.of(type);
  }

  /** The sealed type whose {@code type} field tells records like this one apart; else itself. */
  static Class<?> readAs(Class<?> message) {
    for (Class<?> parent : message.getInterfaces()) {
      Class<?> root = readAs(parent);
      if (root.isAnnotationPresent(JsonSubTypes.class)) {
        return root;
      }
    }
    return message;
  }

  static boolean discriminated(Class<?> message) {
    return readAs(message) != message;
  }

  /** Every frozen example of every version. */
  static List<Path> examples() {
    try (Stream<Path> files = Files.walk(EXAMPLES)) {
      return files.filter(f -> f.toString().endsWith(".json")).sorted().toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The message that an example is of: its file name up to the first hyphen. */
  static Class<?> messageOf(Path example) {
    String name = example.getFileName().toString().replaceFirst("[-.].*", "");
    Class<?> message = messages().get(name);
    if (message == null) {
      throw new IllegalArgumentException(example + " is an example of no known message");
    }
    return message;
  }

  static Object decode(JsonNode json, Class<?> message) {
    return Json.read(Json.bytes(json), readAs(message));
  }

  static JsonNode encode(Object record) {
    return json(new String(Json.bytes(record), java.nio.charset.StandardCharsets.UTF_8));
  }

  static JsonNode json(String text) {
    try {
      return Json.mapper().readTree(text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static JsonNode json(Path file) {
    return json(text(file));
  }

  static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static Path file(String url) {
    return SCHEMAS.resolve(url.substring(BASE.length()));
  }

  static Path schemaFile(String name) {
    return SCHEMAS.resolve(name + ".json");
  }

  /** What the schema of that name has against the document; empty when it is valid. */
  static List<String> faults(String schema, JsonNode document) {
    Schema compiled = REGISTRY.getSchema(SchemaLocation.of(BASE + schema + ".json"));
    return compiled
        .validate(
            document,
            context -> context.executionConfig(config -> config.formatAssertionsEnabled(true)))
        .stream()
        .map(Object::toString)
        .toList();
  }

  /** What the meta-schema of JSON Schema 2020-12 has against a schema. */
  static List<String> faultsAsSchema(JsonNode schema) {
    return REGISTRY
        .getSchema(SchemaLocation.of("https://json-schema.org/draft/2020-12/schema"))
        .validate(schema)
        .stream()
        .map(Object::toString)
        .toList();
  }

  /** The JSON names and Java types of a record's fields. */
  static Map<String, Type> fields(Class<?> type) {
    Map<String, Type> fields = new LinkedHashMap<>();
    for (RecordComponent component : type.getRecordComponents()) {
      JsonProperty renamed = component.getAccessor().getAnnotation(JsonProperty.class);
      fields.put(
          renamed == null ? component.getName() : renamed.value(), component.getGenericType());
    }
    return fields;
  }

  /** Visits every object in {@code json} that is a record, innermost first. */
  static void records(JsonNode json, Type type, BiConsumer<ObjectNode, Class<?>> visitor) {
    if (type instanceof ParameterizedType generic) {
      Type[] arguments = generic.getActualTypeArguments();
      json.forEach(child -> records(child, arguments[arguments.length - 1], visitor));
    } else if (json instanceof ObjectNode object && ((Class<?>) type).isRecord()) {
      fields((Class<?>) type)
          .forEach(
              (name, fieldType) -> {
                if (object.has(name)) {
                  records(object.get(name), fieldType, visitor);
                }
              });
      visitor.accept(object, (Class<?>) type);
    }
  }
}
