package dev.plumbline.traceanalysis;

import dev.plumbline.schemas.trace.Component;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import java.util.stream.Collectors;

/**
 * Names what a kernel does by an ordered list of rules, first match wins. The rules are data: the
 * resource {@code component-rules.txt}, and a user's file of the same form before it.
 */
public final class ComponentRules {

  private static final String RESOURCE = "component-rules.txt";

  private record Rule(Component component, Pattern pattern) {}

  private final List<Rule> rules;
  private final Map<String, Component> decided = new ConcurrentHashMap<>();

  private ComponentRules(List<Rule> rules) {
    this.rules = rules;
  }

  /**
   * The built-in rules behind the user's.
   *
   * @param userFile read before the built-in rules; null for none
   * @throws IllegalArgumentException if the user's file cannot be read or has a faulty line, which
   *     it names
   */
  public static ComponentRules load(Path userFile) {
    List<Rule> rules = new ArrayList<>();
    if (userFile != null) {
      rules.addAll(parse(userFile.toString(), userText(userFile)));
    }
    rules.addAll(parse(RESOURCE, builtInText()));
    return new ComponentRules(List.copyOf(rules));
  }

  private static String userText(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new IllegalArgumentException(
          "Cannot read the component rules " + file + ": give a readable UTF-8 text file.", e);
    }
  }

  private static String builtInText() {
    try (InputStream in = ComponentRules.class.getResourceAsStream(RESOURCE)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<Rule> parse(String file, String text) {
    List<Rule> rules = new ArrayList<>();
    List<String> lines = text.lines().toList();
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i).strip();
      if (!line.isEmpty() && !line.startsWith("#")) {
        rules.add(rule(file + ", line " + (i + 1), line));
      }
    }
    return rules;
  }

  private static Rule rule(String where, String line) {
    List<String> parts = Arrays.asList(line.split("\\s+", 2));
    Optional<Component> component = Component.find(parts.getFirst());
    if (component.isEmpty()) {
      throw new IllegalArgumentException(
          where
              + ": unknown component \""
              + parts.getFirst()
              + "\"; write one of "
              + Arrays.stream(Component.values())
                  .map(Component::id)
                  .collect(Collectors.joining(" "))
              + ".");
    }
    if (parts.size() < 2) {
      throw new IllegalArgumentException(
          where + ": the regular expression is missing; write a component, a space and a pattern.");
    }
    try {
      return new Rule(component.get(), Pattern.compile(parts.get(1)));
    } catch (PatternSyntaxException e) {
      throw new IllegalArgumentException(
          where + ": not a regular expression: " + e.getDescription() + " in " + parts.get(1), e);
    }
  }

  /** The component of a kernel of that name; {@link Component#OTHER} if no rule matches. */
  public Component of(String kernel) {
    return decided.computeIfAbsent(kernel, this::decide);
  }

  private Component decide(String kernel) {
    String name = KernelName.normalised(kernel);
    for (Rule rule : rules) {
      if (rule.pattern.matcher(name).find()) {
        return rule.component;
      }
    }
    return Component.OTHER;
  }

  /**
   * What the collective's own arguments say, for kernels whose name serves several of them (RCCL's
   * generic kernel, NCCL's send and receive, which also carries all-to-all).
   */
  static Optional<Component> ofCollective(String name) {
    if (name == null) {
      return Optional.empty();
    }
    String plain = name.replace("_", "").toLowerCase(Locale.ROOT);
    if (plain.contains("allreduce")) {
      return Optional.of(Component.ALL_REDUCE);
    } else if (plain.contains("allgather")) {
      return Optional.of(Component.ALL_GATHER);
    } else if (plain.contains("reducescatter")) {
      return Optional.of(Component.REDUCE_SCATTER);
    } else if (plain.contains("alltoall")) {
      return Optional.of(Component.ALL_TO_ALL);
    } else if (plain.contains("broadcast")) {
      return Optional.of(Component.BROADCAST);
    } else if (plain.contains("send") || plain.contains("recv")) {
      return Optional.of(Component.SEND_RECV);
    }
    return Optional.of(Component.COLLECTIVE_OTHER);
  }
}
