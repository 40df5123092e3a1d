package dev.plumbline.schemas;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.fasterxml.jackson.dataformat.yaml.YAMLParser;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.yaml.snakeyaml.error.MarkedYAMLException;
import org.yaml.snakeyaml.error.YAMLException;

/**
 * One JSON or YAML document from outside, within limits of size and depth.
 *
 * @param root the whole
 * @param lines the line, from 1, on which each field begins, by path
 */
record Document(JsonNode root, Map<String, Integer> lines) {

  /** The largest record that a broker takes by default. */
  static final int LIMIT_BYTES = 1 << 20;

  /** A request is at most six deep; an envelope adds one. */
  static final int LIMIT_DEPTH = 16;

  private static final StreamReadConstraints CONSTRAINTS =
      StreamReadConstraints.builder()
          .maxDocumentLength(LIMIT_BYTES)
          // Above our own limit, whose message is the clearer one.
          .maxNestingDepth(2 * LIMIT_DEPTH)
          .maxNumberLength(100)
          .build();
  private static final JsonFactory JSON =
      JsonFactory.builder()
          .streamReadConstraints(CONSTRAINTS)
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .build();
  private static final YAMLFactory YAML =
      YAMLFactory.builder()
          .streamReadConstraints(CONSTRAINTS)
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .build();

  /** The text is no document; the message is one sentence that says why and where. */
  static final class Unreadable extends Exception {
    private static final long serialVersionUID = 1L;

    Unreadable(String message) {
      super(message);
    }
  }

  static Document json(byte[] bytes) throws Unreadable {
    if (bytes.length > LIMIT_BYTES) {
      throw new Unreadable("is " + bytes.length + " bytes; at most " + LIMIT_BYTES + " are read");
    }
    try (JsonParser parser = JSON.createParser(bytes)) {
      return read(parser, "JSON");
    } catch (JsonProcessingException e) {
      throw unreadable("JSON", e);
    } catch (IOException e) {
      throw new Unreadable("is not JSON: " + Faults.shortened(e.getMessage()));
    }
  }

  static Document yaml(String text) throws Unreadable {
    if (text.length() > LIMIT_BYTES) {
      throw new Unreadable(
          "is " + text.length() + " characters; at most " + LIMIT_BYTES + " are read");
    }
    try (JsonParser parser = YAML.createParser(text)) {
      return read(parser, "YAML");
    } catch (JsonProcessingException e) {
      throw unreadable("YAML", e);
    } catch (MarkedYAMLException e) {
      throw new Unreadable(
          "line " + (e.getProblemMark().getLine() + 1) + ": is not YAML: " + e.getProblem());
    } catch (IOException | YAMLException e) {
      throw new Unreadable("is not YAML: " + Faults.shortened(e.getMessage()));
    }
  }

  private static Document read(JsonParser parser, String language) throws IOException, Unreadable {
    if (parser.nextToken() == null) {
      throw new Unreadable("is empty; a request is a " + language + " object");
    }
    Map<String, Integer> lines = new HashMap<>();
    JsonNode root = value(parser, "", 0, lines);
    if (parser.nextToken() != null) {
      throw new Unreadable(
          "line " + line(parser) + ": goes on after the end of the request; send one at a time");
    }
    return new Document(root, lines);
  }

  private static JsonNode value(
      JsonParser parser, String path, int depth, Map<String, Integer> lines)
      throws IOException, Unreadable {
    lines.putIfAbsent(path, line(parser));
    JsonNodeFactory nodes = JsonNodeFactory.instance;
    if (depth > LIMIT_DEPTH) {
      throw new Unreadable("is nested deeper than " + LIMIT_DEPTH + " levels");
    }
    if (parser instanceof YAMLParser yaml && yaml.isCurrentAlias()) {
      throw new Unreadable("line " + line(parser) + ": uses an alias (*); write the value out");
    }
    return switch (parser.currentToken()) {
      case START_OBJECT -> {
        ObjectNode object = nodes.objectNode();
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
          String name = parser.currentName();
          String at = Shape.join(path, name);
          lines.put(at, line(parser));
          parser.nextToken();
          object.set(name, value(parser, at, depth + 1, lines));
        }
        yield object;
      }
      case START_ARRAY -> {
        ArrayNode array = nodes.arrayNode();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
          array.add(value(parser, path + "[" + array.size() + "]", depth + 1, lines));
        }
        yield array;
      }
      case VALUE_STRING -> nodes.textNode(parser.getText());
      case VALUE_NUMBER_INT -> nodes.numberNode(parser.getBigIntegerValue());
      case VALUE_NUMBER_FLOAT -> nodes.numberNode(parser.getDoubleValue());
      case VALUE_TRUE -> nodes.booleanNode(true);
      case VALUE_FALSE -> nodes.booleanNode(false);
      case VALUE_NULL -> nodes.nullNode();
      case VALUE_EMBEDDED_OBJECT, END_OBJECT, END_ARRAY, FIELD_NAME, NOT_AVAILABLE ->
          throw new Unreadable("line " + line(parser) + ": holds what JSON cannot say");
    };
  }

  private static int line(JsonParser parser) {
    return parser.currentTokenLocation().getLineNr();
  }

  private static Unreadable unreadable(String language, JsonProcessingException e) {
    JsonLocation at = e.getLocation();
    String where =
        at == null || at.getLineNr() < 1
            ? ""
            : "line " + at.getLineNr() + ", column " + at.getColumnNr() + ": ";
    String problem = e.getOriginalMessage().lines().findFirst().orElse("unreadable");
    return new Unreadable(where + "is not " + language + ": " + problem);
  }
}
