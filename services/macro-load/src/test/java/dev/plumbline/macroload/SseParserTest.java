package dev.plumbline.macroload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

class SseParserTest {

  private static List<String> parse(byte[] bytes, List<Integer> cuts) {
    List<String> events = new ArrayList<>();
    SseParser parser =
        new SseParser(
            (data, offset, length, named) ->
                events.add(
                    (named ? "!" : "") + new String(data, offset, length, StandardCharsets.UTF_8)),
            1 << 20);
    int from = 0;
    for (int cut : cuts) {
      int to = Math.min(bytes.length, from + cut);
      parser.feed(bytes, from, to - from);
      from = to;
    }
    parser.feed(bytes, from, bytes.length - from);
    parser.end();
    return events;
  }

  private static List<String> parse(String text) {
    return parse(text.getBytes(StandardCharsets.UTF_8), List.of());
  }

  @Test
  void theExamplesOfTheStandard() {
    assertThat(parse("data: YHOO\ndata: +2\ndata: 10\n\n")).containsExactly("YHOO\n+2\n10");
    assertThat(
            parse(
                ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\n"
                    + "data:  third event\n\n"))
        .containsExactly("first event", "second event", " third event");
    assertThat(parse("data\n\ndata\ndata\n\n")).containsExactly("", "\n");
    assertThat(parse("data:test\n\ndata: test\n\n")).containsExactly("test", "test");
  }

  @Test
  void lineEndsMayBeMixed() {
    assertThat(parse("data: a\r\n\r\ndata: b\r\rdata: c\n\ndata: d\r\n\n"))
        .containsExactly("a", "b", "c", "d");
  }

  @Test
  void byteOrderMarkAndUnknownFields() {
    assertThat(parse("\uFEFFdata: a\nfoo: bar\ndatax: no\n\n")).containsExactly("a");
  }

  @Test
  void theNameErrorHoldsForOneEvent() {
    assertThat(parse("event: error\ndata: a\n\ndata: b\n\nevent: error\n\ndata: c\n\n"))
        .containsExactly("!a", "b", "c");
  }

  @Test
  void anEventTooLargeIsRefusedInsteadOfKept() {
    SseParser parser = new SseParser((data, offset, length, named) -> {}, 100);
    byte[] half = new byte[60];
    parser.feed(half, 0, 60);
    assertThatThrownBy(() -> parser.feed(half, 0, 60)).isInstanceOf(SseParser.EventTooLarge.class);
  }

  @Property(tries = 500)
  void anyCutGivesTheSameEvents(
      @ForAll("streams") String stream, @ForAll("cuts") List<Integer> cuts) {
    byte[] bytes = stream.getBytes(StandardCharsets.UTF_8);
    assertThat(parse(bytes, cuts)).isEqualTo(parse(bytes, List.of()));
  }

  @Property(tries = 300)
  void whatIsFramedComesBack(@ForAll("texts") List<String> texts, @ForAll("lineEnds") String end) {
    StringBuilder stream = new StringBuilder();
    for (String text : texts) {
      stream.append(": ping").append(end).append(end);
      stream.append("data:").append(text.startsWith(" ") ? " " : "").append(text);
      stream.append(end).append(end);
    }
    byte[] bytes = stream.toString().getBytes(StandardCharsets.UTF_8);
    assertThat(parse(bytes, List.of(1, 1, 1, 2, 3, 5, 8))).isEqualTo(texts);
  }

  @Provide
  Arbitrary<String> streams() {
    return Arbitraries.of(
            "data: ",
            "data:",
            "data",
            "event: error",
            ": ping",
            "id: 3",
            "{\"a\":1}",
            "字",
            "é",
            "🙂",
            "\n",
            "\r",
            "\r\n",
            "\n\n",
            "\r\n\r\n",
            " ",
            ":",
            "\uFEFF")
        .list()
        .ofMaxSize(40)
        .map(parts -> String.join("", parts));
  }

  @Provide
  Arbitrary<List<Integer>> cuts() {
    return Arbitraries.integers().between(0, 7).list().ofMaxSize(60);
  }

  @Provide
  Arbitrary<List<String>> texts() {
    return Arbitraries.strings()
        .alpha()
        .withChars(" :{}字🙂é".toCharArray())
        .list()
        .ofMaxSize(8)
        .map(list -> list.stream().map(SseParserTest::wellFormed).toList());
  }

  /** Lone surrogates have no bytes of their own in UTF-8. */
  private static String wellFormed(String text) {
    return new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
  }

  @Provide
  Arbitrary<String> lineEnds() {
    return Arbitraries.of("\n", "\r\n", "\r");
  }
}
