package dev.plumbline.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import dev.plumbline.traceanalysis.ReadProgress;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The options of {@code analyze} that reach beyond one report. */
class AnalyzeCommandTest {

  @TempDir private Path folder;
  private final StringWriter err = new StringWriter();
  private final CommandLine line = Main.commandLine().setErr(new PrintWriter(err, true));

  private Path trace(String name, int micros) throws IOException {
    StringBuilder events = new StringBuilder();
    for (int k = 0; k < 5; k++) {
      events.append(
          """
          %s{"ph": "X", "cat": "user_annotation", "name": "execute_context_0(0)_generation_1(1)",
           "pid": 1, "tid": 1, "ts": %d, "dur": 50},
          {"ph": "X", "cat": "cuda_runtime", "name": "cudaGraphLaunch", "pid": 1, "tid": 1,
           "ts": %d, "dur": 1, "args": {"correlation": %d}},
          {"ph": "X", "cat": "kernel", "name": "a_gemm", "pid": 0, "tid": 7, "ts": %d, "dur": %d,
           "args": {"device": 0, "stream": 7, "correlation": %d}}"""
              .formatted(
                  k == 0 ? "" : ",", 100 * k, 100 * k + 1, k + 1, 100 * k + 5, micros, k + 1));
    }
    return Files.writeString(folder.resolve(name), "{\"traceEvents\": [" + events + "]}");
  }

  private String run(int exit, Object... words) {
    PrintStream standard = System.out;
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
    try {
      String[] arguments = new String[words.length + 1];
      arguments[0] = "analyze";
      for (int i = 0; i < words.length; i++) {
        arguments[i + 1] = words[i].toString();
      }
      assertThat(line.execute(arguments)).as(err.toString()).isEqualTo(exit);
    } finally {
      System.setOut(standard);
    }
    return out.toString(StandardCharsets.UTF_8);
  }

  @Test
  void comparesWithABaselineOfSeveralFiles() throws IOException {
    Path now = trace("rank0.json", 80);
    String json =
        run(
            0,
            now,
            "--against",
            trace("before.rank0.json", 60),
            "--against",
            trace("before.rank1.json", 60),
            "--format",
            "json");
    assertThat(json).contains("before.rank1.json").contains("\"grew\"").contains("beyondSpread");
    assertThat(run(0, now, "--against", folder.resolve("before.rank0.json")))
        .contains("a decode step takes 100.0 µs instead of 100.0 µs")
        .contains("gemm");
  }

  @Test
  void writesAPageWithTheStepAskedForAndATraceForPerfetto() throws IOException {
    Path out = folder.resolve("small.json");
    assertThat(run(0, trace("a.json", 80), "--format", "html", "--step", "2", "--perfetto", out))
        .startsWith("<!doctype html>")
        .contains("Timeline of step 2:");
    assertThat(Files.readString(out)).contains("\"gemm\"").contains("idle:");
  }

  @Test
  void mistakesAreOneSentence() throws IOException {
    Path trace = trace("a.json", 80);
    run(2, trace, "--step", "2");
    run(2, trace, "--format", "html", "--step", "5");
    run(2, trace, "--perfetto", folder.resolve("no/such/folder.json"));
    run(2, trace, "--against", folder.resolve("none.json"));
    assertThat(err.toString())
        .contains("add --format html.")
        .contains("There is no step 5: give one from 0 to 4.")
        .contains("Cannot write --perfetto")
        .contains("There is no file or directory")
        .doesNotContain("\tat ");
  }

  @Test
  void theLineOfProgressEndsWithTheReading() {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ReadingLine reading =
        ReadingLine.start(ReadProgress.of(List.of()), new PrintStream(out, true), false);
    reading.close();
    assertThat(out.toString(StandardCharsets.UTF_8)).isEmpty();
  }
}
