package dev.plumbline.deployment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.plumbline.schemas.CampaignRequestReader;
import dev.plumbline.workerkit.HostInventory;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.LabelSelector;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.Probe;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.api.model.batch.v1.CronJob;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.strimzi.api.kafka.model.topic.KafkaTopic;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

class KubernetesTest {

  private static final Path K8S = Repository.ROOT.resolve("k8s");
  private static final Path BASE = K8S.resolve("base");
  private static final String NAME = "app.kubernetes.io/name";
  private static final List<HasMetadata> ALL =
      resources(BASE).stream().flatMap(file -> Manifests.read(file).stream()).toList();

  /** A workload, whatever its kind. */
  private record Workload(
      String name, PodTemplateSpec template, LabelSelector selector, boolean serves) {
    PodSpec pod() {
      return template.getSpec();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"base", "overlays/dev", "overlays/prod"})
  void everyFileIsListedInItsKustomizationAndEveryListedFileExists(String folder) {
    Path at = K8S.resolve(folder);
    Map<String, Object> kustomization = yaml(at.resolve("kustomization.yaml"));
    Set<Path> listed = new HashSet<>(resources(at));
    for (Object generator : list(kustomization, "configMapGenerator")) {
      for (Object file : list((Map<?, ?>) generator, "files")) {
        listed.add(at.resolve(file.toString()));
      }
    }
    Set<Path> present = new HashSet<>(Repository.files(at, ""));
    present.removeIf(file -> Files.isDirectory(file) || file.endsWith("kustomization.yaml"));

    assertThat(listed).isEqualTo(present);
  }

  @Test
  void everyManifestOfTheOverlaysFitsItsModel() {
    for (String overlay : List.of("dev", "prod")) {
      resources(K8S.resolve("overlays").resolve(overlay)).forEach(Manifests::read);
    }
  }

  @Test
  void aMisspeltFieldIsFound() {
    String wrong = Repository.text(BASE.resolve("campaign.yaml")).replace("replicas:", "replica:");

    assertThatThrownBy(() -> Manifests.parse(wrong, "campaign.yaml"))
        .hasMessageContaining("Unrecognized field \"replica\"");
    String topic = Repository.text(BASE.resolve("topics.yaml")).replace("partitions", "partition");
    assertThatThrownBy(() -> Manifests.parse(topic, "topics.yaml"))
        .hasMessageContaining("Unrecognized field \"partition\"");
  }

  @Test
  void theTopicsAreThoseOfTheCatalogue() {
    Map<String, Map<String, String>> topics = new TreeMap<>();
    for (KafkaTopic topic : Manifests.ofKind(ALL, KafkaTopic.class)) {
      Map<String, String> config = new TreeMap<>();
      topic.getSpec().getConfig().forEach((key, value) -> config.put(key, value.toString()));
      config.put("partitions", topic.getSpec().getPartitions().toString());
      topics.put(topic.getMetadata().getName(), config);
      assertThat(topic.getMetadata().getLabels()).containsEntry("strimzi.io/cluster", "plumbline");
    }

    assertThat(topics).isEqualTo(Repository.catalogue());
  }

  @Test
  void everyServiceHasOneWorkloadWithItsImageAndPort() {
    Map<String, Workload> serving = new TreeMap<>();
    workloads().stream().filter(Workload::serves).forEach(w -> serving.put(w.name(), w));

    assertThat(serving.keySet()).containsExactlyInAnyOrderElementsOf(Repository.SERVICES);
    serving.forEach(
        (name, workload) -> {
          Container container = workload.pod().getContainers().get(0);
          assertThat(container.getImage()).isEqualTo("plumbline/" + name + ":" + Images.VERSION);
          assertThat(container.getPorts())
              .singleElement()
              .matches(p -> p.getContainerPort().toString().equals(Repository.port(name)), name)
              .matches(p -> p.getName().equals("http"));
        });
  }

  @Test
  void everyServiceIsProbedAndCanBeSlowToStart() {
    for (Workload workload : workloads()) {
      if (workload.serves()) {
        Container c = workload.pod().getContainers().get(0);
        assertProbe(c.getStartupProbe(), "/q/health/live", workload.name());
        assertProbe(c.getLivenessProbe(), "/q/health/live", workload.name());
        assertProbe(c.getReadinessProbe(), "/q/health/ready", workload.name());
        // Kafka Streams is not live while its topics are missing: 5 minutes for the operator.
        assertThat(
                c.getStartupProbe().getFailureThreshold() * c.getStartupProbe().getPeriodSeconds())
            .isGreaterThanOrEqualTo(300);
        assertThat(workload.pod().getTerminationGracePeriodSeconds()).isGreaterThanOrEqualTo(60);
        Path pom = Repository.ROOT.resolve("services/" + workload.name() + "/pom.xml");
        assertThat(Repository.text(pom).contains("<artifactId>quarkus-smallrye-health<"))
            .as(workload.name() + " has the extension that answers the probes")
            .isTrue();
      }
    }
  }

