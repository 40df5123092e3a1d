package dev.plumbline.traceanalysis;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;
import java.util.zip.ZipException;

/**
 * The content of a gzip stream of one or more members (RFC 1952).
 *
 * <p>The JDK's own stream looks for a further member only when {@code available()} says so, which a
 * network stream need not; and it demands the trailer, which a cut file lacks. This one ends a cut
 * member with {@link EOFException} after having delivered every byte that could be inflated.
 */
final class GzipMembers extends InputStream {

  private static final int HEADER_CRC = 2;
  private static final int EXTRA = 4;
  private static final int NAME = 8;
  private static final int COMMENT = 16;

  private final InputStream in;
  private final Inflater inflater = new Inflater(true);
  private final byte[] compressed = new byte[64 * 1024];
  private int next;
  private int limit;
  private boolean done;

  GzipMembers(InputStream in) throws IOException {
    this.in = in;
    header();
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
    while (!done) {
      int inflated = inflate(target, offset, length);
      if (inflated > 0) {
        return inflated;
      }
      if (inflater.finished()) {
        nextMember();
      } else if (inflater.needsDictionary()) {
        throw new ZipException("a preset dictionary is not part of gzip");
      } else {
        if (next >= limit && !fill()) {
          throw new EOFException("the gzip stream is cut short");
        }
        inflater.setInput(compressed, next, limit - next);
        next = limit;
      }
    }
    return -1;
  }

  private int inflate(byte[] target, int offset, int length) throws ZipException {
    try {
      return inflater.inflate(target, offset, length);
    } catch (DataFormatException e) {
      throw new ZipException("the gzip stream is damaged: " + e.getMessage());
    }
  }

  private void nextMember() throws IOException {
    next = limit - inflater.getRemaining();
    // Checksum and length are not verified: the tokeniser finds out what is usable.
    for (int i = 0; i < 8; i++) {
      if (octet() < 0) {
        throw new EOFException("the gzip trailer is missing");
      }
    }
    if (next >= limit && !fill()) {
      done = true;
      return;
    }
    if ((compressed[next] & 0xff) != 0x1f) {
      done = true; // padding after the last member
      return;
    }
    inflater.reset();
    header();
  }

  private void header() throws IOException {
    if (required() != 0x1f || required() != 0x8b || required() != 8) {
      throw new ZipException("not a gzip member");
    }
    int flags = required();
    skip(6);
    if ((flags & EXTRA) != 0) {
      skip(required() | required() << 8);
    }
    if ((flags & NAME) != 0) {
      skipText();
    }
    if ((flags & COMMENT) != 0) {
      skipText();
    }
    if ((flags & HEADER_CRC) != 0) {
      skip(2);
    }
  }

  private void skip(int octets) throws IOException {
    for (int i = 0; i < octets; i++) {
      required();
    }
  }

  private void skipText() throws IOException {
    int octet = required();
    while (octet != 0) {
      octet = required();
    }
  }

  private int required() throws IOException {
    int octet = octet();
    if (octet < 0) {
      throw new EOFException("the gzip header is cut short");
    }
    return octet;
  }

  private int octet() throws IOException {
    return next < limit || fill() ? compressed[next++] & 0xff : -1;
  }

  private boolean fill() throws IOException {
    limit = Math.max(0, in.read(compressed, 0, compressed.length));
    next = 0;
    return limit > 0;
  }

  @Override
  public void close() throws IOException {
    inflater.end();
    in.close();
  }
}
