package dev.plumbline.workerkit;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import java.io.ByteArrayInputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.apache.sshd.common.config.keys.KeyUtils;
import org.apache.sshd.common.digest.BuiltinDigests;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SshFaultsIT {

  private static final Duration LONG = Duration.ofSeconds(60);

  @TempDir Path folder;

  private static HostException refused(HostEntry entry) {
    return catchThrowableOfType(HostException.class, () -> SshAccess.connect(entry).close());
  }

  private static String print(KeyPair key) {
    return KeyUtils.getFingerPrint(BuiltinDigests.sha256, key.getPublic());
  }

  @Test
  void aChangedHostKeyIsRefusedWithBothFingerprints() throws Exception {
    // Given a host that was known by one key
    KeyPair known = TestSshHost.key(TestSshHost.ED25519);
    KeyPair now = TestSshHost.key(TestSshHost.ED25519);
    try (TestSshHost server = new TestSshHost(folder, 0, now)) {
      server.writeKnownHosts(known);
      // When it shows another
      HostException e = refused(server.entry());
      // Then
      assertThat(e.code()).isEqualTo("host-key");
      assertThat(e.retryable()).isFalse();
      assertThat(e)
          .hasMessageContaining(print(known))
          .hasMessageContaining(print(now))
          .hasMessageContaining("lab-1");
      // and nothing was trusted on the way
      assertThat(Files.readAllLines(folder.resolve("known_hosts")))
          .containsExactly(server.knownHost(known));
    }
  }

  @Test
  void anUnknownHostKeyIsRefused() throws Exception {
    KeyPair key = TestSshHost.key(TestSshHost.ED25519);
    try (TestSshHost server = new TestSshHost(folder, 0, key)) {
      server.writeKnownHosts();
      assertThat(refused(server.entry()))
          .hasMessageContaining(print(key))
          .hasMessageContaining("holds none for it")
          .satisfies(e -> assertThat(((HostException) e).code()).isEqualTo("host-key"));
      assertThat(refused(server.entry("id", "no-such-file")))
          .hasMessageContaining("no-such-file cannot be read");
    }
  }

  @Test
  void aRevokedHostKeyIsRefused() throws Exception {
    KeyPair key = TestSshHost.key(TestSshHost.ED25519);
    try (TestSshHost server = new TestSshHost(folder, 0, key)) {
      Files.write(
          folder.resolve("known_hosts"),
          List.of(server.knownHost(key), "@revoked " + server.knownHost(key)));
      assertThat(refused(server.entry())).hasMessageContaining("revoked");
    }
  }

  @Test
  void aHostWithSeveralKeysIsAskedForTheKnownOne() throws Exception {
    KeyPair ed25519 = TestSshHost.key(TestSshHost.ED25519);
    KeyPair ecdsa = TestSshHost.key(TestSshHost.ECDSA);
    try (TestSshHost server = new TestSshHost(folder, 0, ed25519, ecdsa)) {
      for (KeyPair known : List.of(ed25519, ecdsa)) {
        server.writeKnownHosts(known);
        try (HostAccess host = SshAccess.connect(server.entry())) {
          assertThat(host.exec(List.of("true"), LONG).ok()).isTrue();
        }
      }
    }
  }

  @Test
  void aWrongUserKeyIsNamed() throws Exception {
    try (TestSshHost server = new TestSshHost(folder)) {
      server.writePrivate("other", TestSshHost.key(TestSshHost.ED25519));
      HostException e = refused(server.entry("other", "known_hosts"));
      assertThat(e.code()).isEqualTo("auth");
      assertThat(e).hasMessageContaining("other").hasMessageContaining("authorized_keys");
      Files.writeString(folder.resolve("rubbish"), "not a key");
      assertThat(refused(server.entry("rubbish", "known_hosts")).code()).isEqualTo("auth");
      assertThat(refused(server.entry("absent", "known_hosts")))
          .hasMessageContaining("absent")
          .hasMessageContaining("cannot be read");
    }
  }

  @Test
  void anUnreachablePortIsNamed() throws Exception {
    TestSshHost gone = new TestSshHost(folder);
    HostEntry entry = gone.entry();
    gone.close();
    HostException e = refused(entry);
    assertThat(e.code()).isEqualTo("unreachable");
    assertThat(e.retryable()).isTrue();
    assertThat(e).hasMessageContaining("127.0.0.1:" + entry.port());
  }

  @Test
  void somethingThatIsNotSshIsUnreachable() throws Exception {
    try (ServerSocket other = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
        TestSshHost server = new TestSshHost(folder)) {
      Thread.ofVirtual()
          .start(
              () -> {
                try (var client = other.accept()) {
                  client
                      .getOutputStream()
                      .write("HTTP/1.1 400 Bad Request\r\n\r\n".getBytes(UTF_8));
                } catch (java.io.IOException e) {
                  throw new java.io.UncheckedIOException(e);
                }
              });
      HostEntry e = server.entry();
      HostEntry wrongPort =
          new HostEntry(
              e.name(),
              e.transport(),
              e.address(),
              other.getLocalPort(),
              e.user(),
              e.keyFile(),
              e.knownHostsFile(),
              null,
              null,
              null,
              null,
              null,
              false);
      Files.writeString(folder.resolve("known_hosts"), "");
      assertThat(refused(wrongPort).code()).isEqualTo("unreachable");
    }
  }

  @Test
  void aDropInTheMiddleLeavesTheOutcomeUnknownAndTheNextCallReconnects() throws Exception {
    try (TestSshHost server = new TestSshHost(folder);
        HostAccess host = SshAccess.connect(server.entry())) {
      Path began = folder.resolve("began");
      Path end = folder.resolve("end");
      CompletableFuture<Exec> call =
          CompletableFuture.supplyAsync(
              () -> {
                try {
                  return host.exec(
                      List.of(
                          "sh",
                          "-c",
                          "touch \"$1\"; while [ ! -e \"$2\" ]; do sleep 0.1; done",
                          "sh",
                          began.toString(),
                          end.toString()),
                      LONG);
                } catch (HostException e) {
                  throw new IllegalStateException(e);
                }
              });
      await().until(() -> Files.exists(began));
      server.drop();
      ExecutionException failure = catchThrowableOfType(ExecutionException.class, call::get);
      HostException e = (HostException) failure.getCause().getCause();
      assertThat(e.code()).isEqualTo("lost");
      assertThat(e.retryable()).isTrue();
      assertThat(e).hasMessageContaining("unknown");
      // and the next one works
      assertThat(host.exec(List.of("echo", "back"), LONG).stdout()).isEqualTo("back\n");
      assertThat(host.list(folder.toString())).contains("began");
      Files.createFile(end);
    }
  }

  @Test
  void aWithheldExitStatusIsNeitherSuccessNorFailure() throws Exception {
    try (TestSshHost server = new TestSshHost(folder);
        HostAccess host = SshAccess.connect(server.entry())) {
      server.withholdExitStatus();
      Exec end = host.exec(List.of("true"), LONG);
      assertThat(end.exit()).isEmpty();
      assertThat(end.ok()).isFalse();
      assertThat(end.complaint()).isEqualTo("the exit status is unknown");
    }
  }

  @Test
  void aFullDiskIsSaidToBeOne() throws Exception {
    try (TestSshHost server = new TestSshHost(folder);
        HostAccess host = SshAccess.connect(server.entry())) {
      server.diskIsFullAfter(100_000);
      HostException e =
          catchThrowableOfType(
              HostException.class,
              () ->
                  host.write(
                      folder.resolve("big").toString(),
                      new ByteArrayInputStream(new byte[200_000]),
                      0600));
      assertThat(e.code()).isEqualTo("failed");
      assertThat(e).hasMessageContaining("full disk").hasMessageContaining("big");
    }
  }

  @Test
  void whatAShellPrintsAtItsStartIsNotOutput() throws Exception {
    try (TestSshHost server = new TestSshHost(folder)) {
      server.runBy(
          (channel, line) ->
              TestSshHost.shell("echo 'Welcome, the GPUs are yours'; " + line)
                  .createShell(channel));
      try (HostAccess host = SshAccess.connect(server.entry())) {
        assertThat(host.home()).isEqualTo(System.getenv("HOME"));
        assertThat(host.exec(List.of("echo", "clean"), LONG).stdout()).isEqualTo("clean\n");
      }
    }
  }

  @Test
  void closingEndsTheConnection() throws Exception {
    try (TestSshHost server = new TestSshHost(folder)) {
      HostAccess host = SshAccess.connect(server.entry());
      assertThat(server.connections()).isEqualTo(1);
      host.close();
      await().until(() -> server.connections() == 0);
      assertThat(catchThrowableOfType(HostException.class, () -> host.exec(List.of("true"), LONG)))
          .hasMessageContaining("was closed");
    }
  }
}