  private static void assertProbe(Probe probe, String path, String workload) {
    assertThat(probe).as(workload).isNotNull();
    assertThat(probe.getHttpGet().getPath()).as(workload).isEqualTo(path);
    assertThat(probe.getHttpGet().getPort().getStrVal()).as(workload).isEqualTo("http");
  }

  @Test
  void everyPodIsRestrictedAndBounded() {
    for (Workload workload : workloads()) {
      PodSpec pod = workload.pod();
      assertThat(pod.getAutomountServiceAccountToken()).as(workload.name()).isFalse();
      assertThat(pod.getSecurityContext().getRunAsNonRoot()).isTrue();
      assertThat(pod.getSecurityContext().getRunAsUser()).isEqualTo(1001L);
      assertThat(pod.getSecurityContext().getSeccompProfile().getType())
          .isEqualTo("RuntimeDefault");
      for (Container container : pod.getContainers()) {
        var security = container.getSecurityContext();
        assertThat(security.getAllowPrivilegeEscalation()).as(workload.name()).isFalse();
        assertThat(security.getReadOnlyRootFilesystem()).as(workload.name()).isTrue();
        assertThat(security.getCapabilities().getDrop()).containsExactly("ALL");
        assertThat(container.getResources().getRequests()).containsKeys("cpu", "memory");
        assertThat(container.getResources().getLimits()).containsKeys("cpu", "memory");
      }
    }
  }

  @Test
  void selectorsMatchTheirPods() {
    for (Workload workload : workloads()) {
      Map<String, String> labels = workload.template().getMetadata().getLabels();
      assertThat(labels).containsEntry(NAME, workload.name());
      if (workload.selector() != null) {
        assertThat(labels).containsAllEntriesOf(workload.selector().getMatchLabels());
      }
    }
    Map<String, Workload> byName = new TreeMap<>();
    workloads().forEach(w -> byName.put(w.name(), w));
    for (Service service : Manifests.ofKind(ALL, Service.class)) {
      Workload target = byName.get(service.getSpec().getSelector().get(NAME));
      assertThat(target).as(service.getMetadata().getName()).isNotNull();
      service
          .getSpec()
          .getPorts()
          .forEach(
              port -> {
                assertThat(port.getTargetPort().getStrVal()).isEqualTo("http");
                assertThat(port.getPort().toString()).isEqualTo(Repository.port(target.name()));
              });
    }
    for (StatefulSet set : Manifests.ofKind(ALL, StatefulSet.class)) {
      assertThat(Manifests.ofKind(ALL, Service.class))
          .anyMatch(s -> s.getMetadata().getName().equals(set.getSpec().getServiceName()));
    }
  }

  @Test
  void everyServiceHasADisruptionBudgetThatLetsANodeDrain() {
    Map<String, PodDisruptionBudget> budgets = new TreeMap<>();
    for (PodDisruptionBudget budget : Manifests.ofKind(ALL, PodDisruptionBudget.class)) {
      budgets.put(budget.getSpec().getSelector().getMatchLabels().get(NAME), budget);
      assertThat(budget.getSpec().getMaxUnavailable().getIntVal()).isEqualTo(1);
      assertThat(budget.getSpec().getMinAvailable()).isNull();
    }

    assertThat(budgets.keySet()).containsExactlyInAnyOrderElementsOf(Repository.SERVICES);
  }

  @Test
  void networkIsDeniedByDefaultAndPoliciesNameKnownServices() {
    List<NetworkPolicy> policies = Manifests.ofKind(ALL, NetworkPolicy.class);

    assertThat(policies)
        .anyMatch(
            p ->
                p.getMetadata().getName().equals("default-deny")
                    && p.getSpec().getPodSelector().getMatchLabels().isEmpty()
                    && p.getSpec().getPolicyTypes().containsAll(List.of("Ingress", "Egress"))
                    && p.getSpec().getIngress().isEmpty()
                    && p.getSpec().getEgress().isEmpty());
    policies.stream()
        .flatMap(p -> p.getSpec().getPodSelector().getMatchExpressions().stream())
        .forEach(e -> assertThat(Repository.SERVICES).containsAll(e.getValues()));
  }

  @Test
  void onlyServicesThatMountTheKeysMayUseSsh() {
    Set<String> withKeys = new HashSet<>();
    for (Workload workload : workloads()) {
      for (Volume volume : workload.pod().getVolumes()) {
        if (volume.getSecret() != null) {
          withKeys.add(workload.name());
          assertThat(volume.getSecret().getSecretName()).isEqualTo("plumbline-ssh");
          assertThat(volume.getSecret().getDefaultMode()).isEqualTo(0400);
        }
      }
    }
    NetworkPolicy ssh =
        Manifests.ofKind(ALL, NetworkPolicy.class).stream()
            .filter(p -> p.getMetadata().getName().equals("ssh-to-hosts"))
            .findFirst()
            .orElseThrow();

    assertThat(ssh.getSpec().getPodSelector().getMatchExpressions().get(0).getValues())
        .containsExactlyInAnyOrderElementsOf(withKeys);
    for (Workload workload : workloads()) {
      boolean readsHosts =
          workload.pod().getContainers().get(0).getEnv().stream()
              .anyMatch(e -> e.getName().equals("PLUMBLINE_HOSTS_FILE"));
      assertThat(readsHosts).as(workload.name()).isEqualTo(withKeys.contains(workload.name()));
    }
  }

