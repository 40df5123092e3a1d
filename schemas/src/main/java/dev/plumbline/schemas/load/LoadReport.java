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
   * @param planned requests that the level wanted to send; null when its length was given in
   *     seconds
   * @param ttfotNs time to the first event of the content channel
   * @param inputTokens prompt tokens of the completed requests by the server's usage; null without
   * @param cachedTokens those of them that came from the prefix cache; null when the server does
   *     not tell
   * @param client how the load generator itself did; null in reports of older versions
   * @param failureExamples the first message of each kind of failure
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
      Map<String, Double> serverMetrics,
      Long planned,
      Latency ttfotNs,
      Long inputTokens,
      Long cachedTokens,
      Client client,
      Map<String, String> failureExamples) {

    /** A level without the optional parts. */
    public Level(
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
        Map<String, Double> serverMetrics) {
      this(
          concurrency,
          rate,
          completed,
          failed,
          windowNs,
          outputTokens,
          outputThroughput,
          requestThroughput,
          meanInFlight,
          ttftNs,
          itlNs,
          iclNs,
          tpotNs,
          e2eNs,
          tokensEstimated,
          itlFromChunks,
          clientBound,
          partial,
          serverMetrics,
          null,
          null,
          null,
          null,
          null,
          null);
    }
  }

  /**
   * How the load generator itself did in one level.
   *
   * @param loopCpuShare processor time of the event loop ÷ window length
   * @param loopDelayNs how late the event loop ran a timer
   * @param coalescedShare share of content events that shared a read with an earlier one
   * @param sendLatenessNs from the intended to the actual send
   * @param retried requests sent again because the connection closed before any byte of an answer
   * @param clientBoundReasons empty when the client was not the limit
   */
  public record Client(
      double loopCpuShare,
      Latency loopDelayNs,
      double coalescedShare,
      Latency sendLatenessNs,
      long retried,
      List<String> clientBoundReasons) {}

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
