package dev.plumbline.traceanalysis;

import dev.plumbline.schemas.Json;
import dev.plumbline.schemas.trace.TraceReport;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/**
 * Keeps whole reports as files; events carry only a reference, as the steps of a long trace would
 * not fit a message.
 */
final class ReportStore {

  private final Path directory;

  ReportStore(Path directory) {
    this.directory = directory;
  }

  /**
   * Writes the report in one step, so that there is never half of one.
   *
   * @param name of the attempt; a second writing replaces the first
   * @return the file's URI
   */
  String keep(String name, TraceReport report) {
    try {
      Files.createDirectories(directory);
      Path file = directory.resolve(name + ".json");
      Path part = Files.createTempFile(directory, name, ".part");
      Files.write(part, Json.bytes(report));
      Files.move(part, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
      return file.toAbsolutePath().toUri().toString();
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot keep the report in " + directory + ".", e);
    }
  }
}
