package dev.plumbline.traceanalysis;

import static org.assertj.core.api.Assertions.assertThat;

import com.github.luben.zstd.Zstd;
import dev.plumbline.schemas.trace.TraceReport;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;

/**
 * Mutations of real traces, from the bytes to the finished report: each ends with a report or with
 * a sentence that names the file, in bounded time and memory. The seed is fixed, so a failing
 * number is found again. The system property {@code plumbline.mutations} sets how many; 100,000
 * take some minutes:
 *
 * <pre>
 * ./mvnw -f services/trace-analysis verify -Dtest=MutatedTracesTest -Dplumbline.mutations=100000
 * </pre>
 */
class MutatedTracesTest {

  private static final int MUTATIONS = Integer.getInteger("plumbline.mutations", 2_000);

  /** A hang is one input that takes longer than this; an ordinary one takes a millisecond. */
  private static final Duration HANG = Duration.ofSeconds(30);

  private static final ReadLimits LIMITS = new ReadLimits(64 << 20, 200, 100_000);

  private static final List<byte[]> WORDS =
      List.of(
          bytes("\""),
          bytes("\\"),
          bytes("\\u"),
          bytes("{"),
          bytes("}"),
          bytes("["),
          bytes("]"),
          bytes(","),
          bytes(":"),
          bytes("\n"),
          bytes("\u0000"),
          bytes("-1"),
          bytes("nan"),
          bytes("-Infinity"),
          bytes("N/A"),
          bytes("null"),
          bytes("1e308"),
          bytes("1e-400"),
          bytes("99999999999999999999999"),
          bytes("9223372036854775807"),
          bytes("-9223372036854775808"),
          bytes("9223372036854775.807"),
          bytes("\"ph\": \"X\","),
          bytes("\"cat\": \"kernel\","),
          bytes("\"traceEvents\": ["),
          bytes("\"name\": \"ProfilerStep#1\","),
          bytes("{".repeat(5_000)),
          bytes("[".repeat(5_000)),
          bytes("\ud83d\ude00"));

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** The beginning and the end of a real trace, with its metadata: some hundred events. */
  private static byte[] part(String resource, int from, int length) throws IOException {
    byte[] plain;
    try (GZIPInputStream in =
        new GZIPInputStream(new ByteArrayInputStream(SharedDataBytes.of(resource)))) {
      plain = in.readAllBytes();
    }
    String text = new String(plain, StandardCharsets.ISO_8859_1);
    int list = text.indexOf("\n  {", text.indexOf("\"traceEvents\""));
    int first = text.indexOf("\n  {", list + (int) ((long) from * (plain.length - list) / 100));
    int last = text.indexOf("\n  {", first + length);
    return (text.substring(0, list)
            + text.substring(first, last)
            + text.substring(text.lastIndexOf("\n  {")))
        .getBytes(StandardCharsets.ISO_8859_1);
  }

  @Test
  void eachEndsWithAReportOrASentence() throws IOException {
    List<byte[]> seeds =
        List.of(
            part("moe-decode-b1-cudagraph.pt.trace.json.gz", 50, 12_000),
            part("moe-decode-b32-compiled.pt.trace.json.gz", 30, 12_000),
            part("nccl-eager-rank0.pt.trace.json.gz", 60, 12_000),
            part("nccl-graph-rank1.pt.trace.json.gz", 40, 12_000));
    for (byte[] seed : seeds) {
      assertThat(report(seed)).isNotNull();
    }
    int reports = 0;
    for (int i = 0; i < MUTATIONS; i++) {
      Random random = new Random(20_261_201L + i);
      byte[] input = mutated(seeds, random);
      long begin = System.nanoTime();
      try {
        reports += report(input) == null ? 0 : 1;
      } catch (RuntimeException | StackOverflowError | OutOfMemoryError e) {
        throw new AssertionError("mutation " + i, e);
      }
      assertThat(System.nanoTime() - begin).as("ns of mutation " + i).isLessThan(HANG.toNanos());
    }
    assertThat(reports).isGreaterThan(MUTATIONS / 2);
  }

  /** Null when it was refused with a sentence. */
  private static TraceReport report(byte[] input) {
    try {
      TraceReport report =
          TraceAnalysis.analyse(
              List.of(TraceJson.input("mutated.json", input)),
              new AnalysisOptions(null, null, false, LIMITS));
      TraceText.render(report);
      return report;
    } catch (UnreadableTrace refused) {
      assertThat(refused).hasMessageContaining("mutated.json");
      return null;
    }
  }

  private static byte[] mutated(List<byte[]> seeds, Random random) throws IOException {
    byte[] input = seeds.get(random.nextInt(seeds.size())).clone();
    for (int changes = 1 + random.nextInt(6); changes > 0; changes--) {
      input = changed(input, seeds, random);
    }
    if (random.nextInt(8) == 0) {
      byte[] packed = random.nextBoolean() ? gzip(input) : Zstd.compress(input);
      return random.nextBoolean() ? packed : changed(packed, seeds, random);
    }
    return input;
  }

  private static byte[] changed(byte[] input, List<byte[]> seeds, Random random) {
    int at = random.nextInt(input.length);
    int length = Math.min(input.length - at, 1 + random.nextInt(200));
    switch (random.nextInt(8)) {
      case 0 -> input[at] = (byte) random.nextInt(256);
      case 1 -> input[at] ^= (byte) (1 << random.nextInt(8));
      case 2 -> {
        return spliced(input, at, 0, WORDS.get(random.nextInt(WORDS.size())));
      }
      case 3 -> {
        return spliced(input, at, length, WORDS.get(random.nextInt(WORDS.size())));
      }
      case 4 -> {
        return spliced(input, at, length, new byte[0]);
      }
      case 5 -> {
        return spliced(input, at, 0, Arrays.copyOfRange(input, at, at + length));
      }
      case 6 -> {
        byte[] other = seeds.get(random.nextInt(seeds.size()));
        int from = random.nextInt(other.length);
        int to = Math.min(other.length, from + random.nextInt(3_000));
        return spliced(input, at, length, Arrays.copyOfRange(other, from, to));
      }
      default -> {
        return number(input, at, random);
      }
    }
    return input;
  }

  /** A run of digits after a place becomes another number of any size. */
  private static byte[] number(byte[] input, int at, Random random) {
    int from = at;
    while (from < input.length && (input[from] < '0' || input[from] > '9')) {
      from++;
    }
    int to = from;
    while (to < input.length && input[to] >= '0' && input[to] <= '9') {
      to++;
    }
    String other = Long.toString(random.nextLong() >> random.nextInt(64));
    return spliced(input, from, to - from, bytes(other));
  }

  private static byte[] spliced(byte[] input, int at, int removed, byte[] inserted) {
    ByteArrayOutputStream out = new ByteArrayOutputStream(input.length + inserted.length);
    out.write(input, 0, at);
    out.writeBytes(inserted);
    out.write(input, at + removed, input.length - at - removed);
    // Never empty, so that there is a next place to change.
    return out.size() == 0 ? new byte[] {' '} : out.toByteArray();
  }

  private static byte[] gzip(byte[] plain) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
      gzip.write(plain);
    }
    return out.toByteArray();
  }

  @Test
  void theListOfMutationsIsTheSameEachTime() throws IOException {
    List<byte[]> seeds = List.of(bytes("{\"traceEvents\": [{\"ts\": 12}]}"));
    List<byte[]> twice = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      twice.add(mutated(seeds, new Random(3)));
    }
    assertThat(twice.get(0)).isEqualTo(twice.get(1));
  }
}
