package dev.plumbline.workerkit;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

/** This machine, by child processes and its own files. */
final class LocalAccess implements HostAccess {

  private static final Executor VIRTUAL = task -> Thread.ofVirtual().start(task);

  private final HostEntry entry;
  private final String home;

  LocalAccess(HostEntry entry) {
    this.entry = entry;
    this.home = System.getProperty("user.home");
  }

  @Override
  public HostEntry entry() {
    return entry;
  }

  @Override
  public String home() {
    return home;
  }

  @Override
  public String workDir() {
    return WorkDir.of(entry, home);
  }

  @Override
  public Exec exec(List<String> argv, Duration timeout) throws HostException {
    return exec(argv, new byte[0], timeout);
  }

  @Override
  public Exec exec(List<String> argv, byte[] stdin, Duration timeout) throws HostException {
    long end = System.nanoTime() + timeout.toNanos();
    Process process = start(argv);
    try {
      CompletableFuture<BoundedOutput> out = capture(process.getInputStream());
      CompletableFuture<BoundedOutput> err = capture(process.getErrorStream());
      CompletableFuture<Void> in =
          CompletableFuture.runAsync(() -> feed(process.getOutputStream(), stdin), VIRTUAL);
      BoundedOutput stdout = await(out, end);
      BoundedOutput stderr = await(err, end);
      if (!process.waitFor(end - System.nanoTime(), TimeUnit.NANOSECONDS)) {
        throw new TimeoutException();
      }
      in.cancel(false);
      return new Exec(
          OptionalInt.of(process.exitValue()),
          stdout.text(argv.getFirst()),
          stderr.text(argv.getFirst()));
    } catch (TimeoutException e) {
      throw new HostException(
          HostException.TIME_OUT,
          "%s on host '%s' gave no answer within %d ms and was ended"
              .formatted(argv.getFirst(), entry.name(), timeout.toMillis()),
          true,
          e);
    } catch (ExecutionException e) {
      throw new HostException(
          HostException.FAILED,
          "the output of %s on host '%s' cannot be used: %s"
              .formatted(argv.getFirst(), entry.name(), e.getCause().getMessage()),
          false,
          e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new HostException(
          HostException.CANCELLED, argv.getFirst() + " was interrupted and ended", true, e);
    } finally {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
  }

  private Process start(List<String> argv) throws HostException {
    try {
      return new ProcessBuilder(CommandText.environment(argv)).start();
    } catch (IOException e) {
      throw new HostException(
          HostException.FAILED,
          "cannot start " + argv.getFirst() + ": " + e.getMessage(),
          false,
          e);
    }
  }

  @Override
  public InputStream read(String path) throws HostException {
    return files("read", path, () -> Files.newInputStream(Path.of(path)));
  }

  @Override
  public Optional<FileStat> stat(String path) throws HostException {
    return files(
        "look at",
        path,
        () -> {
          Path file = Path.of(path);
          if (!Files.exists(file)) {
            return Optional.empty();
          }
          int mode = (Integer) Files.getAttribute(file, "unix:mode");
          return Optional.of(new FileStat(Files.size(file), mode & 07777, Files.isDirectory(file)));
        });
  }

  @Override
  public void write(String path, InputStream content, int mode) throws HostException {
    files(
        "write",
        path,
        () -> {
          Path file = Path.of(path);
          try (OutputStream out = Files.newOutputStream(file)) {
            Files.setPosixFilePermissions(file, permissions(mode));
            content.transferTo(out);
          }
          return null;
        });
  }

  @Override
  public void rename(String from, String to) throws HostException {
    files(
        "rename",
        from,
        () ->
            Files.move(
                Path.of(from),
                Path.of(to),
                StandardCopyOption.ATOMIC_MOVE,
                StandardCopyOption.REPLACE_EXISTING));
  }

  @Override
  public void makeDirectories(String path) throws HostException {
    files("make the directory", path, () -> Files.createDirectories(Path.of(path)));
  }

  @Override
  public List<String> list(String directory) throws HostException {
    return files(
        "list",
        directory,
        () -> {
          try (Stream<Path> entries = Files.list(Path.of(directory))) {
            return entries.map(entry -> entry.getFileName().toString()).sorted().toList();
          }
        });
  }

  @Override
  public void delete(String path) throws HostException {
    files("delete", path, () -> Files.deleteIfExists(Path.of(path)));
  }

  @Override
  public void close() {
    // Nothing is held between the calls.
  }

  @FunctionalInterface
  private interface FileCall<T> {
    T call() throws IOException;
  }

  private <T> T files(String verb, String path, FileCall<T> call) throws HostException {
    String what = "cannot %s %s on host '%s': ".formatted(verb, path, entry.name());
    try {
      return call.call();
    } catch (NoSuchFileException e) {
      throw new HostException(
          HostException.NOT_FOUND, what + "there is no " + e.getFile(), false, e);
    } catch (AccessDeniedException e) {
      throw new HostException(
          HostException.DENIED, what + "permission denied for " + e.getFile(), false, e);
    } catch (IOException e) {
      throw new HostException(HostException.FAILED, what + e.getMessage(), false, e);
    }
  }

  private static Set<PosixFilePermission> permissions(int mode) {
    StringBuilder text = new StringBuilder();
    for (int bit = 8; bit >= 0; bit--) {
      text.append((mode >> bit & 1) == 0 ? '-' : "xwr".charAt(bit % 3));
    }
    return EnumSet.copyOf(PosixFilePermissions.fromString(text.toString()));
  }

  private static CompletableFuture<BoundedOutput> capture(InputStream stream) {
    return CompletableFuture.supplyAsync(
        () -> {
          BoundedOutput kept = new BoundedOutput();
          try (stream) {
            stream.transferTo(kept);
          } catch (IOException e) {
            throw new UncheckedIOException(e.getMessage(), e);
          }
          return kept;
        },
        VIRTUAL);
  }

  private static void feed(OutputStream stream, byte[] stdin) {
    try (stream) {
      stream.write(stdin);
    } catch (IOException e) {
      // The program ended or does not want its input; its exit status says whether that is bad.
      System.getLogger(LocalAccess.class.getName())
          .log(System.Logger.Level.DEBUG, "standard input not taken", e);
    }
  }

  private static <T> T await(CompletableFuture<T> future, long end)
      throws ExecutionException, InterruptedException, TimeoutException {
    return future.get(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
  }
}
