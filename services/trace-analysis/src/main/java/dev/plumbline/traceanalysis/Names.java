package dev.plumbline.traceanalysis;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Interns strings by the hash of their bytes as they stand in the file, so that a name met a
 * million times becomes one String. Two spellings of one text (with and without escapes) get the
 * same id.
 */
final class Names {

  private byte[] arena = new byte[16 * 1024];
  private int arenaEnd;
  private int[] slots = new int[1024]; // index of the spelling + 1
  private int[] offsets = new int[256];
  private int[] lengths = new int[256];
  private int[] hashes = new int[256];
  private int[] ids = new int[256];
  private int spellings;
  private final List<String> texts = new ArrayList<>();
  private final Map<String, Integer> byText = new HashMap<>();

  /** Names with a first entry for each of these texts, whose ids are their places in the list. */
  static Names of(String... texts) {
    Names names = new Names();
    for (String text : texts) {
      byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
      names.intern(bytes, 0, bytes.length, false);
    }
    return names;
  }

  /** The id of a JSON string's bytes, escapes not yet resolved; ids count from 0. */
  int intern(byte[] bytes, int offset, int length, boolean escaped) {
    int hash = hash(bytes, offset, length);
    int slot = slot(bytes, offset, length, hash);
    if (slots[slot] != 0) {
      return ids[slots[slot] - 1];
    }
    int id = idOf(escaped ? unescape(bytes, offset, length) : utf8(bytes, offset, length));
    add(bytes, offset, length, hash, id, slot);
    return id;
  }

  /** The id of bytes that were interned before; -1 for others. */
  int find(byte[] bytes, int offset, int length) {
    int slot = slot(bytes, offset, length, hash(bytes, offset, length));
    return slots[slot] == 0 ? -1 : ids[slots[slot] - 1];
  }

  private int slot(byte[] bytes, int offset, int length, int hash) {
    int slot = hash & (slots.length - 1);
    while (slots[slot] != 0) {
      int s = slots[slot] - 1;
      if (hashes[s] == hash
          && Arrays.equals(
              arena, offsets[s], offsets[s] + lengths[s], bytes, offset, offset + length)) {
        break;
      }
      slot = (slot + 1) & (slots.length - 1);
    }
    return slot;
  }

  String text(int id) {
    return texts.get(id);
  }

  int size() {
    return texts.size();
  }

  /** What all spellings take. */
  int bytes() {
    return arenaEnd;
  }

  private int idOf(String text) {
    Integer known = byText.putIfAbsent(text, texts.size());
    if (known != null) {
      return known;
    }
    texts.add(text);
    return texts.size() - 1;
  }

  private void add(byte[] bytes, int offset, int length, int hash, int id, int slot) {
    while (arenaEnd + length > arena.length) {
      arena = Arrays.copyOf(arena, arena.length * 2);
    }
    System.arraycopy(bytes, offset, arena, arenaEnd, length);
    if (spellings == ids.length) {
      offsets = Arrays.copyOf(offsets, spellings * 2);
      lengths = Arrays.copyOf(lengths, spellings * 2);
      hashes = Arrays.copyOf(hashes, spellings * 2);
      ids = Arrays.copyOf(ids, spellings * 2);
    }
    offsets[spellings] = arenaEnd;
    lengths[spellings] = length;
    hashes[spellings] = hash;
    ids[spellings] = id;
    arenaEnd += length;
    slots[slot] = ++spellings;
    if (spellings * 2 > slots.length) {
      rehash();
    }
  }

  private void rehash() {
    slots = new int[slots.length * 2];
    for (int s = 0; s < spellings; s++) {
      int slot = hashes[s] & (slots.length - 1);
      while (slots[slot] != 0) {
        slot = (slot + 1) & (slots.length - 1);
      }
      slots[slot] = s + 1;
    }
  }

  private static int hash(byte[] bytes, int offset, int length) {
    long h = length * 0x9E3779B97F4A7C15L;
    int i = offset;
    int last = offset + length;
    for (; i + 8 <= last; i += 8) {
      h = (h ^ EightBytes.at(bytes, i)) * 0x9E3779B97F4A7C15L;
      h ^= h >>> 32;
    }
    if (i < last) {
      h = (h ^ EightBytes.first(bytes, i, last - i)) * 0x9E3779B97F4A7C15L;
      h ^= h >>> 32;
    }
    return (int) (h ^ h >>> 29);
  }

  static String utf8(byte[] bytes, int offset, int length) {
    return new String(bytes, offset, length, StandardCharsets.UTF_8);
  }

  /** Resolves the escapes of JSON; an unknown or broken one is kept as it stands. */
  static String unescape(byte[] bytes, int offset, int length) {
    String raw = utf8(bytes, offset, length);
    StringBuilder text = new StringBuilder(raw.length());
    for (int i = 0; i < raw.length(); i++) {
      char c = raw.charAt(i);
      if (c != '\\' || i + 1 == raw.length()) {
        text.append(c);
        continue;
      }
      char e = raw.charAt(++i);
      switch (e) {
        case 'n' -> text.append('\n');
        case 't' -> text.append('\t');
        case 'r' -> text.append('\r');
        case 'b' -> text.append('\b');
        case 'f' -> text.append('\f');
        case '"', '\\', '/' -> text.append(e);
        case 'u' -> i += codeUnit(raw, i + 1, text);
        default -> text.append(c).append(e);
      }
    }
    return text.toString();
  }

  private static int codeUnit(String raw, int from, StringBuilder text) {
    try {
      text.append((char) Integer.parseInt(raw, from, from + 4, 16));
      return 4;
    } catch (NumberFormatException | IndexOutOfBoundsException e) {
      text.append("\\u");
      return 0;
    }
  }
}
