package dev.plumbline.workerkit;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/** Keeps the output of one command; one that prints without end must not take all memory. */
final class BoundedOutput extends ByteArrayOutputStream {

  static final int LIMIT_BYTES = 32 << 20;

  private boolean overflowed;

  @Override
  public synchronized void write(int b) {
    write(new byte[] {(byte) b}, 0, 1);
  }

  @Override
  public synchronized void write(byte[] bytes, int offset, int length) {
    int kept = Math.min(length, LIMIT_BYTES - count);
    overflowed |= kept < length;
    super.write(bytes, offset, kept);
  }

  /**
   * The output as text.
   *
   * @throws HostException {@code failed} when there was more than is kept
   */
  synchronized String text(String program) throws HostException {
    if (overflowed) {
      throw new HostException(
          HostException.FAILED,
          "%s printed more than %d MiB: run it as a job instead"
              .formatted(program, LIMIT_BYTES >> 20),
          false);
    }
    return toString(StandardCharsets.UTF_8);
  }
}