  @Test
  void everyVolumeThatIsMountedIsThere() {
    for (Workload workload : workloads()) {
      Set<String> volumes = new HashSet<>();
      workload.pod().getVolumes().forEach(v -> volumes.add(v.getName()));
      Manifests.ofKind(ALL, StatefulSet.class).stream()
          .filter(s -> s.getMetadata().getName().equals(workload.name()))
          .flatMap(s -> s.getSpec().getVolumeClaimTemplates().stream())
          .forEach(claim -> volumes.add(claim.getMetadata().getName()));
      workload
          .pod()
          .getContainers()
          .forEach(
              c ->
                  c.getVolumeMounts()
                      .forEach(m -> assertThat(volumes).as(workload.name()).contains(m.getName())));
    }
  }

  @Test
  void everyEnvironmentNameIsAConfigurationKeyOfItsService() {
    ConfigMap shared = Manifests.ofKind(ALL, ConfigMap.class).get(0);
    assertThat(shared.getMetadata().getName()).isEqualTo("plumbline");
    for (Workload workload : workloads()) {
      if (workload.serves()) {
        Set<String> names = new HashSet<>(shared.getData().keySet());
        workload.pod().getContainers().get(0).getEnv().forEach(e -> names.add(e.getName()));
        assertThat(Repository.environment(workload.name())).as(workload.name()).containsAll(names);
        assertThat(workload.pod().getContainers().get(0).getEnvFrom())
            .singleElement()
            .matches(e -> e.getConfigMapRef().getName().equals("plumbline"));
      }
    }
    assertThat(shared.getData()).containsOnlyKeys("KAFKA_BOOTSTRAP_SERVERS", "PLUMBLINE_DATA_DIR");
  }

  @Test
  void theNightlyRequestIsOneThatTheCoordinatorTakes() {
    String request =
        Repository.text(BASE.resolve("campaign.json"))
            .replace("CAMPAIGN_ID", "nightly-campaign-29412345");

    assertThat(CampaignRequestReader.read(request.getBytes(StandardCharsets.UTF_8), Map.of()))
        .isInstanceOf(CampaignRequestReader.Valid.class);
    CronJob job = Manifests.ofKind(ALL, CronJob.class).get(0);
    assertThat(job.getSpec().getSuspend()).as("nothing is stopped unasked").isTrue();
    Container container =
        job.getSpec().getJobTemplate().getSpec().getTemplate().getSpec().getContainers().get(0);
    assertThat(container.getArgs().get(0)).contains("--topic plumbline.campaign.requests.v1 ");
  }

  @Test
  void theHostsOfTheExampleAreReadableAndKnownToTheNightlyRequest() {
    HostInventory hosts = HostInventory.read(BASE.resolve("hosts/hosts.yaml"));

    assertThat(hosts.find("gpu-1")).isPresent();
    assertThat(hosts.find("gpu-1").orElseThrow().keyFile()).startsWith("/etc/plumbline/ssh/");
    assertThat(hosts.find("gpu-1").orElseThrow().knownHostsFile())
        .isEqualTo("/etc/plumbline/hosts/known_hosts");
  }

  private static List<Workload> workloads() {
    Map<String, Workload> found = new LinkedHashMap<>();
    for (Deployment d : Manifests.ofKind(ALL, Deployment.class)) {
      String name = d.getMetadata().getName();
      found.put(
          name, new Workload(name, d.getSpec().getTemplate(), d.getSpec().getSelector(), true));
    }
    for (StatefulSet s : Manifests.ofKind(ALL, StatefulSet.class)) {
      String name = s.getMetadata().getName();
      found.put(
          name, new Workload(name, s.getSpec().getTemplate(), s.getSpec().getSelector(), true));
    }
    for (CronJob c : Manifests.ofKind(ALL, CronJob.class)) {
      String name = c.getMetadata().getName();
      var job = c.getSpec().getJobTemplate().getSpec();
      found.put(name, new Workload(name, job.getTemplate(), null, false));
    }
    return List.copyOf(found.values());
  }

  /** The files that the kustomization of a folder lists as resources, without other folders. */
  private static List<Path> resources(Path folder) {
    List<Path> files = new ArrayList<>();
    for (Object entry : list(yaml(folder.resolve("kustomization.yaml")), "resources")) {
      Path file = folder.resolve(entry.toString());
      assertThat(file).exists();
      if (Files.isRegularFile(file)) {
        files.add(file);
      }
    }
    return files;
  }

  private static Map<String, Object> yaml(Path file) {
    return new Yaml(new SafeConstructor(new LoaderOptions())).load(Repository.text(file));
  }

  private static List<?> list(Map<?, ?> in, String key) {
    Object value = in.get(key);
    return value == null ? List.of() : (List<?>) value;
  }
}
