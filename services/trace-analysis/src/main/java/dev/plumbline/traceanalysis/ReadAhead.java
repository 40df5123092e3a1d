package dev.plumbline.traceanalysis;

import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

/**
 * Reads a stream on a thread of its own, a few blocks ahead of who consumes it: decompression and
 * tokenising then take the longer of their times and not the sum. The first block is read by the
 * consumer, so that a small file needs no thread.
 *
 * <p>What ends the stream, be it an error, reaches the consumer after all bytes before it. Once the
 * thread runs it owns the stream and closes it.
 */
final class ReadAhead extends InputStream {

  private static final int BLOCK_BYTES = 256 * 1024;
  private static final int BLOCKS = 4;

  /**
   * @param failure that ended the stream after these bytes; null for none
   * @param last nothing follows
   */
  private record Block(byte[] bytes, int length, Throwable failure, boolean last) {}

  private final InputStream in;
  private final BlockingQueue<Block> full = new ArrayBlockingQueue<>(BLOCKS);
  private final BlockingQueue<byte[]> empty = new ArrayBlockingQueue<>(BLOCKS);
  private Thread reader;
  private Block block;
  private int position;

  ReadAhead(InputStream in) {
    this.in = in;
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] target, int offset, int length) throws IOException {
    if (length == 0) {
      return 0;
    }
    while (block == null || position == block.length()) {
      if (block != null && block.last()) {
        return ended();
      }
      next();
    }
    int copied = Math.min(length, block.length() - position);
    System.arraycopy(block.bytes(), position, target, offset, copied);
    position += copied;
    return copied;
  }

  private int ended() throws IOException {
    switch (block.failure()) {
      case null -> {
        return -1;
      }
      case IOException e -> throw e;
      case RuntimeException e -> throw e;
      case Error e -> throw e;
      case Throwable e -> throw new IOException(e);
    }
  }

  private void next() throws IOException {
    position = 0;
    if (block == null) {
      block = filled(new byte[BLOCK_BYTES]);
      return;
    }
    try {
      if (reader == null) {
        start();
      } else {
        empty.put(block.bytes());
      }
      block = full.take();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("reading was interrupted");
    }
  }

  private void start() throws InterruptedException {
    empty.put(block.bytes());
    for (int i = 1; i < BLOCKS; i++) {
      empty.put(new byte[BLOCK_BYTES]);
    }
    reader = Thread.ofPlatform().daemon().name("trace-read-ahead").start(this::run);
  }

  private void run() {
    try (in) {
      boolean last = false;
      while (!last) {
        Block next = filled(empty.take());
        last = next.last();
        full.put(next);
      }
    } catch (InterruptedException | IOException e) {
      // Closed by the consumer, who wants no more: there is nobody to tell.
      Thread.currentThread().interrupt();
    }
  }

  /** A block of as many bytes as there are, so that a network's small pieces are joined. */
  private Block filled(byte[] bytes) {
    int length = 0;
    try {
      while (length < bytes.length) {
        int read = in.read(bytes, length, bytes.length - length);
        if (read < 0) {
          return new Block(bytes, length, null, true);
        }
        length += read;
      }
      return new Block(bytes, length, null, false);
    } catch (IOException | RuntimeException | Error e) {
      return new Block(bytes, length, e, true);
    }
  }

  @Override
  public void close() throws IOException {
    if (reader == null) {
      in.close();
    } else {
      reader.interrupt();
    }
  }
}
