package dev.plumbline.standalone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Map;
import org.junit.jupiter.api.Test;
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
}
