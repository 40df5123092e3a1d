package dev.plumbline.traceanalysis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TraceFilesTest {

  @TempDir Path directory;

  @BeforeEach
  void files() throws IOException {
    Path run = Files.createDirectories(directory.resolve("run"));
    for (String name :
        List.of("rank1.pt.trace.json.gz", "rank0.pt.trace.json.gz", "truth.json", "notes.txt")) {
      Files.writeString(run.resolve(name), "{}");
    }
    Files.writeString(Files.createDirectories(directory.resolve("plain")).resolve("a.json"), "{}");
    Files.createDirectories(directory.resolve("empty"));
  }

  private List<String> expand(String... words) {
    return TraceFiles.expand(List.of(words)).stream()
        .map(input -> input.name().replace(directory + "/", ""))
        .toList();
  }

  @Test
  void aDirectoryMeansItsTracesElseItsJsonFiles() {
    assertThat(expand(directory.resolve("run").toString()))
        .containsExactly("run/rank0.pt.trace.json.gz", "run/rank1.pt.trace.json.gz");
    assertThat(expand(directory.resolve("plain").toString())).containsExactly("plain/a.json");
  }

  @Test
  void aGlobMeansWhatItMatchesAndNoFileCountsTwice() {
    assertThat(expand(directory + "/*/rank?.pt.trace.json.gz", directory + "/run/rank1*"))
        .containsExactly("run/rank0.pt.trace.json.gz", "run/rank1.pt.trace.json.gz");
  }

  @Test
  void aDashIsStandardInput() {
    assertThat(expand("-")).containsExactly("standard input");
  }

  @Test
  void whatMeansNothingIsNamed() {
    assertThatThrownBy(() -> expand(directory + "/none"))
        .hasMessageContaining("There is no file or directory " + directory + "/none");
    assertThatThrownBy(() -> expand(directory + "/*.gz")).hasMessageContaining("No file matches");
    assertThatThrownBy(() -> expand(directory + "/empty"))
        .hasMessageContaining("There is no *.trace.json");
  }
}
