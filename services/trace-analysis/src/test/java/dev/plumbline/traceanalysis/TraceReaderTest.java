package dev.plumbline.traceanalysis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.github.luben.zstd.Zstd;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The dirt of real files: what is complete is kept, what is not is counted. */
class TraceReaderTest {

  private static TraceJson two() {
    return new TraceJson().kernel("a", "10.001", "2.5", 7, 1).kernel("b", "20", "3", 7, 2);
  }

  private static List<String> names(Trace trace) {
    List<String> names = new ArrayList<>();
    for (int i = 0; i < trace.events().count(); i++) {
      names.add(trace.names().text(trace.events().name(i)));
    }
    return names;
  }

  private static byte[] gzip(byte[] plain) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(bytes)) {
      gzip.write(plain);
    }
    return bytes.toByteArray();
  }

  @ParameterizedTest
  @CsvSource({
    "5277509968522.927, 5277509968522927",
    "1693229376123456789, -9223372036854775808",
    "1690000000000000.123, 1690000000000000123",
    "12, 12000",
    "0.5, 500",
    "1.0004, 1000",
    "1.0005, 1001",
    "1.99951, 2000",
    "-3.25, -3250",
    "1e3, 1000000",
    "1.5E-1, 150",
    "nan, -9223372036854775808",
    ".5, 500",
    "-, -9223372036854775808",
    "1e99, -9223372036854775808",
    "12x, -9223372036854775808",
  })
  void decimalTextBecomesWholeNanoseconds(String text, long nanos) {
    byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
    assertThat(Decimals.microsToNanos(bytes, 0, bytes.length)).isEqualTo(nanos);
  }

  @Test
  void eventsComeOutInOrderOfTimeWithTheirFields() {
    Trace trace =
        TraceJson.read(
            new TraceJson()
                .kernel("late", "20", "3", 9, 2)
                .call("cudaLaunchKernel", "1", "0.5", 5, 2)
                .kernel("early", "10.001", "2.5", 7, 1)
                .annotation("ProfilerStep#1", "0", "9", 5)
                .annotation("nothing special", "0", "9", 5)
                .text());
    assertThat(names(trace)).containsExactly("early", "late");
    assertThat(trace.events().start(0)).isEqualTo(10_001);
    assertThat(trace.events().duration(0)).isEqualTo(2_500);
    assertThat(trace.events().correlation(1)).isEqualTo(2);
    assertThat(trace.events().streams()).isEqualTo(2);
    assertThat(trace.calls().count()).isEqualTo(1);
    assertThat(trace.calls().end(0)).isEqualTo(1_500);
    assertThat(trace.annotations().count()).isEqualTo(1);
    assertThat(trace.calls().thread(0)).isEqualTo(trace.annotations().thread(0));
    assertThat(trace.eventsRead()).isEqualTo(5);
    assertThat(trace.truncated()).isFalse();
  }

  @Test
  void metadataMayComeBeforeOrAfterTheEvents() {
    String metadata =
        "\"distributedInfo\": {\"backend\": \"nccl\", \"pg_config\": [{\"rank\": 9}], \"rank\": 3,"
            + " \"world_size\": \"8\"}, \"with_stack\": 1, \"baseTimeNanoseconds\":"
            + " 1790857026000000000";
    Trace before = TraceJson.read(two().metadata(metadata).text());
    Trace after = TraceJson.read("{\"traceEvents\": [], " + metadata + "}");
    assertThat(before.metadata())
        .isEqualTo(new Trace.Metadata(3, 8, 1790857026000000000L, true))
        .isEqualTo(after.metadata());
    assertThat(before.events().count()).isEqualTo(2);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"a\": \"b\"c\", ",
        "{\"traceEvents\" ! \"b\"c\", ",
        "{\"x\" \"traceEvents\", \"traceEvents\": 3, ",
        "{nan, \"traceEvents\": {}, "
      })
  void damagedMetadataDoNotCostTheEvents(String before) {
    Trace trace = TraceJson.read(before + two().text().substring(1));
    assertThat(names(trace)).containsExactly("a", "b");
    assertThat(trace.warnings()).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"{nan \"traceEvents\"", "{nan \"traceEvents\" 7}", "{nan \"traceEvents\": 7}"})
  void damagedMetadataWithoutAListAreRefused(String text) {
    assertThatThrownBy(() -> TraceJson.read(text)).isInstanceOf(UnreadableTrace.class);
  }

  @Test
  void aBareListIsATrace() {
    String text = two().text();
    Trace trace = TraceJson.read(text.substring(text.indexOf('['), text.length() - 1));
    assertThat(names(trace)).containsExactly("a", "b");
  }

  @Test
  void keysMayComeInAnyOrderAndTheLastOfADoubleWins() {
    Trace trace =
        TraceJson.read(
            "[{\"args\": {\"correlation\": 4, \"stream\": 7, \"correlation\": 5}, \"cat\":"
                + " \"kernel\", \"dur\": 1, \"name\": \"k\", \"ph\": \"X\", \"pid\": 0, \"tid\": 7,"
                + " \"ts\": 2}]");
    assertThat(trace.events().correlation(0)).isEqualTo(5);
  }

  @Test
  void namesOf2021AreUnderstood() {
    Trace trace =
        TraceJson.read(
            """
            [{"ph": "X", "cat": "Kernel", "name": "k", "pid": 0, "tid": "stream 7", "ts": 5, "dur": 2,
              "args": {"device": 0, "stream": 7, "correlation": 1, "external id": 2}},
             {"ph": "X", "cat": "Memset", "name": "Memset (Device)", "pid": 0, "tid": "stream 7",
              "ts": 8, "dur": 2, "args": {"device": 0, "stream": 7, "correlation": 2}},
             {"ph": "X", "cat": "Runtime", "name": "cudaLaunchKernel", "pid": 3, "tid": "33", "ts": 1,
              "dur": 2, "args": {"correlation": 1}},
             {"ph": "X", "cat": "Operator", "name": "ProfilerStep#5", "pid": 3, "tid": 33, "ts": 0,
              "dur": 9}]""");
    assertThat(trace.events().count()).isEqualTo(2);
    assertThat(trace.events().category(1)).isEqualTo(DeviceEvents.MEMSET);
    assertThat(trace.calls().thread(0)).isEqualTo(trace.annotations().thread(0));
  }

  @ParameterizedTest
  @ValueSource(strings = {"inf", "-Infinity", "nan", "NaN", "N/A", "null", "true", "{}", "[[]]"})
  void anOddValueBesideTheTimesDoesNotCostTheEvent(String value) {
    Trace trace =
        TraceJson.read(
            two()
                .raw(
                    """
                    {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy", "pid": 0, "tid": 7, "ts": 30,
                     "dur": 1, "args": {"memory bandwidth (GB/s)": %s, "bytes": "8", "stream": 7}}"""
                        .formatted(value))
                .text());
    assertThat(names(trace)).containsExactly("a", "b", "Memcpy");
    assertThat(trace.eventsBad()).isEmpty();
  }

  @Test
  void numbersMayBeStringsAndPass2To63() {
    Trace trace =
        TraceJson.read(
            """
            [{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": -4, "ts": "1587.5",
              "dur": "2", "args": {"correlation": "77", "Comms Id": 10159970886766084423}}]""");
    assertThat(trace.events().start(0)).isEqualTo(1_587_500);
    assertThat(trace.events().correlation(0)).isEqualTo(77);
  }

  @Test
  void controlCharactersAndBrokenUtf8StayInTheName() {
    byte[] text =
        two().kernel("x\u0001y\tz", "30", "1", 7, 3).text().getBytes(StandardCharsets.UTF_8);
    int at = new String(text, StandardCharsets.ISO_8859_1).indexOf("\"b\"") + 1;
    text[at] = (byte) 0xff;
    assertThat(names(TraceJson.read(text))).containsExactly("a", "\ufffd", "x\u0001y\tz");
  }

  @Test
  void escapesAreResolved() {
    Trace trace = TraceJson.read(two().kernel("q\\\"\\u00e9\\n\\\\", "30", "1", 7, 3).text());
    assertThat(names(trace)).endsWith("q\"é\n\\");
  }

  @Test
  void badEventsAreCountedByKind() {
    Trace trace =
        TraceJson.read(
            two()
                .kernel("k", "0", "0", 7, 3)
                .kernel("k", "0", "0.000", 7, 3)
                .kernel("k", "30", "-1", 7, 3)
                .kernel("k", "30", "9000000000000", 7, 3)
                .kernel("k", "nan", "1", 7, 3)
                .raw("{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"ts\": 4}")
                .text());
    assertThat(names(trace)).containsExactly("a", "b");
    assertThat(trace.eventsBad())
        .containsOnly(
            Map.entry("zero-time", 2L),
            Map.entry("negative-duration", 1L),
            Map.entry("absurd-duration", 1L),
            Map.entry("unreadable", 2L));
  }

  @Test
  void aDurationThatOverflowedEndsWhereTheNextEventStarts() {
    TraceJson json = new TraceJson().kernel("fmha", "100", "1600000", 7, 1);
    for (int i = 1; i <= 10; i++) {
      json.kernel("k", Integer.toString(100 + 30 * i), "5", 7, i);
    }
    // A long kernel on another stream that covers the same ones is real.
    json.kernel("nccl", "90", "1600000", 8, 99);
    Trace trace = TraceJson.read(json.text());
    assertThat(trace.eventsBad()).containsOnly(Map.entry("clipped-duration", 1L));
    assertThat(trace.events().duration(0)).isEqualTo(1_600_000_000);
    assertThat(trace.events().duration(1)).isEqualTo(30_000);
    assertThat(trace.events().count()).isEqualTo(12);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"say \"hello\" now", "\"", "x\", \"y", "a \" b", "\"\"\"", "{\"", "]}\"["})
  void anUnescapedQuoteCostsOneEvent(String name) {
    Trace trace =
        TraceJson.read(
            new TraceJson()
                .kernel("a", "10", "1", 7, 1)
                .kernel(name, "20", "1", 7, 2)
                .kernel("b", "30", "1", 7, 3)
                .kernel("c", "40", "1", 7, 4)
                .metadata("\"traceName\": \"x\"")
                .text());
    assertThat(names(trace)).startsWith("a").endsWith("c").contains("b");
  }

  @ParameterizedTest
  @ValueSource(strings = {"python_function", "cpu_op", "gpu_user_annotation"})
  void anUnescapedQuoteInAnEventThatIsPassedOverCostsNoOther(String category) {
    Trace trace =
        TraceJson.read(
            new TraceJson()
                .kernel("a", "10", "1", 7, 1)
                .raw(
                    """
                    {
                      "ph": "X", "cat": "%s", "name": "f: "x", "pid": 1, "tid": 1,
                      "ts": 11, "dur": 2,
                      "args": {
                        "External id": 4
                      }
                    }"""
                        .formatted(category))
                .kernel("b", "30", "1", 7, 3)
                .text());
    assertThat(names(trace)).containsExactly("a", "b");
    assertThat(trace.eventsBad()).containsKey("syntax");
  }

  @Test
  void aCutFileKeepsItsCompleteEventsWhereverItIsCut() {
    String text = two().text();
    int second = text.indexOf("\"b\"");
    int secondEnd = text.lastIndexOf('}', text.length() - 2);
    for (int cut = text.indexOf('[') + 1; cut < text.length(); cut++) {
      Trace trace = TraceJson.read(text.substring(0, cut));
      assertThat(trace.truncated()).isTrue();
      assertThat(names(trace).contains("b")).as("cut at " + cut).isEqualTo(cut > secondEnd);
      if (cut > second) {
        assertThat(names(trace)).contains("a");
      }
    }
  }

  @Test
  void gzipIsToldByItsFirstBytesAndMayHaveMembers() throws IOException {
    byte[] plain = two().text().getBytes(StandardCharsets.UTF_8);
    assertThat(names(TraceJson.read(gzip(plain)))).containsExactly("a", "b");
    int half = plain.length / 2;
    ByteArrayOutputStream members = new ByteArrayOutputStream();
    members.write(gzip(Arrays.copyOf(plain, half)));
    members.write(gzip(Arrays.copyOfRange(plain, half, plain.length)));
    assertThat(names(TraceJson.read(members.toByteArray()))).containsExactly("a", "b");
  }

  @Test
  void zstdIsToldByItsFirstBytesAndMayHaveFrames() {
    byte[] plain = two().text().getBytes(StandardCharsets.UTF_8);
    int half = plain.length / 2;
    byte[] first = Zstd.compress(Arrays.copyOf(plain, half));
    byte[] second = Zstd.compress(Arrays.copyOfRange(plain, half, plain.length));
    byte[] frames = Arrays.copyOf(first, first.length + second.length);
    System.arraycopy(second, 0, frames, first.length, second.length);
    assertThat(names(TraceJson.read(Zstd.compress(plain)))).containsExactly("a", "b");
    Trace trace = TraceJson.read(frames);
    assertThat(names(trace)).containsExactly("a", "b");
    assertThat(trace.truncated()).isFalse();
  }

  @Test
  void aCutOrDamagedZstdKeepsWhatCameBefore() throws IOException {
    byte[] plain;
    try (InputStream in =
        new GZIPInputStream(
            new ByteArrayInputStream(
                SharedDataBytes.of("moe-decode-b1-cudagraph.pt.trace.json.gz")))) {
      plain = in.readAllBytes();
    }
    byte[] whole = Zstd.compress(plain);
    Trace cut = TraceJson.read(Arrays.copyOf(whole, whole.length * 7 / 10));
    assertThat(cut.truncated()).isTrue();
    assertThat(cut.events().count()).isPositive();
    byte[] damaged = whole.clone();
    Arrays.fill(damaged, whole.length * 6 / 10, whole.length * 7 / 10, (byte) 0xff);
    Trace kept = TraceJson.read(damaged);
    assertThat(kept.truncated()).isTrue();
    assertThat(kept.events().count()).isPositive();
  }

  private static InputStream spaces(long count) {
    return new InputStream() {
      private long left = count;

      @Override
      public int read() {
        return left-- > 0 ? ' ' : -1;
      }

      @Override
      public int read(byte[] target, int offset, int length) {
        if (left <= 0) {
          return -1;
        }
        int read = (int) Math.min(length, left);
        Arrays.fill(target, offset, offset + read, (byte) ' ');
        left -= read;
        return read;
      }
    };
  }

  @Test
  void aBombIsRefused() throws IOException {
    ByteArrayOutputStream bomb = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(bomb)) {
      gzip.write("{\"a\":".getBytes(StandardCharsets.US_ASCII));
      spaces(70L << 20).transferTo(gzip);
    }
    byte[] zstd = Zstd.compress(spaces(70L << 20).readAllBytes());
    assertThatThrownBy(() -> TraceJson.read(bomb.toByteArray()))
        .isInstanceOf(UnreadableTrace.class)
        .hasMessageContaining("test.json unpacks to more than 200 times its size");
    assertThatThrownBy(() -> TraceJson.read(zstd))
        .hasMessageContaining("test.json unpacks to more than 200 times its size");
    ReadLimits small = new ReadLimits(1 << 20, 2_000, 10);
    assertThatThrownBy(
            () ->
                TraceReader.read(
                    TraceJson.input("bomb.gz", bomb.toByteArray()), name -> false, small))
        .hasMessage(
            "bomb.gz holds more than 1,048,576 bytes of JSON: capture fewer steps, or raise the"
                + " size limit.");
  }

  @Test
  void keptEventsAndNamesAreLimited() {
    ReadLimits two = new ReadLimits(1 << 20, 200, 2);
    String text = two().text();
    assertThat(TraceReader.read(TraceJson.input("a", text), name -> false, two).events().count())
        .isEqualTo(2);
    String three = two().call("cudaLaunchKernel", "1", "0.5", 5, 2).text();
    assertThatThrownBy(() -> TraceReader.read(TraceJson.input("a", three), name -> false, two))
        .hasMessage(
            "a holds more than 2 device events and launches: capture fewer steps, or raise the"
                + " limit of kept events.");
    TraceJson json = new TraceJson();
    for (int i = 0; i < 70; i++) {
      json.kernel(i + "n".repeat(1_000_000), "10", "1", 7, 1);
    }
    assertThatThrownBy(() -> TraceJson.read(json.text()))
        .hasMessageContaining("64 MiB of different names");
  }

  @Test
  void aCutGzipIsTruncated() throws IOException {
    byte[] whole = SharedDataBytes.of("moe-decode-b1-cudagraph.pt.trace.json.gz");
    Trace trace = TraceJson.read(Arrays.copyOf(whole, whole.length * 7 / 10));
    assertThat(trace.truncated()).isTrue();
    assertThat(trace.events().count()).isBetween(500, 2223);
  }

  @Test
  void bytesMayArriveOneByOne() throws IOException {
    byte[] bytes =
        gzip(two().kernel("x\\u00e9\\\\", "30", "1", 7, 3).text().getBytes(StandardCharsets.UTF_8));
    TraceInput input =
        new TraceInput(
            "slow",
            null,
            () ->
                new InputStream() {
                  private final InputStream in = new ByteArrayInputStream(bytes);

                  @Override
                  public int read() throws IOException {
                    return in.read();
                  }

                  @Override
                  public int read(byte[] target, int offset, int length) throws IOException {
                    return in.read(target, offset, Math.min(1, length));
                  }
                });
    assertThat(names(TraceReader.read(input, name -> false, ReadLimits.defaults())))
        .containsExactly("a", "b", "xé\\");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'' | is empty",
        "'   ' | is empty",
        "hello | has no \"traceEvents\"",
        "{} | has no \"traceEvents\"",
        "{\"schemaVersion\": | is cut short before its events",
        "17 | has no \"traceEvents\"",
      })
  void whatIsNoTraceIsRefusedInOneSentence(String text, String message) {
    assertThatThrownBy(() -> TraceJson.read(text))
        .isInstanceOf(UnreadableTrace.class)
        .hasMessageContaining("test.json")
        .hasMessageContaining(message);
  }

  @Test
  void aMissingFileIsNamed() {
    assertThatThrownBy(
            () ->
                TraceReader.read(
                    TraceInput.of(Path.of("no", "such.json")),
                    name -> false,
                    ReadLimits.defaults()))
        .hasMessage("Cannot read the trace no/such.json: there is no such file.");
  }
}
