package dev.plumbline.lab;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.PublicKey;
import java.time.Duration;
import java.util.List;
import org.apache.sshd.common.config.keys.KeyUtils;
import org.apache.sshd.common.config.keys.PublicKeyEntry;
import org.apache.sshd.common.config.keys.writer.openssh.OpenSSHKeyPairResourceWriter;
import org.apache.sshd.common.file.virtualfs.VirtualFileSystemFactory;
import org.apache.sshd.common.keyprovider.FileKeyPairProvider;
import org.apache.sshd.common.keyprovider.KeyPairProvider;
import org.apache.sshd.core.CoreModuleProperties;
import org.apache.sshd.server.SshServer;
import org.apache.sshd.server.session.ServerSession;
import org.apache.sshd.sftp.server.SftpSubsystemFactory;

/**
 * The lab's SSH server: public key only, SFTP on the real file system, commands by a real {@code
 * /bin/sh} whose PATH begins with the lab's own commands. Client key, host key and known_hosts lie
 * in {@code ssh} below the data folder and are kept from start to start.
 */
final class SshHost implements AutoCloseable {

  /** The only user there is. */
  static final String USER = "lab";

  private final SshServer server;
  private final Path clientKey;
  private final Path knownHosts;

  SshHost(Path dataDir, LabOptions options, int wantedPort) throws IOException {
    Path dir = Files.createDirectories(dataDir.resolve("ssh"));
    clientKey = dir.resolve("id_ecdsa");
    knownHosts = dir.resolve("known_hosts");
    KeyPair client = keyPair(clientKey);
    KeyPair host = keyPair(dir.resolve("host_key"));
    server = SshServer.setUpDefaultServer();
    server.setHost(options.bindAddress());
    server.setKeyPairProvider(KeyPairProvider.wrap(host));
    server.setPublickeyAuthenticator(
        (user, key, session) -> user.equals(USER) && same(key, client.getPublic()));
    CoreModuleProperties.TCP_NODELAY.set(server, true);
    CoreModuleProperties.IDLE_TIMEOUT.set(server, Duration.ZERO);
    Path home = Files.createDirectories(dataDir.resolve("home"));
    server.setFileSystemFactory(new RealFiles(home));
    server.setSubsystemFactories(List.of(new SftpSubsystemFactory()));
    server.setCommandFactory(
        (channel, command) -> new ShellCommand(command, dataDir.resolve("bin"), home));
    listen(wantedPort, options.sshPort() != 0);
    PublicKey named =
        options.faults().contains(LabOptions.Fault.WRONG_HOST_KEY)
            ? keyPair(dir.resolve("other_host_key")).getPublic()
            : host.getPublic();
    Files.writeString(
        knownHosts,
        "[%s]:%d %s%n"
            .formatted(options.advertisedAddress(), port(), PublicKeyEntry.toString(named)));
  }

  /** SFTP paths are the paths that the shell sees; relative ones start at home. */
  private static final class RealFiles extends VirtualFileSystemFactory {
    RealFiles(Path home) {
      super(home);
    }

    @Override
    public java.nio.file.FileSystem createFileSystem(
        org.apache.sshd.common.session.SessionContext session) {
      return FileSystems.getDefault();
    }
  }

  private static boolean same(PublicKey a, PublicKey b) {
    return KeyUtils.compareKeys(a, b);
  }

  private void listen(int wanted, boolean required) throws IOException {
    server.setPort(wanted);
    try {
      server.start();
    } catch (IOException e) {
      if (wanted == 0 || required) {
        throw new IOException("cannot listen for SSH on port " + wanted + ": " + e.getMessage(), e);
      }
      // The port of the last start is taken by somebody else meanwhile.
      server.setPort(0);
      server.start();
    }
  }

  private static KeyPair keyPair(Path file) throws IOException {
    try {
      if (!Files.exists(file)) {
        KeyPair fresh = KeyUtils.generateKeyPair("ecdsa-sha2-nistp256", 256);
        try (OutputStream out = Files.newOutputStream(file)) {
          OpenSSHKeyPairResourceWriter.INSTANCE.writePrivateKey(fresh, "plumbline lab", null, out);
        }
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        return fresh;
      }
      return new FileKeyPairProvider(file).loadKeys(null).iterator().next();
    } catch (GeneralSecurityException e) {
      throw new IOException("cannot make the key " + file + ": " + e.getMessage(), e);
    }
  }

  int port() {
    return server.getPort();
  }

  Path clientKey() {
    return clientKey;
  }

  Path knownHosts() {
    return knownHosts;
  }

  /** Cuts all connections, as a network failure does; the server goes on listening. */
  void cutConnections() {
    for (ServerSession session : sessions()) {
      session.close(true);
    }
  }

  private List<ServerSession> sessions() {
    return server.getActiveSessions().stream()
        .filter(ServerSession.class::isInstance)
        .map(ServerSession.class::cast)
        .toList();
  }

  @Override
  public void close() throws IOException {
    server.stop(true);
  }
}
