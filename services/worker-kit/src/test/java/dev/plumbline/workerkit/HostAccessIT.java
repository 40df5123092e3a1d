package dev.plumbline.workerkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The same over SSH and on this machine. */
class HostAccessIT {

  private static final Duration LONG = Duration.ofSeconds(60);

  @TempDir Path folder;
  private final List<AutoCloseable> open = new ArrayList<>();

  @AfterEach
  void closeAll() throws Exception {
    for (AutoCloseable one : open.reversed()) {
      one.close();
    }
  }

  private HostAccess access(Transport transport) throws HostException {
    HostEntry entry =
        switch (transport) {
          case SSH -> {
            TestSshHost server = new TestSshHost(folder);
            open.add(server);
            yield server.entry();
          }
          case LOCAL -> HostEntry.local("local");
        };
    HostAccess access =
        switch (transport) {
          case SSH -> SshAccess.connect(entry);
          case LOCAL -> new LocalAccess(entry);
        };
    open.add(access);
    return access;
  }

  @ParameterizedTest
  @EnumSource
  void argumentsArriveAsTheyAre(Transport transport) throws Exception {
    List<String> hostile =
        List.of(
            "two words",
            "it's",
            "\"quoted\"",
            "line one\nline two\n",
            "$(touch pwned) `id` $HOME ${HOME}",
            "; exit 9 | cat & > x < y",
            "*?[a-z]~",
            "back\\slash \\n",
            "",
            "--flag=-e",
            "naïve 日本 \uD83D\uDE80",
            "!history #comment",
            "\t tab");
    List<String> argv =
        new ArrayList<>(List.of("sh", "-c", "for a; do printf '%s\\0' \"$a\"; done", "name"));
    argv.addAll(hostile);
    Exec done = access(transport).exec(argv, LONG);
    assertThat(done.ok()).isTrue();
    assertThat(Arrays.asList(done.stdout().split("\0", -1)).subList(0, hostile.size()))
        .isEqualTo(hostile);
  }

  @ParameterizedTest
  @EnumSource
  void theEndOfACommandIsTold(Transport transport) throws Exception {
    HostAccess host = access(transport);
    assertThat(host.exec(List.of("sh", "-c", "echo out; echo err >&2; exit 3"), LONG))
        .isEqualTo(new Exec(OptionalInt.of(3), "out\n", "err\n"));
    assertThat(host.exec(List.of("no-such-program", "x"), LONG).exit()).hasValue(127);
    // 128 + 15: ended by SIGTERM
    assertThat(host.exec(List.of("sh", "-c", "kill -TERM $$"), LONG).exit()).hasValue(143);
    assertThat(host.exec(List.of("sh", "-c", "echo $LC_ALL $LANGUAGE"), LONG).stdout())
        .isEqualTo("C C\n");
    assertThat(host.exec(List.of("cat"), LONG).stdout()).isEmpty();
  }

  @ParameterizedTest
  @EnumSource
  void aLargeStandardInputPasses(Transport transport) throws Exception {
    byte[] input =
        "0123456789abcdef\n".repeat(20_000).getBytes(StandardCharsets.UTF_8); // 340,000 bytes
    assertThat(access(transport).exec(List.of("wc", "-c"), input, LONG).stdout().strip())
        .isEqualTo("340000");
  }

  @ParameterizedTest
  @EnumSource
  void aSilentCommandIsGivenUp(Transport transport) throws Exception {
    HostAccess host = access(transport);
    HostException e =
        catchThrowableOfType(
            HostException.class, () -> host.exec(List.of("sleep", "30"), Duration.ofMillis(300)));
    assertThat(e.code()).isEqualTo("time-out");
    assertThat(e).hasMessageContaining("sleep").hasMessageContaining("300 ms");
    // and the access still works
    assertThat(host.exec(List.of("true"), LONG).ok()).isTrue();
  }

  @ParameterizedTest
  @EnumSource
  void filesComeAndGo(Transport transport) throws Exception {
    HostAccess host = access(transport);
    String base = folder.resolve("a b/it's").toString();
    host.makeDirectories(base);
    host.makeDirectories(base);
    byte[] content = new byte[300_000];
    IntStream.range(0, content.length).forEach(i -> content[i] = (byte) (i * 31));
    host.write(base + "/new", new ByteArrayInputStream(content), 0640);
    host.write(base + "/old", new ByteArrayInputStream(new byte[] {1, 2, 3}), 0600);

    assertThat(host.stat(base + "/new")).hasValue(new FileStat(300_000, 0640, false));
    assertThat(host.stat(base).orElseThrow().directory()).isTrue();
    assertThat(host.stat(base + "/none")).isEmpty();
    host.rename(base + "/new", base + "/old");
    assertThat(host.list(base)).containsExactly("old");
    try (InputStream in = host.read(base + "/old")) {
      assertThat(in.readAllBytes()).isEqualTo(content);
    }
    host.delete(base + "/old");
    host.delete(base + "/old");
    assertThat(host.list(base)).isEmpty();
    host.delete(base);
    assertThat(host.stat(base)).isEmpty();
  }

  @ParameterizedTest
  @EnumSource
  void whatIsAbsentIsNotFound(Transport transport) throws Exception {
    HostAccess host = access(transport);
    String none = folder.resolve("none").toString();
    assertThat(
            List.of(
                catchThrowableOfType(HostException.class, () -> host.read(none).readAllBytes()),
                catchThrowableOfType(HostException.class, () -> host.list(none)),
                catchThrowableOfType(HostException.class, () -> host.rename(none, none + "2")),
                catchThrowableOfType(
                    HostException.class,
                    () -> host.write(none + "/file", new ByteArrayInputStream(new byte[1]), 0600))))
        .allSatisfy(e -> assertThat(e.code()).isEqualTo("not-found"))
        .allSatisfy(e -> assertThat(e).hasMessageContaining(none));
  }

  @ParameterizedTest
  @EnumSource
  void anInterruptEndsTheWaitForACommandAndStaysSeen(Transport transport) throws Exception {
    HostAccess host = access(transport);
    Path begun = folder.resolve("begun");
    CompletableFuture<String> code = new CompletableFuture<>();
    CompletableFuture<Boolean> marked = new CompletableFuture<>();
    Thread waiting =
        Thread.ofVirtual()
            .start(
                () -> {
                  List<String> argv =
                      List.of("sh", "-c", "touch \"$1\"; sleep 50", "x", "" + begun);
                  code.complete(
                      catchThrowableOfType(HostException.class, () -> host.exec(argv, LONG))
                          .code());
                  marked.complete(Thread.currentThread().isInterrupted());
                });
    await().until(() -> Files.exists(begun));

    waiting.interrupt();

    assertThat(code.get(30, TimeUnit.SECONDS)).isEqualTo("cancelled");
    assertThat(marked.get(30, TimeUnit.SECONDS)).isTrue();
  }
}
