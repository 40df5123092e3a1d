import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;

/**
 * Makes a large trace out of a small real one: its events repeated, each copy later than the last,
 * with correlation and external ids of its own. The text stays as the profiler wrote it.
 *
 * <p>{@code java TileTrace.java IN.json.gz OUT.json[.gz] TIMES}
 */
final class TileTrace {

  /** A number that grows with each copy: a time in nanoseconds or an id. */
  private record Growing(byte[] before, boolean time, long value) {}

  private static final Pattern NUMBERS =
      Pattern.compile("\"(ts|correlation|External id|id)\": (\\d+)(?:\\.(\\d{3}))?(?=[,\\s}])");

  public static void main(String[] args) throws IOException {
    if (args.length != 3) {
      System.err.println("usage: java TileTrace.java IN.json.gz OUT.json[.gz] TIMES");
      System.exit(2);
    }
    String text;
    try (var in = new GZIPInputStream(Files.newInputStream(Path.of(args[0])))) {
      text = new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
    }
    int from = text.indexOf('[', text.indexOf("\"traceEvents\"")) + 1;
    int to = text.lastIndexOf("\n  ],");
    try (OutputStream out = output(Path.of(args[1]))) {
      out.write(latin(text.substring(0, from)));
      copies(text.substring(from, to), Integer.parseInt(args[2]), out);
      out.write(latin(text.substring(to)));
    }
  }

  private static void copies(String events, int times, OutputStream out) throws IOException {
    List<Growing> parts = new ArrayList<>();
    long first = Long.MAX_VALUE;
    long last = 0;
    long largestId = 0;
    int at = 0;
    Matcher number = NUMBERS.matcher(events);
    while (number.find()) {
      boolean time = number.group(1).equals("ts");
      long value = Long.parseLong(number.group(2));
      if (time) {
        value = nanos(number.group(2), number.group(3));
        first = Math.min(first, value);
        last = Math.max(last, value);
      } else {
        largestId = Math.max(largestId, value);
      }
      parts.add(new Growing(latin(events.substring(at, number.start(2))), time, value));
      at = number.end();
    }
    byte[] rest = latin(events.substring(at));
    // The last event of the source marks the end of its recording, so copies do not overlap.
    long period = last - first + 1_000_000;
    ByteArrayOutputStream copy = new ByteArrayOutputStream(events.length() + 1_000_000);
    for (int i = 0; i < times; i++) {
      copy.reset();
      if (i > 0) {
        copy.write(',');
      }
      for (Growing part : parts) {
        copy.write(part.before());
        long value = part.value() + i * (part.time() ? period : largestId + 1);
        copy.write(
            latin(
                part.time()
                    ? value / 1000 + "." + Long.toString(1000 + value % 1000).substring(1)
                    : Long.toString(value)));
      }
      copy.write(rest);
      copy.writeTo(out);
    }
  }

  private static long nanos(String micros, String decimals) {
    return Long.parseLong(micros + (decimals == null ? "000" : decimals));
  }

  private static OutputStream output(Path file) throws IOException {
    OutputStream out = new BufferedOutputStream(Files.newOutputStream(file), 1 << 20);
    return file.toString().endsWith(".gz") ? new GZIPOutputStream(out, 1 << 16) : out;
  }

  private static byte[] latin(String text) {
    return text.getBytes(StandardCharsets.ISO_8859_1);
  }
}
