package dev.plumbline.standalone;

import dev.plumbline.workerkit.HostInventory;
import java.nio.file.Files;
import java.nio.file.Path;

/** What is taken where the user says nothing. */
final class Defaults {

  static final String SERVER_URL = "http://localhost:8080";

  private Defaults() {}

  static Path dataFolder() {
    return Path.of(System.getProperty("user.home"), ".plumbline");
  }

  /**
   * The host inventory: the file that the user named, else {@code hosts.yaml} in the data folder,
   * which need not be there.
   *
   * @throws UserError when the named file is missing
   */
  static Path inventory(Path data, Path named) {
    if (named != null && !Files.exists(named)) {
      throw UserError.badInput("There is no host inventory " + named + ".");
    }
    return named == null ? data.resolve("hosts.yaml") : named;
  }

  /**
   * What stands in an inventory.
   *
   * @throws UserError when it cannot be understood
   */
  static HostInventory read(Path inventory) {
    try {
      return HostInventory.read(inventory);
    } catch (IllegalArgumentException e) {
      throw UserError.badInput(e.getMessage());
    }
  }
}
