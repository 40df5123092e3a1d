package dev.plumbline.workerkit;

import java.util.Optional;

/**
 * One host of the inventory.
 *
 * @param address name or IP; null for {@link Transport#LOCAL}
 * @param port null for {@link Transport#LOCAL}
 * @param user null: the user that runs Plumbline
 * @param keyFile absolute path of the private key, without passphrase; null for {@link
 *     Transport#LOCAL}
 * @param knownHostsFile absolute path; the host's key must be in it
 * @param workDir absolute path on the host, or one that begins with {@code ~/}; null: {@code
 *     $HOME/.plumbline}
 * @param python interpreter on the host
 * @param sudo put {@code sudo -n} before systemctl
 */
public record HostEntry(
    String name,
    Transport transport,
    String address,
    Integer port,
    String user,
    String keyFile,
    String knownHostsFile,
    String workDir,
    String python,
    String procRoot,
    String cgroupRoot,
    String deviceRoot,
    boolean sudo) {

  /** Puts the documented defaults where nothing was given. */
  public HostEntry {
    python = Optional.ofNullable(python).orElse("python3");
    procRoot = Optional.ofNullable(procRoot).orElse("/proc");
    cgroupRoot = Optional.ofNullable(cgroupRoot).orElse("/sys/fs/cgroup");
    deviceRoot = Optional.ofNullable(deviceRoot).orElse("/dev");
  }

  /** This machine. */
  public static HostEntry local(String name) {
    return new HostEntry(
        name, Transport.LOCAL, null, null, null, null, null, null, null, null, null, null, false);
  }
}
