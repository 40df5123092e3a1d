package dev.plumbline.schemas;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.plumbline.schemas.CampaignRequestReader.Invalid;
import dev.plumbline.schemas.CampaignRequestReader.Undecodable;
import dev.plumbline.schemas.CampaignRequestReader.Valid;
import dev.plumbline.schemas.campaign.CampaignCancelRequested;
import dev.plumbline.schemas.campaign.CampaignRequested;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CampaignRequestReaderTest {

  private static final String FULL =
      """
      {"campaignId": "kimi-1", "host": "lab-1",
       "service": {"strategy": "systemd", "unit": "vllm.service", "url": "http://lab-1:8000",
         "model": "moonshotai/Kimi-K2.5", "readyTimeoutSeconds": 900, "pidFile": "/run/x.pid",
         "start": ["/usr/bin/serve", "--port", "8000"]},
       "plan": {
         "macro": {"concurrency": [1, 8, 128], "requests": 64, "warmup": 4, "inputTokens": 1024,
           "outputTokens": 256, "endPoint": "chat", "requestTimeoutSeconds": 120.5,
           "apiKeyEnv": "VLLM_KEY"},
         "micro": {"device": "cuda", "gpus": 8, "python": "/opt/py/bin/python3", "repeats": 50,
           "timeLimitSeconds": 300, "operations": [
             {"name": "tp_all_reduce", "operation": "all_reduce", "shape": {"elements": 7168},
              "dtype": "bf16", "countPerStep": 122, "component": "all_reduce"},
             {"name": "moe_up", "operation": "moe", "shape": {"m": 1}, "dtype": "int4"}]},
         "trace": {"live": true, "freed": true, "batch": 1, "steps": 10,
           "profileDir": "/var/traces", "limitBytes": 2147483648},
         "scripts": ["probe.py"], "stepPattern": "step_[0-9]+",
         "traces": [{"host": "lab-1", "path": "/tmp/a.json.gz", "rank": 0, "bytes": 10,
           "sha256": "%s", "origin": "given"}]},
       "deadlines": {"campaignSeconds": 3600, "stepSeconds": {"live-trace": 60, "micro": 600}},
       "allowNoGpu": false, "requestedBy": "cron", "labels": {"team": "inference"}}
      """
          .formatted("0".repeat(64));

  private static final String SMALL =
      """
      {"campaignId": "a", "host": "local",
       "service": {"strategy": "none", "url": "http://localhost:8000", "model": "m"},
       "plan": {"macro": {"concurrency": [1]}}}
      """;

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static CampaignRequestReader.Result read(String json) {
    return CampaignRequestReader.read(utf8(json), Map.of());
  }

  private static List<String> faultsOf(CampaignRequestReader.Result result) {
    assertThat(result).isInstanceOf(Invalid.class);
    return ((Invalid) result).faults().stream().map(f -> f.field() + ": " + f.message()).toList();
  }

  /** The full request with one value changed; {@code null} takes the field out. */
  private static String with(String pointer, String json) {
    try {
      ObjectNode root = (ObjectNode) Json.mapper().readTree(FULL);
      int cut = pointer.lastIndexOf('/');
      String last = pointer.substring(cut + 1);
      JsonNode parent = root.at(pointer.substring(0, cut));
      if (parent instanceof ArrayNode array) {
        array.set(Integer.parseInt(last), Json.mapper().readTree(json));
      } else if (json == null) {
        ((ObjectNode) parent).remove(last);
      } else {
        ((ObjectNode) parent).set(last, Json.mapper().readTree(json));
      }
      return root.toString();
    } catch (java.io.IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  // ---- ways to send

  @Test
  void readsBareJson() {
    assertThat(read(FULL))
        .isInstanceOfSatisfying(
            Valid.class,
            valid -> {
              CampaignRequested request = (CampaignRequested) valid.request();
              assertThat(request.campaignId()).isEqualTo("kimi-1");
              assertThat(request.plan().macro().concurrency()).containsExactly(1, 8, 128);
              assertThat(request.plan().micro().operations().getFirst().shape())
                  .containsEntry("elements", 7168L);
              assertThat(request.deadlines().stepSeconds()).containsEntry(Step.LIVE_TRACE, 60.0);
            });
  }

  @Test
  void readsBinaryCloudEventByItsType() {
    var result =
        CampaignRequestReader.read(
            utf8("{\"campaignId\":\"a\",\"reason\":\"enough\"}"),
            Map.of(
                "ce_specversion", utf8("1.0"),
                "ce_type", utf8("CampaignCancelRequested"),
                "content-type", utf8("application/json")));

    assertThat(result).isEqualTo(new Valid(new CampaignCancelRequested("a", "enough", null)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "application/cloudevents+json; charset=UTF-8"})
  void readsStructuredCloudEvent(String contentType) {
    String event =
        """
        {"specversion": "1.0", "id": "1", "source": "/me", "type": "CampaignCancelRequested",
         "datacontenttype": "application/json", "data": {"campaignId": "a"}}
        """;

    assertThat(CampaignRequestReader.read(utf8(event), Map.of("Content-Type", utf8(contentType))))
        .isEqualTo(new Valid(new CampaignCancelRequested("a", null, null)));
  }

  @Test
  void readsStructuredCloudEventWithDataInBase64() {
    String data = Base64.getEncoder().encodeToString(utf8("{\"campaignId\":\"a\"}"));
    String event =
        "{\"specversion\":\"1.0\",\"type\":\"CampaignCancelRequested\",\"data_base64\":\""
            + data
            + "\"}";

    assertThat(read(event)).isEqualTo(new Valid(new CampaignCancelRequested("a", null, null)));
  }

  @Test
  void readsTypeFromTheBody() {
    assertThat(read("{\"type\":\"CampaignCancelRequested\",\"campaignId\":\"a\"}"))
        .isInstanceOf(Valid.class);
  }

  @Test
  void refusesTypesThatContradict() {
    var result =
        CampaignRequestReader.read(
            utf8("{\"type\":\"CampaignRequested\",\"campaignId\":\"a\"}"),
            Map.of("ce_type", utf8("CampaignCancelRequested")));

    assertThat(faultsOf(result))
        .containsExactly(
            "type: says \"CampaignRequested\" where ce_type says \"CampaignCancelRequested\";"
                + " let both say the same");
  }

  @Test
  void refusesUnknownTypeAndNamesTheNearest() {
    assertThat(faultsOf(read("{\"type\":\"CampaignRequest\",\"campaignId\":\"a\"}")))
        .singleElement()
        .asString()
        .contains("type: unknown type", "did you mean \"CampaignRequested\"");
  }

  @Test
  void takesNullAsAbsentAndWholeNumbersWithAPoint() {
    assertThat(read(with("/plan/stepPattern", "null"))).isInstanceOf(Valid.class);
    assertThat(read(with("/plan/macro/requests", "64.0"))).isInstanceOf(Valid.class);
  }

  // ---- no request at all

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "   ",
        "not json",
        "{\"campaignId\":\"a\"",
        "[1]",
        "\"text\"",
        "null",
        "{} {}",
        "{\"a\":1,\"a\":2}",
        "{\"specversion\":\"1.0\",\"data\":\"text\"}",
        "{\"specversion\":\"1.0\",\"data_base64\":\"%%\"}",
        "{\"specversion\":\"1.0\",\"data_base64\":7}"
      })
  void calledUndecodableWithAReason(String text) {
    assertThat(read(text))
        .isInstanceOfSatisfying(
            Undecodable.class,
            u -> assertThat(u.reason()).isNotBlank().doesNotContain("\n", "Exception"));
  }

  @Test
  void saysWhereJsonIsBroken() {
    assertThat(read("{\"campaignId\":\n  oops}"))
        .isInstanceOfSatisfying(
            Undecodable.class, u -> assertThat(u.reason()).startsWith("line 2, column "));
  }

  @Test
  void refusesWhatIsTooDeepOrTooLarge() {
    assertThat(read("{\"a\":" + "[".repeat(100_000) + "]".repeat(100_000) + "}"))
        .isInstanceOf(Undecodable.class);
    assertThat(read("{\"a\":" + "[".repeat(17) + "]".repeat(17) + "}"))
        .isEqualTo(new Undecodable("is nested deeper than 16 levels"));
    assertThat(read("{\"a\":\"" + "x".repeat(1 << 20) + "\"}"))
        .isInstanceOfSatisfying(
            Undecodable.class, u -> assertThat(u.reason()).contains("at most 1048576"));
  }

  @Test
  void refusesTombstoneAndBatch() {
    assertThat(CampaignRequestReader.read(null, Map.of())).isInstanceOf(Undecodable.class);
    assertThat(
            CampaignRequestReader.read(
                utf8("[]"), Map.of("content-type", utf8("application/cloudevents-batch+json"))))
        .isInstanceOf(Undecodable.class);
  }

  // ---- faults

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      nullValues = "-",
      value = {
        // missing
        "/campaignId|-|campaignId: is missing",
        "/host|-|host: is missing",
        "/plan|-|plan: is missing",
        "/service/strategy|-|service.strategy: is missing",
        "/service/unit|-|service.unit: is missing: strategy systemd needs",
        "/service/url|-|service.url: is missing",
        "/service/model|-|service.model: is missing",
        "/service|-|service: is missing: plan.macro needs a running server",
        "/plan/micro/device|-|plan.micro.device: is missing: choose cuda or cpu",
        "/plan/micro/operations|-|plan.micro.operations: is missing",
        "/plan/micro/operations/0/name|-|plan.micro.operations[0].name: is missing",
        "/plan/micro/operations/0/operation|-|plan.micro.operations[0].operation: is missing",
        "/plan/trace/profileDir|-|plan.trace.profileDir: is missing: a live trace needs",
        "/plan/traces/0/path|-|plan.traces[0].path: is missing",
        // unknown
        "/hots|1|hots: unknown field \"hots\"; did you mean \"host\"?",
        "/plan/macro/concurency|[1]|did you mean \"concurrency\"?",
        "/concurrency|[1]|it belongs in plan.macro",
        "/plan/micro/operations/1/x|1|plan.micro.operations[1].x: unknown field \"x\" (known: name",
        "/service/strategy|\"sytemd\"|did you mean \"systemd\"? (known: systemd, process, none)",
        "/service/strategy|\"unknown\"|service.strategy: unknown value",
        "/deadlines/stepSeconds/marco|1|deadlines.stepSeconds.marco: unknown name \"marco\"; did you mean \"macro\"?",
        "/plan/macro/endPoint|\"chats\"|did you mean \"chat\"?",
        "/plan/micro/device|\"gpu\"|plan.micro.device: unknown value \"gpu\"",
        "/plan/micro/operations/0/operation|\"allreduce\"|did you mean \"all_reduce\"?",
        "/plan/micro/operations/0/component|\"gem\"|did you mean \"gemm\"?",
        "/plan/traces/0/origin|\"found\"|plan.traces[0].origin: unknown value",
        // types
        "/campaignId|7|campaignId: must be text, but is the number 7",
        "/plan|[]|plan: must be an object, but is a list",
        "/plan/macro/concurrency|8|plan.macro.concurrency: must be a list, but is the number 8",
        "/plan/macro/concurrency/1|\"8\"|plan.macro.concurrency[1]: must be a whole number, but is the text \"8\"",
        "/plan/macro/concurrency/1|null|plan.macro.concurrency[1]: is null",
        "/plan/macro/requests|1.5|plan.macro.requests: must be a whole number, but is the number 1.5",
        "/plan/macro/requests|3000000000|plan.macro.requests: must lie between",
        "/plan/macro/requestTimeoutSeconds|\"1 s\"|must be a number, but is the text \"1 s\"",
        "/plan/trace/live|\"yes\"|plan.trace.live: must be true or false, but is the text \"yes\"",
        "/service/start|\"run me\"|service.start: must be a list",
        "/service/strategy|3|service.strategy: must be one of systemd, process, none",
        "/labels|[]|labels: must be an object",
        "/labels/team|1|labels.team: must be text",
        "/deadlines/stepSeconds/macro|true|must be a number, but is true",
        // ranges
        "/plan/macro/concurrency/0|0|plan.macro.concurrency[0]: must be from 1 to 100000, but is 0",
        "/plan/macro/concurrency/0|100001|must be from 1 to 100000, but is 100001",
        "/plan/macro/concurrency|[]|plan.macro.concurrency: is an empty list",
        "/plan/macro/requests|0|must be from 1",
        "/plan/macro/warmup|-1|must be from 0",
        "/plan/macro/requestTimeoutSeconds|0|must be more than 0",
        "/plan/macro/durationSeconds|5|give one of the two",
        "/plan/macro/rate|[0.0]|plan.macro.rate[0]: must be more than 0",
        "/plan/macro/rate|[]|plan.macro.rate: is an empty list",
        "/plan/macro/arrivals|\"poison\"|did you mean \"poisson\"?",
        "/plan/micro/operations|[]|plan.micro.operations: is an empty list",
        "/plan/micro/operations/0/shape/elements|0|shape.elements: must be from 1",
        "/plan/micro/repeats|0|plan.micro.repeats: must be from 1",
        "/plan/trace/steps|0|plan.trace.steps: must be from 1",
        "/plan/traces/0/rank|-1|plan.traces[0].rank: must be from 0",
        "/deadlines/campaignSeconds|-3|deadlines.campaignSeconds: must be more than 0",
        "/deadlines/stepSeconds/macro|1e12|at most 2592000 seconds",
        // forms
        "/campaignId|\"Kimi 1\"|campaignId: \"Kimi 1\" is not 1 to 63 lower-case letters",
        "/campaignId|\"../x\"|campaignId: \"../x\" is not",
        "/host|\"a/b\"|host: \"a/b\" is not a name",
        "/service/unit|\"-x\"|service.unit: \"-x\" is not",
        "/service/model|\" \"|service.model: is empty",
        "/service/pidFile|\"x.pid\"|service.pidFile: must be an absolute path",
        "/service/url|\"lab:8000\"|service.url: must begin with http:// or https://",
        "/service/url|\"http://\"|service.url: is not a URL",
        "/service/url|\"http://h:99999\"|service.url: must have a host, and a port",
        "/service/url|\"http://h/v1\"|service.url: must be given without /v1",
        "/service/url|\"http://h/?a=b\"|service.url: must end after the path",
        "/plan/micro/python|\"python3\"|plan.micro.python: must be an absolute path",
        "/plan/micro/operations/1/name|\"tp_all_reduce\"|is used twice",
        "/plan/traces/0/sha256|\"AB\"|plan.traces[0].sha256: \"AB\" is not 64",
        "/plan/stepPattern|\"(\"|plan.stepPattern: is not a regular expression",
        // what fits what
        "/service/strategy|\"none\"|service.strategy: none means never stopped",
        "/plan|{}|plan: asks for nothing",
        "/plan|{\"scripts\":[\"a\"]}|plan: asks for nothing",
        "/plan/trace|{\"batch\":1}|plan.trace: must set live, freed or both",
      })
  void namesTheFault(String pointer, String json, String expected) {
    assertThat(faultsOf(read(with(pointer, json)))).singleElement().asString().contains(expected);
  }

  @Test
  void refusesNumbersBeyondTheLargest() {
    assertThat(faultsOf(read(FULL.replace("120.5", "1e999"))))
        .containsExactly("plan.macro.requestTimeoutSeconds: must be a finite number");
    assertThat(faultsOf(read(FULL.replace("2147483648", "9".repeat(90)))))
        .singleElement()
        .asString()
        .startsWith("plan.trace.limitBytes: must lie between");
  }

  @Test
  void processNeedsPidFileAndStart() {
    String json =
        """
        {"campaignId": "a", "host": "local",
         "service": {"strategy": "process", "url": "http://localhost:8000", "model": "m"},
         "plan": {"macro": {}}}
        """;

    assertThat(faultsOf(read(json)))
        .containsExactly(
            "service.pidFile: is missing: strategy process needs the server's pid file",
            "service.start: is missing: strategy process needs the command that starts it");
  }

  @Test
  void listsEveryFaultAtOnce() {
    String json =
        """
        {"campaignId": "A", "hots": "x",
         "service": {"strategy": "sytemd", "url": "nowhere", "model": 3},
         "plan": {"macro": {"concurrency": [1, "two", 0], "usres": 1}, "trace": {"live": true}}}
        """;

    assertThat(((Invalid) read(json)).faults())
        .extracting(Fault::field)
        .containsExactlyInAnyOrder(
            "campaignId",
            "hots",
            "host",
            "service.strategy",
            "service.url",
            "service.model",
            "plan.macro.concurrency[1]",
            "plan.macro.concurrency[2]",
            "plan.macro.usres",
            "plan.trace.profileDir");
  }

  @Test
  void keepsTheCampaignIdOfAnInvalidRequest() {
    assertThat(((Invalid) read("{\"campaignId\":\"a\"}")).campaignId()).contains("a");
    assertThat(((Invalid) read("{\"campaignId\":1}")).campaignId()).isEmpty();
    assertThat(((Invalid) read("{}")).campaignId()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "/service/url, http://me:s3cret@host:8000",
    "/service/url, http://me:s3cret@ho st",
    "/plan/macro/apiKeyEnv, sk-s3cret"
  })
  void neverRepeatsASecret(String pointer, String value) {
    assertThat(faultsOf(read(with(pointer, "\"" + value + "\""))))
        .singleElement()
        .asString()
        .doesNotContain("s3cret");
  }

  @Test
  void keepsTheListOfFaultsShort() {
    StringBuilder json = new StringBuilder("{\"campaignId\":\"a\"");
    for (int i = 0; i < 5_000; i++) {
      json.append(",\"").append("f").append(i).append("\":1");
    }

    List<Fault> faults = ((Invalid) read(json + "}")).faults();

    assertThat(faults).hasSize(Faults.MOST + 1);
    // 5 000 unknown fields and the missing host and plan, of which 100 are shown
    assertThat(faults.getLast().message()).startsWith("has 4902 more faults");
  }

  @Test
  void campaignsWithoutAServerNeedNone() {
    assertThat(
            read(
                "{\"campaignId\":\"a\",\"host\":\"local\",\"plan\":{\"traces\":"
                    + "[{\"host\":\"local\",\"path\":\"/a.json\"}]}}"))
        .isInstanceOf(Valid.class);
    assertThat(read(SMALL)).isInstanceOf(Valid.class);
  }

  // ---- YAML

  @Test
  void readsYaml() {
    String yaml =
        """
        campaignId: a
        host: local
        service:
          strategy: none
          url: http://localhost:8000
          model: m
        plan:
          macro:
            concurrency: [1]
        """;

    assertThat(CampaignRequestReader.readYaml(yaml)).isEqualTo(read(SMALL));
    assertThat(CampaignRequestReader.readYaml(SMALL)).isEqualTo(read(SMALL));
  }

  @Test
  void tellsTheLineOfAFaultInYaml() {
    String yaml =
        """
        campaignId: a
        host: local
        service:
          strategy: none
          url: http://localhost:8000
        plan:
          macro:
            concurrency:
              - 1
              - 0
            wamrup: 3
        """;

    assertThat(faultsOf(CampaignRequestReader.readYaml(yaml)))
        .hasSize(3)
        .anyMatch(f -> f.startsWith("plan.macro.wamrup: line 11: unknown field"))
        .anyMatch(f -> f.startsWith("plan.macro.concurrency[1]: line 10: must be from 1"))
        .anyMatch(f -> f.startsWith("service.model: line 3: is missing"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "# nothing",
        "- a\n- b",
        "just text",
        "a: b: c",
        "a: [1",
        "a: 1\na: 2",
        "a: &x 1\nb: *x",
        "a: !!binary AAAA",
        "a: 1\n---\nb: 2",
        "a: \u0001",
        "\tcampaignId: a"
      })
  void callsBrokenYamlUndecodable(String text) {
    assertThat(CampaignRequestReader.readYaml(text))
        .isInstanceOfSatisfying(
            Undecodable.class,
            u -> assertThat(u.reason()).isNotBlank().doesNotContain("\n", "Exception"));
  }
}
