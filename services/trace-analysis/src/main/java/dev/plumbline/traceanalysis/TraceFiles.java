package dev.plumbline.traceanalysis;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileSystems;
import java.nio.file.FileVisitOption;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The trace files that the words of a command line mean. */
public final class TraceFiles {

  private static final Pattern TRACE = Pattern.compile("(?i).*\\.trace\\.json(?:\\.gz|\\.zst)?");
  private static final Pattern JSON = Pattern.compile("(?i).*\\.json(?:\\.gz|\\.zst)?");
  private static final int DEPTH = 8;

  private TraceFiles() {}

  /**
   * The traces that the words name, each once.
   *
   * @param words files, directories (their {@code *.trace.json*} files, or where there are none
   *     their {@code *.json*} files), globs, or {@code -} for standard input
   * @throws IllegalArgumentException if a word means nothing
   */
  public static List<TraceInput> expand(List<String> words) {
    Set<Path> files = new LinkedHashSet<>();
    List<TraceInput> inputs = new ArrayList<>();
    for (String word : words) {
      if (word.equals("-")) {
        inputs.add(new TraceInput("standard input", null, () -> System.in));
      } else {
        files.addAll(files(word));
      }
    }
    files.forEach(file -> inputs.add(TraceInput.of(file)));
    return inputs;
  }

  private static List<Path> files(String word) {
    Path path = Path.of(word);
    if (Files.isDirectory(path)) {
      List<Path> found = walk(path, file -> matches(TRACE, file));
      if (found.isEmpty()) {
        found = walk(path, file -> matches(JSON, file));
      }
      return some(found, "There is no *.trace.json or *.json file in the directory " + word + ".");
    } else if (Files.exists(path)) {
      return List.of(path);
    } else if (word.matches(".*[*?\\[{].*")) {
      PathMatcher glob = FileSystems.getDefault().getPathMatcher("glob:" + word);
      return some(walk(beforeGlob(path), glob::matches), "No file matches " + word + ".");
    }
    throw new IllegalArgumentException(
        "There is no file or directory " + word + ": give a trace, a directory of traces or -.");
  }

  private static List<Path> some(List<Path> found, String otherwise) {
    if (found.isEmpty()) {
      throw new IllegalArgumentException(otherwise);
    }
    return found;
  }

  private static boolean matches(Pattern pattern, Path file) {
    return pattern.matcher(file.getFileName().toString()).matches();
  }

  /** The directory in front of the first part with a wild card. */
  private static Path beforeGlob(Path path) {
    Path base = path.isAbsolute() ? path.getRoot() : Path.of("");
    for (Path part : path) {
      if (part.toString().matches(".*[*?\\[{].*")) {
        break;
      }
      base = base.resolve(part);
    }
    return base;
  }

  private static List<Path> walk(Path directory, Predicate<Path> wanted) {
    try (Stream<Path> files = Files.walk(directory, DEPTH, FileVisitOption.FOLLOW_LINKS)) {
      return files.filter(Files::isRegularFile).filter(wanted).sorted().toList();
    } catch (IOException | UncheckedIOException e) {
      throw new IllegalArgumentException("Cannot list " + directory + ": " + e.getMessage(), e);
    }
  }
}
