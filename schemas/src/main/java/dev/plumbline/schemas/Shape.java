package dev.plumbline.schemas;

import com.fasterxml.jackson.annotation.JsonEnumDefaultValue;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.reflect.Field;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Holds a JSON tree against a record type and its parts. Fields and enum values are known from the
 * records themselves, so that a field added to a record is accepted without a second list.
 *
 * <p>What does not fit is reported and replaced by null, so that the rest can still be decoded and
 * checked: a requester shall see all faults at once.
 */
final class Shape {

  private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

  private final Class<?> root;
  private final Faults faults;

  Shape(Class<?> root, Faults faults) {
    this.root = root;
    this.faults = faults;
  }

  /** The part of {@code object} that fits the root type. */
  ObjectNode fitting(ObjectNode object) {
    return (ObjectNode) record(object, root, "");
  }

  private JsonNode value(JsonNode node, Type type, String path) {
    if (node.isNull()) {
      return node;
    }
    if (type instanceof ParameterizedType generic) {
      Type[] arguments = generic.getActualTypeArguments();
      return generic.getRawType() == List.class
          ? list(node, arguments[0], path)
          : map(node, (Class<?>) arguments[0], arguments[1], path);
    }
    Class<?> plain = (Class<?>) type;
    if (plain.isRecord()) {
      return record(node, plain, path);
    }
    if (plain.isEnum()) {
      return word(node, plain, path);
    }
    if (plain == String.class) {
      return node.isTextual() ? node : wrong(path, "text", node);
    }
    if (plain == boolean.class || plain == Boolean.class) {
      return node.isBoolean() ? node : wrong(path, "true or false", node);
    }
    if (plain == double.class || plain == Double.class) {
      return number(node, path);
    }
    if (plain == int.class || plain == Integer.class) {
      return whole(node, path, Integer.MIN_VALUE, Integer.MAX_VALUE);
    }
    if (plain == long.class || plain == Long.class) {
      return whole(node, path, Long.MIN_VALUE, Long.MAX_VALUE);
    }
    throw new IllegalArgumentException("a request cannot hold a " + plain.getName());
  }

  private JsonNode record(JsonNode node, Class<?> type, String path) {
    if (!node.isObject()) {
      return wrong(path, "an object", node);
    }
    Map<String, Type> known = fields(type);
    ObjectNode fitting = NODES.objectNode();
    for (Map.Entry<String, JsonNode> field : node.properties()) {
      String name = field.getKey();
      String at = join(path, name);
      if (known.containsKey(name)) {
        fitting.set(name, value(field.getValue(), known.get(name), at));
      } else {
        faults.add(at, Faults.unknown("field", name, known.keySet()) + elsewhere(name));
      }
    }
    return fitting;
  }

  private JsonNode list(JsonNode node, Type element, String path) {
    if (!node.isArray()) {
      return wrong(path, "a list", node);
    }
    ArrayNode fitting = NODES.arrayNode();
    for (int i = 0; i < node.size(); i++) {
      String at = path + "[" + i + "]";
      if (node.get(i).isNull()) {
        faults.add(at, "is null; leave it out");
      }
      fitting.add(value(node.get(i), element, at));
    }
    return fitting;
  }

  private JsonNode map(JsonNode node, Class<?> key, Type element, String path) {
    if (!node.isObject()) {
      return wrong(path, "an object", node);
    }
    ObjectNode fitting = NODES.objectNode();
    for (Map.Entry<String, JsonNode> entry : node.properties()) {
      String at = join(path, entry.getKey());
      if (key.isEnum() && !words(key).contains(entry.getKey())) {
        faults.add(at, Faults.unknown("name", entry.getKey(), words(key)));
      } else if (entry.getValue().isNull()) {
        faults.add(at, "is null; leave it out");
      } else {
        fitting.set(entry.getKey(), value(entry.getValue(), element, at));
      }
    }
    return fitting;
  }

