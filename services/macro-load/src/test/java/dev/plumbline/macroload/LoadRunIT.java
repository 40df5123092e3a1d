package dev.plumbline.macroload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import dev.plumbline.schemas.Json;
import dev.plumbline.schemas.load.LoadReport;
import dev.plumbline.schemas.load.LoadSpec;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The engine against a server on real sockets, fault by fault: counts computed by hand. */
@Timeout(60)
class LoadRunIT {

  private static LoadSpec spec(int concurrency, int requests, double timeoutSeconds) {
    return new LoadSpec(
        List.of(concurrency), requests, null, 0, 16, 20, "chat", timeoutSeconds, null);
  }

  /** Every report of these tests is a valid one by the published schema, whatever went wrong. */
  private static LoadReport report(String url, LoadSpec spec) {
    LoadReport report =
        LoadRun.run(
            new LoadTarget(url, "m", "secret-key"), spec, ProgressListener.NONE, CancelFlag.NEVER);
    assertThat(PublishedSchema.faults("LoadReport", Json.mapper().valueToTree(report))).isEmpty();
    return report;
  }

  private static LoadReport.Level run(ScriptedServer.Script script, LoadSpec spec)
      throws IOException {
    try (ScriptedServer server = new ScriptedServer(script)) {
      LoadReport report = report(server.url(), spec);
      assertThat(report.levels()).hasSize(1);
      assertThat(new String(Json.bytes(report))).doesNotContain("NaN", "Infinity", "secret-key");
      return report.levels().getFirst();
    }
  }

  private static void healthy(ScriptedServer.Request request, ScriptedServer.Answer answer)
      throws IOException, InterruptedException {
    answer.stream().tokens(20, 1).finish(17, 20);
  }

  @Test
  void countsAndTokensOfAHealthyServer() throws Exception {
    try (ScriptedServer server = new ScriptedServer(LoadRunIT::healthy)) {
      LoadReport report =
          report(
              server.url(), new LoadSpec(List.of(1, 2, 4), 8, null, 3, 16, 20, "chat", 10.0, null));
      assertThat(report.levels())
          .extracting(LoadReport.Level::concurrency)
          .containsExactly(1, 2, 4);
      for (LoadReport.Level level : report.levels()) {
        assertThat(level.completed()).isEqualTo(8);
        assertThat(level.planned()).isEqualTo(8);
        assertThat(level.failed()).isEmpty();
        assertThat(level.partial()).isFalse();
        assertThat(level.ttftNs().count()).isEqualTo(8);
        assertThat(level.iclNs().count()).isEqualTo(8 * 19);
        assertThat(level.tpotNs().count()).isEqualTo(8);
        assertThat(level.inputTokens()).isEqualTo(8 * 17);
        assertThat(level.tokensEstimated()).isFalse();
        assertThat(level.outputThroughput())
            .isCloseTo(
                level.outputTokens() * 1e9 / level.windowNs(),
                org.assertj.core.data.Offset.offset(1e9 / level.windowNs()));
        assertThat(level.meanInFlight()).isLessThanOrEqualTo(level.concurrency() + 1e-9);
      }
      // One user is never in its ramp-down: all tokens lie in the window.
      assertThat(report.levels().getFirst().outputTokens()).isEqualTo(160);
      assertThat(server.requests).hasSize(3 * (3 + 8));
      assertThat(server.requests.stream().map(ScriptedServer.Request::body).distinct())
          .as("no two prompts are the same")
          .hasSize(33);
      assertThat(server.requests)
          .allSatisfy(
              request -> {
                assertThat(request.line()).isEqualTo("POST /v1/chat/completions HTTP/1.1");
                assertThat(request.head()).contains("Bearer secret-key");
                assertThat(request.body())
                    .contains("\"max_tokens\":20", "\"include_usage\":true", "\"stream\":true");
              });
    }
  }

