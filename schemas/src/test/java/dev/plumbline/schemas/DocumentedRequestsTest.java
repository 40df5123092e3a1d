package dev.plumbline.schemas;

import static org.assertj.core.api.Assertions.assertThat;

import dev.plumbline.schemas.CampaignRequestReader.Valid;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A reader of the documentation can use its examples as they are. */
class DocumentedRequestsTest {

  private static final Path EXAMPLES = Path.of("..", "docs", "examples");

  static List<Path> requests() throws IOException {
    try (Stream<Path> files = Files.list(EXAMPLES)) {
      return files
          .filter(f -> f.toString().endsWith(".yaml"))
          .filter(f -> Language.text(f).contains("campaignId:"))
          .sorted()
          .toList();
    }
  }

  @ParameterizedTest
  @MethodSource("requests")
  void requestInTheDocumentationIsValid(Path file) {
    assertThat(CampaignRequestReader.readYaml(Language.text(file))).isInstanceOf(Valid.class);
  }
}
