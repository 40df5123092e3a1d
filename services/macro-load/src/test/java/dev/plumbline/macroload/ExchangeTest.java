package dev.plumbline.macroload;

import static dev.plumbline.macroload.Streams.FINISH;
import static dev.plumbline.macroload.Streams.MS;
import static dev.plumbline.macroload.Streams.ROLE;
import static dev.plumbline.macroload.Streams.USAGE_20;
import static dev.plumbline.macroload.Streams.delta;
import static org.assertj.core.api.Assertions.assertThat;

import dev.plumbline.schemas.load.LoadReport;
import dev.plumbline.schemas.load.LoadReport.Latency;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What servers really send, each oddity with its known truth: 20 tokens, the first at 200 ms, then
 * one each 10 ms, last at 390 ms.
 */
class ExchangeTest {

  private static LoadReport.Level level(Exchange exchange) {
    LevelRecorder recorder = new LevelRecorder(1_000 * MS, false);
    recorder.closeBy(2_000 * MS);
    recorder.take(exchange);
    return recorder.report(
        new LoadPlan.Closed(1, 1L, null, 0), new ClientHealth(), 0, false, Map.of());
  }

  private static void exactly(Latency latency, long count, double ms) {
    assertThat(latency.count()).isEqualTo(count);
    assertThat(latency.mean()).isEqualTo(ms * MS);
    assertThat(latency.min()).isEqualTo(Math.round(ms * MS));
    assertThat(latency.max()).isEqualTo(Math.round(ms * MS));
    assertThat(latency.p50()).isEqualTo(Math.round(ms * MS));
    assertThat(latency.p999()).isEqualTo(Math.round(ms * MS));
  }

  private static void isPlain(Exchange exchange) {
    assertThat(exchange.failure()).isNull();
    LoadReport.Level level = level(exchange);
    exactly(level.ttftNs(), 1, 200);
    exactly(level.iclNs(), 19, 10);
    exactly(level.itlNs(), 19, 10);
    exactly(level.tpotNs(), 1, 10);
    exactly(level.e2eNs(), 1, 390);
    assertThat(level.completed()).isEqualTo(1);
    assertThat(level.outputTokens()).isEqualTo(20);
    assertThat(level.tokensEstimated()).isFalse();
  }

  private static Exchange failed(Exchange exchange, String kind) {
    assertThat(exchange.failure()).isNotNull();
    assertThat(exchange.failure().kind()).isEqualTo(kind);
    LoadReport.Level level = level(exchange);
    assertThat(level.completed()).isZero();
    assertThat(level.failed()).containsExactly(Map.entry(kind, 1L));
    assertThat(level.outputTokens()).isZero();
    assertThat(level.ttftNs().count()).isZero();
    assertThat(level.ttftNs().mean()).isNull();
    return exchange;
  }

  @Test
  void plainStream() {
    isPlain(new Streams().event(200, ROLE).tokens(0, 20).finish().played());
  }

  @Test
  @DisplayName("a role chunk before the prefill ends is no token")
  void roleEarly() {
    isPlain(new Streams().event(10, ROLE).tokens(0, 20).finish().played());
  }

  @ParameterizedTest
  @ValueSource(strings = {"reasoning", "reasoning_content"})
  void reasoningCountsForTheFirstTokenAndContentHasItsOwnTime(String field) {
    Exchange exchange =
        new Streams().event(10, ROLE).tokens(field, 0, 10).tokens(10, 20).finish().played();
    isPlain(exchange);
    exactly(level(exchange).ttfotNs(), 1, 300);
  }

