package dev.plumbline.workerkit;

import java.util.function.Supplier;

/** Opens the hosts of the inventory, which is read anew each time: an edit needs no restart. */
public final class Hosts {

  private final Supplier<HostInventory> inventory;

  public Hosts(Supplier<HostInventory> inventory) {
    this.inventory = inventory;
  }

  /** The inventory as it is now. */
  public HostInventory inventory() throws HostException {
    try {
      return inventory.get();
    } catch (IllegalArgumentException e) {
      throw new HostException(HostException.UNKNOWN_HOST, e.getMessage(), false, e);
    }
  }

  /**
   * Connects, or says in one sentence why not.
   *
   * @throws HostException {@code unknown-host} with the nearest known name, {@code unreachable},
   *     {@code host-key}, {@code auth}, {@code time-out}
   */
  public HostAccess connect(String hostName) throws HostException {
    HostInventory known = inventory();
    HostEntry entry =
        known
            .find(hostName)
            .orElseThrow(
                () ->
                    new HostException(
                        HostException.UNKNOWN_HOST,
                        "host '%s' is not in the inventory; %s"
                            .formatted(hostName, hint(known, hostName)),
                        false));
    return switch (entry.transport()) {
      case SSH -> SshAccess.connect(entry);
      case LOCAL -> new LocalAccess(entry);
    };
  }

  private static String hint(HostInventory known, String hostName) {
    return known
        .nearest(String.valueOf(hostName))
        .map(name -> "did you mean '" + name + "'?")
        .orElseGet(() -> "known are " + String.join(", ", known.names()));
  }
}
