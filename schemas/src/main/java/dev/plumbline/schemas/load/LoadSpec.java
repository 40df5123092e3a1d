package dev.plumbline.schemas.load;

import java.util.List;

/**
 * What load to put on the server; a null field takes the default of the load generator.
 *
 * @param concurrency levels of the closed loop, in the order in which they run
 * @param requests requests per level; null: derived from concurrency
 * @param durationSeconds seconds per level instead of requests
 * @param warmup requests before the window of each level
 * @param inputTokens wanted prompt length
 * @param outputTokens wanted output length
 * @param endPoint {@code chat} or {@code completions}
 * @param requestTimeoutSeconds time limit of one request
 * @param apiKeyEnv name of the environment variable of the worker that holds the API key
 * @param rate levels of the open loop in requests per second, run after those of the closed loop
 * @param arrivals how the open loop spaces its requests: {@code poisson} or {@code constant}
 */
public record LoadSpec(
    List<Integer> concurrency,
    Integer requests,
    Double durationSeconds,
    Integer warmup,
    Integer inputTokens,
    Integer outputTokens,
    String endPoint,
    Double requestTimeoutSeconds,
    String apiKeyEnv,
    List<Double> rate,
    String arrivals) {

  /** A closed loop. */
  public LoadSpec(
      List<Integer> concurrency,
      Integer requests,
      Double durationSeconds,
      Integer warmup,
      Integer inputTokens,
      Integer outputTokens,
      String endPoint,
      Double requestTimeoutSeconds,
      String apiKeyEnv) {
    this(
        concurrency,
        requests,
        durationSeconds,
        warmup,
        inputTokens,
        outputTokens,
        endPoint,
        requestTimeoutSeconds,
        apiKeyEnv,
        null,
        null);
  }
}
