package dev.plumbline.workerkit;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.plumbline.schemas.Step;
import dev.plumbline.schemas.command.Command;
import dev.plumbline.schemas.command.Job;
import java.time.Instant;
import java.util.List;
import org.apache.kafka.common.errors.SerializationException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CommandSerdeTest {

  @Test
  void aCommandComesBack() {
    Command command =
        new Command.DeployScripts(
            new Job("c-1", Step.DEPLOY, 2, "lab-1", 7L, Instant.parse("2026-01-01T00:00:00Z")),
            List.of("plumbline_probe.py"));
    byte[] bytes;
    try (CommandSerializer serializer = new CommandSerializer()) {
      bytes = serializer.serialize("t", command);
      assertThat(serializer.serialize("t", new byte[] {1, 2})).containsExactly(1, 2);
      assertThat(serializer.serialize("t", null)).isNull();
    }
    try (CommandDeserializer deserializer = new CommandDeserializer()) {
      assertThat(deserializer.deserialize("t", bytes)).isEqualTo(command);
      assertThat(deserializer.deserialize("t", null)).isNull();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "rubbish",
        "[]",
        "{\"type\":\"Nonsense\"}",
        "{}",
        "{\"type\":\"DeployScripts\",\"scripts\":1}"
      })
  void whatIsNoCommandIsSaidInOneSentence(String text) {
    try (CommandDeserializer deserializer = new CommandDeserializer()) {
      assertThatThrownBy(() -> deserializer.deserialize("t", text.getBytes(UTF_8)))
          .isInstanceOf(SerializationException.class)
          .hasMessageStartingWith("not a valid Command: ");
    }
  }
}
