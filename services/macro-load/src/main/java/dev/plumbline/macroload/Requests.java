package dev.plumbline.macroload;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.SplittableRandom;

/**
 * Makes the bodies of requests. Every prompt begins with its own salt, so that no two requests
 * share a prefix and a prefix cache cannot flatter the server; the rest is common English words, of
 * which most tokenisers make about one token each. How long the prompts were is told by the
 * server's usage.
 */
final class Requests {

  /**
   * What a request asks for beyond the plain OpenAI fields; a server that refuses unknown fields is
   * tried with the next one.
   */
  enum Shape {
    /** Usage on every chunk, fixed output length. */
    FULL,
    /** Usage at the end, fixed output length. */
    FIXED_LENGTH,
    /** Usage at the end. */
    USAGE,
    /** Only what every server knows. */
    PLAIN;

    /** The next plainer shape, null after the plainest. */
    Shape plainer() {
      return this == PLAIN ? null : values()[ordinal() + 1];
    }
  }

  private static final JsonFactory JSON = new JsonFactory();
  private static final String[] WORDS =
      ("time year people way day man thing woman life child world school state family student group"
              + " country problem hand part place case week company system program question work"
              + " number night point home water room mother area money story fact month lot right"
              + " study book eye job word business issue side kind head house service friend father"
              + " power hour game line end member law car city community name team minute idea body"
              + " information back parent face others level office door health person art war history"
              + " party result change morning reason research girl guy moment air teacher force")
          .split(" ");

  /** Tokens that the salt takes in the usual tokenisers, roughly. */
  private static final int SALT_TOKENS = 8;

  private final String model;
  private final LoadPlan plan;
  private final long seed;
  private final String run;

  /**
   * @param seed names the run: another seed gives prompts that no earlier run has sent
   */
  Requests(String model, LoadPlan plan, long seed) {
    this.model = model;
    this.plan = plan;
    this.seed = seed;
    this.run = Long.toString(seed >>> 32, 36);
  }

  /** The end point's path. */
  String endPoint() {
    return plan.chat() ? "/v1/chat/completions" : "/v1/completions";
  }

  /** UTF-8 JSON of request number {@code index}. */
  byte[] body(long index, Shape shape) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(256 + 6 * plan.inputTokens());
    try (JsonGenerator json = JSON.createGenerator(bytes)) {
      json.writeStartObject();
      json.writeStringField("model", model);
      if (plan.chat()) {
        json.writeArrayFieldStart("messages");
        json.writeStartObject();
        json.writeStringField("role", "user");
        json.writeStringField("content", prompt(index));
        json.writeEndObject();
        json.writeEndArray();
      } else {
        json.writeStringField("prompt", prompt(index));
      }
      json.writeNumberField("max_tokens", plan.outputTokens());
      json.writeNumberField("temperature", 0);
      json.writeBooleanField("stream", true);
      if (shape != Shape.PLAIN) {
        json.writeObjectFieldStart("stream_options");
        json.writeBooleanField("include_usage", true);
        if (shape == Shape.FULL) {
          json.writeBooleanField("continuous_usage_stats", true);
        }
        json.writeEndObject();
      }
      if (shape == Shape.FULL || shape == Shape.FIXED_LENGTH) {
        json.writeBooleanField("ignore_eos", true);
      }
      json.writeEndObject();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  /** The prompt of request number {@code index}; the same seed and index give the same words. */
  String prompt(long index) {
    SplittableRandom random = new SplittableRandom(seed + index * 0x9E3779B97F4A7C15L);
    StringBuilder prompt = new StringBuilder();
    prompt.append(run).append('-').append(Long.toString(index, 36));
    for (int i = SALT_TOKENS; i < plan.inputTokens(); i++) {
      prompt.append(' ').append(WORDS[random.nextInt(WORDS.length)]);
    }
    return prompt.toString();
  }
}