  @Test
  void atMostAsManyInFlightAsAskedFor() throws Exception {
    AtomicInteger inFlight = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    LoadReport.Level level =
        run(
            (request, answer) -> {
              most.accumulateAndGet(inFlight.incrementAndGet(), Math::max);
              answer.stream().tokens(5, 5);
              inFlight.decrementAndGet();
              answer.finish(17, 5);
            },
            spec(8, 40, 10));
    assertThat(level.completed()).isEqualTo(40);
    assertThat(most).hasValue(8);
  }

  @Test
  void textCompletionsUseTheirOwnEndPointAndPrompt() throws Exception {
    try (ScriptedServer server =
        new ScriptedServer(
            (request, answer) -> {
              answer.stream().data("{\"choices\":[{\"text\":\"a\"}]}");
              answer.data("{\"choices\":[{\"text\":\"b\",\"finish_reason\":\"length\"}]}").end();
            })) {
      LoadReport report =
          report(
              server.url() + "/v1/",
              new LoadSpec(List.of(1), 2, null, 0, 16, 2, "completions", 10.0, null));
      assertThat(report.endPoint()).isEqualTo("completions");
      assertThat(report.levels().getFirst().completed()).isEqualTo(2);
      assertThat(report.levels().getFirst().tokensEstimated()).isTrue();
      assertThat(server.requests.getFirst().line()).isEqualTo("POST /v1/completions HTTP/1.1");
      assertThat(server.requests.getFirst().body()).contains("\"prompt\":\"");
    }
  }

  @Test
  void refusalsAreCountedByStatusWithTheServersWords() throws Exception {
    LoadReport.Level level =
        run(
            (request, answer) -> {
              switch (request.number() % 4) {
                case 0 ->
                    answer.whole(429, "application/json", "{\"error\":{\"message\":\"busy\"}}");
                case 1 -> answer.whole(503, "text/html", "<html><title>Bad gateway</title></html>");
                default -> healthy(request, answer);
              }
            },
            spec(1, 16, 10));
    assertThat(level.completed()).isEqualTo(8);
    assertThat(level.failed()).containsExactly(entry("http_429", 4L), entry("http_503", 4L));
    assertThat(level.failureExamples())
        .containsEntry("http_429", "HTTP 429: busy")
        .containsEntry("http_503", "HTTP 503: an HTML page titled \"Bad gateway\"");
    assertThat(level.ttftNs().count()).isEqualTo(8);
    assertThat(level.outputTokens()).isEqualTo(160);
  }

  @Test
  void nothingListens() throws Exception {
    int port;
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    LoadReport report = report("http://127.0.0.1:" + port, spec(2, 8, 10));
    LoadReport.Level level = report.levels().getFirst();
    assertThat(level.failed()).containsExactly(entry("connect", 8L));
    assertThat(level.completed()).isZero();
    assertThat(level.outputThroughput()).isZero();
    assertThat(level.ttftNs().p99()).isNull();
    assertThat(report.saturation()).isNull();
    assertThat(report.usl()).isNull();
    assertThat(new String(Json.bytes(report))).doesNotContain("NaN");
  }

  @Test
  void resetsTruncationsAndErrorsInTheMiddle() throws Exception {
    LoadReport.Level level =
        run(
            (request, answer) -> {
              answer.stream().tokens(5, 0);
              switch (request.number() % 4) {
                case 0 -> answer.reset();
                case 1 -> answer.end();
                case 2 ->
                    answer.data("{\"error\":{\"message\":\"engine died\"}}").data("[DONE]").end();
                default -> answer.finish(17, 5);
              }
            },
            spec(1, 16, 10));
    assertThat(level.completed()).isEqualTo(4);
    assertThat(level.failed())
        .containsExactly(entry("error", 4L), entry("reset", 4L), entry("truncated", 4L));
    assertThat(level.outputTokens()).isEqualTo(20);
  }

