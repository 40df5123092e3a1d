package dev.plumbline.deployment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What kubectl makes of the folders, where it is installed; no cluster is asked. */
class KustomizeIT {

  @ParameterizedTest
  @ValueSource(strings = {"base", "overlays/dev", "overlays/prod"})
  void theFoldersBuildAndTheResultFitsTheModels(String folder) throws Exception {
    List<HasMetadata> manifests = build(folder);

    assertThat(manifests)
        .hasSizeGreaterThan(30)
        .allMatch(
            m ->
                m.getKind().equals("Namespace")
                    || "plumbline".equals(m.getMetadata().getNamespace()));
    // A reference to a generated ConfigMap follows its generated name.
    assertThat(Manifests.ofKind(manifests, Deployment.class))
        .flatExtracting(d -> d.getSpec().getTemplate().getSpec().getVolumes())
        .filteredOn(v -> v.getConfigMap() != null)
        .isNotEmpty()
        .allMatch(v -> v.getConfigMap().getName().matches("plumbline-hosts-\\w{10}"));
  }

  @Test
  void productionTakesImagesFromItsRegistryAndRunsAStandby() throws Exception {
    List<Deployment> deployments = Manifests.ofKind(build("overlays/prod"), Deployment.class);

    assertThat(deployments)
        .allMatch(
            d ->
                d.getSpec()
                    .getTemplate()
                    .getSpec()
                    .getContainers()
                    .get(0)
                    .getImage()
                    .startsWith("registry.example.com/plumbline/" + d.getMetadata().getName()));
    Deployment attribution =
        deployments.stream()
            .filter(d -> d.getMetadata().getName().equals("bottleneck-attribution"))
            .findFirst()
            .orElseThrow();
    assertThat(attribution.getSpec().getReplicas()).isEqualTo(2);
    assertThat(attribution.getSpec().getTemplate().getSpec().getContainers().get(0).getEnv())
        .singleElement()
        .matches(e -> e.getName().equals("KAFKA_STREAMS_NUM_STANDBY_REPLICAS"))
        .matches(e -> Repository.environment("bottleneck-attribution").contains(e.getName()));
  }

  private static List<HasMetadata> build(String folder) throws Exception {
    Path at = Repository.ROOT.resolve("k8s").resolve(folder);
    Process kubectl;
    try {
      kubectl =
          new ProcessBuilder("kubectl", "kustomize", at.toString())
              .redirectError(ProcessBuilder.Redirect.INHERIT)
              .start();
    } catch (IOException absent) {
      assumeTrue(false, "kubectl is not installed: kustomize is not tried");
      throw absent;
    }
    String yaml = new String(kubectl.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(kubectl.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(kubectl.exitValue()).isZero();
    return Manifests.parse(yaml, "kubectl kustomize " + folder);
  }
}
