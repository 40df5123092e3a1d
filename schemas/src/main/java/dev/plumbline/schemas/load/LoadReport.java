package dev.plumbline.schemas.load;

import java.util.List;
import java.util.Map;

/**
 * The result of a load run: the output of {@code plumbline load --format json}. Formulas:
 * definitions, section 5. Times are nanoseconds, throughputs per second.
 *
 * @param saturation null when no level completed anything
 * @param usl null with fewer than three usable levels
 */
public record LoadReport(
    String url,
    String model,
    String endPoint,
    List<Level> levels,
    Saturation saturation,
    UniversalScalability usl) {

  /**
   * One level of load.
   *
   * @param concurrency users of the closed loop; null for an open loop
   * @param rate requests per second of the open loop; null for a closed loop
   * @param failed count by kind, such as {@code http_429}, {@code truncated}, {@code time_out},
   *     {@code connect}
   * @param outputTokens tokens of successful requests that fall in the window
   * @param meanInFlight mean number of requests in flight in the window
   * @param tokensEstimated true when the server gave no usage for some request
   * @param itlFromChunks true when ITL equals ICL because the server does not tell tokens per chunk
   * @param clientBound true when the client was the limit
   * @param partial true when the level was cut short
   * @param serverMetrics last values scraped from the server's {@code /metrics}, empty without it
   */
  public record Level(
      Integer concurrency,
      Double rate,
      long completed,
      Map<String, Long> failed,
      long windowNs,
      long outputTokens,
      double outputThroughput,
      double requestThroughput,
      double meanInFlight,
      Latency ttftNs,
      Latency itlNs,
      Latency iclNs,
      Latency tpotNs,
      Latency e2eNs,
      boolean tokensEstimated,
      boolean itlFromChunks,
      boolean clientBound,
      boolean partial,
      Map<String, Double> serverMetrics) {}

  /** A latency distribution; all but {@code count} null when there is no sample. */
  public record Latency(
      long count,
      Double mean,
      Long min,
      Long max,
      Long p50,
      Long p90,
      Long p95,
      Long p99,
      Long p999) {}

  /** The smallest concurrency whose output throughput is at least 95 % of the best measured. */
  public record Saturation(int concurrency, double outputThroughput) {}

  /**
   * X(N) = λN / (1 + σ(N−1) + κN(N−1)).
   *
   * @param peak √((1−σ)/κ), null when κ = 0
   */
  public record UniversalScalability(
      double lambda, double sigma, double kappa, Double peak, double r2) {}
}