  private JsonNode word(JsonNode node, Class<?> type, String path) {
    if (!node.isTextual()) {
      return wrong(path, "one of " + String.join(", ", words(type)), node);
    }
    if (!words(type).contains(node.textValue())) {
      faults.add(path, Faults.unknown("value", node.textValue(), words(type)));
      return NODES.nullNode();
    }
    return node;
  }

  private JsonNode number(JsonNode node, String path) {
    if (!node.isNumber()) {
      return wrong(path, "a number", node);
    }
    if (!Double.isFinite(node.doubleValue())) {
      faults.add(path, "must be a finite number");
      return NODES.nullNode();
    }
    return node;
  }

  /** Accepts 4.0 as 4, as JSON Schema does. */
  private JsonNode whole(JsonNode node, String path, long least, long most) {
    if (!node.isNumber()) {
      return wrong(path, "a whole number", node);
    }
    if (node.isFloatingPointNumber()
        && (!Double.isFinite(node.doubleValue()) || node.doubleValue() % 1 != 0)) {
      return wrong(path, "a whole number", node);
    }
    BigInteger exact =
        node.isFloatingPointNumber()
            ? BigDecimal.valueOf(node.doubleValue()).toBigInteger()
            : node.bigIntegerValue();
    if (exact.compareTo(BigInteger.valueOf(least)) < 0
        || exact.compareTo(BigInteger.valueOf(most)) > 0) {
      faults.add(path, "must lie between " + least + " and " + most);
      return NODES.nullNode();
    }
    return NODES.numberNode(exact.longValueExact());
  }

  private JsonNode wrong(String path, String expected, JsonNode found) {
    faults.add(path, "must be " + expected + ", but is " + describe(found));
    return NODES.nullNode();
  }

  private static String describe(JsonNode node) {
    return switch (node.getNodeType()) {
      case STRING -> "the text \"" + Faults.shortened(node.textValue()) + "\"";
      case NUMBER -> "the number " + Faults.shortened(node.asText());
      case BOOLEAN -> node.asText();
      case ARRAY -> "a list";
      case OBJECT -> "an object";
      case NULL, MISSING, BINARY, POJO -> "nothing";
    };
  }

  /** Tells where a field of that name belongs, when it only stands in the wrong place. */
  private String elsewhere(String name) {
    return find(root, "", name).map(path -> "; it belongs in " + path).orElse("");
  }

  private static Optional<String> find(Type type, String path, String name) {
    if (!(type instanceof Class<?> plain) || !plain.isRecord()) {
      return Optional.empty();
    }
    Map<String, Type> fields = fields(plain);
    if (fields.containsKey(name)) {
      return Optional.of(path.isEmpty() ? "the request itself" : path);
    }
    return fields.entrySet().stream()
        .flatMap(f -> find(f.getValue(), join(path, f.getKey()), name).stream())
        .findFirst();
  }

  static String join(String path, String name) {
    String shown = Faults.shortened(name);
    return path.isEmpty() ? shown : path + "." + shown;
  }

  private static Map<String, Type> fields(Class<?> type) {
    Map<String, Type> fields = new LinkedHashMap<>();
    for (RecordComponent component : type.getRecordComponents()) {
      JsonProperty renamed = component.getAccessor().getAnnotation(JsonProperty.class);
      String name = renamed == null ? component.getName() : renamed.value();
      fields.put(name, component.getGenericType());
    }
    return fields;
  }

  /** The values that may be asked for: all but the fallback for values of newer versions. */
  private static List<String> words(Class<?> type) {
    return Arrays.stream(type.getFields())
        .filter(Field::isEnumConstant)
        .filter(constant -> !constant.isAnnotationPresent(JsonEnumDefaultValue.class))
        .flatMap(constant -> Stream.ofNullable(constant.getAnnotation(JsonProperty.class)))
        .map(JsonProperty::value)
        .toList();
  }
}
