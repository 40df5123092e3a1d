package dev.plumbline.schemas;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.datatype.jsr310.JavaTimeModule;
import java.io.IOException;

/**
 * The one JSON dialect of the published language: absent is absent (never {@code null}), instants
 * are ISO-8601, a reader tolerates fields and enum values that are newer than itself.
 */
public final class Json {

  private static final ObjectMapper MAPPER =
      JsonMapper.builder()
          .addModule(new JavaTimeModule())
          .defaultPropertyInclusion(
              JsonInclude.Value.construct(
                  JsonInclude.Include.NON_NULL, JsonInclude.Include.NON_NULL))
          .disable(SerializationFeature.WRITE_DATES_AS_TIMESTAMPS)
          .disable(SerializationFeature.WRITE_DURATIONS_AS_TIMESTAMPS)
          .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .disable(DeserializationFeature.ADJUST_DATES_TO_CONTEXT_TIME_ZONE)
          .enable(DeserializationFeature.READ_UNKNOWN_ENUM_VALUES_USING_DEFAULT_VALUE)
          .build();

  private Json() {}

  /** The shared mapper; do not reconfigure it. */
  public static ObjectMapper mapper() {
    return MAPPER;
  }

  /** UTF-8 JSON of a record of this language. */
  public static byte[] bytes(Object value) {
    try {
      return MAPPER.writeValueAsBytes(value);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(
          "cannot write "
              + value.getClass().getSimpleName()
              + " as JSON: "
              + e.getOriginalMessage(),
          e);
    }
  }

  /**
   * Reads one record.
   *
   * @throws IllegalArgumentException with one sentence that says what does not fit
   */
  public static <T> T read(byte[] json, Class<T> type) {
    try {
      return MAPPER.readValue(json, type);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(
          "not a valid " + type.getSimpleName() + ": " + e.getOriginalMessage(), e);
    } catch (IOException e) {
      throw new IllegalArgumentException(
          "not a valid " + type.getSimpleName() + ": " + e.getMessage(), e);
    }
  }
}
