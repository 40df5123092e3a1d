package dev.plumbline.schemas;

import static org.assertj.core.api.Assertions.assertThat;

import dev.plumbline.schemas.CampaignRequestReader.Invalid;
import dev.plumbline.schemas.CampaignRequestReader.Result;
import dev.plumbline.schemas.CampaignRequestReader.Undecodable;
import dev.plumbline.schemas.CampaignRequestReader.Valid;
import dev.plumbline.schemas.campaign.CampaignRequested;
import dev.plumbline.schemas.campaign.Deadlines;
import dev.plumbline.schemas.campaign.Plan;
import dev.plumbline.schemas.campaign.ServiceUnderTest;
import dev.plumbline.schemas.campaign.ServiceUnderTest.Strategy;
import dev.plumbline.schemas.load.LoadSpec;
import dev.plumbline.schemas.micro.MicroOperation;
import dev.plumbline.schemas.micro.MicroSpec;
import dev.plumbline.schemas.micro.TraceSpec;
import dev.plumbline.schemas.trace.TraceFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

class CampaignRequestPropertyTest {

  private static final List<String> PIECES =
      List.of(
          "{",
          "}",
          "[",
          "]",
          ":",
          ",",
          "\"",
          "null",
          "true",
          "-1",
          "1e999",
          "0",
          "\n",
          "  ",
          "- ",
          "\"plan\":",
          "plan:",
          "&a ",
          "*a",
          "!!binary ",
          "---\n",
          "\u0000",
          "\ufeff",
          "\ud800",
          "\"specversion\":\"1.0\",\"data\":",
          "\"data_base64\":\"AAAA\",");

  @Property(tries = 300)
  void decodedIsWhatWasEncoded(@ForAll("requests") CampaignRequested request) {
    byte[] json = Json.bytes(request);

    assertThat(CampaignRequestReader.read(json, Map.of())).isEqualTo(new Valid(request));
    assertThat(CampaignRequestReader.readYaml(new String(json, StandardCharsets.UTF_8)))
        .isEqualTo(new Valid(request));
    assertThat(Language.faults("CampaignRequested", Language.encode(request))).isEmpty();
  }

  /** Frozen requests with pieces cut out, doubled and put in: something comes back, always. */
  @Property(tries = 2000)
  void neverThrows(@ForAll Random random) {
    List<Path> requests =
        Language.examples().stream().filter(e -> e.toString().contains("CampaignReq")).toList();
    Path request = requests.get(random.nextInt(requests.size()));
    StringBuilder text = new StringBuilder(Language.text(request));
    for (int i = random.nextInt(6); i >= 0; i--) {
      int at = random.nextInt(text.length() + 1);
      int to = Math.min(text.length(), at + random.nextInt(20));
      switch (random.nextInt(3)) {
        case 0 -> text.delete(at, to);
        case 1 -> text.insert(at, text.substring(at, to));
        default -> text.insert(at, PIECES.get(random.nextInt(PIECES.size())));
      }
    }
    byte[] bytes = text.toString().getBytes(StandardCharsets.UTF_8);

    assertTold(CampaignRequestReader.read(bytes, Map.of()));
    assertTold(CampaignRequestReader.readYaml(text.toString()));
  }

  @Property(tries = 500)
  void neverThrowsOnBytes(@ForAll byte[] bytes) {
    assertTold(CampaignRequestReader.read(bytes, Map.of("ce_type", bytes, "content-type", bytes)));
  }

  private static void assertTold(Result result) {
    switch (result) {
      case Valid valid -> assertThat(valid.request()).isNotNull();
      case Invalid invalid ->
          assertThat(invalid.faults())
              .isNotEmpty()
              .allSatisfy(f -> assertThat(f.message()).isNotBlank().doesNotContain("\n"));
      case Undecodable undecodable ->
          assertThat(undecodable.reason()).isNotBlank().doesNotContain("\n");
    }
  }

  @Provide
  Arbitrary<CampaignRequested> requests() {
    return Combinators.combine(
            ids(), services(), plans(), deadlines(), Arbitraries.of(true, false), words())
        .as(
            (id, service, plan, deadlines, allowNoGpu, by) ->
                new CampaignRequested(
                    id, "lab-1", service, plan, deadlines, allowNoGpu, by, Map.of("who", by)));
  }

