package dev.plumbline.macroload;

import dev.plumbline.schemas.Fault;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Map;
import java.util.Optional;

/**
 * The server under load.
 *
 * @param url base URL, with or without {@code /v1} and a trailing slash
 * @param model name as the server serves it
 * @param apiKey bearer token, null without; never printed
 */
public record LoadTarget(String url, String model, String apiKey) {

  /** A target without an API key. */
  public LoadTarget(String url, String model) {
    this(url, model, null);
  }

  /**
   * A target whose API key lies in an environment variable.
   *
   * @param apiKeyEnv the variable's name; null for no key
   * @param environment to look it up in
   * @throws IllegalArgumentException when the variable is named and not set
   */
  public static LoadTarget of(
      String url, String model, String apiKeyEnv, Map<String, String> environment) {
    if (apiKeyEnv == null) {
      return new LoadTarget(url, model);
    }
    String key = environment.get(apiKeyEnv);
    if (key == null || key.isBlank()) {
      throw new IllegalArgumentException(
          "apiKeyEnv: the environment variable "
              + apiKeyEnv
              + " is not set where the load runs; set it to the API key of "
              + url);
    }
    return new LoadTarget(url, model, key.strip());
  }

  /** What is wrong with the URL; empty when nothing is. */
  public Optional<Fault> fault() {
    String wrong = null;
    if (url == null || url.isBlank()) {
      wrong = "no URL is given; give the server's base URL, such as http://localhost:8000";
    } else {
      try {
        URI uri = new URI(url.strip());
        if (!"http".equalsIgnoreCase(uri.getScheme())
            && !"https".equalsIgnoreCase(uri.getScheme())) {
          wrong = "the URL " + url + " does not begin with http:// or https://";
        } else if (uri.getHost() == null) {
          wrong = "the URL " + url + " names no host";
        } else if (uri.getPort() > 65_535) {
          wrong = "the URL " + url + " has port " + uri.getPort() + "; the largest is 65535";
        }
      } catch (URISyntaxException e) {
        wrong = "the URL " + url + " cannot be read: " + e.getReason();
      }
    }
    return Optional.ofNullable(wrong).map(message -> new Fault("url", message));
  }

  boolean tls() {
    return "https".equalsIgnoreCase(uri().getScheme());
  }

  /** Without the brackets of an IPv6 address. */
  String host() {
    String host = uri().getHost();
    return host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
  }

  int port() {
    int port = uri().getPort();
    return port >= 0 ? port : tls() ? 443 : 80;
  }

  /**
   * Path of one of the server's end points.
   *
   * @param endPoint such as {@code /v1/models} or {@code /metrics}
   */
  String path(String endPoint) {
    String base = uri().getRawPath() == null ? "" : uri().getRawPath();
    base = base.replaceAll("/+$", "").replaceAll("/v1$", "");
    return base + endPoint;
  }

  /** The whole address of one of the server's end points. */
  URI at(String endPoint) {
    URI uri = uri();
    return URI.create(uri.getScheme() + "://" + uri.getRawAuthority() + path(endPoint));
  }

  private URI uri() {
    return URI.create(url.strip());
  }

  @Override
  public String toString() {
    return "LoadTarget[url="
        + url
        + ", model="
        + model
        + ", apiKey="
        + (apiKey == null ? "none" : "***")
        + "]";
  }
}
