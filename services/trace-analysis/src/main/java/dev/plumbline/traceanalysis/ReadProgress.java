package dev.plumbline.traceanalysis;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;

/** Counts the bytes of traces as they are read, as they lie in the files: packed, if they are. */
public final class ReadProgress {

  private final AtomicLong bytesRead = new AtomicLong();
  private final List<TraceInput> inputs;
  private final long bytesTotal;

  /**
   * @param bytesTotal −1 when unknown
   */
  ReadProgress(List<TraceInput> inputs, long bytesTotal) {
    this.inputs =
        inputs.stream()
            .map(i -> new TraceInput(i.name(), i.rank(), () -> new Counted(i.bytes().open())))
            .toList();
    this.bytesTotal = bytesTotal;
  }

  /** Of inputs that are named by their files; the total is unknown if one is none. */
  public static ReadProgress of(List<TraceInput> inputs) {
    long total = 0;
    for (TraceInput input : inputs) {
      long bytes = size(input.name());
      total = bytes < 0 || total < 0 ? -1 : total + bytes;
    }
    return new ReadProgress(inputs, total);
  }

  private static long size(String name) {
    try {
      Path file = Path.of(name);
      return Files.isRegularFile(file) ? Files.size(file) : -1;
    } catch (InvalidPathException | IOException e) {
      return -1;
    }
  }

  /** The inputs to read instead of the given ones. */
  public List<TraceInput> inputs() {
    return inputs;
  }

  /**
   * Bytes, rate and time left, such as {@code 12.0 of 20.6 MB, 40.0 MB/s, 1 s left}.
   *
   * @param elapsed since the reading began
   */
  public String line(Duration elapsed) {
    long done = bytesRead.get();
    double seconds = elapsed.toNanos() / 1e9;
    double rate = seconds > 0 ? done / seconds : 0;
    String text =
        bytesTotal < 0
            ? String.format(Locale.ROOT, "%.1f MB", done / 1e6)
            : String.format(Locale.ROOT, "%.1f of %.1f MB", done / 1e6, bytesTotal / 1e6);
    text += String.format(Locale.ROOT, ", %.1f MB/s", rate / 1e6);
    if (bytesTotal >= 0 && done >= bytesTotal) {
      return text + ", read";
    } else if (bytesTotal >= 0 && rate > 0) {
      return text
          + String.format(Locale.ROOT, ", %.0f s left", Math.ceil((bytesTotal - done) / rate));
    }
    return text;
  }

  private final class Counted extends FilterInputStream {

    Counted(InputStream in) {
      super(in);
    }

    @Override
    public int read() throws IOException {
      int b = super.read();
      bytesRead.addAndGet(b < 0 ? 0 : 1);
      return b;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
      int read = super.read(target, offset, length);
      bytesRead.addAndGet(Math.max(0, read));
      return read;
    }
  }
}
