package dev.plumbline.macroload;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.plumbline.schemas.Json;
import dev.plumbline.schemas.load.LoadReport;
import dev.plumbline.schemas.load.LoadReport.Latency;
import dev.plumbline.schemas.load.LoadReport.Level;
import java.util.Map;

/**
 * The keys of {@code vllm bench serve --save-result}, so that scripts that read those read this:
 * one JSON object per line and level, as its {@code --append-result} writes them. Times in
 * milliseconds.
 *
 * <p>Its meanings, not ours, where they differ: its {@code itl} is the gap between chunks (our
 * ICL), and {@code request_rate} of a closed loop is the text {@code inf}. Its duration is the
 * whole run; ours is the measured window, and totals are those of the window. What a histogram does
 * not hold (standard deviations, the peak second) is left out rather than made up.
 */
final class VllmReport {

  private VllmReport() {}

  static String of(LoadReport report) {
    StringBuilder text = new StringBuilder();
    for (Level level : report.levels()) {
      text.append(level(report, level)).append('\n');
    }
    return text.toString();
  }

  private static ObjectNode level(LoadReport report, Level level) {
    ObjectNode json = Json.mapper().createObjectNode();
    json.put("backend", report.endPoint().equals("chat") ? "openai-chat" : "openai");
    json.put("endpoint_type", report.endPoint().equals("chat") ? "openai-chat" : "openai");
    json.put("model_id", report.model());
    json.put("tokenizer_id", report.model());
    json.put("num_prompts", level.completed() + TextReport.failed(level));
    if (level.rate() == null) {
      json.put("request_rate", "inf");
    } else {
      json.put("request_rate", level.rate());
    }
    json.put("burstiness", 1.0);
    json.put("max_concurrency", level.concurrency());
    json.put("duration", level.windowNs() / 1e9);
    json.put("completed", level.completed());
    json.put("failed", TextReport.failed(level));
    long input = level.inputTokens() == null ? 0 : level.inputTokens();
    json.put("total_input_tokens", input);
    json.put("total_output_tokens", level.outputTokens());
    json.put("request_throughput", level.requestThroughput());
    json.putNull("request_goodput");
    json.put("output_throughput", level.outputThroughput());
    double inputPerSecond =
        level.completed() > 0 ? level.requestThroughput() * input / level.completed() : 0;
    json.put("total_token_throughput", level.outputThroughput() + inputPerSecond);
    Map.of(
            "ttft", level.ttftNs(),
            "tpot", level.tpotNs(),
            "itl", level.iclNs(),
            "e2el", level.e2eNs())
        .entrySet()
        .stream()
        .sorted(Map.Entry.comparingByKey())
        .forEach(metric -> latency(json, metric.getKey(), metric.getValue()));
    return json;
  }

  /** Without samples the tool itself writes 0. */
  private static void latency(ObjectNode json, String name, Latency latency) {
    json.put("mean_" + name + "_ms", ms(latency.mean()));
    json.put("median_" + name + "_ms", ms(latency.p50()));
    json.put("p50_" + name + "_ms", ms(latency.p50()));
    json.put("p90_" + name + "_ms", ms(latency.p90()));
    json.put("p95_" + name + "_ms", ms(latency.p95()));
    json.put("p99_" + name + "_ms", ms(latency.p99()));
    json.put("p99.9_" + name + "_ms", ms(latency.p999()));
  }

  private static double ms(Number ns) {
    return ns == null ? 0 : ns.doubleValue() / 1e6;
  }
}
