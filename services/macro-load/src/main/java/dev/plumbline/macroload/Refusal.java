package dev.plumbline.macroload;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.plumbline.schemas.Json;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.nio.channels.UnresolvedAddressException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Makes one short line of what a server or the network said when it refused. */
final class Refusal {

  private static final Pattern TITLE =
      Pattern.compile("<title>(.*?)</title>", Pattern.CASE_INSENSITIVE | Pattern.DOTALL);
  private static final int LIMIT = 300;

  private Refusal() {}

  /** The message in an error body: of the JSON forms of the known servers, of HTML, or plain. */
  static String words(String body) {
    String text = body.strip();
    if (text.isEmpty()) {
      return "without a message";
    }
    if (text.startsWith("{")) {
      try {
        text = message(Json.mapper().readTree(text), text);
      } catch (JsonProcessingException e) {
        // Cut short or not JSON after all: the raw text says more than a parser's complaint.
        return oneLine(text);
      }
    } else if (text.startsWith("<")) {
      Matcher title = TITLE.matcher(text);
      text = "an HTML page" + (title.find() ? " titled \"" + title.group(1).strip() + "\"" : "");
    }
    return oneLine(text);
  }

  private static String message(JsonNode json, String otherwise) {
    for (JsonNode node :
        new JsonNode[] {
          json.at("/error/message"), json.at("/error"), json.at("/message"), json.at("/detail")
        }) {
      if (node.isTextual()) {
        return node.asText();
      }
    }
    return otherwise;
  }

  /**
   * The message of an exception, with its type where it has none. The HTTP client gives the
   * commonest ones no message of their own.
   */
  static String words(Throwable cause) {
    for (Throwable deeper = cause; deeper != null; deeper = deeper.getCause()) {
      if (deeper instanceof UnresolvedAddressException || deeper instanceof UnknownHostException) {
        return "no address is known for its host name";
      }
    }
    String message = cause.getMessage();
    if (message != null && !message.isBlank()) {
      return oneLine(message);
    }
    return cause instanceof ConnectException
        ? "connection refused"
        : cause.getClass().getSimpleName();
  }

  private static String oneLine(String text) {
    String line = text.replaceAll("\\s+", " ");
    return line.length() <= LIMIT ? line : line.substring(0, LIMIT) + "…";
  }
}
