package dev.plumbline.lab;

import java.util.EnumSet;
import java.util.Set;

/**
 * How a lab is started.
 *
 * @param sshPort 0: the port of the last start with the same folder if it is free, else a free one
 * @param httpPort 0: as for {@code sshPort}
 * @param bindAddress address on which SSH and HTTP listen; the control port is always on loopback
 * @param advertisedAddress address that the inventory and the sample request name
 * @param faults what is wrong with this host
 * @param seed of every jitter, so that two labs can tell the same story
 */
public record LabOptions(
    int sshPort,
    int httpPort,
    String bindAddress,
    String advertisedAddress,
    Set<Fault> faults,
    long seed) {

  /** What can be wrong with a host; each was seen on real ones. */
  public enum Fault {
    /** The known_hosts file names another key than the server's. */
    WRONG_HOST_KEY,
    /** After a stop one worker lives on, outside any client's sight but for its memory. */
    STICKY_MEMORY,
    /** The stop runs into its time-out and the unit is active still. */
    STOP_IGNORED,
    /** {@code /health} and {@code /v1/models} answer, completions never do. */
    COMPLETION_DEAD,
    /** A process of another user holds memory on GPU 0. */
    FOREIGN_HOLDER
  }

  public LabOptions {
    faults = Set.copyOf(faults);
  }

  /** Loopback, free ports, a sound host. */
  public static LabOptions defaults() {
    return new LabOptions(0, 0, "127.0.0.1", "127.0.0.1", EnumSet.noneOf(Fault.class), 20260101L);
  }

  public LabOptions withFaults(Set<Fault> wanted) {
    return new LabOptions(sshPort, httpPort, bindAddress, advertisedAddress, wanted, seed);
  }
}
