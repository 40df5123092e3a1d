package dev.plumbline.macroload;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;

/**
 * What one chunk of a chat or text completion stream carries, read from its JSON by a streaming
 * parser into the fields of this reused object: no tree, no text.
 *
 * <p>Read are: {@code choices[].delta} with {@code content}, {@code refusal}, {@code reasoning},
 * {@code reasoning_content}, {@code tool_calls[].function.arguments}, {@code
 * function_call.arguments}; {@code choices[].text}; {@code choices[].finish_reason}; {@code
 * choices[].token_ids}; {@code usage}; {@code error} as object or string. An explicit null is the
 * same as an absent field, unknown fields are skipped, and no chunk's place in the stream matters.
 */
final class Chunk {

  private static final JsonFactory JSON = new JsonFactory();

  /** Text of the content channel, not empty. */
  boolean content;

  /** Text of the reasoning channel or tool-call arguments, not empty. */
  boolean otherText;

  /** A finish reason that says that the server ended the generation as it should. */
  boolean finished;

  /**
   * A finish reason {@code abort} or {@code error}, or an error object; null when there is none.
   */
  String error;

  /** Token ids in this chunk, −1 when the server does not send them. */
  int tokenIds;

  /** {@code usage.completion_tokens}, −1 without usage. */
  long completionTokens;

  /** {@code usage.prompt_tokens}, −1 without usage. */
  long promptTokens;

  /** {@code usage.prompt_tokens_details.cached_tokens}, −1 when the server does not tell. */
  long cachedTokens;

  /** True when the chunk carries generated text of any channel. */
  boolean isContentEvent() {
    return content || otherText;
  }

  /**
   * Reads one chunk.
   *
   * @throws IOException when the bytes are no JSON object
   */
  void read(byte[] bytes, int offset, int length) throws IOException {
    clear();
    try (JsonParser json = JSON.createParser(bytes, offset, length)) {
      if (json.nextToken() != JsonToken.START_OBJECT) {
        throw new IOException("a chunk is not a JSON object");
      }
      while (json.nextToken() == JsonToken.FIELD_NAME) {
        String name = json.currentName();
        JsonToken value = json.nextToken();
        switch (name) {
          case "choices" -> eachObject(json, value, this::choice);
          case "usage" -> eachField(json, value, this::usage);
          case "error" -> error(json, value);
          default -> json.skipChildren();
        }
      }
      if (json.currentToken() != JsonToken.END_OBJECT) {
        throw new IOException("a chunk ends in the middle of its JSON");
      }
    }
  }

  private void clear() {
    content = false;
    otherText = false;
    finished = false;
    error = null;
    tokenIds = -1;
    completionTokens = -1;
    promptTokens = -1;
    cachedTokens = -1;
  }

  private void choice(JsonParser json, String name, JsonToken value) throws IOException {
    switch (name) {
      case "delta", "message" -> eachField(json, value, this::delta);
      case "text" -> content |= hasText(json, value);
      case "finish_reason" -> finishReason(json, value);
      case "token_ids" -> tokenIds(json, value);
      default -> json.skipChildren();
    }
  }

  private void delta(JsonParser json, String name, JsonToken value) throws IOException {
    switch (name) {
      case "content", "refusal" -> content |= hasText(json, value);
      case "reasoning", "reasoning_content" -> otherText |= hasText(json, value);
      case "tool_calls" -> eachObject(json, value, this::toolCall);
      case "function_call" -> eachField(json, value, this::function);
      default -> json.skipChildren();
    }
  }

  private void toolCall(JsonParser json, String name, JsonToken value) throws IOException {
    if (name.equals("function")) {
      eachField(json, value, this::function);
    } else {
      json.skipChildren();
    }
  }

  private void function(JsonParser json, String name, JsonToken value) throws IOException {
    if (name.equals("arguments")) {
      otherText |= hasText(json, value);
    } else {
      json.skipChildren();
    }
  }

  private void usage(JsonParser json, String name, JsonToken value) throws IOException {
    switch (name) {
      case "completion_tokens" -> completionTokens = number(json, value);
      case "prompt_tokens" -> promptTokens = number(json, value);
      case "prompt_tokens_details" -> eachField(json, value, this::promptDetails);
      default -> json.skipChildren();
    }
  }

  private void promptDetails(JsonParser json, String name, JsonToken value) throws IOException {
    if (name.equals("cached_tokens")) {
      cachedTokens = number(json, value);
    } else {
      json.skipChildren();
    }
  }

  private void finishReason(JsonParser json, JsonToken value) throws IOException {
    if (value != JsonToken.VALUE_STRING) {
      json.skipChildren();
      return;
    }
    String reason = json.getText();
    if (reason.equals("abort") || reason.equals("error")) {
      error = "the server ended the generation with finish reason " + reason;
    } else if (!reason.isEmpty()) {
      finished = true;
    }
  }

  private void tokenIds(JsonParser json, JsonToken value) throws IOException {
    if (value != JsonToken.START_ARRAY) {
      json.skipChildren();
      return;
    }
    int count = 0;
    for (JsonToken id = json.nextToken(); id != null && id != JsonToken.END_ARRAY; ) {
      json.skipChildren();
      count++;
      id = json.nextToken();
    }
    tokenIds = Math.max(tokenIds, 0) + count;
  }

  private void error(JsonParser json, JsonToken value) throws IOException {
    if (value == JsonToken.VALUE_STRING) {
      error = json.getText();
    } else if (value == JsonToken.START_OBJECT) {
      error = "the server sent an error without a message";
      eachField(json, value, this::errorField);
    } else {
      json.skipChildren();
    }
  }

  private void errorField(JsonParser json, String name, JsonToken value) throws IOException {
    if (name.equals("message") && value == JsonToken.VALUE_STRING) {
      error = json.getText();
    } else {
      json.skipChildren();
    }
  }

  private static boolean hasText(JsonParser json, JsonToken value) throws IOException {
    if (value == JsonToken.VALUE_STRING) {
      return json.getTextLength() > 0;
    }
    json.skipChildren();
    return false;
  }

  private static long number(JsonParser json, JsonToken value) throws IOException {
    if (value != null && value.isNumeric()) {
      return json.getLongValue();
    }
    json.skipChildren();
    return -1;
  }

  private interface FieldReader {
    void field(JsonParser json, String name, JsonToken value) throws IOException;
  }

  private static void eachField(JsonParser json, JsonToken value, FieldReader reader)
      throws IOException {
    if (value != JsonToken.START_OBJECT) {
      json.skipChildren();
      return;
    }
    while (json.nextToken() == JsonToken.FIELD_NAME) {
      reader.field(json, json.currentName(), json.nextToken());
    }
  }

  private static void eachObject(JsonParser json, JsonToken value, FieldReader reader)
      throws IOException {
    if (value != JsonToken.START_ARRAY) {
      json.skipChildren();
      return;
    }
    for (JsonToken item = json.nextToken(); item != null && item != JsonToken.END_ARRAY; ) {
      eachField(json, item, reader);
      item = json.nextToken();
    }
  }
}
