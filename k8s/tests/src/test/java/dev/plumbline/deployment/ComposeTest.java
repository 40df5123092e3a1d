package dev.plumbline.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import com.networknt.schema.Error;
import com.networknt.schema.InputFormat;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.dialect.Dialects;
import dev.plumbline.schemas.Json;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

class ComposeTest {

  private static final String TEXT = Repository.text(Repository.ROOT.resolve("docker-compose.yml"));
  private static final Map<String, Object> COMPOSE =
      new Yaml(new SafeConstructor(new LoaderOptions())).load(TEXT);

  @Test
  void itFollowsTheComposeSpecification() throws Exception {
    assertThat(violations(COMPOSE)).isEmpty();
  }

  @Test
  void theSpecificationFindsAMisspeltKey() throws Exception {
    Map<String, Object> wrong = Map.of("services", Map.of("a", Map.of("depend_on", List.of("b"))));

    assertThat(violations(wrong)).isNotEmpty();
  }

  @Test
  void itCreatesTheTopicsOfTheCatalogue() {
    String script = strings(service("topics"), "command").get(0);
    Map<String, Map<String, String>> created = new TreeMap<>();
    for (MatchResult line :
        Pattern.compile("^create (\\S+) (\\d+)((?: \\S+=\\S+)*)$", Pattern.MULTILINE)
            .matcher(script)
            .results()
            .toList()) {
      Map<String, String> config = new TreeMap<>();
      config.put("partitions", line.group(2));
      for (String pair : line.group(3).strip().split(" ")) {
        config.put(pair.substring(0, pair.indexOf('=')), pair.substring(pair.indexOf('=') + 1));
      }
      created.put(line.group(1), config);
    }

    assertThat(created).isEqualTo(Repository.catalogue());
    assertThat(map(service("kafka"), "environment"))
        .containsEntry("KAFKA_AUTO_CREATE_TOPICS_ENABLE", "false");
  }

  @Test
  void itRunsEveryServiceFromItsImage() {
    Set<String> ours = new TreeSet<>();
    services()
        .forEach(
            (name, value) -> {
              Object image = ((Map<?, ?>) value).get("image");
              if (image.toString().startsWith("plumbline/")) {
                assertThat(image).isEqualTo("plumbline/" + name + ":" + Images.VERSION);
                ours.add(name);
              }
            });

    assertThat(ours).containsExactlyInAnyOrderElementsOf(Images.SERVICES);
  }

  @Test
  void healthChecksAndPublishedPortsAreThoseOfTheServices() {
    for (String name : Repository.SERVICES) {
      String port = Repository.port(name);
      assertThat(strings(map(service(name), "healthcheck"), "test").get(3))
          .as(name)
          .contains("/dev/tcp/localhost/" + port + " ")
          .contains("GET /q/health/ready ");
      for (String published : strings(service(name), "ports")) {
        assertThat(published).as(name).isEqualTo("127.0.0.1:" + port + ":" + port);
      }
    }
  }

  @Test
  void everyEnvironmentNameIsAConfigurationKeyOfItsService() {
    for (String name : Repository.SERVICES) {
      Map<String, Object> environment = map(service(name), "environment");
      assertThat(Repository.environment(name)).as(name).containsAll(environment.keySet());
      assertThat(environment)
          .as(name)
          .containsEntry("KAFKA_BOOTSTRAP_SERVERS", "kafka:19092")
          .containsKey("PLUMBLINE_DATA_DIR");
    }
  }

  @Test
  void servicesStartAfterTheTopicsAndRunConfined() {
    for (String name : Repository.SERVICES) {
      Map<String, Object> service = service(name);
      assertThat(map(map(service, "depends_on"), "topics"))
          .as(name)
          .containsEntry("condition", "service_completed_successfully");
      assertThat(service).as(name).containsEntry("read_only", true);
      assertThat(service).as(name).containsEntry("cap_drop", List.of("ALL"));
    }
  }

  @Test
  void theLabListensWhereItsPortsAre() {
    assertThat(strings(service(Images.LAB), "command"))
        .containsSequence("--ssh-port", "2222")
        .containsSequence("--http-port", "8000")
        .containsSequence("--advertise", Images.LAB);
    assertThat(strings(service(Images.LAB), "ports")).containsExactly("127.0.0.1:8000:8000");
  }

  private static List<Error> violations(Map<String, Object> compose) throws Exception {
    String text;
    try (var in = ComposeTest.class.getResourceAsStream("/compose-spec/compose.schema.json")) {
      text = new String(in.readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
    }
    // The validator wants an absolute identifier.
    Schema schema =
        SchemaRegistry.withDefaultDialect(Dialects.getDraft201909())
            .getSchema(
                text.replace(
                    "\"$id\": \"compose_spec.json\"",
                    "\"$id\": \"https://compose-spec.io/compose_spec.json\""),
                InputFormat.JSON);
    return schema.validate(Json.mapper().writeValueAsString(compose), InputFormat.JSON);
  }

  private static Map<String, Object> services() {
    return map(COMPOSE, "services");
  }

  private static Map<String, Object> service(String name) {
    return map(services(), name);
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Object> map(Map<String, Object> in, String key) {
    assertThat(in).containsKey(key);
    return (Map<String, Object>) in.get(key);
  }

  @SuppressWarnings("unchecked")
  private static List<String> strings(Map<String, Object> in, String key) {
    return (List<String>) in.getOrDefault(key, List.of());
  }
}
