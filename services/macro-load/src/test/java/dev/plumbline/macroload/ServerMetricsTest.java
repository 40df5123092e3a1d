package dev.plumbline.macroload;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ServerMetricsTest {

  @Test
  void keepsKnownSeriesSummedOverEngines() {
    String text =
        """
        # HELP vllm:num_requests_running Number of requests
        # TYPE vllm:num_requests_running gauge
        vllm:num_requests_running{engine="0",model_name="a{b} c"} 3.0
        vllm:num_requests_running{engine="1",model_name="a{b} c"} 4.0
        vllm:generation_tokens_total{engine="0"} 1.5e3 1700000000000
        vllm:e2e_request_latency_seconds_bucket{le="1"} 9
        vllm:kv_cache_usage_perc NaN
        vllm:num_preemptions_total
        process_cpu_seconds_total 12
        broken{ 7
        """;
    assertThat(ServerMetrics.parse(text))
        .containsOnly(
            Map.entry("vllm:num_requests_running", 7.0),
            Map.entry("vllm:generation_tokens_total", 1500.0));
  }

  @Test
  void gaugesKeepTheirMaximumAndCountersTheirGrowth() {
    Map<String, Double> first = new HashMap<>();
    Map<String, Double> a =
        ServerMetrics.merged(
            Map.of(),
            Map.of("vllm:num_requests_running", 5.0, "vllm:generation_tokens_total", 100.0),
            first);
    Map<String, Double> b =
        ServerMetrics.merged(
            a,
            Map.of("vllm:num_requests_running", 2.0, "vllm:generation_tokens_total", 160.0),
            first);
    assertThat(b)
        .containsOnly(
            Map.entry("vllm:num_requests_running", 2.0),
            Map.entry("vllm:num_requests_running:max", 5.0),
            Map.entry("vllm:generation_tokens_total", 160.0),
            Map.entry("vllm:generation_tokens_total:delta", 60.0));
  }
}
