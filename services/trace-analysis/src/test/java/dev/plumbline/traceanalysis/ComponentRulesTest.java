package dev.plumbline.traceanalysis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.plumbline.schemas.trace.Component;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;

class ComponentRulesTest {

  @ParameterizedTest
  @CsvFileSource(
      resources = "/kernel-names-general.tsv",
      delimiter = '\t',
      maxCharsPerColumn = 20000)
  void namesThatTheRulesWereNotMadeFrom(String component, String name) {
    assertThat(ComponentRules.load(null).of(name).id()).as(name).isEqualTo(component);
  }

  @Test
  void realKernelNames() throws IOException {
    List<String> rows = Files.readAllLines(SharedData.file("kernel-names.tsv"));
    ComponentRules rules = ComponentRules.load(null);
    List<String> wrong =
        rows.stream()
            .skip(1)
            .map(row -> row.split("\t", -1))
            .filter(cells -> !rules.of(cells[0]).id().equals(cells[1]))
            .map(cells -> cells[1] + " but " + rules.of(cells[0]) + ": " + cells[0])
            .toList();
    assertThat(wrong).hasSizeLessThanOrEqualTo(3 * (rows.size() - 1) / 100);
  }

  @Test
  void theUsersRulesComeFirst(@TempDir Path directory) throws IOException {
    Path file = Files.writeString(directory.resolve("my.txt"), "# ours\n\nrope  ^my_gemm\n");
    ComponentRules rules = ComponentRules.load(file);
    assertThat(rules.of("my_gemm_kernel")).isEqualTo(Component.ROPE);
    assertThat(rules.of("your_gemm_kernel")).isEqualTo(Component.GEMM);
  }

  @Test
  void aFaultyRuleIsNamedByItsLine(@TempDir Path directory) throws IOException {
    Path unknown = Files.writeString(directory.resolve("a.txt"), "gemm x\nmatmul y\n");
    assertThatThrownBy(() -> ComponentRules.load(unknown))
        .hasMessageContaining("a.txt, line 2: unknown component \"matmul\"; write one of");
    Path faulty = Files.writeString(directory.resolve("b.txt"), "gemm (x\n");
    assertThatThrownBy(() -> ComponentRules.load(faulty))
        .hasMessageContaining("b.txt, line 1: not a regular expression");
    Path bare = Files.writeString(directory.resolve("c.txt"), "gemm\n");
    assertThatThrownBy(() -> ComponentRules.load(bare))
        .hasMessageContaining("c.txt, line 1: the regular expression is missing");
    assertThatThrownBy(() -> ComponentRules.load(directory.resolve("none.txt")))
        .hasMessageContaining("Cannot read the component rules");
  }

  @Test
  void argumentsOfTheCollectiveDecideWhereTheNameCannot() {
    assertThat(ComponentRules.ofCollective("allreduce")).contains(Component.ALL_REDUCE);
    assertThat(ComponentRules.ofCollective("_allgather_base")).contains(Component.ALL_GATHER);
    assertThat(ComponentRules.ofCollective("reduce_scatter_tensor_coalesced"))
        .contains(Component.REDUCE_SCATTER);
    assertThat(ComponentRules.ofCollective("all_to_allv")).contains(Component.ALL_TO_ALL);
    assertThat(ComponentRules.ofCollective("barrier")).contains(Component.COLLECTIVE_OTHER);
    assertThat(ComponentRules.ofCollective(null)).isEmpty();
  }

  @Test
  void spellingsOfDifferentDemanglersAreOne() {
    assertThat(KernelName.normalised("void at::native::<unnamed>::f<(int)4>(int, float*)"))
        .isEqualTo("at::native::f<4>");
    assertThat(KernelName.normalised("void (anonymous namespace)::g<2048l>(G<(bool)0>)"))
        .isEqualTo("g<2048l>");
    assertThat(
            KernelName.normalised(
                "std::enable_if<(((8)>(0)))&&v::T<c10::H>::exists, void>::type v::norm<8>(long)"))
        .isEqualTo("std::enable_if<(((8)>(0)))&&v::T<c10::H>::exists, void>::type v::norm<8>");
  }
}
