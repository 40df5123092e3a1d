package dev.plumbline.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ScenarioTest {

  private final Scenario kimi = Scenario.named("kimi-k2.5-int4-8x-pcie");

  private double tokensPerSecond(int batch) {
    return batch * 1e9 / kimi.stepNs(batch);
  }

  @Test
  void decodesAtTheFiguresOfTheIssue() {
    assertThat(tokensPerSecond(1)).isCloseTo(77, within(0.1));
    assertThat(tokensPerSecond(128)).isCloseTo(1536, within(0.1));
    assertThat(tokensPerSecond(256)).isCloseTo(1536, within(0.1));
    // not yet saturated at half the batch
    assertThat(tokensPerSecond(64)).isLessThan(0.95 * 1536);
  }

  @Test
  void hasTheModelOfTheIssue() {
    assertThat(kimi.gpus().count()).isEqualTo(8);
    assertThat(kimi.trace().layers()).isEqualTo(61);
    assertThat(new TracePlan(kimi, 1).collectivesPerStep()).isEqualTo(122);
    double gigabytes =
        (kimi.gpus().memoryServingMiB() - kimi.gpus().memoryIdleMiB()) * 1048576.0 / 1e9;
    assertThat(gigabytes).isCloseTo(96.9, within(0.001));
    assertThat(kimi.gpus().memoryServingMiB()).isLessThan(kimi.gpus().memoryTotalMiB());
  }

  @Test
  void anUnknownNameNamesTheKnownOnes() {
    assertThatThrownBy(() -> Scenario.named("kimi"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("kimi-k2.5-int4-8x-pcie");
  }

  @Test
  void aMistypedKeyIsRefused(@TempDir Path dir) throws IOException {
    Path file = dir.resolve("s.yaml");
    Files.writeString(file, "name: x\nmodell: y\n");

    assertThatThrownBy(() -> Scenario.file(file))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("modell")
        .hasMessageContaining(file.toString());
  }
}
