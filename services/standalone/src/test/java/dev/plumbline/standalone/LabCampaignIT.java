package dev.plumbline.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.plumbline.schemas.Json;
import dev.plumbline.schemas.campaign.CampaignReport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whole campaigns on the simulated lab: what was planted is found, and the server comes back. */
class LabCampaignIT {

  private static final Duration LIMIT = Duration.ofSeconds(180);

  @TempDir Path folder;

  @Test
  void theDemoFindsThePlantedAllReduce() throws Exception {
    Path data = folder.resolve("data");
    Packaged demo = Packaged.run(folder, LIMIT, "demo", "--data", data.toString());
    assertThat(demo.exit()).as(demo.err()).isZero();
    CampaignReport report = report(data);
    assertThat(report.verdict().component()).isEqualTo("all_reduce");
    assertThat(report.verdict().verdict()).isEqualTo("conclusive");
    assertThat(report.verdict().share()).isCloseTo(plantedShare(data, "all_reduce"), within());
    assertThat(report.macro().saturation().concurrency()).isEqualTo(128);
    assertThat(report.gpusServing()).hasSize(8);
    assertThat(report.gpusFree())
        .hasSize(8)
        .allSatisfy(gpu -> assertThat(gpu.memoryUsedMiB().value()).isLessThan(64));
    assertThat(report.downtimeNs()).isPositive();
    assertThat(demo.out()).startsWith("VERDICT  all_reduce").containsPattern("server\\s+down for");
  }

  @Test
  void theSecondScenarioNamesItsOwnBottleneck() throws Exception {
    Path data = folder.resolve("data");
    Packaged demo =
        Packaged.run(
            folder,
            LIMIT,
            "demo",
            "--data",
            data.toString(),
            "--scenario",
            "llama-70b-fp16-2x-nvlink");
    assertThat(demo.exit()).as(demo.err()).isZero();
    CampaignReport report = report(data);
    assertThat(report.verdict().component()).isNotEqualTo("all_reduce");
    assertThat(report.verdict().share())
        .isCloseTo(plantedShare(data, report.verdict().component()), within());
  }

  @Test
  void theDemoPassesWithEachServiceAsItsOwnProcess() throws Exception {
    Path data = folder.resolve("data");

    Packaged demo = Packaged.run(folder, LIMIT, "demo", "--data", data.toString(), "--processes");

    assertThat(demo.exit()).as(demo.err()).isZero();
    assertThat(report(data).verdict().component()).isEqualTo("all_reduce");
  }

  private static org.assertj.core.data.Offset<Double> within() {
    return org.assertj.core.api.Assertions.within(0.005);
  }

  private static CampaignReport report(Path data) throws IOException {
    try (Stream<Path> files = Files.list(data.resolve("reports"))) {
      Path json = files.filter(file -> file.toString().endsWith(".json")).findFirst().orElseThrow();
      return Json.read(Files.readAllBytes(json), CampaignReport.class);
    }
  }

  /** The share that the lab says it planted, median over ranks; the product never reads this. */
  private static double plantedShare(Path data, String component) throws IOException {
    try (Stream<Path> files = Files.list(data.resolve("lab/truth"))) {
      List<Double> shares =
          files
              .filter(file -> file.toString().endsWith(".truth.json"))
              .map(LabCampaignIT::tree)
              .map(truth -> truth.path("sharesPercent").path(component).asDouble(-1) / 100)
              .sorted()
              .toList();
      assertThat(shares).isNotEmpty();
      return shares.get(shares.size() / 2);
    }
  }

  private static JsonNode tree(Path file) {
    try {
      return Json.mapper().readTree(file.toFile());
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }
}