  @Test
  void onlyToolCalls() {
    Streams stream = new Streams().event(10, ROLE);
    stream.event(
        20,
        "{\"choices\":[{\"delta\":{\"content\":null,\"tool_calls\":[{\"index\":0,\"id\":\"c1\","
            + "\"function\":{\"name\":\"f\",\"arguments\":\"\"}}]}}]}");
    for (int i = 0; i < 20; i++) {
      stream.event(
          200 + 10L * i,
          "{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"{x\"}}]}}]}");
    }
    Exchange exchange = stream.finish().played();
    isPlain(exchange);
    assertThat(level(exchange).ttfotNs().count()).isZero();
  }

  @Test
  void textCompletions() {
    Streams stream = new Streams();
    for (int i = 0; i < 20; i++) {
      stream.event(200 + 10L * i, "{\"choices\":[{\"text\":\"tok \",\"finish_reason\":null}]}");
    }
    stream.event(390, "{\"choices\":[{\"text\":\"\",\"finish_reason\":\"length\"}]}");
    isPlain(stream.event(390, USAGE_20).event(390, "[DONE]").played());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      ignoreLeadingAndTrailingWhitespace = false,
      value = {
        "data: |\\r\\n\\r\\n",
        "data:|\\n\\n",
        "data: |\\r\\r",
        "event: message\\ndata: |\\n\\n",
        "id: 7\\nretry: 10\\n: note\\ndata:|\\r\\n\\r\\n"
      })
  void everyLegalFraming(String before, String after) {
    UnaryOperator<String> plain = text -> text.replace("\\r", "\r").replace("\\n", "\n");
    isPlain(
        new Streams()
            .framed(plain.apply(before), plain.apply(after))
            .event(10, ROLE)
            .tokens(0, 20)
            .finish()
            .played());
  }

  @Test
  void keepAliveCommentsBetweenTokens() {
    Streams stream = new Streams().raw(0, ":\n\n").event(10, ROLE);
    for (int i = 0; i < 20; i++) {
      stream.raw(196 + 10L * i, ": ping\n\n").event(200 + 10L * i, delta("content"));
    }
    isPlain(stream.finish().played());
  }

  @Test
  void anEventCutInTheMiddleArrivesWithItsLastByte() {
    Streams stream = new Streams();
    for (int i = 0; i < 20; i++) {
      String event = "data: " + delta("content") + "\n\n";
      stream.raw(195 + 10L * i, event.substring(0, 25));
      stream.raw(197 + 10L * i, event.substring(25, event.length() - 1));
      stream.raw(200 + 10L * i, "\n");
    }
    isPlain(stream.finish().played());
  }

  @Test
  void aCharacterCutInTheMiddle() {
    Streams stream = new Streams();
    byte[] event =
        "data: {\"choices\":[{\"delta\":{\"content\":\"字\"}}]}\n\n"
            .getBytes(StandardCharsets.UTF_8);
    int inside = new String(event, StandardCharsets.ISO_8859_1).indexOf('å') + 1;
    for (int i = 0; i < 20; i++) {
      stream.raw(197 + 10L * i, java.util.Arrays.copyOfRange(event, 0, inside));
      stream.raw(200 + 10L * i, java.util.Arrays.copyOfRange(event, inside, event.length));
    }
    isPlain(stream.finish().played());
  }

  @Test
  @DisplayName("four tokens per chunk: chunk gap 40, token gap 10, TPOT (360-200)/19")
  void severalTokensPerChunk() {
    Streams stream = new Streams().event(10, ROLE);
    for (int i = 0; i < 5; i++) {
      stream.event(
          200 + 40L * i,
          "{\"choices\":[{\"delta\":{\"content\":\"a b c d \"}}],\"usage\":{\"prompt_tokens\":9,"
              + "\"completion_tokens\":"
              + 4 * (i + 1)
              + "}}");
    }
    LoadReport.Level level = level(stream.finish().played());
    exactly(level.iclNs(), 4, 40);
    exactly(level.itlNs(), 4, 10);
    assertThat(level.itlFromChunks()).isFalse();
    assertThat(level.tpotNs().mean()).isEqualTo(Math.round(160e6 / 19));
    assertThat(level.outputTokens()).isEqualTo(20);
    exactly(level.e2eNs(), 1, 360);
  }

  @Test
  void severalTokensPerChunkToldByTokenIds() {
    Streams stream = new Streams();
    for (int i = 0; i < 5; i++) {
      stream.event(
          200 + 40L * i,
          "{\"choices\":[{\"delta\":{\"content\":\"abcd\"},\"token_ids\":[1,2,3,4]}]}");
    }
    LoadReport.Level level = level(stream.event(390, FINISH).played());
    exactly(level.itlNs(), 4, 10);
    assertThat(level.outputTokens()).isEqualTo(20);
    assertThat(level.tokensEstimated()).isFalse();
  }

  @Test
  void severalTokensPerChunkUntold() {
    Streams stream = new Streams();
    for (int i = 0; i < 5; i++) {
      stream.event(200 + 40L * i, delta("content"));
    }
    LoadReport.Level level = level(stream.finish().played());
    exactly(level.itlNs(), 4, 40);
    assertThat(level.itlFromChunks()).isTrue();
    assertThat(level.outputTokens()).isEqualTo(20);
  }

  @Test
  void usageOnTheFinishChunkOnly() {
    isPlain(
        new Streams()
            .tokens(0, 20)
            .event(
                390,
                "{\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}],"
                    + "\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":20}}")
            .played());
  }

  @Test
  void nullsAreAbsent() {
    Streams stream = new Streams();
    for (int i = 0; i < 20; i++) {
      stream.event(
          200 + 10L * i,
          "{\"choices\":[{\"delta\":{\"role\":null,\"content\":\"t\",\"reasoning_content\":null,"
              + "\"tool_calls\":null},\"finish_reason\":null}],\"usage\":null,\"error\":null}");
    }
    isPlain(stream.finish().played());
  }

  @Test
  void withoutUsageTheContentEventsAreCountedAndFlagged() {
    LoadReport.Level level = level(new Streams().tokens(0, 20).event(390, FINISH).played());
    assertThat(level.outputTokens()).isEqualTo(20);
    assertThat(level.tokensEstimated()).isTrue();
    assertThat(level.inputTokens()).isNull();
  }

  @Test
  @DisplayName("the server counts 20 tokens, whatever the text looks like")
  void usageWins() {
    Streams stream = new Streams();
    for (int i = 0; i < 20; i++) {
      stream.event(200 + 10L * i, "{\"choices\":[{\"delta\":{\"content\":\"a b c d e f\"}}]}");
    }
    isPlain(stream.finish().played());
  }

