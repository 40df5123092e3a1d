package dev.plumbline.traceanalysis;

import java.util.regex.Pattern;

/** Makes the spellings of different demanglers alike, so that one rule serves them all. */
final class KernelName {

  private static final Pattern ANONYMOUS =
      Pattern.compile("(?:\\(anonymous namespace\\)|<unnamed>|\\{anonymous\\})(?:::)?");
  private static final Pattern CAST =
      Pattern.compile(
          "\\((?:unsigned |signed )?(?:int|long|long long|short|char|bool)\\)(?=-?\\d)");
  private static final Pattern RETURN_TYPE =
      Pattern.compile("^(?:void|__global__ void|static void) ");

  private KernelName() {}

  /** Without return type, anonymous namespaces, casts before numbers and parameter list. */
  static String normalised(String name) {
    String plain = ANONYMOUS.matcher(name).replaceAll("");
    plain = CAST.matcher(plain).replaceAll("");
    plain = RETURN_TYPE.matcher(plain.strip()).replaceFirst("");
    return plain.substring(0, parameters(plain));
  }

  /** Where the parameter list begins: the first parenthesis outside all brackets. */
  private static int parameters(String name) {
    StringBuilder open = new StringBuilder();
    for (int i = 0; i < name.length(); i++) {
      char c = name.charAt(i);
      int depth = open.length();
      if (c == '(' && depth == 0 && i > 0 && !name.startsWith("operator", Math.max(0, i - 8))) {
        return i;
      } else if (c == '(' || c == '<' || c == '{' || c == '[') {
        open.append(c);
      } else if (depth > 0 && closes(open.charAt(depth - 1), c)) {
        open.setLength(depth - 1);
      }
    }
    return name.length();
  }

  private static boolean closes(char opening, char c) {
    return switch (opening) {
      case '(' -> c == ')';
      case '<' -> c == '>';
      case '{' -> c == '}';
      default -> c == ']';
    };
  }
}
