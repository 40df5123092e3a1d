package dev.plumbline.deployment;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.introspect.Annotated;
import com.fasterxml.jackson.databind.introspect.JacksonAnnotationIntrospector;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.datatype.jsr310.JavaTimeModule;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.api.model.batch.v1.CronJob;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.strimzi.api.kafka.model.kafka.Kafka;
import io.strimzi.api.kafka.model.nodepool.KafkaNodePool;
import io.strimzi.api.kafka.model.topic.KafkaTopic;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/** Reads manifests into typed models; a field that the model does not know is an error. */
final class Manifests {

  private static final Map<String, Class<? extends HasMetadata>> MODELS =
      Map.ofEntries(
          Map.entry("v1/Namespace", Namespace.class),
          Map.entry("v1/ConfigMap", ConfigMap.class),
          Map.entry("v1/Service", Service.class),
          Map.entry("apps/v1/Deployment", Deployment.class),
          Map.entry("apps/v1/StatefulSet", StatefulSet.class),
          Map.entry("batch/v1/CronJob", CronJob.class),
          Map.entry("policy/v1/PodDisruptionBudget", PodDisruptionBudget.class),
          Map.entry("networking.k8s.io/v1/NetworkPolicy", NetworkPolicy.class),
          Map.entry("kafka.strimzi.io/v1/KafkaTopic", KafkaTopic.class),
          Map.entry("kafka.strimzi.io/v1/KafkaNodePool", KafkaNodePool.class),
          Map.entry("kafka.strimzi.io/v1/Kafka", Kafka.class));

  private static final ObjectMapper STRICT =
      JsonMapper.builder()
          .addModule(new JavaTimeModule())
          .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
          .annotationIntrospector(
              new JacksonAnnotationIntrospector() {
                // The models keep what they do not know in a map; here that must fail.
                @Override
                public Boolean hasAnySetter(Annotated annotated) {
                  return null;
                }
              })
          .build();

  private Manifests() {}

  static List<HasMetadata> read(Path file) {
    return parse(Repository.text(file), file.toString());
  }

  /**
   * @param source where the text comes from, for the message
   */
  static List<HasMetadata> parse(String yaml, String source) {
    List<HasMetadata> manifests = new ArrayList<>();
    // YAML 1.1, as Kubernetes reads it.
    for (Object document : new Yaml(new SafeConstructor(new LoaderOptions())).loadAll(yaml)) {
      JsonNode tree = STRICT.valueToTree(document);
      String kind = tree.path("apiVersion").asText() + "/" + tree.path("kind").asText();
      Class<? extends HasMetadata> model = MODELS.get(kind);
      if (model == null) {
        throw new IllegalArgumentException(source + ": no model for " + kind);
      }
      try {
        manifests.add(STRICT.treeToValue(tree, model));
      } catch (com.fasterxml.jackson.core.JsonProcessingException e) {
        throw new IllegalArgumentException(source + ": " + kind + ": " + e.getMessage(), e);
      }
    }
    return manifests;
  }

  static <T extends HasMetadata> List<T> ofKind(List<HasMetadata> manifests, Class<T> kind) {
    return manifests.stream().filter(kind::isInstance).map(kind::cast).toList();
  }
}