  @Test
  void aLateUsageChunkMovesNoTime() {
    isPlain(
        new Streams()
            .tokens(0, 20)
            .event(390, FINISH)
            .event(690, USAGE_20)
            .event(690, "[DONE]")
            .played());
  }

  @Test
  void oneTokenHasNoTpotAndNoGap() {
    LoadReport.Level level =
        level(
            new Streams()
                .event(10, ROLE)
                .tokens(0, 1)
                .event(200, FINISH)
                .event(200, "{\"choices\":[],\"usage\":{\"completion_tokens\":1}}")
                .played());
    exactly(level.ttftNs(), 1, 200);
    assertThat(level.tpotNs().count()).isZero();
    assertThat(level.tpotNs().mean()).isNull();
    assertThat(level.itlNs().count()).isZero();
    assertThat(level.outputTokens()).isEqualTo(1);
  }

  @Test
  void finishedWithoutTextIsACompletionWithoutTimes() {
    Exchange exchange = new Streams().event(200, ROLE).event(200, FINISH).played();
    assertThat(exchange.failure()).isNull();
    assertThat(level(exchange).completed()).isEqualTo(1);
    assertThat(level(exchange).ttftNs().count()).isZero();
  }

  @Test
  void errorInsteadOfTokens() {
    Exchange exchange =
        failed(
            new Streams()
                .event(5, "{\"error\":{\"message\":\"out of memory\",\"code\":500}}")
                .event(5, "[DONE]")
                .played(),
            "error");
    assertThat(exchange.failure().message()).isEqualTo("out of memory");
  }

  @Test
  void errorAfterTokens() {
    failed(
        new Streams()
            .tokens(0, 5)
            .event(260, "{\"error\":\"Model is overloaded\"}")
            .event(260, "[DONE]")
            .played(),
        "error");
  }

  @Test
  void errorByEventName() {
    failed(new Streams().tokens(0, 5).raw(260, "event: error\ndata: boom\n\n").played(), "error");
  }

  @Test
  void abortedByTheServer() {
    failed(
        new Streams()
            .tokens(0, 5)
            .event(260, "{\"choices\":[{\"delta\":{},\"finish_reason\":\"abort\"}]}")
            .played(),
        "error");
  }

  @Test
  void nothingButTheEndMarker() {
    failed(new Streams().event(5, "[DONE]").played(), "no_token");
  }

  @Test
  void cleanEndWithoutFinishReason() {
    failed(new Streams().tokens(0, 5).played(), "truncated");
    failed(new Streams().tokens(0, 5).event(250, "[DONE]").played(), "truncated");
  }

  @Test
  void cleanEndInTheMiddleOfAnEvent() {
    failed(new Streams().tokens(0, 5).raw(250, "data: {\"choices\":[{\"del").played(), "truncated");
  }

  @Test
  void theLastEventWithoutItsBlankLineCounts() {
    isPlain(new Streams().tokens(0, 20).event(390, USAGE_20).raw(390, "data: " + FINISH).played());
  }

  @Test
  void notJson() {
    failed(new Streams().tokens(0, 5).event(250, "<html>").played(), "protocol");
  }

  @Test
  void lostBeforeAndAfterTheFinishReason() {
    Exchange lost = new Exchange();
    lost.start(0);
    lost.brokeOff("reset", "gone", 5);
    assertThat(lost.failure().kind()).isEqualTo("reset");

    Exchange whole = new Streams().tokens(0, 20).event(390, FINISH).event(390, USAGE_20).played();
    whole.brokeOff("reset", "gone", 5_000 * MS);
    isPlain(whole);
  }

  @Test
  void nothingIsLeftOfThePreviousRequest() {
    Exchange exchange =
        new Streams().tokens(0, 5).event(260, "{\"error\":\"x\"}").raw(260, "data: {").played();
    new Streams().event(10, ROLE).tokens(0, 20).finish().playOn(exchange);
    isPlain(exchange);
  }

  @Test
  @DisplayName("four events in one read share a time; three of them are coalesced")
  void coalescedReads() {
    Streams stream = new Streams();
    String four = ("data: " + delta("content") + "\n\n").repeat(4);
    for (int i = 0; i < 5; i++) {
      stream.raw(200 + 40L * i, four);
    }
    LoadReport.Level level = level(stream.finish().played());
    assertThat(level.client().coalescedShare()).isEqualTo(0.75);
    assertThat(level.iclNs().count()).isEqualTo(19);
    assertThat(level.iclNs().max()).isEqualTo(40 * MS);
    assertThat(level.iclNs().min()).isZero();
  }

  @Test
  void cachedTokensAreKept() {
    LoadReport.Level level =
        level(
            new Streams()
                .tokens(0, 20)
                .event(390, FINISH)
                .event(
                    390,
                    "{\"choices\":[],\"usage\":{\"prompt_tokens\":90,\"completion_tokens\":20,"
                        + "\"prompt_tokens_details\":{\"cached_tokens\":64}}}")
                .played());
    assertThat(level.inputTokens()).isEqualTo(90);
    assertThat(level.cachedTokens()).isEqualTo(64);
  }
}
