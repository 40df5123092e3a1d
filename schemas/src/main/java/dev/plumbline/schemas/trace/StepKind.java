package dev.plumbline.schemas.trace;

import com.fasterxml.jackson.annotation.JsonEnumDefaultValue;
import com.fasterxml.jackson.annotation.JsonProperty;

/** What a step of the server does, told by its annotation. */
public enum StepKind {
  @JsonProperty("prefill")
  PREFILL,
  @JsonProperty("decode")
  DECODE,
  @JsonProperty("mixed")
  MIXED,
  @JsonEnumDefaultValue
  @JsonProperty("unknown")
  UNKNOWN
}
