package dev.plumbline.lab;

import com.fasterxml.jackson.databind.JsonNode;
import io.vertx.core.http.HttpServerResponse;
import java.util.Locale;
import java.util.UUID;

/**
 * The answer to one completion request, streamed or whole, in vLLM's form. Used on the event loop
 * only.
 */
final class Completion {

  private static final String[] WORDS = {
    "the", "plumb", "line", "hangs", "still", "over", "each", "stone", "and", "shows", "what",
    "leans"
  };

  private final HttpServerResponse response;
  private final boolean chat;
  private final boolean stream;
  private final boolean usage;
  private final boolean usageAlways;
  private final String head;
  private final StringBuilder whole = new StringBuilder();
  private Engine.Request request;

  Completion(HttpServerResponse response, String model, JsonNode body, boolean chat, long nowMs) {
    this.response = response;
    this.chat = chat;
    this.stream = body.path("stream").asBoolean(false);
    this.usage = body.path("stream_options").path("include_usage").asBoolean(false);
    this.usageAlways = body.path("stream_options").path("continuous_usage_stats").asBoolean(false);
    String id = (chat ? "chatcmpl-" : "cmpl-") + UUID.randomUUID().toString().replace("-", "");
    String object =
        chat ? (stream ? "chat.completion.chunk" : "chat.completion") : "text_completion";
    this.head =
        "{\"id\":\"%s\",\"object\":\"%s\",\"created\":%d,\"model\":\"%s\",\"choices\":["
            .formatted(id, object, nowMs / 1000, model);
  }

  /** Tokens of a prompt: its words, since the lab has no tokenizer, or the given token ids. */
  static int promptTokens(JsonNode prompt, boolean chat) {
    if (chat) {
      int tokens = 4; // the chat template
      for (JsonNode message : prompt) {
        tokens += words(message.path("content").asText());
      }
      return tokens;
    }
    return prompt.isArray() ? prompt.size() : words(prompt.asText());
  }

  private static int words(String text) {
    return text.isBlank() ? 0 : text.strip().split("\\s+").length;
  }

  /** Sends the headers, and for chat the first chunk, which carries the role only. */
  void begin(Engine.Request work) {
    request = work;
    if (stream) {
      response.putHeader("Content-Type", "text/event-stream; charset=utf-8").setChunked(true);
    } else {
      response.putHeader("Content-Type", "application/json");
    }
  }

  void token(Engine.Token token) {
    if (request.gone || response.ended()) {
      return;
    }
    String word = " " + WORDS[(int) (Integer.toUnsignedLong(token.index() * 7) % WORDS.length)];
    if (!stream) {
      whole.append(word);
      if (token.last()) {
        response.end(head + wholeChoice() + "]," + usage() + "}");
      }
      return;
    }
    StringBuilder out = new StringBuilder(512);
    if (chat && token.index() == 0) {
      out.append("data: ").append(head);
      out.append("{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},");
      out.append("\"logprobs\":null,\"finish_reason\":null}]");
      out.append(usageAlways ? "," + usage(0) : "").append("}\n\n");
    }
    out.append("data: ").append(head).append("{\"index\":0,");
    out.append(chat ? "\"delta\":{\"content\":\"" : "\"text\":\"").append(word);
    out.append(chat ? "\"}" : "\"").append(",\"logprobs\":null,\"finish_reason\":");
    out.append(token.last() ? "\"length\"" : "null").append("}]");
    out.append(usageAlways ? "," + usage(token.index() + 1) : "").append("}\n\n");
    if (token.last()) {
      if (usage) {
        out.append("data: ").append(head).append("],").append(usage()).append("}\n\n");
      }
      out.append("data: [DONE]\n\n");
      response.end(out.toString());
    } else {
      response.write(out.toString());
    }
  }

  private String wholeChoice() {
    return chat
        ? "{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\""
            + whole
            + "\"},\"logprobs\":null,\"finish_reason\":\"length\"}"
        : "{\"index\":0,\"text\":\"" + whole + "\",\"logprobs\":null,\"finish_reason\":\"length\"}";
  }

  private String usage() {
    return usage(request.maxTokens);
  }

  private String usage(int generated) {
    return String.format(
        Locale.ROOT,
        "\"usage\":{\"prompt_tokens\":%d,\"total_tokens\":%d,\"completion_tokens\":%d}",
        request.promptTokens,
        request.promptTokens + generated,
        generated);
  }
}
