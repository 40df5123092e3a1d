package dev.plumbline.macroload;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Scrapes the server's {@code /metrics} (Prometheus text) beside a level, on its own thread. Best
 * effort: a server without it gives an empty map.
 *
 * <p>Kept are the series of vLLM and SGLang that say what the engine did, summed over their labels
 * (engines). A gauge {@code g} is kept as {@code g} (last value) and {@code g:max}; a counter
 * {@code n} as {@code n} and {@code n:delta} (since the first scrape).
 */
final class ServerMetrics implements AutoCloseable {

  private static final Duration EVERY = Duration.ofMillis(500);
  private static final Duration TIME_OUT = Duration.ofSeconds(5);

  private static final Set<String> GAUGES =
      Set.of(
          "vllm:num_requests_running",
          "vllm:num_requests_waiting",
          "vllm:kv_cache_usage_perc",
          "vllm:gpu_cache_usage_perc",
          "sglang:num_running_reqs",
          "sglang:num_queue_reqs",
          "sglang:token_usage",
          "sglang:cache_hit_rate",
          "sglang:gen_throughput");

  private static final Set<String> COUNTERS =
      Set.of(
          "vllm:num_preemptions_total",
          "vllm:prompt_tokens_total",
          "vllm:generation_tokens_total",
          "vllm:prefix_cache_queries_total",
          "vllm:prefix_cache_hits_total",
          "vllm:spec_decode_num_draft_tokens_total",
          "vllm:spec_decode_num_accepted_tokens_total",
          "sglang:prompt_tokens_total",
          "sglang:generation_tokens_total");

  private final HttpClient client;
  private final HttpRequest request;
  private final Thread thread;
  private final Map<String, Double> first = new HashMap<>();
  private volatile Map<String, Double> values = Map.of();

  private ServerMetrics(HttpClient client, URI uri) {
    this.client = client;
    this.request = HttpRequest.newBuilder(uri).timeout(TIME_OUT).GET().build();
    this.thread = Thread.ofVirtual().name("macro-load-metrics").unstarted(this::scrape);
  }

  /** Begins to scrape. */
  static ServerMetrics start(HttpClient client, LoadTarget target) {
    ServerMetrics metrics = new ServerMetrics(client, target.at("/metrics"));
    metrics.thread.start();
    return metrics;
  }

  /** The newest values; empty when there are none. */
  Map<String, Double> values() {
    return values;
  }

  private void scrape() {
    try {
      while (true) {
        HttpResponse<String> answer = client.send(request, HttpResponse.BodyHandlers.ofString());
        if (answer.statusCode() != 200) {
          return;
        }
        values = merged(values, parse(answer.body()), first);
        Thread.sleep(EVERY);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (IOException e) {
      // Absent or broken metrics must never disturb a measurement: what was read stays.
    }
  }

  /** Joins a scrape with those before it. */
  static Map<String, Double> merged(
      Map<String, Double> before, Map<String, Double> scraped, Map<String, Double> first) {
    Map<String, Double> merged = new TreeMap<>(before);
    scraped.forEach(
        (name, value) -> {
          merged.put(name, value);
          if (GAUGES.contains(name)) {
            merged.merge(name + ":max", value, Math::max);
          } else {
            merged.put(name + ":delta", value - first.computeIfAbsent(name, ignored -> value));
          }
        });
    return merged;
  }

  /** The kept series of a scrape, summed over labels; lines that cannot be read are skipped. */
  static Map<String, Double> parse(String text) {
    Map<String, Double> sums = new TreeMap<>();
    for (String line : text.split("\n")) {
      if (line.isEmpty() || line.startsWith("#")) {
        continue;
      }
      int labels = line.indexOf('{');
      int labelsEnd = line.lastIndexOf('}');
      int nameEnd = labels >= 0 ? labels : line.indexOf(' ');
      if (nameEnd < 0 || labels >= 0 && labelsEnd < labels) {
        continue;
      }
      String name = line.substring(0, nameEnd);
      if (GAUGES.contains(name) || COUNTERS.contains(name)) {
        double value = value(line.substring(labels >= 0 ? labelsEnd + 1 : nameEnd));
        if (Double.isFinite(value)) {
          sums.merge(name, value, Double::sum);
        }
      }
    }
    return sums;
  }

  /** The value, before a time stamp if there is one; NaN when it cannot be read. */
  private static double value(String rest) {
    String[] parts = rest.strip().split("\\s+");
    try {
      return Double.parseDouble(parts[0]);
    } catch (NumberFormatException e) {
      return Double.NaN;
    }
  }

  @Override
  public void close() {
    thread.interrupt();
  }
}
