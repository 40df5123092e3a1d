package dev.plumbline.workerkit;

import dev.plumbline.schemas.Json;
import dev.plumbline.schemas.command.Command;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.serialization.Deserializer;

/** Commands from JSON; what cannot be read goes to the dead-letter topic with its bytes. */
public class CommandDeserializer implements Deserializer<Command> {

  @Override
  public Command deserialize(String topic, byte[] data) {
    if (data == null) {
      return null;
    }
    try {
      return Json.read(data, Command.class);
    } catch (IllegalArgumentException e) {
      throw new SerializationException(e.getMessage(), e);
    }
  }
}
