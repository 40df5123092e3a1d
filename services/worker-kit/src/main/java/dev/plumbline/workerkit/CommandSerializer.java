package dev.plumbline.workerkit;

import dev.plumbline.schemas.Json;
import org.apache.kafka.common.serialization.Serializer;

/** Commands to JSON; bytes, as of a record that could not be decoded, pass unchanged. */
public class CommandSerializer implements Serializer<Object> {

  @Override
  public byte[] serialize(String topic, Object command) {
    return switch (command) {
      case null -> null;
      case byte[] bytes -> bytes;
      default -> Json.bytes(command);
    };
  }
}
