package dev.plumbline.lab;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.EnumSet;
import org.apache.sshd.client.SshClient;
import org.apache.sshd.client.channel.ChannelExec;
import org.apache.sshd.client.channel.ClientChannelEvent;
import org.apache.sshd.client.keyverifier.KnownHostsServerKeyVerifier;
import org.apache.sshd.client.keyverifier.RejectAllServerKeyVerifier;
import org.apache.sshd.client.session.ClientSession;
import org.apache.sshd.common.keyprovider.FileKeyPairProvider;
import org.apache.sshd.core.CoreModuleProperties;

/** A client as strict as the product's: the host key must be known, the user has a key. */
final class SshSession implements AutoCloseable {

  record Result(int exit, String out, String err) {}

  private final SshClient client = SshClient.setUpDefaultClient();
  final ClientSession session;

  SshSession(Lab lab) throws IOException {
    client.setServerKeyVerifier(
        new KnownHostsServerKeyVerifier(RejectAllServerKeyVerifier.INSTANCE, lab.knownHostsFile()));
    client.setKeyIdentityProvider(new FileKeyPairProvider(lab.keyFile()));
    CoreModuleProperties.TCP_NODELAY.set(client, true);
    client.start();
    try {
      session = client.connect(lab.user(), "127.0.0.1", lab.sshPort()).verify(10_000).getSession();
      session.auth().verify(10_000);
    } catch (IOException e) {
      client.stop();
      throw e;
    }
  }

  Result run(String command) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    try (ChannelExec channel = session.createExecChannel(command)) {
      channel.setOut(out);
      channel.setErr(err);
      channel.setIn(InputStream.nullInputStream());
      channel.open().verify(10_000);
      channel.waitFor(EnumSet.of(ClientChannelEvent.CLOSED), Duration.ofSeconds(60));
      return new Result(
          channel.getExitStatus(),
          out.toString(StandardCharsets.UTF_8),
          err.toString(StandardCharsets.UTF_8));
    }
  }

  @Override
  public void close() {
    client.stop();
  }
}
