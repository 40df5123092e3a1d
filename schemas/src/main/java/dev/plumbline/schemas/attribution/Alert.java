package dev.plumbline.schemas.attribution;

import com.fasterxml.jackson.annotation.JsonEnumDefaultValue;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.time.Instant;
import java.util.Map;

/**
 * A fact that somebody should know; raised once and cleared once under the same id.
 *
 * @param evidence the numbers that led to it
 */
public record Alert(
    String id,
    Kind kind,
    State state,
    String key,
    Instant windowStart,
    String message,
    Map<String, String> evidence,
    String campaignId,
    Instant at) {

  public enum Kind {
    @JsonProperty("shift")
    SHIFT,
    @JsonProperty("regression")
    REGRESSION,
    @JsonProperty("missing-data")
    MISSING_DATA,
    @JsonEnumDefaultValue
    @JsonProperty("unknown")
    UNKNOWN
  }

  public enum State {
    @JsonProperty("raised")
    RAISED,
    @JsonEnumDefaultValue
    @JsonProperty("cleared")
    CLEARED
  }
}
