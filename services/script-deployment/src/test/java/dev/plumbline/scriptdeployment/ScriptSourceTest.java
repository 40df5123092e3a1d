package dev.plumbline.scriptdeployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.plumbline.schemas.Fault;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ScriptSourceTest {

  @TempDir Path folder;
  private final ScriptSource builtIn = new ScriptSource(Optional.empty());

  @Test
  void theProbeIsBuiltInAsMicroBenchHasIt() throws Exception {
    byte[] original = Files.readAllBytes(Path.of("../micro-bench/probe/plumbline_probe.py"));
    assertThat(builtIn.read("plumbline_probe.py").content()).isEqualTo(original);
    assertThat(builtIn.faults(List.of("plumbline_probe.py"))).isEmpty();
  }

  @Test
  void aFolderGoesBeforeWhatIsBuiltIn() throws Exception {
    Files.writeString(folder.resolve("plumbline_probe.py"), "mine");
    ScriptSource source = new ScriptSource(Optional.of(folder));
    assertThat(source.read("plumbline_probe.py").content()).asString().isEqualTo("mine");
  }

  @Test
  void aMissingScriptIsNamedWithTheNearest() throws Exception {
    Files.writeString(folder.resolve("warm_up.sh"), "true");
    ScriptSource source = new ScriptSource(Optional.of(folder));
    assertThat(source.faults(List.of("plumbline_probe.py", "warmup.sh", "plumbline_prob.py", "x")))
        .containsExactly(
            new Fault(
                "plan.scripts[1]",
                "there is no script 'warmup.sh' in " + folder + "; did you mean 'warm_up.sh'?"),
            new Fault(
                "plan.scripts[2]",
                "there is no script 'plumbline_prob.py' in "
                    + folder
                    + "; did you mean 'plumbline_probe.py'?"),
            new Fault(
                "plan.scripts[3]",
                "there is no script 'x' in "
                    + folder
                    + "; known are plumbline_probe.py, warm_up.sh"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"../secret.py", "/etc/passwd", ".hidden", "", "a b", "a/b.py", "-rf", "a\n"})
  void onlyPlainNamesAreLookedFor(String name) {
    assertThat(builtIn.faults(List.of(name)))
        .singleElement()
        .satisfies(fault -> assertThat(fault.message()).contains("is not the name of a script"));
  }

  @Test
  void emptyFoldersEmptyFilesAndDoublesAreFaults() throws Exception {
    Files.createFile(folder.resolve("empty.py"));
    Files.createDirectory(folder.resolve("folder.py"));
    ScriptSource source = new ScriptSource(Optional.of(folder));
    assertThat(
            source.faults(
                List.of("empty.py", "folder.py", "plumbline_probe.py", "plumbline_probe.py")))
        .extracting(Fault::field, Fault::message)
        .containsExactly(
            org.assertj.core.groups.Tuple.tuple("plan.scripts[0]", "script 'empty.py' is empty"),
            org.assertj.core.groups.Tuple.tuple(
                "plan.scripts[1]", folder.resolve("folder.py") + " is not a file"),
            org.assertj.core.groups.Tuple.tuple(
                "plan.scripts[3]", "'plumbline_probe.py' is named twice"));
    assertThat(source.faults(List.of())).hasSize(1);
    assertThat(source.faults(null)).hasSize(1);
  }
}
