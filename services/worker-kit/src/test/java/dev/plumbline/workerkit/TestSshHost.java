package dev.plumbline.workerkit;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.sshd.common.config.keys.KeyUtils;
import org.apache.sshd.common.config.keys.PublicKeyEntry;
import org.apache.sshd.common.config.keys.writer.openssh.OpenSSHKeyPairResourceWriter;
import org.apache.sshd.common.keyprovider.KeyPairProvider;
import org.apache.sshd.core.CoreModuleProperties;
import org.apache.sshd.server.SshServer;
import org.apache.sshd.server.channel.ChannelSession;
import org.apache.sshd.server.command.AbstractFileSystemCommand;
import org.apache.sshd.server.command.CommandFactory;
import org.apache.sshd.server.shell.ProcessShellFactory;
import org.apache.sshd.sftp.server.FileHandle;
import org.apache.sshd.sftp.server.SftpFileSystemAccessor;
import org.apache.sshd.sftp.server.SftpSubsystemFactory;
import org.apache.sshd.sftp.server.SftpSubsystemProxy;

/** A real SSH server on loopback that runs commands by {@code /bin/sh}; with faults. */
final class TestSshHost implements AutoCloseable {

  static final String ED25519 = "ssh-ed25519";
  static final String ECDSA = "ecdsa-sha2-nistp256";

  private final Path folder;
  private final KeyPair userKey;
  private final SshServer server;
  private volatile long diskBytes = Long.MAX_VALUE;

  TestSshHost(Path folder) {
    this(folder, 0, key(ED25519));
  }

  TestSshHost(Path folder, int port, KeyPair... hostKeys) {
    this.folder = folder;
    this.userKey = key(ED25519);
    server = SshServer.setUpDefaultServer();
    server.setHost("127.0.0.1");
    server.setPort(port);
    server.setKeyPairProvider(KeyPairProvider.wrap(hostKeys));
    server.setPublickeyAuthenticator(
        (user, offered, session) -> KeyUtils.compareKeys(offered, userKey.getPublic()));
    runBy((channel, line) -> shell(line).createShell(channel));
    server.setSubsystemFactories(
        List.of(
            new SftpSubsystemFactory.Builder().withFileSystemAccessor(new SmallDisk()).build()));
    CoreModuleProperties.TCP_NODELAY.set(server, true);
    try {
      server.start();
      writePrivate("id", userKey);
      writeKnownHosts(hostKeys);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static KeyPair key(String type) {
    try {
      return KeyUtils.generateKeyPair(type, 256);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  static ProcessShellFactory shell(String line) {
    return new ProcessShellFactory(line, "/bin/sh", "-c", line);
  }

  void runBy(CommandFactory commands) {
    server.setCommandFactory(commands);
  }

  /** Ends a command's channel without an exit status. */
  void withholdExitStatus() {
    runBy((channel, line) -> new SilentEnd());
  }

  /** From now on each file takes no more than this. */
  void diskIsFullAfter(long bytes) {
    diskBytes = bytes;
  }

  int port() {
    return server.getPort();
  }

  /** Cuts every connection at once. */
  void drop() {
    server.getActiveSessions().forEach(session -> session.close(true));
  }

  int connections() {
    return server.getActiveSessions().size();
  }

  HostEntry entry() {
    return entry("id", "known_hosts");
  }

  HostEntry entry(String keyFile, String knownHosts) {
    return new HostEntry(
        "lab-1",
        Transport.SSH,
        "127.0.0.1",
        port(),
        System.getProperty("user.name"),
        folder.resolve(keyFile).toString(),
        folder.resolve(knownHosts).toString(),
        folder.resolve("work").toString(),
        null,
        null,
        null,
        null,
        false);
  }

  void writePrivate(String name, KeyPair key) throws IOException {
    try (OutputStream out = Files.newOutputStream(folder.resolve(name))) {
      OpenSSHKeyPairResourceWriter.INSTANCE.writePrivateKey(key, "test", null, out);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  void writeKnownHosts(KeyPair... keys) throws IOException {
    List<String> lines = new ArrayList<>();
    for (KeyPair key : keys) {
      lines.add(knownHost(key));
    }
    Files.write(folder.resolve("known_hosts"), lines);
  }

  String knownHost(KeyPair key) {
    return "[127.0.0.1]:" + port() + " " + PublicKeyEntry.toString(key.getPublic());
  }

  @Override
  public void close() {
    try {
      server.stop(true);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static final class SilentEnd extends AbstractFileSystemCommand {
    SilentEnd() {
      super("silent", null);
    }

    @Override
    public void start(ChannelSession channel, org.apache.sshd.server.Environment env) {
      channel.close(false);
    }

    @Override
    public void run() {
      throw new IllegalStateException("start does it all");
    }
  }

  private final class SmallDisk implements SftpFileSystemAccessor {
    @Override
    public SeekableByteChannel openFile(
        SftpSubsystemProxy subsystem,
        FileHandle fileHandle,
        Path file,
        String handle,
        Set<? extends java.nio.file.OpenOption> options,
        java.nio.file.attribute.FileAttribute<?>... attributes)
        throws IOException {
      SeekableByteChannel real =
          SftpFileSystemAccessor.DEFAULT.openFile(
              subsystem, fileHandle, file, handle, options, attributes);
      return new SeekableByteChannel() {
        @Override
        public int write(ByteBuffer source) throws IOException {
          if (real.position() + source.remaining() > diskBytes) {
            throw new IOException("No space left on device");
          }
          return real.write(source);
        }

        @Override
        public int read(ByteBuffer target) throws IOException {
          return real.read(target);
        }

        @Override
        public long position() throws IOException {
          return real.position();
        }

        @Override
        public SeekableByteChannel position(long to) throws IOException {
          real.position(to);
          return this;
        }

        @Override
        public long size() throws IOException {
          return real.size();
        }

        @Override
        public SeekableByteChannel truncate(long to) throws IOException {
          real.truncate(to);
          return this;
        }

        @Override
        public boolean isOpen() {
          return real.isOpen();
        }

        @Override
        public void close() throws IOException {
          real.close();
        }
      };
    }
  }
}
