package dev.plumbline.schemas;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.plumbline.schemas.attribution.StepSample;
import dev.plumbline.schemas.campaign.Deadlines;
import dev.plumbline.schemas.trace.Component;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Old and new versions understand each other. */
class EvolutionTest {

  static List<Path> examples() {
    return Language.examples();
  }

  /**
   * What was once published is never changed: {@code FROZEN.sha256} (the form of sha256sum) lists
   * every example. A new example is added to the list, an old line is never edited.
   */
  @Test
  void frozenExamplesAreUnchanged() throws IOException {
    Map<String, String> frozen = new TreeMap<>();
    for (String line : Files.readAllLines(Language.EXAMPLES.resolve("FROZEN.sha256"))) {
      frozen.put(line.substring(66), line.substring(0, 64));
    }
    Map<String, String> present = new TreeMap<>();
    for (Path example : Language.examples()) {
      present.put(
          Language.EXAMPLES.relativize(example).toString().replace('\\', '/'), sha256(example));
    }

    assertThat(present).isEqualTo(frozen);
  }

  @ParameterizedTest
  @MethodSource("examples")
  void readerToleratesNewFieldsEverywhere(Path example) {
    Class<?> message = Language.messageOf(example);
    JsonNode json = Language.json(example);
    Object before = Language.decode(json, message);

    Language.records(
        json, message, (object, type) -> object.putObject("fieldOfTheFuture").put("a", 1));

    assertThat(Language.decode(json, message)).isEqualTo(before);
    assertThat(Language.faults(message.getSimpleName(), json)).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("examples")
  void readerToleratesNewWordsEverywhere(Path example) {
    Class<?> message = Language.messageOf(example);
    JsonNode json = Language.json(example);

    Language.records(json, message, EvolutionTest::putNewWords);

    assertThat(Language.decode(json, message)).isNotNull();
    assertThat(Language.faults(message.getSimpleName(), json)).isEmpty();
  }

  private static void putNewWords(ObjectNode object, Class<?> type) {
    Language.fields(type)
        .forEach(
            (name, field) -> {
              if (field instanceof Class<?> plain && plain.isEnum() && object.has(name)) {
                object.put(name, "word-of-the-future");
              }
            });
  }

  @Test
  void newWordsAsKeysAreTolerated() {
    assertThat(
            Json.read("{\"stepSeconds\":{\"warm-up\":3.0}}".getBytes(UTF_8), Deadlines.class)
                .stepSeconds())
        .containsExactly(Map.entry(Step.UNKNOWN, 3.0));
    assertThat(
            Json.read("{\"componentsNs\":{\"teleport\":3}}".getBytes(UTF_8), StepSample.class)
                .componentsNs())
        .containsExactly(Map.entry(Component.OTHER, 3L));
  }

  private static final java.nio.charset.Charset UTF_8 = java.nio.charset.StandardCharsets.UTF_8;

  private static String sha256(Path file) throws IOException {
    try {
      return HexFormat.of()
          .formatHex(MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(file)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }
}
