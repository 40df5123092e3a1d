package dev.plumbline.standalone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class MainTest {

  private final StringWriter err = new StringWriter();
  private final CommandLine line = Main.commandLine().setErr(new PrintWriter(err, true));

  @Test
  void anUnknownCommandIsRefusedWithTheNearestOne() {
    assertThat(line.execute("analyse", "x.json")).isEqualTo(2);
    assertThat(err.toString()).contains("analyse").contains("analyze");
  }

  @Test
  void anUnknownOptionIsRefusedInOneSentence() {
    assertThat(line.execute("serve", "--prot", "1")).isEqualTo(2);
    assertThat(err.toString()).contains("--prot").doesNotContain("\tat ");
  }

  @Test
  void aPortThatIsNoNumberIsRefused() {
    assertThat(line.execute("serve", "--port", "eighty")).isEqualTo(2);
    assertThat(err.toString()).contains("--port").contains("eighty");
  }

  @Test
  void helpIsOneForEachCommand() {
    StringWriter out = new StringWriter();
    line.setOut(new PrintWriter(out, true));
    assertThat(line.execute("help")).isZero();
    assertThat(out.toString())
        .contains(
            "demo", "serve", "run", "analyze", "load", "hosts", "status", "watch", "report",
            "cancel");
  }

  @Test
  void variablesOfTheEnvironmentAreFilledIn() {
    assertThat(
            RunCommand.withVariables(
                "a: ${HOME_DIR}/x$y ${Z1}", Map.of("HOME_DIR", "/h$1", "Z1", "")))
        .isEqualTo("a: /h$1/x$y ");
  }

  @Test
  void aVariableThatIsNotSetIsNamed() {
    assertThatThrownBy(() -> RunCommand.withVariables("${NOPE}", Map.of()))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("NOPE");
  }

  @Test
  void helpGoesAsDeepAsTheCommands() {
    assertThat(Main.arguments()).containsExactly("help");
    assertThat(Main.arguments("help", "run")).containsExactly("help", "run");
    assertThat(Main.arguments("help", "hosts", "inspect"))
        .containsExactly("hosts", "inspect", "--help");
  }

  @Test
  void theHintNamesTheCommandThatWasMistaken() {
    assertThat(line.execute("hosts", "inspect")).isEqualTo(2);
    assertThat(err.toString()).contains("plumbline hosts inspect --help");
  }

  @Test
  void whatIsNoRequestIsRefusedInOneSentence(@TempDir Path folder) throws IOException {
    Path binary = Files.write(folder.resolve("binary"), new byte[] {(byte) 0xff, 0, (byte) 0xfe});
    Path empty = Files.createFile(folder.resolve("empty"));
    for (Path file : List.of(binary, empty, folder, folder.resolve("missing"))) {
      refused("run", "--bootstrap", "localhost:1", "-f", file.toString());
      assertThat(err.toString()).contains(file.toString());
    }
  }

  @Test
  void aKafkaThatCannotBeIsRefusedInOneSentence(@TempDir Path folder) throws IOException {
    Path request = folder.resolve("request.yaml");
    Files.writeString(
        request,
        "{campaignId: a, host: h, plan: {traces: [{host: local, path: /t.json, origin: given}]}}");
    PrintStream before = System.err;
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    System.setErr(new PrintStream(said, true, StandardCharsets.UTF_8));
    try {
      assertThat(line.execute("run", "--bootstrap", "nonsense", "-f", request.toString()))
          .isEqualTo(1);
    } finally {
      System.setErr(before);
    }
    assertThat(said.toString(StandardCharsets.UTF_8) + err)
        .contains("Kafka at nonsense")
        .doesNotContain("\tat ");
  }

  @Test
  void anInventoryThatIsNotThereOrNotUnderstoodIsRefusedBeforeAnythingStarts(@TempDir Path folder)
      throws IOException {
    String missing = folder.resolve("missing.yaml").toString();
    refused("hosts", "--hosts", missing);
    refused("serve", "--data", folder.toString(), "--hosts", missing);
    assertThat(err.toString()).contains(missing);
    Path wrong = folder.resolve("hosts.yaml");
    Files.writeString(wrong, "hosts: {a: {transport: pigeon}}");
    refused("serve", "--data", folder.toString());
    assertThat(err.toString()).contains("pigeon");
    assertThat(folder).isDirectoryNotContaining("glob:**kafka");
  }

  @Test
  void aDataFolderThatCannotBeIsRefusedWithTheReason(@TempDir Path folder) throws IOException {
    Path file = Files.createFile(folder.resolve("file"));
    refused("serve", "--data", file.toString());
    assertThat(err.toString()).contains("it is a file");
  }

  @Test
  void aUrlOrAnIdThatCannotBeIsRefused() {
    refused("status", "--url", "localhost:8080");
    assertThat(err.toString()).contains("http://localhost:8080");
    refused("report", " ");
  }

  private void refused(String... args) {
    err.getBuffer().setLength(0);
    assertThat(line.execute(args)).as(String.join(" ", args)).isEqualTo(2);
    assertThat(err.toString()).isNotBlank().doesNotContain("\tat ").doesNotContain("Exception");
  }
}
