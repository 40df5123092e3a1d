package dev.plumbline.traceanalysis;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * One trace file, wherever it lies.
 *
 * @param name as the caller names it; reports and messages use it, and the rank may be told by it
 * @param rank used when neither the file's metadata nor its name tells the rank; may be null
 * @param bytes opens the content: Kineto JSON, plain, gzip or zstd
 */
public record TraceInput(String name, Integer rank, Source bytes) {

  /** Opens the bytes of a trace; the reader closes them. */
  @FunctionalInterface
  public interface Source {
    InputStream open() throws IOException;
  }

  public static TraceInput of(Path file) {
    return new TraceInput(file.toString(), null, () -> Files.newInputStream(file));
  }
}
