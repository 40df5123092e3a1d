package dev.plumbline.workerkit;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.sshd.client.SshClient;
import org.apache.sshd.client.config.hosts.HostConfigEntryResolver;
import org.apache.sshd.client.session.ClientSession;
import org.apache.sshd.common.NamedFactory;
import org.apache.sshd.common.config.keys.FilePasswordProvider;
import org.apache.sshd.common.keyprovider.KeyIdentityProvider;
import org.apache.sshd.common.signature.Signature;
import org.apache.sshd.common.util.security.SecurityUtils;
import org.apache.sshd.core.CoreModuleProperties;

/** One authenticated SSH connection, made anew when it was lost. */
final class SshConnection implements AutoCloseable {

  private static final Duration CONNECT_LIMIT = Duration.ofSeconds(15);
  private static final Duration HEARTBEAT = Duration.ofSeconds(15);
  private static final int HEARTBEATS_UNANSWERED = 3;

  private final HostEntry entry;
  private SshClient client;
  private ClientSession session;
  private boolean closed;

  SshConnection(HostEntry entry) {
    this.entry = entry;
  }

  /** The live session; connects when there is none. */
  synchronized ClientSession session() throws HostException {
    if (closed) {
      throw new HostException(
          HostException.FAILED, "the access to host '" + entry.name() + "' was closed", false);
    }
    if (session == null || !session.isOpen()) {
      disconnect();
      connect();
    }
    return session;
  }

  /** Drops the connection, which ends every call on it; the next call connects again. */
  void drop(ClientSession stuck) {
    stuck.close(true);
  }

  @Override
  public synchronized void close() {
    closed = true;
    disconnect();
  }

  private void disconnect() {
    if (client != null) {
      client.stop();
    }
    client = null;
    session = null;
  }

  private void connect() throws HostException {
    KnownHosts knownHosts = new KnownHosts(entry);
    Iterable<KeyPair> keys = readKeys();
    client = newClient(knownHosts);
    String user = entry.user() == null ? System.getProperty("user.name") : entry.user();
    try {
      session =
          client
              .connect(user, entry.address(), entry.port())
              .verify(CONNECT_LIMIT)
              .getClientSession();
    } catch (IOException e) {
      throw failed(unreachable(e));
    }
    keys.forEach(session::addPublicKeyIdentity);
    try {
      session.auth().verify(CONNECT_LIMIT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (IOException e) {
      HostException refusal = knownHosts.refusal();
      throw failed(refusal == null ? notAuthenticated(user, e) : refusal);
    }
  }

  private HostException failed(HostException why) {
    disconnect();
    return why;
  }

  private SshClient newClient(KnownHosts knownHosts) {
    SshClient made = SshClient.setUpDefaultClient();
    made.setServerKeyVerifier(knownHosts);
    // Only what the inventory says: neither ~/.ssh/config nor the keys in ~/.ssh.
    made.setHostConfigEntryResolver(HostConfigEntryResolver.EMPTY);
    made.setKeyIdentityProvider(KeyIdentityProvider.EMPTY_KEYS_PROVIDER);
    made.setSignatureFactories(knownFirst(made.getSignatureFactories(), knownHosts.types()));
    CoreModuleProperties.PREFERRED_AUTHS.set(made, "publickey");
    CoreModuleProperties.TCP_NODELAY.set(made, true);
    CoreModuleProperties.SOCKET_KEEPALIVE.set(made, true);
    // A long silent command is not an idle connection; a dead peer is found by the heartbeats.
    CoreModuleProperties.IDLE_TIMEOUT.set(made, Duration.ZERO);
    CoreModuleProperties.NIO2_READ_TIMEOUT.set(made, Duration.ZERO);
    CoreModuleProperties.HEARTBEAT_INTERVAL.set(made, HEARTBEAT);
    CoreModuleProperties.HEARTBEAT_NO_REPLY_MAX.set(made, HEARTBEATS_UNANSWERED);
    made.start();
    return made;
  }

  /** A server may hold keys of several types: it must show one of a type that we know. */
  private static List<NamedFactory<Signature>> knownFirst(
      List<NamedFactory<Signature>> factories, List<String> types) {
    List<NamedFactory<Signature>> plain = new ArrayList<>(factories);
    plain.removeIf(factory -> factory.getName().contains("-cert-"));
    plain.sort(
        Comparator.comparing(
            factory -> types.stream().noneMatch(type -> type.equals(keyType(factory.getName())))));
    return plain;
  }

  private static String keyType(String signature) {
    return signature.startsWith("rsa-sha2-") ? "ssh-rsa" : signature;
  }

  private Iterable<KeyPair> readKeys() throws HostException {
    Path file = Path.of(entry.keyFile());
    try (var in = Files.newInputStream(file)) {
      Iterable<KeyPair> keys =
          SecurityUtils.loadKeyPairIdentities(
              null, () -> file.toString(), in, FilePasswordProvider.EMPTY);
      if (keys == null || !keys.iterator().hasNext()) {
        throw badKey("it holds no private key", null);
      }
      return keys;
    } catch (IOException | GeneralSecurityException e) {
      throw badKey(
          Files.isReadable(file)
              ? "it is damaged, or protected by a passphrase: give a key without one"
              : "the file cannot be read",
          e);
    }
  }

  private HostException badKey(String why, Exception cause) {
    return new HostException(
        HostException.AUTH,
        "the key file %s of host '%s' cannot be used: %s"
            .formatted(entry.keyFile(), entry.name(), why),
        false,
        cause);
  }

  /** For a thread that was interrupted; it stays marked as such. */
  static HostException interrupted(String what, Exception e) {
    Thread.currentThread().interrupt();
    return new HostException(HostException.CANCELLED, what + " was interrupted", true, e);
  }

  private HostException unreachable(IOException e) {
    if (e instanceof InterruptedIOException) {
      return interrupted("connecting to host '" + entry.name() + "'", e);
    }
    Throwable root = e;
    while (root.getCause() != null && root.getCause() != root) {
      root = root.getCause();
    }
    String why = root.getMessage() == null ? root.getClass().getSimpleName() : root.getMessage();
    return new HostException(
        HostException.UNREACHABLE,
        "host '%s' cannot be reached at %s:%d: %s"
            .formatted(entry.name(), entry.address(), entry.port(), why),
        true,
        e);
  }

  private HostException notAuthenticated(String user, IOException e) {
    boolean refused =
        String.valueOf(e.getMessage()).contains("No more authentication methods available");
    if (!refused) {
      return unreachable(e);
    }
    return new HostException(
        HostException.AUTH,
        "host '%s' does not take the key %s for user '%s': put its public half in the authorized_keys there"
            .formatted(entry.name(), entry.keyFile(), user),
        false,
        e);
  }
}
