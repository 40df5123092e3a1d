package dev.plumbline.traceanalysis;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.zip.ZipException;

/**
 * Tokens of lenient JSON, taken from a stream through one buffer that is refilled in place.
 *
 * <p>No object is made per token. A token is given as offset and length relative to the {@linkplain
 * #mark() mark}: everything from the mark on stays in the buffer, so that offsets stay true while
 * the buffer is refilled or grows. Lenient: control characters inside strings, bare words such as
 * {@code nan}, {@code -Infinity} and {@code N/A}, and a comma before a closing bracket are
 * accepted.
 */
final class JsonBytes {

  /** The text is not JSON at this place; the reader resynchronises. */
  static final class Fault extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private Fault(String message) {
      super(message, null, false, false);
    }
  }

  /** The input ended inside a value. */
  static final class Ended extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private Ended() {
      super("ended", null, false, false);
    }
  }

  private static final int START_BYTES = 256 * 1024;

  /** One event larger than this is not an event. */
  private static final int LIMIT_BYTES = 64 * 1024 * 1024;

  private final InputStream in;
  private final Ended ended = new Ended();
  private final Fault fault = new Fault("not JSON");
  private final Fault tooLong = new Fault("one event is larger than 64 MiB");
  private byte[] buffer = new byte[START_BYTES];
  private int position;
  private int end;
  private int mark = -1;
  private boolean eof;
  private boolean cut;
  private long discarded;

  /** Offset of the last token from the mark; its quotes are not part of it. */
  int tokenOffset;

  int tokenLength;
  boolean tokenEscaped;

  JsonBytes(InputStream in) {
    this.in = in;
  }

  byte[] buffer() {
    return buffer;
  }

  /** Where an offset from the mark lies in {@link #buffer()}, until the next token is read. */
  int at(int offset) {
    return mark + offset;
  }

  /** Tokens are relative to here until {@link #release()}. */
  void mark() {
    mark = position;
  }

  void release() {
    mark = -1;
  }

  /** True if the compressed stream broke off or is damaged. */
  boolean cut() {
    return cut;
  }

  long bytesRead() {
    return discarded + position;
  }

  Fault fault() {
    return fault;
  }

  /** The next byte that is not white space, which stays unread; -1 at the end. */
  int peek() {
    while (true) {
      while (position < end) {
        byte b = buffer[position];
        if (b > ' ' || b < 0) {
          return b & 0xff;
        }
        position++;
      }
      if (!refill()) {
        return -1;
      }
    }
  }

  /** As {@link #peek()}, but the end of the input is not expected here. */
  int next() {
    int b = peek();
    if (b < 0) {
      throw ended;
    }
    return b;
  }

  void skipByte() {
    position++;
  }

  void expect(int wanted) {
    if (next() != wanted) {
      throw fault;
    }
    position++;
  }

  /** Reads a string as the token; the opening quote is the next byte. */
  void string() {
    int startOffset = position + 1 - mark;
    passString();
    tokenOffset = startOffset;
    tokenLength = position - 1 - mark - startOffset;
  }

  private void passString() {
    position++;
    tokenEscaped = false;
    restOfString();
  }

  /** Goes behind the closing quote of the string in which the position is. */
  private void restOfString() {
    while (true) {
      byte[] b = buffer;
      int p = EightBytes.endOfPlainText(b, position, end);
      position = p;
      if (p < end) {
        if (b[p] == '"') {
          position++;
          return;
        } else if (b[p] == '\\') {
          tokenEscaped = true;
          escape();
        } else {
          controlCharacter();
        }
      } else if (!refill()) {
        throw ended;
      }
    }
  }

  private void escape() {
    position++;
    if (position >= end && !refill()) {
      throw ended;
    }
    position++;
  }

  /**
   * A raw control character is kept as part of the string, but a line break before a quote or a
   * bracket says that the closing quote was lost.
   */
  private void controlCharacter() {
    boolean lineBreak = buffer[position] == '\n';
    position++;
    if (lineBreak) {
      int b = next();
      if (b == '"' || b == '{' || b == '}') {
        throw fault;
      }
    }
  }

  /** Reads a number or bare word as the token. */
  void word() {
    int startOffset = position - mark;
    while (true) {
      while (position < end && !endsWord(buffer[position])) {
        position++;
      }
      if (position < end || !refill()) {
        break;
      }
    }
    tokenOffset = startOffset;
    tokenLength = position - mark - startOffset;
    tokenEscaped = false;
    if (tokenLength == 0) {
      throw fault;
    }
  }

  private static boolean endsWord(byte b) {
    return b == ','
        || b == '}'
        || b == ']'
        || b == '"'
        || b == '{'
        || b == '['
        || b == ':'
        || (b >= 0 && b <= ' ');
  }

  /**
   * Reads any value. A string, number or bare word becomes the token; an object or array is passed
   * over.
   *
   * @return true if there is a token
   */
  boolean value() {
    int b = next();
    if (b == '"') {
      string();
      return true;
    } else if (b == '{' || b == '[') {
      position++;
      skipToClose();
      return false;
    }
    word();
    return true;
  }

  /** Passes over the rest of an object or array of which the opening bracket has been read. */
  void skipToClose() {
    int depth = 1;
    while (true) {
      depth = skipWords(depth);
      // What stopped it lies in the next eight bytes.
      for (int stop = Math.min(end, position + Long.BYTES); position < stop; ) {
        byte b = buffer[position];
        if (b == '"') {
          passString();
          break;
        }
        position++;
        if (b == '{' || b == '[') {
          depth++;
        } else if (b == '}' || b == ']') {
          if (--depth == 0) {
            return;
          }
        }
      }
      if (position >= end && !refill()) {
        throw ended;
      }
    }
  }

  /**
   * Follows brackets and quotes eight bytes at a time, and stops, outside of a string, before the
   * bytes that hold the last closing bracket, an escape or a control character in a string.
   *
   * @return the depth there
   */
  private int skipWords(int depthBefore) {
    byte[] b = buffer;
    int depth = depthBefore;
    int p = position;
    long inString = 0; // all ones when the bytes before end inside a string
    for (int last = end - Long.BYTES; p <= last; p += Long.BYTES) {
      long word = EightBytes.at(b, p);
      long inside = EightBytes.insideStrings(word) ^ (inString & EightBytes.HIGH);
      long closing = EightBytes.closing(word) & ~inside;
      int closes = Long.bitCount(closing);
      if (closes >= depth || EightBytes.needsCare(word, inside) != 0) {
        break;
      }
      depth += Long.bitCount(EightBytes.opening(word) & ~inside) - closes;
      inString = inside >> 63;
    }
    position = p;
    if (inString != 0) {
      restOfString();
    }
    return depth;
  }

  /**
   * After a fault: goes behind the opening brace of the next object in a list, told by the comma
   * before the brace and the quote after it, so that an event's arguments are not taken for an
   * event.
   *
   * @return false if the input ends first
   */
  boolean resynchronise() {
    mark = -1;
    int before = 0;
    for (int b = peek(); b >= 0; b = peek()) {
      position++;
      if (b == '{' && before == ',' && peek() == '"') {
        return true;
      }
      before = b;
    }
    return false;
  }

  /** Goes behind the next occurrence of an ASCII text; false if the input ends first. */
  boolean find(String text) {
    mark = -1;
    byte[] wanted = text.getBytes(StandardCharsets.US_ASCII);
    int matched = 0;
    while (true) {
      while (position < end) {
        byte b = buffer[position++];
        matched = b == wanted[matched] ? matched + 1 : b == wanted[0] ? 1 : 0;
        if (matched == wanted.length) {
          return true;
        }
      }
      if (!refill()) {
        return false;
      }
    }
  }

  /** Brings more bytes behind those from the mark on; false at the end. */
  private boolean refill() {
    if (eof) {
      return false;
    }
    int keep = mark < 0 ? position : mark;
    if (keep > 0) {
      System.arraycopy(buffer, keep, buffer, 0, end - keep);
      position -= keep;
      end -= keep;
      discarded += keep;
      mark = mark < 0 ? -1 : 0;
    }
    if (end >= buffer.length - 1) {
      if (buffer.length >= LIMIT_BYTES) {
        throw tooLong;
      }
      buffer = Arrays.copyOf(buffer, buffer.length * 2);
    }
    int read = read();
    if (read < 0) {
      eof = true;
      buffer[end] = 0;
      return false;
    }
    end += read;
    buffer[end] = 0;
    return true;
  }

  private int read() {
    try {
      return in.read(buffer, end, buffer.length - 1 - end);
    } catch (EOFException | ZipException e) {
      cut = true;
      return -1;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
