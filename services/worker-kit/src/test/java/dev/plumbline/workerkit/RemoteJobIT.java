package dev.plumbline.workerkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RemoteJobIT {

  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final Duration POLL = Duration.ofMillis(50);

  @TempDir Path folder;
  private TestSshHost server;
  private HostAccess host;
  private final List<RemoteJob> started = new ArrayList<>();

  @BeforeEach
  void connect() throws HostException {
    server = new TestSshHost(folder);
    host = SshAccess.connect(server.entry());
  }

  @AfterEach
  void close() throws HostException {
    for (RemoteJob job : started) {
      job.cancel();
    }
    host.close();
    server.close();
  }

  private RemoteJob start(String name, Duration limit, String script, String... arguments)
      throws HostException {
    List<String> argv = new ArrayList<>(List.of("/bin/sh", "-c", script, "job"));
    argv.addAll(List.of(arguments));
    RemoteJob job = RemoteJob.start(host, name, argv, limit);
    started.add(job);
    return job;
  }

  private Path file(String name) {
    return folder.resolve(name);
  }

  /** A process that ended but was not yet waited for counts as ended. */
  private static boolean alive(Path pidFile) throws Exception {
    Path stat = Path.of("/proc", Files.readString(pidFile).strip(), "stat");
    try {
      return !Files.readString(stat).contains(") Z ");
    } catch (NoSuchFileException e) {
      return false;
    }
  }

  private static HostException failure(RemoteJob job) {
    return catchThrowableOfType(
        HostException.class, () -> job.follow(line -> {}, () -> false, POLL));
  }

  @Test
  void linesAndExitStatusArrive() throws Exception {
    List<String> lines = new ArrayList<>();
    RemoteJob job =
        start(
            "c-micro-1",
            LIMIT,
            "printf '%s\\n' \"$@\"; printf 'last, no end'; echo bad >&2; pwd >&2; exit 3",
            "it's $(id)",
            "日本");
    assertThat(job.follow(lines::add, () -> false, POLL)).isEqualTo(3);
    assertThat(lines).containsExactly("it's $(id)", "日本", "last, no end");
    assertThat(job.exit()).hasValue(3);
    assertThat(job.state()).isEqualTo(RemoteJob.State.DONE);
    assertThat(job.directory()).isEqualTo(folder + "/work/runs/c-micro-1");
    assertThat(job.stderrTail()).isEqualTo("bad\n" + job.directory());
  }

  @Test
  void longOutputArrivesWhole() throws Exception {
    // 100,000 lines, several chunks, with characters of several bytes at their borders
    List<String> lines = new ArrayList<>();
    RemoteJob job =
        start(
            "c-micro-1",
            LIMIT,
            "i=0; while [ $i -lt 100000 ]; do echo \"$i é日\"; i=$((i+1)); done");
    job.follow(lines::add, () -> false, POLL);
    assertThat(lines).isEqualTo(IntStream.range(0, 100_000).mapToObj(i -> i + " é日").toList());
  }

  @Test
  void aSecondStartAttaches() throws Exception {
    String script = "echo run >>\"$1\"; while [ ! -e \"$2\" ]; do sleep 0.1; done; echo end";
    String[] arguments = {file("count").toString(), file("go").toString()};
    start("c-micro-1", LIMIT, script, arguments);
    try (HostAccess another = SshAccess.connect(server.entry())) {
      List<String> argv = new ArrayList<>(List.of("/bin/sh", "-c", script, "job"));
      argv.addAll(List.of(arguments));
      RemoteJob second = RemoteJob.start(another, "c-micro-1", argv, LIMIT);
      await().until(() -> second.state() == RemoteJob.State.RUNNING);
      Files.createFile(file("go"));
      List<String> lines = new ArrayList<>();
      assertThat(second.follow(lines::add, () -> false, POLL)).isZero();
      assertThat(lines).containsExactly("end");
    }
    assertThat(file("count")).hasContent("run");
  }

  @Test
  void ofEightStartsAtOnceOneRuns() throws Exception {
    List<CompletableFuture<Integer>> starts =
        IntStream.range(0, 8)
            .mapToObj(
                i ->
                    CompletableFuture.supplyAsync(
                        () -> {
                          try {
                            return start(
                                    "c-micro-1", LIMIT, "echo run >>\"$1\"", "" + file("count"))
                                .follow(line -> {}, () -> false, POLL);
                          } catch (HostException e) {
                            throw new IllegalStateException(e);
                          }
                        },
                        task -> Thread.ofVirtual().start(task)))
            .toList();
    for (CompletableFuture<Integer> one : starts) {
      assertThat(one.get()).isZero();
    }
    assertThat(file("count")).hasContent("run");
    started.clear();
  }

  @Test
  void aDropLosesNoLineAndDoublesNone() throws Exception {
    List<String> lines = new CopyOnWriteArrayList<>();
    RemoteJob job =
        start(
            "c-micro-1",
            LIMIT,
            "for i in 1 2 3; do echo $i; while [ ! -e \"$1.$i\" ]; do sleep 0.05; done; done; exit 4",
            file("go").toString());
    CompletableFuture<Integer> end =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return job.follow(lines::add, () -> false, POLL);
              } catch (HostException e) {
                throw new IllegalStateException(e);
              }
            });
    for (int i = 1; i <= 3; i++) {
      int seen = i;
      await().until(() -> lines.size() == seen);
      server.drop();
      Files.createFile(file("go." + i));
    }
    assertThat(end.get()).isEqualTo(4);
    assertThat(lines).containsExactly("1", "2", "3");
  }

  @Test
  void cancellingEndsEveryProcessOfTheJob() throws Exception {
    // Given a command with a child in a session of its own that ignores SIGTERM
    RemoteJob job =
        start(
            "c-micro-1",
            LIMIT,
            "setsid sh -c 'trap \"\" TERM; echo $$ >\"$1\"; while :; do sleep 1; done' x \"$1\" &"
                + " echo $$ >\"$2\"; sleep 300; sleep 300",
            file("child").toString(),
            file("parent").toString());
    await().until(() -> Files.exists(file("child")) && Files.exists(file("parent")));
    await().until(() -> alive(file("child")) && alive(file("parent")));
    // When it is cancelled while somebody follows it
    AtomicBoolean cancelled = new AtomicBoolean();
    CompletableFuture<HostException> end =
        CompletableFuture.supplyAsync(
            () ->
                catchThrowableOfType(
                    HostException.class, () -> job.follow(line -> {}, cancelled::get, POLL)));
    cancelled.set(true);
    // Then
    assertThat(end.get().code()).isEqualTo("cancelled");
    assertThat(alive(file("child"))).isFalse();
    assertThat(alive(file("parent"))).isFalse();
    assertThat(job.state()).isEqualTo(RemoteJob.State.CANCELLED);
    assertThat(failure(job).code()).isEqualTo("cancelled");
  }

  @Test
  void whatIsDoneStaysDone() throws Exception {
    RemoteJob job = start("c-micro-1", LIMIT, "exit 0");
    assertThat(job.follow(line -> {}, () -> false, POLL)).isZero();
    job.cancel();
    assertThat(job.state()).isEqualTo(RemoteJob.State.DONE);
  }

  @Test
  void theHostItselfEnforcesTheLimit() throws Exception {
    RemoteJob job =
        start("c-micro-1", Duration.ofSeconds(1), "echo $$ >\"$1\"; sleep 300", "" + file("pid"));
    HostException e = failure(job);
    assertThat(e.code()).isEqualTo("time-out");
    assertThat(e).hasMessageContaining("limit of 1 s");
    assertThat(alive(file("pid"))).isFalse();
    assertThat(job.exit()).hasValue(124);
  }

  @Test
  void aKilledRunnerLeavesAnOrphanThenALostJob() throws Exception {
    RemoteJob job =
        start(
            "c-micro-1",
            LIMIT,
            "echo $$ >\"$1\"; while [ ! -e \"$2\" ]; do sleep 0.1; done",
            file("pid").toString(),
            file("go").toString());
    await().until(() -> Files.exists(file("pid")));
    Path runner = Path.of(job.directory(), "runner");
    ProcessHandle.of(Long.parseLong(Files.readString(runner).strip()))
        .orElseThrow()
        .destroyForcibly();
    await().until(() -> job.state() == RemoteJob.State.ORPHANED);
    assertThat(alive(file("pid"))).isTrue();
    Files.createFile(file("go"));
    HostException e = failure(job);
    assertThat(e.code()).isEqualTo("lost");
    assertThat(e.retryable()).isTrue();
    assertThat(job.state()).isEqualTo(RemoteJob.State.LOST);
    assertThat(job.exit()).isEmpty();
  }

  @Test
  void leftoversAreEndedWithTheCommand() throws Exception {
    RemoteJob job =
        start("c-micro-1", LIMIT, "sleep 300 & echo $! >\"$1\"; exit 0", "" + file("left"));
    assertThat(job.follow(line -> {}, () -> false, POLL)).isZero();
    assertThat(alive(file("left"))).isFalse();
  }

  @Test
  void aNewAttemptEndsTheOneBefore() throws Exception {
    RemoteJob first =
        start("c-micro-1", LIMIT, "echo $$ >\"$1\"; sleep 300", file("first").toString());
    await().until(() -> Files.exists(file("first")));
    RemoteJob second = start("c-micro-2", LIMIT, "exit 0");
    assertThat(alive(file("first"))).isFalse();
    assertThat(first.state()).isEqualTo(RemoteJob.State.CANCELLED);
    assertThat(second.follow(line -> {}, () -> false, POLL)).isZero();
  }

  @Test
  void aProgramThatDoesNotExistFails() throws Exception {
    RemoteJob job = RemoteJob.start(host, "c-micro-1", List.of("/no/such/python", "-u"), LIMIT);
    assertThat(job.follow(line -> {}, () -> false, POLL)).isEqualTo(127);
    assertThat(job.stderrTail()).contains("/no/such/python");
  }

  @Test
  void aJobWithoutDirectoryIsLost() throws Exception {
    RemoteJob job = start("c-micro-1", LIMIT, "exit 0");
    job.follow(line -> {}, () -> false, POLL);
    assertThat(host.exec(List.of("rm", "-r", job.directory()), LIMIT).ok()).isTrue();
    assertThat(job.state()).isEqualTo(RemoteJob.State.NOT_FOUND);
    assertThat(failure(job).code()).isEqualTo("lost");
  }

  @Test
  void aNameThatIsNoDirectoryNameIsRefused() {
    HostException e =
        catchThrowableOfType(HostException.class, () -> start("../evil", LIMIT, "exit 0"));
    assertThat(e).hasMessageContaining("../evil");
  }

  @Test
  void anInterruptCancelsTheJob() throws Exception {
    RemoteJob job = start("c-micro-1", LIMIT, "echo $$ >\"$1\"; sleep 300", "" + file("pid"));
    await().until(() -> Files.exists(file("pid")));
    CompletableFuture<HostException> end = new CompletableFuture<>();
    Thread follower = Thread.ofVirtual().start(() -> end.complete(failure(job)));
    follower.interrupt();
    // Whatever it is doing when the interrupt comes, none is lost.
    assertThat(end.get(30, TimeUnit.SECONDS).code()).isEqualTo("cancelled");
    assertThat(alive(file("pid"))).isFalse();
  }

  @Test
  void itIsTheSameOnThisMachine() throws Exception {
    HostEntry here =
        new HostEntry(
            "local",
            Transport.LOCAL,
            null,
            null,
            null,
            null,
            null,
            file("here").toString(),
            null,
            null,
            null,
            null,
            false);
    List<String> lines = new ArrayList<>();
    try (HostAccess local = new LocalAccess(here)) {
      RemoteJob job =
          RemoteJob.start(local, "c-micro-1", List.of("/bin/sh", "-c", "echo a; exit 5"), LIMIT);
      assertThat(job.follow(lines::add, () -> false, POLL)).isEqualTo(5);
    }
    assertThat(lines).containsExactly("a");
  }
}