  private static Arbitrary<String> ids() {
    return Arbitraries.strings()
        .withCharRange('a', 'z')
        .withCharRange('0', '9')
        .ofMinLength(1)
        .ofMaxLength(63);
  }

  private static Arbitrary<String> words() {
    return Arbitraries.of("anna", "Å\u00e9\u6f22", "a \"quoted\" word", "back\\slash", "x: y # z");
  }

  private static <T> Arbitrary<T> maybe(Arbitrary<T> value) {
    return value.injectNull(0.3);
  }

  private static Arbitrary<Double> seconds() {
    return Arbitraries.of(0.001, 1.0, 12.5, 2_592_000.0);
  }

  private static Arbitrary<ServiceUnderTest> services() {
    return Combinators.combine(
            Arbitraries.of(Strategy.SYSTEMD, Strategy.PROCESS), words(), maybe(seconds()))
        .as(
            (strategy, model, ready) ->
                new ServiceUnderTest(
                    strategy,
                    "vllm@1.service",
                    "/run/x.pid",
                    List.of("/bin/serve", "--model", model),
                    "http://lab-1:8000/base",
                    model,
                    ready));
  }

  private static Arbitrary<Plan> plans() {
    return Combinators.combine(loads(), maybe(micros()), maybe(traceSpecs()), maybe(traceFiles()))
        .as(
            (load, micro, trace, files) ->
                new Plan(load, micro, trace, List.of("probe.py"), files, "step_\\d+"));
  }

  private static Arbitrary<LoadSpec> loads() {
    return Combinators.combine(
            maybe(Arbitraries.integers().between(1, 100_000).list().ofMinSize(1).ofMaxSize(5)),
            maybe(Arbitraries.integers().between(1, 10_000_000)),
            maybe(Arbitraries.integers().between(0, 100)),
            maybe(Arbitraries.of("chat", "completions")),
            maybe(seconds()),
            maybe(Arbitraries.of(0.5, 100_000.0).list().ofMinSize(1).ofMaxSize(2)),
            maybe(Arbitraries.of("poisson", "constant")))
        .as(
            (levels, requests, warmup, endPoint, limit, rate, arrivals) ->
                new LoadSpec(
                    levels, requests, null, warmup, 1, 2, endPoint, limit, "KEY", rate, arrivals));
  }

  private static Arbitrary<MicroSpec> micros() {
    return Combinators.combine(
            Arbitraries.of("cuda", "cpu"),
            maybe(Arbitraries.integers().between(1, 8)),
            Arbitraries.integers().between(1, 4),
            Arbitraries.longs().between(1, Long.MAX_VALUE),
            maybe(Arbitraries.of(Limits.OPERATIONS)))
        .as(
            (device, gpus, count, side, operation) -> {
              List<MicroOperation> operations = new ArrayList<>();
              for (int i = 0; i < count; i++) {
                operations.add(
                    new MicroOperation(
                        "op" + i,
                        operation == null ? "copy" : operation,
                        Map.of("m", side),
                        operation == null ? null : "bf16",
                        operation == null ? null : i + 1,
                        operation == null ? null : "gemm"));
              }
              return new MicroSpec(device, gpus, "/usr/bin/python3", 10, 1.5, operations);
            });
  }

  private static Arbitrary<TraceSpec> traceSpecs() {
    return Combinators.combine(
            Arbitraries.of(true, false), maybe(Arbitraries.longs().between(1, Long.MAX_VALUE)))
        .as((live, limit) -> new TraceSpec(live, !live, 1, 10, live ? "/traces" : null, limit));
  }

  private static Arbitrary<List<TraceFile>> traceFiles() {
    return Arbitraries.integers()
        .between(1, 8)
        .map(
            n -> {
              List<TraceFile> files = new ArrayList<>();
              for (int rank = 0; rank < n; rank++) {
                files.add(new TraceFile("lab-1", "/t/" + rank, rank, 7L, "0f".repeat(32), "given"));
              }
              return files;
            });
  }

  private static Arbitrary<Deadlines> deadlines() {
    return Combinators.combine(
            maybe(seconds()), maybe(Arbitraries.of(Step.MACRO, Step.LIVE_TRACE)), seconds())
        .as(
            (whole, step, limit) ->
                new Deadlines(whole, step == null ? null : Map.of(step, limit)));
  }
}
