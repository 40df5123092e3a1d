package dev.plumbline.gpulifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.plumbline.schemas.host.GpuState;
import dev.plumbline.schemas.host.Reading;
import dev.plumbline.workerkit.HostException;
import dev.plumbline.workerkit.NvidiaSmi;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** nvidia-smi's own output, captured on real machines. */
class NvidiaSmiTest {

  private static final Duration TIMEOUT = Duration.ofSeconds(1);

  private static String captured(String name) throws IOException {
    try (InputStream in = NvidiaSmiTest.class.getResourceAsStream("/h200-nvidia-smi/" + name)) {
      String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      return text.substring(0, text.lastIndexOf("[exit "));
    }
  }

  @Test
  void readsAnIdleH200() throws IOException {
    GpuState gpu = NvidiaSmi.gpuTable(captured("idle-fresh-query-gpu.txt")).getFirst().state();
    assertThat(gpu)
        .isEqualTo(
            new GpuState(
                "GPU-00000000-1111-2222-3333-444444444444",
                0,
                "NVIDIA H200",
                "00000000:00:06.0",
                "580.159.04",
                Reading.of(143771),
                Reading.of(4),
                Reading.of(0),
                Reading.of(345),
                Reading.of(3201),
                Reading.of(35),
                Reading.of(79.87),
                Reading.of(700),
                "0x0000000000000001",
                "Disabled"));
  }

  @Test
  void readsALoadedH200AndWhoHoldsIt() throws IOException {
    assertThat(
            NvidiaSmi.gpuTable(captured("model-loaded-query-gpu.txt"))
                .getFirst()
                .state()
                .memoryUsedMiB())
        .isEqualTo(Reading.of(5143));
    assertThat(NvidiaSmi.processTable(captured("model-loaded-compute-apps.txt")))
        .containsExactly(
            new NvidiaSmi.Process(
                "GPU-00000000-1111-2222-3333-444444444444", 412, "python3", Reading.of(5134)));
    assertThat(NvidiaSmi.processTable(captured("idle-fresh-compute-apps.txt"))).isEmpty();
  }

  @Test
  void refusesATableWithoutHeaderAndTheHumanTable() throws IOException {
    for (String name :
        List.of("idle-fresh-query-gpu-nounits.txt", "idle-fresh-plain.txt", "bad-id.txt")) {
      String text = captured(name);
      assertThatThrownBy(() -> NvidiaSmi.gpuTable(text))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("instead of a table with a header");
    }
  }

  @Test
  void leavesOutAFieldThatTheDriverDoesNotKnow() throws Exception {
    String answer = captured("idle-fresh-query-gpu.txt");
    List<String> asked = new ArrayList<>();
    ScriptedHost host = ScriptedHost.serving();
    host.gpus =
        () ->
            asked.size() < 2
                ? ScriptedHost.failed(
                    2,
                    asked.add("x")
                        ? "Field \"%s\" is not a valid field to query.\n\n"
                            .formatted(
                                asked.size() == 1
                                    ? "gpu_recovery_action"
                                    : "clocks_event_reasons.active")
                        : "",
                    "")
                : ScriptedHost.out(answer);
    NvidiaSmi.Gpu gpu = new NvidiaSmi(host, TIMEOUT).gpus().gpus().getFirst();
    assertThat(gpu.recoveryAction()).isNull();
    assertThat(gpu.state().powerW()).isEqualTo(Reading.of(79.87));
  }

  /** Bug reports nvidia_gpu_exporter 65 and 354: a text and a status, not "no GPUs, all free". */
  @Test
  void aMissingDriverIsAnErrorInTheToolsOwnWords() {
    ScriptedHost host = ScriptedHost.serving();
    String words =
        "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure"
            + " that the latest NVIDIA driver is installed and running.\n\n";
    for (int status : List.of(9, 255)) {
      host.gpus = () -> ScriptedHost.failed(status, words, "");
      assertThatThrownBy(() -> new NvidiaSmi(host, TIMEOUT).gpus())
          .isInstanceOf(HostException.class)
          .hasMessageContaining("exit status " + status)
          .hasMessageContaining("couldn't communicate with the NVIDIA driver");
    }
    // The same text with status 0.
    host.gpus = () -> ScriptedHost.out(words);
    assertThatThrownBy(() -> new NvidiaSmi(host, TIMEOUT).gpus())
        .isInstanceOf(HostException.class)
        .hasMessageContaining("couldn't communicate");
    // And no text at all.
    host.gpus = () -> ScriptedHost.out("");
    assertThatThrownBy(() -> new NvidiaSmi(host, TIMEOUT).gpus())
        .hasMessageContaining("printed nothing");
  }

  @Test
  void noToolIsNoGpu() throws HostException {
    ScriptedHost host = ScriptedHost.serving();
    host.gpus = () -> ScriptedHost.failed(127, "", "sh: nvidia-smi: not found");
    NvidiaSmi.Gpus gpus = new NvidiaSmi(host, TIMEOUT).gpus();
    assertThat(gpus.gpus()).isEmpty();
    assertThat(gpus.absent()).isEqualTo("there is no nvidia-smi on host lab-1");
  }

