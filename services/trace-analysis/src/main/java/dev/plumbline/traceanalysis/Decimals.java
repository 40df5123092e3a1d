package dev.plumbline.traceanalysis;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;

/**
 * Numbers from their decimal text. Times are microseconds with up to three decimals; an absolute
 * time has 16 digits before the point, which a double cannot hold together with nanoseconds.
 */
final class Decimals {

  /** The text is no number, or one that does not fit. */
  static final long UNREADABLE = Long.MIN_VALUE;

  private static final long LARGEST_MICROS = Long.MAX_VALUE / 1000 - 1;

  private Decimals() {}

  /** Nanoseconds of a text in microseconds, rounded half up past the third decimal. */
  static long microsToNanos(byte[] bytes, int offset, int length) {
    int i = offset;
    int last = offset + length;
    boolean negative = i < last && bytes[i] == '-';
    if (i < last && (bytes[i] == '-' || bytes[i] == '+')) {
      i++;
    }
    long whole = 0;
    int digits = 0;
    for (; i < last && isDigit(bytes[i]); i++, digits++) {
      whole = whole * 10 + bytes[i] - '0';
      if (whole > LARGEST_MICROS) {
        return UNREADABLE;
      }
    }
    long nanos = whole * 1000;
    if (i < last && bytes[i] == '.') {
      i++;
      for (int scale = 100; i < last && isDigit(bytes[i]); i++, digits++, scale /= 10) {
        if (scale > 0) {
          nanos += (long) (bytes[i] - '0') * scale;
        } else if (bytes[i] >= '5' && bytes[i - 4] == '.') {
          nanos++;
        }
      }
    }
    if (digits == 0) {
      return UNREADABLE;
    }
    if (i < last) {
      return exponent(bytes, offset, length);
    }
    return negative ? -nanos : nanos;
  }

  private static long exponent(byte[] bytes, int offset, int length) {
    if (length > 40) {
      return UNREADABLE;
    }
    try {
      BigDecimal micros =
          new BigDecimal(new String(bytes, offset, length, StandardCharsets.US_ASCII));
      if (Math.abs((long) micros.precision() - micros.scale()) > 19) {
        return UNREADABLE;
      }
      return micros.movePointRight(3).setScale(0, RoundingMode.HALF_UP).longValueExact();
    } catch (ArithmeticException | NumberFormatException e) {
      return UNREADABLE;
    }
  }

  /**
   * A whole number as its low 64 bits, so that an identifier past 2^63 stays distinct; {@link
   * #UNREADABLE} if it is none.
   */
  static long integer(byte[] bytes, int offset, int length) {
    int i = offset;
    int last = offset + length;
    boolean negative = i < last && bytes[i] == '-';
    if (negative) {
      i++;
    }
    if (i >= last || length > 20) {
      return UNREADABLE;
    }
    long value = 0;
    for (; i < last; i++) {
      if (!isDigit(bytes[i])) {
        return bytes[i] == '.' && onlyZeros(bytes, i + 1, last)
            ? signed(value, negative)
            : UNREADABLE;
      }
      value = value * 10 + bytes[i] - '0';
    }
    return signed(value, negative);
  }

  private static long signed(long value, boolean negative) {
    return negative ? -value : value;
  }

  private static boolean onlyZeros(byte[] bytes, int from, int last) {
    for (int i = from; i < last; i++) {
      if (bytes[i] != '0') {
        return false;
      }
    }
    return true;
  }

  private static boolean isDigit(byte b) {
    return b >= '0' && b <= '9';
  }
}
