package dev.plumbline.traceanalysis;

import com.github.luben.zstd.ZstdIOException;
import com.github.luben.zstd.ZstdInputStreamNoFinalizer;
import java.io.EOFException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PushbackInputStream;

/**
 * The plain bytes of a trace, whether it is gzip, zstd or neither, which its first bytes tell and
 * not its name. Decompression runs ahead on a thread of its own and ends at the limits.
 */
final class TraceBytes {

  /** Below this a ratio says nothing: a short file of spaces is no attack. */
  private static final long RATIO_FROM_BYTES = 64L << 20;

  private TraceBytes() {}

  /**
   * @return a stream that ends with {@link EOFException} or {@link java.util.zip.ZipException}
   *     where the compressed data are cut or damaged, after every byte before that place
   */
  static InputStream open(String name, InputStream raw, ReadLimits limits) throws IOException {
    Counted counted = new Counted(raw);
    PushbackInputStream in = new PushbackInputStream(counted, 4);
    byte[] magic = in.readNBytes(4);
    in.unread(magic);
    if (magic.length >= 2 && magic[0] == 0x1f && (magic[1] & 0xff) == 0x8b) {
      return new ReadAhead(new Limited(name, new GzipMembers(in), counted, limits));
    } else if (isZstd(magic)) {
      return new ReadAhead(new Limited(name, new Zstd(in), counted, limits));
    }
    return new Limited(name, in, null, limits);
  }

  /** A frame, or a skippable frame before it (RFC 8878, section 3.1). */
  private static boolean isZstd(byte[] magic) {
    if (magic.length < 4) {
      return false;
    }
    boolean frame =
        magic[0] == 0x28
            && (magic[1] & 0xff) == 0xb5
            && magic[2] == 0x2f
            && (magic[3] & 0xff) == 0xfd;
    boolean skippable =
        (magic[0] & 0xf0) == 0x50 && magic[1] == 0x2a && magic[2] == 0x4d && magic[3] == 0x18;
    return frame || skippable;
  }

  private static final class Counted extends FilterInputStream {
    private long bytes;

    Counted(InputStream in) {
      super(in);
    }

    @Override
    public int read() throws IOException {
      int b = in.read();
      bytes += b < 0 ? 0 : 1;
      return b;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
      int read = in.read(target, offset, length);
      bytes += Math.max(0, read);
      return read;
    }
  }

  /** Says of a cut or damaged frame what {@link GzipMembers} says of a member. */
  private static final class Zstd extends FilterInputStream {

    Zstd(InputStream in) throws IOException {
      super(new ZstdInputStreamNoFinalizer(in));
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
      try {
        return in.read(target, offset, length);
      } catch (ZstdIOException e) {
        throw (EOFException)
            new EOFException("the zstd stream is cut short or damaged: " + e.getMessage())
                .initCause(e);
      }
    }
  }

  private static final class Limited extends FilterInputStream {
    private final String name;
    private final Counted compressed;
    private final ReadLimits limits;
    private long plain;

    /**
     * @param compressed null when the file is not compressed
     */
    Limited(String name, InputStream in, Counted compressed, ReadLimits limits) {
      super(in);
      this.name = name;
      this.compressed = compressed;
      this.limits = limits;
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
      int read = in.read(target, offset, length);
      plain += Math.max(0, read);
      if (plain > limits.plainBytes()) {
        throw new UnreadableTrace(
            "%s holds more than %,d bytes of JSON: capture fewer steps, or raise the size limit."
                .formatted(name, limits.plainBytes()));
      }
      if (compressed != null
          && plain > RATIO_FROM_BYTES
          && plain / limits.ratio() > compressed.bytes) {
        throw new UnreadableTrace(
            "%s unpacks to more than %d times its size, which no trace does: if it is one, raise the ratio limit."
                .formatted(name, limits.ratio()));
      }
      return read;
    }
  }
}