  /** Bug report nvidia_gpu_exporter 68: any cell may hold words instead of a number. */
  @Test
  void everyCellMayBeAbsent() throws IOException {
    List<String> lines = captured("model-loaded-query-gpu.txt").lines().toList();
    String[] cells = lines.get(1).split(", ");
    for (String words :
        List.of(
            "[N/A]",
            "N/A",
            "[n/a]",
            "[Not Supported]",
            "[Unknown Error]",
            "[GPU requires reset]",
            "[Insufficient Permissions]",
            "ERR!",
            "")) {
      for (int i = 0; i < cells.length; i++) {
        String kept = cells[i];
        cells[i] = words;
        String csv = lines.get(0) + "\n" + String.join(", ", cells) + "\n";
        cells[i] = kept;
        if (i == 1) {
          if (words.startsWith("[") || words.equals("N/A") || words.isEmpty()) {
            assertThatThrownBy(() -> NvidiaSmi.gpuTable(csv)).hasMessageContaining("UUID");
          }
          continue;
        }
        GpuState gpu = NvidiaSmi.gpuTable(csv).getFirst().state();
        Reading used = gpu.memoryUsedMiB();
        if (i == 7) {
          assertThat(used.value()).isNull();
          assertThat(used.absent()).isEqualTo(words.isEmpty() ? "empty" : words);
        } else {
          assertThat(used).isEqualTo(Reading.of(5143));
        }
      }
    }
  }

  @Test
  void aNumberInAnotherUnitIsNotTaken() throws IOException {
    String csv = captured("model-loaded-query-gpu.txt").replace("5143 MiB", "5 GiB");
    assertThat(NvidiaSmi.gpuTable(csv).getFirst().state().memoryUsedMiB())
        .isEqualTo(Reading.absent("5 GiB is not in MiB"));
  }

  @Test
  void aProcessNameMayHoldCommas() {
    String csv =
        """
        gpu_uuid, pid, process_name, used_gpu_memory [MiB]
        GPU-1, 77, python3 -c a, b, [N/A]
        GPU-1, 78, [No data], 92678 MiB
        GPU-1, 79, , 5 MiB
        """;
    assertThat(NvidiaSmi.processTable(csv))
        .containsExactly(
            new NvidiaSmi.Process("GPU-1", 77, "python3 -c a, b", Reading.absent("[N/A]")),
            new NvidiaSmi.Process("GPU-1", 78, "[No data]", Reading.of(92678)),
            new NvidiaSmi.Process("GPU-1", 79, "", Reading.of(5)));
  }

  @Test
  void readsEveryCapturedTable() throws IOException {
    Path outputs = sharedData().resolve("gpu-outputs");
    int tables = 0;
    try (Stream<Path> files = Files.list(outputs)) {
      for (Path file : files.sorted().toList()) {
        String name = file.getFileName().toString();
        String text = Files.readString(file);
        if (name.endsWith(".csv") && name.contains("query-gpu")) {
          NvidiaSmi.Gpu gpu = NvidiaSmi.gpuTable(text).getFirst();
          String[] header = text.lines().findFirst().orElseThrow().split(", ");
          String[] cells = text.lines().skip(1).findFirst().orElseThrow().split(", ", -1);
          int used = List.of(header).indexOf("memory.used [MiB]");
          assertThat(gpu.state().memoryUsedMiB().value() + " MiB")
              .isEqualTo(cells[used].replace(" MiB", ".0 MiB"));
          assertThat(gpu.state().mig())
              .isEqualTo(name.contains("mig") ? "Enabled" : expectedMig(name));
          assertThat(gpu.state().utilizationPercent().value() == null)
              .isEqualTo(name.contains("mig"));
          assertThat(gpu.recoveryAction()).isEqualTo("None");
          assertThat(gpu.throttledUs()).isNotEmpty();
          tables++;
        } else if (name.endsWith(".csv")) {
          assertThat(NvidiaSmi.processTable(text)).hasSize((int) text.lines().count() - 1);
          tables++;
        } else {
          assertThatThrownBy(() -> NvidiaSmi.gpuTable(text))
              .as(name)
              .isInstanceOf(IllegalArgumentException.class);
        }
      }
    }
    assertThat(tables).isGreaterThan(12);
  }

  private static String expectedMig(String name) {
    return name.contains("h100") || name.contains("h200") ? "Disabled" : null;
  }

  /** The folder of real data beside the repository, or a skipped test. */
  private static Path sharedData() {
    String given = System.getenv("PLUMBLINE_SHARED_DATA");
    if (given != null) {
      return Path.of(given);
    }
    for (Path at = Path.of("").toAbsolutePath(); at != null; at = at.getParent()) {
      Path candidate = at.resolve("shared/data");
      if (Files.isDirectory(candidate)) {
        return candidate;
      }
    }
    Assumptions.abort("no folder shared/data beside the repository: captured outputs not tried");
    throw new IllegalStateException();
  }
}
