package dev.plumbline.traceanalysis;

import java.io.IOException;
import java.nio.file.Files;

/** Bytes of the traces among the test resources. */
final class SharedDataBytes {

  private SharedDataBytes() {}

  static byte[] of(String resource) throws IOException {
    return Files.readAllBytes(SharedData.resource(resource));
  }
}
