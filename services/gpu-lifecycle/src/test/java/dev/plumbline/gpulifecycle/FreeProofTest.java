package dev.plumbline.gpulifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.plumbline.schemas.Json;
import dev.plumbline.workerkit.NvidiaSmi;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class FreeProofTest {

  private static final String UUID = "GPU-1";
  private final FreeProof proof = new FreeProof(Settings.defaults(), Map.of());

  private static List<NvidiaSmi.Gpu> gpu(
      String used, String utilization, String mig, String action) {
    return NvidiaSmi.gpuTable(
        """
        index, uuid, driver_version, memory.used [MiB], utilization.gpu [%%], mig.mode.current, gpu_recovery_action
        0, GPU-1, 580.1, %s, %s, %s, %s
        """
            .formatted(used, utilization, mig, action));
  }

  private List<String> objections(String used, String utilization, String mig, String action) {
    return proof.objections(Set.of(UUID), gpu(used, utilization, mig, action), List.of());
  }

  /**
   * Recorded while a process that held 90 GB was killed: its memory shows for 0.2 s without an
   * owner, and the GPU looks busy for another 0.2 s.
   */
  @Test
  void followsARealRelease() throws IOException {
    try (InputStream in = getClass().getResourceAsStream("/h200-nvidia-smi/release.json")) {
      for (String signal : List.of("sigkill", "sigterm")) {
        double freeAt = -1;
        JsonNode samples = Json.mapper().readTree(in == null ? null : bytes()).path(signal);
        for (JsonNode sample : samples) {
          String[] cells = sample.path("gpu").asText().split(", ");
          StringBuilder apps =
              new StringBuilder("pid, process_name, used_gpu_memory [MiB], gpu_uuid\n");
          sample.path("apps").forEach(app -> apps.append(app.asText()).append(", GPU-1\n"));
          List<String> objections =
              proof.objections(
                  Set.of(UUID),
                  gpu(cells[0] + " MiB", cells[1] + " %", "Disabled", "None"),
                  NvidiaSmi.processTable(apps.toString()));
          if (objections.isEmpty() && freeAt < 0) {
            freeAt = sample.path("t").asDouble();
          }
          assertThat(objections.isEmpty()).isEqualTo(freeAt >= 0);
        }
        // By reading the file: the first sample with 0 MiB and 0 %.
        assertThat(freeAt).isEqualTo(signal.equals("sigkill") ? 0.536 : 0.511);
      }
    }
  }

  private byte[] bytes() throws IOException {
    try (InputStream in = getClass().getResourceAsStream("/h200-nvidia-smi/release.json")) {
      return in.readAllBytes();
    }
  }

  @Test
  void idleMemoryByDriverAndModeIsFree() {
    for (String used : List.of("0 MiB", "4 MiB", "256 MiB", "562 MiB")) {
      assertThat(objections(used, "0 %", "Disabled", "None")).isEmpty();
    }
    assertThat(objections("1002 MiB", "0 %", "[N/A]", "[N/A]")).hasSize(1);
  }

  @Test
  void whatCannotBeReadCannotBeProven() {
    assertThat(objections("[Insufficient Permissions]", "0 %", "Disabled", "None"))
        .singleElement()
        .asString()
        .contains("used memory reads [Insufficient Permissions]");
    assertThat(objections("4 MiB", "[N/A]", "Enabled", "None"))
        .singleElement()
        .asString()
        .contains("MIG is on");
    // nvidia_gpu_exporter 393: a sick GPU at 1 MiB.
    assertThat(objections("1 MiB", "93 %", "Disabled", "None"))
        .containsExactly("GPU 0 is 93 % busy");
    assertThat(objections("1 MiB", "ERR!", "Disabled", "None"))
        .containsExactly("GPU 0 cannot be proven free: its utilisation reads ERR!");
    assertThat(objections("0 MiB", "0 %", "Disabled", "Reset"))
        .containsExactly("GPU 0 asks for recovery: Reset");
  }

  @Test
  void aBaselineHoldsForItsDriverOnly() {
    FreeProof known =
        new FreeProof(Settings.defaults(), Map.of(UUID, new FreeProof.Baseline(4, "580.1")));
    assertThat(known.limitMiB(gpu("0 MiB", "0 %", "", "").getFirst().state())).isEqualTo(68);
    FreeProof older =
        new FreeProof(Settings.defaults(), Map.of(UUID, new FreeProof.Baseline(4, "535.1")));
    assertThat(older.limitMiB(gpu("0 MiB", "0 %", "", "").getFirst().state())).isEqualTo(600);
  }
}
