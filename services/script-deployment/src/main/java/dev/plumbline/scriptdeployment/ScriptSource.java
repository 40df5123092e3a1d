package dev.plumbline.scriptdeployment;

import dev.plumbline.schemas.Fault;
import dev.plumbline.schemas.Nearest;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The scripts that may be deployed: the files of a folder, then the built-in ones. Scripts have
 * plain names; nothing outside the folder can be named.
 */
final class ScriptSource {

  /** What comes with this service. */
  static final List<String> BUILT_IN = List.of("plumbline_probe.py");

  static final int LIMIT_BYTES = 16 << 20;
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9._-]{0,199}");

  private final Path folder;

  /**
   * @param folder empty: only the built-in scripts
   */
  ScriptSource(Optional<Path> folder) {
    this.folder = folder.orElse(null);
  }

  /** A script and its content. */
  @SuppressWarnings("ArrayRecordComponent") // Never compared; the content is read once and sent.
  record Script(String name, byte[] content) {}

  /** What is wrong with each of the names, in their order; empty when all can be deployed. */
  List<Fault> faults(List<String> names) {
    List<Fault> faults = new ArrayList<>();
    if (names == null || names.isEmpty()) {
      faults.add(new Fault("plan.scripts", "names no script: leave it out or name one"));
      return faults;
    }
    for (int i = 0; i < names.size(); i++) {
      String field = "plan.scripts[" + i + "]";
      try {
        read(names.get(i));
        if (names.indexOf(names.get(i)) < i) {
          faults.add(new Fault(field, "'" + names.get(i) + "' is named twice"));
        }
      } catch (IOException e) {
        faults.add(new Fault(field, e.getMessage()));
      }
    }
    return faults;
  }

  /**
   * Reads one script.
   *
   * @throws IOException with one sentence for the user
   */
  Script read(String name) throws IOException {
    if (name == null || !NAME.matcher(name).matches()) {
      throw new IOException(
          "'" + name + "' is not the name of a script: give the name alone, without a folder");
    }
    byte[] content = content(name);
    if (content.length == 0) {
      throw new IOException("script '" + name + "' is empty");
    }
    return new Script(name, content);
  }

  private byte[] content(String name) throws IOException {
    if (folder != null) {
      Path file = folder.resolve(name);
      try {
        if (Files.size(file) > LIMIT_BYTES) {
          throw new IOException(
              "script '%s' is larger than %d MiB".formatted(name, LIMIT_BYTES >> 20));
        }
        if (!Files.isRegularFile(file)) {
          throw new IOException(file + " is not a file");
        }
        return Files.readAllBytes(file);
      } catch (NoSuchFileException e) {
        // It may be a built-in one.
        return builtIn(name);
      } catch (java.nio.file.AccessDeniedException e) {
        throw new IOException(file + " cannot be read: permission denied", e);
      }
    }
    return builtIn(name);
  }

  private byte[] builtIn(String name) throws IOException {
    InputStream found =
        BUILT_IN.contains(name)
            ? ScriptSource.class.getClassLoader().getResourceAsStream("probe/" + name)
            : null;
    if (found == null) {
      throw new IOException(missing(name));
    }
    try (found) {
      return found.readAllBytes();
    }
  }

  private String missing(String name) throws IOException {
    TreeSet<String> known = new TreeSet<>(BUILT_IN);
    if (folder != null && Files.isDirectory(folder)) {
      try (Stream<Path> files = Files.list(folder)) {
        files
            .filter(Files::isRegularFile)
            .map(file -> file.getFileName().toString())
            .forEach(known::add);
      }
    }
    return "there is no script '%s'%s; %s"
        .formatted(
            name,
            folder == null ? "" : " in " + folder,
            Nearest.of(name, known)
                .map(near -> "did you mean '" + near + "'?")
                .orElseGet(() -> "known are " + String.join(", ", known)));
  }
}
