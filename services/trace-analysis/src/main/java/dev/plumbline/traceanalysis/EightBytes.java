package dev.plumbline.traceanalysis;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Questions to eight bytes of JSON at once, held in a long with the first byte lowest. An answer
 * has the highest bit of each byte for which it is yes. The method is that of simdjson (Langdale
 * and Lemire, 2019, section 3.1), in the registers that Java has.
 */
final class EightBytes {

  static final long HIGH = 0x8080808080808080L;

  private static final long EACH = 0x0101010101010101L;
  private static final long LOW = ~HIGH;
  private static final long QUOTES = '"' * EACH;
  private static final long BACKSLASHES = '\\' * EACH;
  private static final long SPACES = ' ' * EACH;

  /** Square and curly brackets differ in this bit only, which is that of a space. */
  private static final long CURLY = SPACES;

  private static final long OPENING = '{' * EACH;
  private static final long CLOSING = '}' * EACH;

  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private EightBytes() {}

  static long at(byte[] bytes, int offset) {
    return (long) LONGS.get(bytes, offset);
  }

  /** One to seven bytes, and zeros in place of the others. */
  static long first(byte[] bytes, int offset, int count) {
    if (offset + Long.BYTES <= bytes.length) {
      return at(bytes, offset) & -1L >>> (Long.SIZE - count * Byte.SIZE);
    }
    long word = 0;
    for (int i = 0; i < count; i++) {
      word |= (bytes[offset + i] & 0xffL) << (i * Byte.SIZE);
    }
    return word;
  }

  /** Which bytes are zero. */
  private static long zeros(long word) {
    return ~((word & LOW) + LOW | word | LOW);
  }

  static long opening(long word) {
    return zeros((word | CURLY) ^ OPENING);
  }

  static long closing(long word) {
    return zeros((word | CURLY) ^ CLOSING);
  }

  /**
   * From each opening quote up to the byte before its closing quote, if the word begins outside of
   * a string; the inverse if inside. Escapes are not looked at.
   */
  static long insideStrings(long word) {
    long inside = zeros(word ^ QUOTES);
    inside ^= inside << 8;
    inside ^= inside << 16;
    return inside ^ inside << 32;
  }

  /**
   * Not zero if there is a backslash, or a control character in a string. A space behind a control
   * character may be taken for one.
   */
  static long needsCare(long word, long inside) {
    return zeros(word ^ BACKSLASHES) | controls(word) & inside;
  }

  private static long controls(long word) {
    return word - SPACES & ~word & HIGH;
  }

  /** Where the first quote, backslash or control character from an offset on is; else the end. */
  static int endOfPlainText(byte[] bytes, int from, int end) {
    int p = from;
    for (int last = end - Long.BYTES; p <= last; p += Long.BYTES) {
      long word = at(bytes, p);
      // The lowest one is exact: only what lies above a true one can be taken for one.
      long found = zeros(word ^ QUOTES) | zeros(word ^ BACKSLASHES) | controls(word);
      if (found != 0) {
        return p + (Long.numberOfTrailingZeros(found) >>> 3);
      }
    }
    while (p < end && bytes[p] != '"' && bytes[p] != '\\' && (bytes[p] >= ' ' || bytes[p] < 0)) {
      p++;
    }
    return p;
  }
}
