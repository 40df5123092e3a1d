package dev.plumbline.schemas;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.lang.reflect.Type;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Schemas, examples and records say the same. */
class SchemaContractTest {

  static List<Path> examples() {
    return Language.examples();
  }

  static List<String> messages() {
    return List.copyOf(Language.messages().keySet());
  }

  static List<Path> schemas() throws IOException {
    try (Stream<Path> files = Files.list(Language.SCHEMAS)) {
      return files.sorted().toList();
    }
  }

  @ParameterizedTest
  @MethodSource("examples")
  void exampleSurvivesTheRecord(Path example) {
    Class<?> message = Language.messageOf(example);
    JsonNode json = Language.json(example);
    assertThat(Language.faults(message.getSimpleName(), json)).isEmpty();

    Object record = Language.decode(json, message);
    JsonNode back = Language.encode(record);

    assertThat(record).isInstanceOf(message);
    assertThat(Language.faults(message.getSimpleName(), back)).isEmpty();
    assertThat(canonical(back)).isEqualTo(canonical(json));
    assertThat(Language.decode(back, message)).isEqualTo(record);
  }

  @ParameterizedTest
  @MethodSource("messages")
  void messageHasSchemaAndExamples(String message) {
    assertThat(Language.schemaFile(message)).isRegularFile();
    assertThat(Language.EXAMPLES.resolve("v1").resolve(message + ".json")).isRegularFile();
  }

  /** So that no optional field goes untested. */
  @Test
  void examplesTogetherUseEveryFieldOfEveryRecord() {
    Set<String> used = new TreeSet<>();
    Set<String> known = new TreeSet<>();
    for (Path example : Language.examples()) {
      Language.records(
          Language.json(example),
          Language.messageOf(example),
          (object, type) -> {
            object.fieldNames().forEachRemaining(f -> used.add(type.getSimpleName() + "." + f));
            Language.fields(type).keySet().forEach(f -> known.add(type.getSimpleName() + "." + f));
          });
    }

    assertThat(used).containsAll(known);
  }

  @ParameterizedTest
  @MethodSource("schemas")
  void schemaIsNamedByItsFile(Path file) {
    JsonNode schema = Language.json(file);
    String name = file.getFileName().toString().replace(".json", "");

    assertThat(schema.get("$schema").asText())
        .isEqualTo("https://json-schema.org/draft/2020-12/schema");
    assertThat(schema.get("$id").asText()).isEqualTo(Language.BASE + name + ".json");
    assertThat(schema.get("title").asText()).isEqualTo(name);
    assertThat(schema.get("description").asText()).isNotBlank();
    assertThat(Language.faultsAsSchema(schema)).isEmpty();
    assertThat(schema.findValues("additionalProperties"))
        .as("readers stay open")
        .allMatch(JsonNode::isObject);
  }

  @Test
  void publishedSchemasAreOnTheClassPath() {
    assertThat(getClass().getResource("/plumbline/schemas/CampaignRequested.json")).isNotNull();
    assertThat(getClass().getResource("/plumbline/examples/v1/CampaignRequested.json")).isNotNull();
  }

  @ParameterizedTest
  @MethodSource("messages")
  void schemaDescribesExactlyTheRecord(String message) {
    Class<?> type = Language.messages().get(message);

    List<String> differences = new SchemaMatch().differences(message, type);

    assertThat(differences).isEmpty();
  }

  @Test
  void noSchemaIsLeftOver() throws IOException {
    Set<String> reachable = new TreeSet<>();
    Deque<String> open = new ArrayDeque<>(messages());
    while (!open.isEmpty()) {
      String name = open.pop();
      if (reachable.add(name)) {
        Language.json(Language.schemaFile(name)).findValuesAsText("$ref").stream()
            .map(ref -> ref.replaceFirst("\\.json.*|#.*", ""))
            .filter(ref -> !ref.isEmpty())
            .forEach(open::push);
      }
    }

    assertThat(schemas().stream().map(f -> f.getFileName().toString().replace(".json", "")))
        .containsExactlyInAnyOrderElementsOf(reachable);
  }

  @Test
  void everyCommandIsOnTheTopicOfItsWorker() {
    Set<Class<?>> onTopics =
        Arrays.stream(Worker.values())
            .flatMap(w -> w.commands().types().stream())
            .collect(Collectors.toSet());

    assertThat(onTopics)
        .isEqualTo(
            Language.leaves(dev.plumbline.schemas.command.Command.class)
                .collect(Collectors.toSet()));
  }

  @Test
  void discriminatorIsTheRecordsName() {
    Language.messages()
        .forEach(
            (name, type) -> {
              if (Language.discriminated(type)) {
                JsonNode schema = Language.json(Language.schemaFile(name));
                assertThat(schema.at("/properties/type/const").asText()).isEqualTo(name);
              }
            });
  }