  @Test
  void anAnswerThatIsNoStream() throws Exception {
    LoadReport.Level level =
        run(
            (request, answer) ->
                answer.whole(
                    200, "application/json", "{\"choices\":[{\"message\":{\"content\":\"x\"}}]}"),
            spec(1, 8, 10));
    assertThat(level.failed()).containsExactly(entry("not_streaming", 8L));
  }

  @Test
  void aKeepAliveConnectionThatClosesIsTriedOnceMore() throws Exception {
    LoadReport.Level level =
        run(
            (request, answer) -> {
              if (request.onConnection() == 2) {
                answer.reset();
              } else {
                healthy(request, answer);
              }
            },
            spec(1, 8, 10));
    assertThat(level.completed()).isEqualTo(8);
    assertThat(level.failed()).isEmpty();
    // Requests 2 to 8 each meet the closing connection of the one before.
    assertThat(level.client().retried()).isEqualTo(7);
  }

  @Test
  void aServerThatClosesANewConnectionIsNotTriedAgain() throws Exception {
    try (ScriptedServer server = new ScriptedServer((request, answer) -> answer.reset())) {
      LoadReport.Level level = report(server.url(), spec(1, 8, 10)).levels().getFirst();
      assertThat(level.failed()).containsExactly(entry("reset", 8L));
      assertThat(server.requests).hasSize(8);
      assertThat(level.client().retried()).isZero();
    }
  }

  @Test
  void connectionsThatCloseAfterEachAnswer() throws Exception {
    LoadReport.Level level =
        run(
            (request, answer) -> {
              healthy(request, answer);
              answer.close();
            },
            spec(4, 16, 10));
    assertThat(level.completed()).isEqualTo(16);
    assertThat(level.failed()).isEmpty();
  }

  @Test
  void silenceEndsWithTheRequestLimitAndTheNextRequestGoesOn() throws Exception {
    LoadReport.Level level =
        run(
            (request, answer) -> {
              if (request.number() == 2) {
                answer.stream().tokens(5, 0).hang();
              } else {
                healthy(request, answer);
              }
            },
            spec(1, 8, 0.5));
    assertThat(level.completed()).isEqualTo(7);
    assertThat(level.failed().values()).containsExactly(1L);
    assertThat(level.failed().keySet()).containsAnyOf("time_out", "idle");
    assertThat(level.partial()).isFalse();
  }

  @Test
  void aServerThatNeverAnswersIsGivenUp() throws Exception {
    LoadReport report;
    try (ScriptedServer server = new ScriptedServer((request, answer) -> answer.hang())) {
      report =
          report(
              server.url(), new LoadSpec(List.of(8, 16), 1000, null, 0, 16, 20, "chat", 0.3, null));
    }
    assertThat(report.levels()).as("the second level would only repeat it").hasSize(1);
    assertThat(report.levels().getFirst().partial()).isTrue();
    assertThat(report.levels().getFirst().failed().get("time_out")).isGreaterThanOrEqualTo(8);
  }

  @Test
  void anEndMarkerWithoutAnEndOfTheBodyIsASuccess() throws Exception {
    LoadReport.Level level =
        run(
            (request, answer) -> {
              answer.stream().tokens(3, 0);
              answer
                  .data("{\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}")
                  .data("[DONE]");
              answer.hang();
            },
            spec(8, 8, 20));
    assertThat(level.completed()).isEqualTo(8);
  }

  @Test
  void aServerThatRefusesUnknownFieldsIsAskedForLess() throws Exception {
    List<String> accepted = new ArrayList<>();
    try (ScriptedServer server =
        new ScriptedServer(
            (request, answer) -> {
              if (request.body().contains("ignore_eos")) {
                answer.whole(400, "application/json", "{\"message\":\"unknown field ignore_eos\"}");
              } else {
                accepted.add(request.body());
                healthy(request, answer);
              }
            })) {
      LoadReport.Level level = report(server.url(), spec(1, 8, 10)).levels().getFirst();
      assertThat(level.completed()).isEqualTo(8);
      assertThat(level.failed()).isEmpty();
      assertThat(accepted)
          .hasSize(8)
          .allSatisfy(body -> assertThat(body).contains("include_usage"));
      assertThat(server.requests).hasSize(10);
    }
  }

