package dev.plumbline.traceanalysis;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The hand-written reader against Jackson's, on real files and on damaged ones. */
class ReaderAgainstJacksonTest {

  private static final JsonMapper JACKSON =
      JsonMapper.builder()
          .enable(JsonReadFeature.ALLOW_UNESCAPED_CONTROL_CHARS)
          .enable(com.fasterxml.jackson.databind.DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .build();

  private static final Map<String, String> USED =
      Map.of(
          "kernel", "device",
          "gpu_memcpy", "device",
          "gpu_memset", "device",
          "cuda_runtime", "call",
          "cuda_driver", "call",
          "user_annotation", "annotation");

  private record Row(String use, long start, long duration, String name, long correlation) {}

  private static final Comparator<Row> ORDER =
      Comparator.comparing(Row::use)
          .thenComparing(Row::start)
          .thenComparing(Row::duration)
          .thenComparing(Row::name)
          .thenComparing(Row::correlation);

  private static byte[] plain(String resource) throws IOException {
    try (GZIPInputStream in =
        new GZIPInputStream(new ByteArrayInputStream(SharedDataBytes.of(resource)))) {
      return in.readAllBytes();
    }
  }

  private static List<Row> jackson(byte[] bytes) throws IOException {
    JsonNode root = JACKSON.readTree(bytes);
    List<Row> rows = new ArrayList<>();
    for (JsonNode event : root.has("traceEvents") ? root.get("traceEvents") : root) {
      String use = USED.get(event.path("cat").asText());
      if (use != null && event.path("ph").asText().equals("X")) {
        rows.add(
            new Row(
                use,
                nanos(event.get("ts")),
                nanos(event.get("dur")),
                event.get("name").asText(),
                use.equals("annotation")
                    ? Decimals.UNREADABLE
                    : event.at("/args/correlation").asLong(Decimals.UNREADABLE)));
      }
    }
    rows.sort(ORDER);
    return rows;
  }

  private static long nanos(JsonNode micros) {
    return new BigDecimal(micros.asText()).movePointRight(3).longValueExact();
  }

  private static List<Row> ours(Trace trace) {
    List<Row> rows = new ArrayList<>();
    DeviceEvents events = trace.events();
    for (int i = 0; i < events.count(); i++) {
      rows.add(
          new Row(
              "device",
              events.start(i),
              events.duration(i),
              trace.names().text(events.name(i)),
              events.correlation(i)));
    }
    add(rows, "call", trace, trace.calls());
    add(rows, "annotation", trace, trace.annotations());
    rows.sort(ORDER);
    return rows;
  }

  private static void add(List<Row> rows, String use, Trace trace, HostSpans spans) {
    for (int i = 0; i < spans.count(); i++) {
      rows.add(
          new Row(
              use,
              spans.start(i),
              spans.end(i) - spans.start(i),
              trace.names().text(spans.name(i)),
              spans.correlation(i)));
    }
  }

  private static Trace read(byte[] bytes) {
    return TraceReader.read(
        TraceJson.input("mutated.json", bytes), name -> true, ReadLimits.defaults());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "moe-decode-b1-cudagraph.pt.trace.json.gz",
        "moe-decode-b32-compiled.pt.trace.json.gz",
        "nccl-eager-rank0.pt.trace.json.gz",
        "nccl-graph-rank1.pt.trace.json.gz"
      })
  void realFilesAreReadAlike(String resource) throws IOException {
    byte[] bytes = plain(resource);
    assertThat(ours(read(bytes))).isEqualTo(jackson(bytes));
    byte[] compact = JACKSON.writeValueAsBytes(JACKSON.readTree(bytes));
    assertThat(ours(read(compact))).isEqualTo(jackson(bytes));
  }

  /**
   * A changed byte: where Jackson can still read the file, and sees numbers where numbers belong,
   * both read the same; in any case ours ends, with rows or with a sentence.
   */
  @Test
  void damagedFilesEndWithRowsOrASentence() throws IOException {
    byte[] whole = plain("moe-decode-b32-compiled.pt.trace.json.gz");
    byte[] start = java.util.Arrays.copyOf(whole, 40_000);
    Random random = new Random(42);
    byte[] marks = "\"\\{}[],:0 \n".getBytes(java.nio.charset.StandardCharsets.US_ASCII);
    int compared = 0;
    for (int i = 0; i < 3_000; i++) {
      byte[] mutated = start.clone();
      int changes = 1 + random.nextInt(3);
      for (int c = 0; c < changes; c++) {
        mutated[random.nextInt(mutated.length)] =
            random.nextBoolean() ? marks[random.nextInt(marks.length)] : (byte) random.nextInt(256);
      }
      Trace trace;
      try {
        trace = read(mutated);
      } catch (UnreadableTrace refused) {
        assertThat(refused).hasMessageContaining("mutated.json");
        continue;
      }
      assertThat(trace.truncated()).isTrue();
      compared++;
    }
    assertThat(compared).isGreaterThan(2_500);
  }

  private static byte[] someOfEachCategory(byte[] whole) throws IOException {
    Map<String, Integer> taken = new java.util.HashMap<>();
    List<JsonNode> events = new ArrayList<>();
    for (JsonNode event : JACKSON.readTree(whole).get("traceEvents")) {
      if (taken.merge(event.path("cat").asText(), 1, Integer::sum) <= 10) {
        events.add(event);
      }
    }
    return JACKSON
        .writerWithDefaultPrettyPrinter()
        .writeValueAsBytes(Map.of("traceEvents", events));
  }

  @Test
  void damagedButReadableFilesAreReadAlike() throws IOException {
    byte[] small = someOfEachCategory(plain("moe-decode-b32-compiled.pt.trace.json.gz"));
    assertThat(ours(read(small))).isEqualTo(jackson(small)).hasSizeGreaterThan(20);
    Random random = new Random(7);
    int alike = 0;
    for (int i = 0; i < 1_500; i++) {
      byte[] mutated = small.clone();
      mutated[random.nextInt(mutated.length)] = (byte) (32 + random.nextInt(95));
      List<Row> expected;
      try {
        if (!JACKSON.readTree(mutated).has("traceEvents")) {
          continue;
        }
        expected = jackson(mutated);
      } catch (JsonProcessingException | RuntimeException unreadable) {
        continue;
      }
      Trace trace = read(mutated);
      if (trace.eventsBad().isEmpty()) {
        assertThat(ours(trace)).as("mutation " + i).isEqualTo(expected);
        alike++;
      }
    }
    assertThat(alike).isGreaterThan(500);
  }
}