  /** Sorted keys, numbers by value: 900 and 900.0 are the same in JSON. */
  private static String canonical(JsonNode node) {
    if (node.isObject()) {
      return node.properties().stream()
          .map(f -> f.getKey() + ":" + canonical(f.getValue()))
          .sorted()
          .collect(Collectors.joining(",", "{", "}"));
    }
    if (node.isArray()) {
      return node.valueStream()
          .map(SchemaContractTest::canonical)
          .collect(Collectors.joining(",", "[", "]"));
    }
    return node.isNumber()
        ? node.decimalValue().stripTrailingZeros().toPlainString()
        : node.toString();
  }

  /** Walks a schema and a record type side by side. */
  private static final class SchemaMatch {
    private final List<String> differences = new java.util.ArrayList<>();
    private final Set<String> seen = new TreeSet<>();

    List<String> differences(String name, Class<?> type) {
      JsonNode document = Language.json(Language.schemaFile(name));
      match(document, document, type, name, Language.discriminated(type));
      return differences;
    }

    private void match(JsonNode schema, JsonNode document, Type type, String at, boolean tagged) {
      if (schema.has("$ref")) {
        String[] ref = schema.get("$ref").asText().split("#", -1);
        JsonNode target =
            ref[0].isEmpty() ? document : Language.json(Language.SCHEMAS.resolve(ref[0]));
        JsonNode part = ref.length == 1 || ref[1].isEmpty() ? target : target.at(ref[1]);
        if (seen.add(schema.get("$ref").asText() + " " + type + " " + ref[0])) {
          match(part, target, type, at, tagged);
        }
      } else if (type instanceof java.lang.reflect.ParameterizedType generic) {
        Type[] arguments = generic.getActualTypeArguments();
        boolean list = generic.getRawType() == List.class;
        expect(schema, list ? "array" : "object", at);
        JsonNode element = schema.path(list ? "items" : "additionalProperties");
        match(element, document, arguments[arguments.length - 1], at + "[]", false);
      } else if (((Class<?>) type).isRecord()) {
        record(schema, document, (Class<?>) type, at, tagged);
      } else {
        plain(schema, (Class<?>) type, at);
      }
    }

    private void record(
        JsonNode schema, JsonNode document, Class<?> type, String at, boolean tagged) {
      expect(schema, "object", at);
      Set<String> described = new TreeSet<>();
      schema.path("properties").fieldNames().forEachRemaining(described::add);
      Set<String> real = new TreeSet<>(Language.fields(type).keySet());
      if (tagged) {
        real.add("type");
      }
      if (!described.equals(real)) {
        differences.add(at + " describes " + described + " but the record has " + real);
      }
      Set<String> required = new TreeSet<>();
      schema.path("required").forEach(r -> required.add(r.asText()));
      if (!described.containsAll(required)) {
        differences.add(at + " requires " + required + " of which some are not described");
      }
      Language.fields(type)
          .forEach(
              (name, field) ->
                  match(schema.at("/properties/" + name), document, field, at + "." + name, false));
    }

    private void plain(JsonNode schema, Class<?> type, String at) {
      if (type.isEnum()) {
        Set<String> words = new TreeSet<>();
        schema.at("/anyOf/0/enum").forEach(w -> words.add(w.asText()));
        Set<String> known = new TreeSet<>();
        for (Object constant : type.getEnumConstants()) {
          known.add(Language.encode(constant).asText());
        }
        known.remove("unknown");
        words.remove("unknown");
        if (!words.equals(known)) {
          differences.add(at + " lists " + words + " but the enum has " + known);
        }
        if (!schema.at("/anyOf/1/type").asText().equals("string")) {
          differences.add(at + " is closed to words of newer versions");
        }
        return;
      }
      if (type == java.time.Instant.class) {
        expect(schema, "string", at);
        if (!schema.path("format").asText().equals("date-time")) {
          differences.add(at + " is no date-time");
        }
        return;
      }
      String expected =
          switch (type.getSimpleName()) {
            case "String" -> "string";
            case "int", "Integer", "long", "Long" -> "integer";
            case "double", "Double" -> "number";
            case "boolean", "Boolean" -> "boolean";
            default -> "nothing known for " + type;
          };
      // Words that are free text in Java carry their known values as an open enum.
      String said = schema.has("anyOf") ? schema.at("/anyOf/1/type").asText() : null;
      if (said == null) {
        expect(schema, expected, at);
      } else if (!said.equals(expected)) {
        differences.add(at + " is " + said + " but the record has " + expected);
      }
    }

    private void expect(JsonNode schema, String type, String at) {
      if (!schema.path("type").asText().equals(type)) {
        differences.add(at + " is " + schema.path("type") + " but the record has " + type);
      }
    }
  }
}
