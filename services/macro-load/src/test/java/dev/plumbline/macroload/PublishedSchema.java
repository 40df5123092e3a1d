package dev.plumbline.macroload;

import com.fasterxml.jackson.databind.JsonNode;
import com.networknt.schema.SchemaLocation;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Holds output to the schema that is published for it. */
final class PublishedSchema {

  private static final String BASE = "https://plumbline.dev/schemas/v1/";

  private static final SchemaRegistry REGISTRY =
      SchemaRegistry.withDefaultDialect(
          SpecificationVersion.DRAFT_2020_12,
          registry -> registry.schemas(url -> url.startsWith(BASE) ? text(url) : null));

  private PublishedSchema() {}

  /** What the schema says against the JSON; empty when it is valid. */
  static List<String> faults(String name, JsonNode json) {
    return REGISTRY.getSchema(SchemaLocation.of(BASE + name + ".json")).validate(json).stream()
        .map(Object::toString)
        .toList();
  }

  private static String text(String url) {
    String file = "/plumbline/schemas/" + url.substring(BASE.length());
    try (InputStream schema = PublishedSchema.class.getResourceAsStream(file)) {
      return new String(schema.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
