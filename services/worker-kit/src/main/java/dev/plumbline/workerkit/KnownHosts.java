package dev.plumbline.workerkit;

import java.io.IOException;
import java.net.SocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.PublicKey;
import java.util.ArrayList;
import java.util.List;
import org.apache.sshd.client.config.hosts.KnownHostEntry;
import org.apache.sshd.client.keyverifier.ServerKeyVerifier;
import org.apache.sshd.client.session.ClientSession;
import org.apache.sshd.common.config.keys.AuthorizedKeyEntry;
import org.apache.sshd.common.config.keys.KeyUtils;
import org.apache.sshd.common.config.keys.PublicKeyEntryResolver;
import org.apache.sshd.common.digest.BuiltinDigests;

/**
 * Accepts exactly the keys that the known_hosts file holds for a host: no trust on first use. What
 * was wrong is kept for the message.
 */
final class KnownHosts implements ServerKeyVerifier {

  private record Known(String type, PublicKey key, boolean revoked) {}

  private final HostEntry host;
  private final List<Known> keys;
  private volatile String refusal;

  /**
   * Reads the file.
   *
   * @throws HostException {@code host-key} when it cannot be read
   */
  KnownHosts(HostEntry host) throws HostException {
    this.host = host;
    Path file = Path.of(host.knownHostsFile());
    if (!Files.isReadable(file)) {
      throw refused("the known_hosts file " + file + " cannot be read; " + advice());
    }
    try {
      this.keys = read(file);
    } catch (IOException | GeneralSecurityException | IllegalArgumentException e) {
      throw refused("the known_hosts file " + file + " is not valid: " + e.getMessage());
    }
  }

  /** Key types known for the host: to be asked for first, as a server may hold several keys. */
  List<String> types() {
    return keys.stream().filter(key -> !key.revoked()).map(Known::type).distinct().toList();
  }

  /** Why the key was refused; null when it was not. */
  HostException refusal() {
    return refusal == null ? null : refused(refusal);
  }

  @Override
  public boolean verifyServerKey(ClientSession session, SocketAddress remote, PublicKey offered) {
    boolean revoked =
        keys.stream().anyMatch(k -> k.revoked() && KeyUtils.compareKeys(k.key(), offered));
    List<Known> valid = keys.stream().filter(key -> !key.revoked()).toList();
    if (revoked) {
      refusal = "its key " + print(offered) + " is marked as revoked in " + host.knownHostsFile();
    } else if (valid.isEmpty()) {
      refusal =
          "its key %s is not known, %s holds none for it; %s"
              .formatted(print(offered), host.knownHostsFile(), advice());
    } else if (valid.stream().noneMatch(k -> KeyUtils.compareKeys(k.key(), offered))) {
      refusal =
          "it offers the key %s but known is %s: the host was installed anew or another one answers; %s"
              .formatted(
                  print(offered),
                  String.join(", ", valid.stream().map(k -> print(k.key())).toList()),
                  advice());
    } else {
      return true;
    }
    return false;
  }

  private List<Known> read(Path file) throws IOException, GeneralSecurityException {
    List<Known> found = new ArrayList<>();
    for (KnownHostEntry line : KnownHostEntry.readKnownHostEntries(file)) {
      // A certificate authority's key is never a host's own key.
      boolean authority = "cert-authority".equals(line.getMarker());
      if (authority || !line.isHostMatch(host.address(), host.port())) {
        continue;
      }
      AuthorizedKeyEntry entry = line.getKeyEntry();
      PublicKey key = entry.resolvePublicKey(null, PublicKeyEntryResolver.IGNORING);
      if (key != null) {
        found.add(new Known(entry.getKeyType(), key, "revoked".equals(line.getMarker())));
      }
    }
    return found;
  }

  private HostException refused(String why) {
    return new HostException(
        HostException.HOST_KEY,
        "host '%s' (%s:%d) is refused: %s".formatted(host.name(), host.address(), host.port(), why),
        false);
  }

  private String advice() {
    return "compare with the host's own key (ssh-keygen -lf on the host), then put it in "
        + host.knownHostsFile();
  }

  private static String print(PublicKey key) {
    return KeyUtils.getKeyType(key) + " " + KeyUtils.getFingerPrint(BuiltinDigests.sha256, key);
  }
}
