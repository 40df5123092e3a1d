package dev.plumbline.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The packaged command line as a process, as a user starts it. */
final class Packaged implements AutoCloseable {

  private final Process process;
  private final Path out;
  private final Path err;

  private Packaged(Process process, Path out, Path err) {
    this.process = process;
    this.out = out;
    this.err = err;
  }

  static Packaged start(Path folder, String... args) throws IOException {
    Path jar = Path.of("target/quarkus-app/quarkus-run.jar").toAbsolutePath();
    assertThat(jar).as("built by the package phase").exists();
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of(
            "-XX:+UseSerialGC",
            "-Xmx768m",
            "-XX:+IgnoreUnrecognizedVMOptions",
            "--sun-misc-unsafe-memory-access=allow",
            "--enable-native-access=ALL-UNNAMED",
            "-Djava.util.logging.manager=org.jboss.logmanager.LogManager",
            // A home of its own: tests leave nothing behind.
            "-Duser.home=" + folder,
            "-jar",
            jar.toString()));
    command.addAll(List.of(args));
    Files.createDirectories(folder);
    Path out = Files.createTempFile(folder, "out", ".txt");
    Path err = Files.createTempFile(folder, "err", ".txt");
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectOutput(out.toFile()).redirectError(err.toFile());
    builder.environment().put("PLUMBLINE_HOME", Path.of("../..").toRealPath().toString());
    builder.environment().remove("PLUMBLINE_TTY");
    return new Packaged(builder.start(), out, err);
  }

  /** Runs to the end. */
  static Packaged run(Path folder, Duration limit, String... args)
      throws IOException, InterruptedException {
    Packaged run = start(folder, args);
    if (!run.process.waitFor(limit.toSeconds(), TimeUnit.SECONDS)) {
      run.close();
      throw new AssertionError("not at its end after " + limit + ":\n" + run.err());
    }
    return run;
  }

  int exit() {
    return process.exitValue();
  }

  boolean alive() {
    return process.isAlive();
  }

  String out() {
    return text(out);
  }

  String err() {
    return text(err);
  }

  private static String text(Path file) {
    try {
      return Files.readString(file, StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  List<ProcessHandle> children() {
    return process.children().toList();
  }

  /** The one child whose command line names that service. */
  ProcessHandle child(String service) {
    return process
        .children()
        .filter(child -> child.info().commandLine().orElse("").contains("/" + service + "/"))
        .findFirst()
        .orElseThrow();
  }

  /** SIGKILL: nothing of it gets the chance to tidy up. */
  void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  @Override
  public void close() {
    process.destroy();
    try {
      if (!process.waitFor(30, TimeUnit.SECONDS)) {
        process.destroyForcibly().waitFor();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
