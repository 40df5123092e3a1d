package dev.plumbline.microbench;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.plumbline.schemas.Json;
import dev.plumbline.schemas.micro.MicroReport.Result;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads the probe's standard output, one JSON object a line. What it does not understand is counted
 * and otherwise ignored: a newer probe may say more, and a library may print.
 */
final class ProbeOutput {

  /** A trace that the probe wrote. */
  record Trace(Integer rank, String path, long bytes) {}

  /** How far the probe is. */
  @FunctionalInterface
  interface Progress {
    void at(long done, Long total, String note);
  }

  private final Progress progress;
  private final Map<String, String> hello = new LinkedHashMap<>();
  private final List<Result> results = new ArrayList<>();
  private final List<Trace> traces = new ArrayList<>();
  private String error;
  private boolean done;
  private int strangeLines;

  ProbeOutput(Progress progress) {
    this.progress = progress;
  }

  void accept(String line) {
    if (line.isBlank()) {
      return;
    }
    try {
      JsonNode node = Json.mapper().readTree(line);
      if (!node.isObject() || !known(node)) {
        strangeLines++;
      }
    } catch (JsonProcessingException e) {
      strangeLines++;
    }
  }

  private boolean known(JsonNode node) throws JsonProcessingException {
    switch (node.path("kind").asText()) {
      case "hello" ->
          node.properties().stream()
              .filter(field -> !field.getKey().equals("kind"))
              .forEach(field -> hello.put(field.getKey(), shown(field.getValue())));
      case "progress" ->
          progress.at(
              node.path("done").asLong(),
              node.has("total") ? Long.valueOf(node.path("total").asLong()) : null,
              node.path("note").asText());
      case "result" -> results.add(result(node));
      case "trace" ->
          traces.add(
              new Trace(
                  node.has("rank") ? Integer.valueOf(node.path("rank").asInt()) : null,
                  node.path("path").asText(),
                  node.path("bytes").asLong()));
      case "error" -> error = node.path("message").asText("the probe gave no message");
      case "done" -> done = true;
      default -> {
        return false;
      }
    }
    return true;
  }

  private static Result result(JsonNode node) throws JsonProcessingException {
    Result read = Json.mapper().treeToValue(node, Result.class);
    boolean number = read.medianUs() != null && read.medianUs() > 0;
    // A result is either a time or a reason; one without both must not pass for a time.
    String unavailable =
        number || read.unavailable() != null
            ? read.unavailable()
            : "the probe gave neither a time nor a reason";
    return new Result(
        read.name(),
        read.operation(),
        read.shape(),
        read.dtype(),
        read.kernel(),
        read.countPerStep(),
        read.component(),
        read.repeats(),
        read.warmup(),
        read.medianUs(),
        read.minUs(),
        read.maxUs(),
        read.p95Us(),
        read.gbPerS(),
        read.tflopPerS(),
        read.busGbPerS(),
        unavailable,
        read.valid() && unavailable == null,
        read.reasons() == null ? List.of() : read.reasons());
  }

  private static String shown(JsonNode value) {
    if (value.isNull()) {
      return "none";
    }
    if (value.isArray()) {
      List<String> words = new ArrayList<>();
      value.forEach(word -> words.add(word.asText()));
      return String.join(", ", words);
    }
    return value.asText();
  }

  /** Versions and capabilities; what could not be read is told here too. */
  Map<String, String> hello() {
    Map<String, String> all = new LinkedHashMap<>(hello);
    if (strangeLines > 0) {
      all.put("linesNotUnderstood", Integer.toString(strangeLines));
    }
    return all;
  }

  List<Result> results() {
    return List.copyOf(results);
  }

  List<Trace> traces() {
    return List.copyOf(traces);
  }

  /** What the probe gave up for; null when it did not. */
  String error() {
    return error;
  }

  /** True when it said that it is done. */
  boolean done() {
    return done;
  }

  int strangeLines() {
    return strangeLines;
  }
}
