package dev.plumbline.schemas.trace;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** What a device event does (definitions, section 1). In JSON: lower case with underscores. */
public enum Component {
  ALL_REDUCE(DeviceClass.COMMUNICATION),
  ALL_GATHER(DeviceClass.COMMUNICATION),
  REDUCE_SCATTER(DeviceClass.COMMUNICATION),
  ALL_TO_ALL(DeviceClass.COMMUNICATION),
  BROADCAST(DeviceClass.COMMUNICATION),
  SEND_RECV(DeviceClass.COMMUNICATION),
  COLLECTIVE_OTHER(DeviceClass.COMMUNICATION),
  GEMM(DeviceClass.COMPUTE),
  QUANTIZED_GEMM(DeviceClass.COMPUTE),
  MOE_GEMM(DeviceClass.COMPUTE),
  MOE_ROUTING(DeviceClass.COMPUTE),
  ATTENTION(DeviceClass.COMPUTE),
  KV_CACHE(DeviceClass.COMPUTE),
  NORM(DeviceClass.COMPUTE),
  ACTIVATION(DeviceClass.COMPUTE),
  ROPE(DeviceClass.COMPUTE),
  ELEMENTWISE(DeviceClass.COMPUTE),
  REDUCTION(DeviceClass.COMPUTE),
  SOFTMAX(DeviceClass.COMPUTE),
  SAMPLING(DeviceClass.COMPUTE),
  EMBEDDING(DeviceClass.COMPUTE),
  QUANTIZATION(DeviceClass.COMPUTE),
  MEMCPY(DeviceClass.MEMORY),
  MEMSET(DeviceClass.MEMORY),
  OTHER(DeviceClass.COMPUTE);

  private final DeviceClass deviceClass;

  Component(DeviceClass deviceClass) {
    this.deviceClass = deviceClass;
  }

  public DeviceClass deviceClass() {
    return deviceClass;
  }

  @JsonValue
  public String id() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The component of that name; empty if there is none. */
  public static Optional<Component> find(String id) {
    return Arrays.stream(values()).filter(c -> c.id().equals(id)).findFirst();
  }

  /** Tolerant reader: a component of a newer version reads as {@link #OTHER}. */
  @JsonCreator
  public static Component of(String id) {
    return find(id).orElse(OTHER);
  }
}
