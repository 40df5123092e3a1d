package dev.plumbline.schemas.trace;

import com.fasterxml.jackson.annotation.JsonEnumDefaultValue;
import com.fasterxml.jackson.annotation.JsonProperty;

/** Class of device work. Exposed time is given to compute before communication before memory. */
public enum DeviceClass {
  @JsonEnumDefaultValue
  @JsonProperty("compute")
  COMPUTE,
  @JsonProperty("communication")
  COMMUNICATION,
  @JsonProperty("memory")
  MEMORY
}
