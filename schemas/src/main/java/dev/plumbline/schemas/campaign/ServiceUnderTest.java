package dev.plumbline.schemas.campaign;

import com.fasterxml.jackson.annotation.JsonEnumDefaultValue;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * The served model, and how to stop and start its server.
 *
 * @param strategy how to stop and start it
 * @param unit systemd unit; for {@link Strategy#SYSTEMD}
 * @param pidFile absolute path on the host; for {@link Strategy#PROCESS}
 * @param start command and arguments that start it in the foreground; for {@link Strategy#PROCESS}
 * @param url base URL of the OpenAI-compatible API, without {@code /v1}, as seen by the workers
 * @param model name of the served model
 * @param readyTimeoutSeconds how long the start may take until a completion answers; null: 900
 */
public record ServiceUnderTest(
    Strategy strategy,
    String unit,
    String pidFile,
    List<String> start,
    String url,
    String model,
    Double readyTimeoutSeconds) {

  public enum Strategy {
    @JsonProperty("systemd")
    SYSTEMD,
    @JsonProperty("process")
    PROCESS,
    /** Never stopped. */
    @JsonProperty("none")
    NONE,
    @JsonEnumDefaultValue
    @JsonProperty("unknown")
    UNKNOWN
  }
}
