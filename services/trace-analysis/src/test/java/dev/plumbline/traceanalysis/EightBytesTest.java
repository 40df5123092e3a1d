package dev.plumbline.traceanalysis;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Eight bytes at once against one byte after the other. */
class EightBytesTest {

  private static final byte[] MARKS =
      "\"\\{}[]#!\u0001\n\u001f z|YZ;".getBytes(StandardCharsets.US_ASCII);

  private static byte[] word(Random random) {
    byte[] bytes = new byte[8];
    for (int i = 0; i < 8; i++) {
      bytes[i] =
          random.nextInt(3) == 0 ? (byte) random.nextInt(256) : MARKS[random.nextInt(MARKS.length)];
    }
    return bytes;
  }

  private static boolean yes(long answer, int index) {
    return (answer >>> (index * 8) & 0xff) == 0x80;
  }

  @Test
  void bracketsAndStringsAreFoundWhereTheyAre() {
    Random random = new Random(1);
    for (int i = 0; i < 50_000; i++) {
      byte[] bytes = word(random);
      long word = EightBytes.at(bytes, 0);
      long inside = EightBytes.insideStrings(word);
      boolean in = false;
      boolean care = false;
      boolean control = false;
      for (int b = 0; b < 8; b++) {
        in ^= bytes[b] == '"';
        assertThat(yes(inside, b)).isEqualTo(in);
        assertThat(yes(EightBytes.opening(word), b)).isEqualTo(bytes[b] == '{' || bytes[b] == '[');
        assertThat(yes(EightBytes.closing(word), b)).isEqualTo(bytes[b] == '}' || bytes[b] == ']');
        control |= bytes[b] >= 0 && bytes[b] < ' ';
        care |= bytes[b] == '\\' || (in && bytes[b] >= 0 && bytes[b] < ' ');
      }
      if (care || !control) {
        assertThat(EightBytes.needsCare(word, inside) != 0)
            .as(Arrays.toString(bytes))
            .isEqualTo(care);
      }
    }
  }

  @Test
  void plainTextEndsAtTheFirstMark() {
    Random random = new Random(2);
    for (int i = 0; i < 20_000; i++) {
      byte[] bytes = new byte[random.nextInt(40)];
      Arrays.fill(bytes, (byte) (random.nextBoolean() ? 'x' : 0xc3));
      for (int m = random.nextInt(3); m > 0 && bytes.length > 0; m--) {
        bytes[random.nextInt(bytes.length)] = MARKS[random.nextInt(MARKS.length)];
      }
      int from = random.nextInt(bytes.length + 1);
      int expected = from;
      while (expected < bytes.length
          && bytes[expected] != '"'
          && bytes[expected] != '\\'
          && !(bytes[expected] >= 0 && bytes[expected] < ' ')) {
        expected++;
      }
      assertThat(EightBytes.endOfPlainText(bytes, from, bytes.length)).isEqualTo(expected);
    }
  }

  @Test
  void aShortWordDoesNotDependOnWhatFollows() {
    byte[] text = "abcdefgh1234567".getBytes(StandardCharsets.US_ASCII);
    for (int count = 1; count < 8; count++) {
      byte[] alone = Arrays.copyOf(text, count);
      assertThat(EightBytes.first(text, 0, count)).isEqualTo(EightBytes.first(alone, 0, count));
    }
  }
}
