package dev.plumbline.deployment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import dev.plumbline.schemas.Json;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.GZIPInputStream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Images on an empty base, so that no registry is asked. */
class ImagesTest {

  @TempDir Path tree;

  @Test
  void aServiceImageRunsTheAppAsAnOrdinaryUserOnItsPort() throws Exception {
    file("services/campaign/src/main/resources/application.properties", "quarkus.http.port=8080\n");
    file("services/campaign/target/quarkus-app/quarkus-run.jar", "jar");
    file("services/campaign/target/quarkus-app/lib/main/library.jar", "library");
    file("services/campaign/target/quarkus-app/app/campaign.jar", "classes");
    file("services/campaign/target/quarkus-app/quarkus/generated.jar", "generated");

    new Images(tree, "scratch").toTar("campaign", tree.resolve("campaign.tar"));

    Map<String, byte[]> image = untar(Files.readAllBytes(tree.resolve("campaign.tar")));
    JsonNode manifest = Json.mapper().readTree(image.get("manifest.json")).get(0);
    JsonNode config =
        Json.mapper().readTree(image.get(manifest.get("Config").asText())).get("config");
    assertThat(manifest.get("RepoTags").get(0).asText())
        .isEqualTo("plumbline/campaign:0.1.0-SNAPSHOT");
    assertThat(config.get("User").asText()).isEqualTo("1001:1001");
    assertThat(config.get("ExposedPorts").has("8080/tcp")).isTrue();
    assertThat(config.get("Entrypoint").get(0).asText()).isEqualTo("java");
    assertThat(config.get("Entrypoint").toString()).endsWith("\"-jar\",\"/app/quarkus-run.jar\"]");
    Map<String, TarArchiveEntry> files = new TreeMap<>();
    for (JsonNode layer : manifest.get("Layers")) {
      files.putAll(entries(image.get(layer.asText())));
    }
    assertThat(files)
        .containsKeys(
            "app/quarkus-run.jar",
            "app/lib/main/library.jar",
            "app/app/campaign.jar",
            "app/quarkus/generated.jar");
    assertThat(files.get("data/").getLongUserId()).isEqualTo(1001);
    assertThat(files.get("app/quarkus-run.jar").getLongUserId()).isZero();
  }

  @Test
  void theLabImageIsAClassPath() throws Exception {
    file("k8s/tests/target/lab-simulator/lib/lab-simulator.jar", "classes");

    new Images(tree, "scratch").toTar(Images.LAB, tree.resolve("lab.tar"));

    Map<String, byte[]> image = untar(Files.readAllBytes(tree.resolve("lab.tar")));
    JsonNode manifest = Json.mapper().readTree(image.get("manifest.json")).get(0);
    JsonNode config =
        Json.mapper().readTree(image.get(manifest.get("Config").asText())).get("config");
    assertThat(config.get("Entrypoint").toString())
        .endsWith("\"-cp\",\"/app/lib/*\",\"dev.plumbline.lab.Lab\"]");
    assertThat(config.get("ExposedPorts").has("2222/tcp")).isTrue();
  }

  @Test
  void aServiceThatIsNotBuiltIsNamed() {
    assertThatThrownBy(
            () -> new Images(tree, "scratch").toTar("campaign", tree.resolve("campaign.tar")))
        .hasMessageStartingWith("campaign is not built: ")
        .hasMessageEndingWith("is missing; run ./mvnw install -DskipTests");
    assertThatThrownBy(() -> Images.run(new String[] {"campain"}))
        .hasMessageStartingWith("no service campain: there are [campaign, ");
  }

  private void file(String name, String content) throws IOException {
    Path file = tree.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, content);
  }

  private static Map<String, byte[]> untar(byte[] tar) throws IOException {
    Map<String, byte[]> files = new HashMap<>();
    try (var in = new TarArchiveInputStream(new ByteArrayInputStream(tar))) {
      for (TarArchiveEntry entry = in.getNextEntry(); entry != null; entry = in.getNextEntry()) {
        files.put(entry.getName(), in.readAllBytes());
      }
    }
    return files;
  }

  private static Map<String, TarArchiveEntry> entries(byte[] layer) throws IOException {
    Map<String, TarArchiveEntry> files = new HashMap<>();
    try (var in = new TarArchiveInputStream(new GZIPInputStream(new ByteArrayInputStream(layer)))) {
      for (TarArchiveEntry entry = in.getNextEntry(); entry != null; entry = in.getNextEntry()) {
        files.put(entry.getName(), entry);
      }
    }
    return files;
  }
}
