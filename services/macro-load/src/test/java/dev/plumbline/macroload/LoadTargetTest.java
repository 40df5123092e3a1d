package dev.plumbline.macroload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.plumbline.schemas.Fault;
import dev.plumbline.schemas.load.LoadSpec;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LoadTargetTest {

  @ParameterizedTest
  @CsvSource({
    "http://h:8000, http://h:8000/metrics, 8000, h",
    "http://h:8000/, http://h:8000/metrics, 8000, h",
    "http://h/v1, http://h/metrics, 80, h",
    "https://h/v1/, https://h/metrics, 443, h",
    "http://h/proxy/v1, http://h/proxy/metrics, 80, h",
    "http://[::1]:9, http://[::1]:9/metrics, 9, ::1"
  })
  void theBaseUrlMayHaveItsVersionOrNot(String url, String metrics, int port, String host) {
    LoadTarget target = new LoadTarget(url, "m");
    assertThat(target.fault()).isEmpty();
    assertThat(target.at("/metrics")).hasToString(metrics);
    assertThat(target.port()).isEqualTo(port);
    assertThat(target.host()).isEqualTo(host);
  }

  @ParameterizedTest
  @CsvSource({"''", "localhost:8000", "http://", "http://a b", "http://h:70000"})
  void aBadUrlIsOneSentence(String url) {
    assertThat(new LoadTarget(url, "m").fault())
        .hasValueSatisfying(
            fault -> assertThat(fault.message()).startsWith(url.isEmpty() ? "no URL" : "the URL"));
  }

  @Test
  void theKeyIsTakenFromTheEnvironmentAndNeverPrinted() {
    LoadTarget target = LoadTarget.of("http://h", "m", "KEY", Map.of("KEY", "hunter2"));
    assertThat(target.apiKey()).isEqualTo("hunter2");
    assertThat(target.toString()).doesNotContain("hunter2");
    assertThatThrownBy(() -> LoadTarget.of("http://h", "m", "KEY", Map.of()))
        .hasMessageContaining("environment variable KEY is not set");
  }

  @Test
  void defaultsOfAnEmptySpec() {
    LoadPlan plan = LoadPlan.of(new LoadSpec(null, null, null, null, null, null, null, null, null));
    assertThat(plan.levels())
        .extracting(LoadPlan.Level::words)
        .containsExactly(
            "concurrency 1",
            "concurrency 2",
            "concurrency 4",
            "concurrency 8",
            "concurrency 16",
            "concurrency 32");
    assertThat(plan.levels())
        .extracting(LoadPlan.Level::requests)
        .containsExactly(8L, 8L, 8L, 16L, 32L, 64L);
    assertThat(plan.levels()).extracting(LoadPlan.Level::warmup).containsExactly(1, 2, 4, 4, 4, 4);
    assertThat(plan.chat()).isTrue();
  }

  @Test
  void fewerRequestsThanUsersAreRaisedToOneEach() {
    LoadPlan plan =
        LoadPlan.of(new LoadSpec(List.of(4, 64), 16, null, 0, null, null, null, null, null));
    assertThat(plan.levels()).extracting(LoadPlan.Level::requests).containsExactly(16L, 64L);
  }

  @Test
  void everyFaultIsListed() {
    LoadSpec spec =
        new LoadSpec(List.of(), 0, Double.NaN, -1, 0, 0, "x", -1.0, null, null, "sometimes");
    assertThat(LoadPlan.faults(spec))
        .extracting(Fault::field)
        .containsExactlyInAnyOrder(
            "concurrency",
            "requests",
            "durationSeconds",
            "warmup",
            "inputTokens",
            "outputTokens",
            "endPoint",
            "requestTimeoutSeconds",
            "arrivals");
  }

  @Test
  void promptsAreUniqueAndRepeatable() {
    LoadPlan plan = LoadPlan.of(new LoadSpec(null, null, null, null, 100, null, null, null, null));
    Requests requests = new Requests("m", plan, 7);
    assertThat(requests.prompt(3)).isEqualTo(new Requests("m", plan, 7).prompt(3));
    assertThat(requests.prompt(3)).isNotEqualTo(requests.prompt(4));
    // Already the first word differs: no shared prefix for a cache to find.
    assertThat(requests.prompt(3).split(" ")[0]).isNotEqualTo(requests.prompt(4).split(" ")[0]);
    assertThat(requests.prompt(3).split(" ")).hasSize(93);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "200 | {\"data\":[{\"id\":\"m\"}]} | ",
        "404 | not here | ",
        "200 | {\"data\":[]} | does not serve m; it serves no model",
        "200 | <html><title>Login</title></html> | an HTML page titled \"Login\"",
        "200 | {\"ok\":true} | as an OpenAI-compatible server does",
        "401 | {} | refuses the API key with HTTP 401",
        "503 | {\"error\":\"loading\"} | HTTP 503: loading"
      })
  void preflightJudgesTheListOfModels(int status, String body, String message) {
    List<Fault> faults = Preflight.judge(new LoadTarget("http://h", "m"), status, body);
    if (message == null) {
      assertThat(faults).isEmpty();
    } else {
      assertThat(faults).singleElement().satisfies(f -> assertThat(f.message()).contains(message));
    }
  }
}