  @Test
  void aBadRequestThatStaysBadIsAFailure() throws Exception {
    LoadReport.Level level =
        run(
            (request, answer) ->
                answer.whole(400, "application/json", "{\"error\":{\"message\":\"too long\"}}"),
            spec(1, 8, 10));
    assertThat(level.failed()).containsExactly(entry("http_400", 8L));
    assertThat(level.failureExamples()).containsEntry("http_400", "HTTP 400: too long");
  }

  @Test
  void cancellingEndsTheRunWithWhatWasMeasured() throws Exception {
    AtomicBoolean cancelled = new AtomicBoolean();
    try (ScriptedServer server =
        new ScriptedServer(
            (request, answer) -> {
              if (request.number() <= 5) {
                healthy(request, answer);
              } else {
                cancelled.set(true);
                answer.stream().tokens(2, 0).hang();
              }
            })) {
      LoadReport report =
          LoadRun.run(
              new LoadTarget(server.url(), "m"),
              new LoadSpec(List.of(1, 2), 100, null, 0, 16, 20, "chat", 50.0, null),
              ProgressListener.NONE,
              cancelled::get);
      assertThat(report.levels()).hasSize(1);
      LoadReport.Level level = report.levels().getFirst();
      assertThat(level.completed()).isEqualTo(5);
      assertThat(level.failed()).containsExactly(entry("cancelled", 1L));
      assertThat(level.partial()).isTrue();
      assertThat(level.outputTokens()).isEqualTo(100);
    }
  }

  @Test
  void cancellingInTheWarmUp() throws Exception {
    AtomicBoolean cancelled = new AtomicBoolean();
    try (ScriptedServer server =
        new ScriptedServer(
            (request, answer) -> {
              cancelled.set(true);
              answer.hang();
            })) {
      LoadReport report =
          LoadRun.run(
              new LoadTarget(server.url(), "m"),
              new LoadSpec(List.of(2), 100, null, 4, 16, 20, "chat", 50.0, null),
              ProgressListener.NONE,
              cancelled::get);
      LoadReport.Level level = report.levels().getFirst();
      assertThat(level.partial()).isTrue();
      assertThat(level.completed()).isZero();
      assertThat(level.failed()).isEmpty();
      assertThat(level.windowNs()).isZero();
    }
  }

  @Test
  void interruptingTheCallerCancelsAndStaysInterrupted() throws Exception {
    CountDownLatch busy = new CountDownLatch(1);
    AtomicBoolean stayed = new AtomicBoolean();
    try (ScriptedServer server =
        new ScriptedServer(
            (request, answer) -> {
              busy.countDown();
              answer.hang();
            })) {
      Thread caller =
          Thread.ofPlatform()
              .start(
                  () -> {
                    report(server.url(), spec(1, 8, 50));
                    stayed.set(Thread.currentThread().isInterrupted());
                  });
      busy.await();
      caller.interrupt();
      caller.join();
    }
    assertThat(stayed).isTrue();
  }

  @Test
  void aTimedLevelEndsByItself() throws Exception {
    LoadReport.Level level =
        run(
            (request, answer) -> answer.stream().tokens(10, 2).finish(17, 10),
            new LoadSpec(List.of(2), null, 0.5, 2, 16, 10, "chat", 10.0, null));
    assertThat(level.windowNs()).isEqualTo(500_000_000);
    assertThat(level.planned()).isNull();
    assertThat(level.completed()).isPositive();
    assertThat(level.failed()).isEmpty();
    assertThat(level.outputTokens()).isLessThanOrEqualTo(level.completed() * 10);
  }

  @Test
  void anOpenLoopSendsOnScheduleThoughTheServerIsSlow() throws Exception {
    AtomicInteger inFlight = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    LoadReport.Level level =
        run(
            (request, answer) -> {
              most.accumulateAndGet(inFlight.incrementAndGet(), Math::max);
              answer.pause(300);
              answer.stream().tokens(2, 0).finish(17, 2);
              inFlight.decrementAndGet();
            },
            new LoadSpec(null, 40, null, 0, 16, 2, "chat", 10.0, null, List.of(100.0), "constant"));
    assertThat(level.concurrency()).isNull();
    assertThat(level.rate()).isEqualTo(100);
    assertThat(level.completed()).isEqualTo(40);
    assertThat(level.windowNs()).as("40 requests at 100 a second").isEqualTo(400_000_000);
    // The server holds each for 300 ms: a closed loop would wait, this one goes on sending.
    assertThat(most.get()).isGreaterThan(10);
    assertThat(level.client().sendLatenessNs().count()).isEqualTo(40);
  }

  @Test
  void theServersOwnMetricsStandBesideTheFigures() throws Exception {
    try (ScriptedServer server =
        new ScriptedServer(LoadRunIT::healthy)
            .withMetrics("vllm:num_requests_running{engine=\"0\"} 3\n")) {
      LoadReport.Level level = report(server.url(), spec(1, 64, 10)).levels().getFirst();
      assertThat(level.serverMetrics())
          .containsExactlyEntriesOf(
              Map.of("vllm:num_requests_running", 3.0).entrySet().stream()
                  .collect(
                      java.util.TreeMap::new,
                      (map, e) -> {
                        map.put(e.getKey(), e.getValue());
                        map.put(e.getKey() + ":max", e.getValue());
                      },
                      java.util.TreeMap::putAll));
    }
  }

  @Test
  void progressIsTold() throws Exception {
    List<ProgressListener.Progress> told = new ArrayList<>();
    try (ScriptedServer server =
        new ScriptedServer((request, answer) -> answer.stream().tokens(10, 20).finish(17, 10))) {
      LoadRun.run(new LoadTarget(server.url(), "m"), spec(1, 8, 10), told::add, CancelFlag.NEVER);
    }
    assertThat(told).isNotEmpty();
    assertThat(told).allSatisfy(p -> assertThat(p.load()).isEqualTo("concurrency 1"));
    assertThat(told.getLast().total()).isEqualTo(8);
    assertThat(told.getLast().outputThroughput()).isPositive();
  }

  @Test
  void badInputIsOneSentencePerFault() {
    assertThatThrownBy(
            () ->
                report(
                    "ftp://x", new LoadSpec(List.of(0), -1, null, 0, 16, 20, "chats", 1.0, null)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("url: the URL ftp://x does not begin with http")
        .hasMessageContaining("concurrency[0]: is 0; give a whole number from 1")
        .hasMessageContaining("requests: is -1")
        .hasMessageContaining("endPoint: is chats; known are [chat, completions]");
  }

  @Test
  void preflightNamesWhatIsServed() throws Exception {
    try (ScriptedServer server = new ScriptedServer(LoadRunIT::healthy)) {
      assertThat(Preflight.probe(server.url(), "m")).isEmpty();
      assertThat(Preflight.probe(server.url() + "/v1", "lora-1")).isEmpty();
      assertThat(Preflight.probe(server.url(), "llama"))
          .singleElement()
          .satisfies(
              fault -> {
                assertThat(fault.field()).isEqualTo("model");
                assertThat(fault.message()).contains("does not serve llama", "m, lora-1");
              });
      server.close();
      assertThat(Preflight.probe(server.url(), "m"))
          .singleElement()
          .satisfies(fault -> assertThat(fault.message()).contains("cannot be reached"));
    }
  }
}
