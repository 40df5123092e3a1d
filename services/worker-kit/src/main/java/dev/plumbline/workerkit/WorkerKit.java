package dev.plumbline.workerkit;

import io.quarkus.arc.DefaultBean;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Optional;
import org.eclipse.microprofile.config.inject.ConfigProperty;

/** The beans that every worker wants; another bean of the same type replaces them. */
@Singleton
class WorkerKit {

  @Produces
  @Singleton
  @DefaultBean
  Clock clock() {
    return Clock.systemUTC();
  }

  /**
   * @param dataDir Plumbline's own folder
   * @param hostsFile the host inventory; absent: {@code hosts.yaml} in the folder
   */
  @Produces
  @Singleton
  @DefaultBean
  Hosts hosts(
      @ConfigProperty(name = "plumbline.data-dir", defaultValue = "~/.plumbline") String dataDir,
      @ConfigProperty(name = "plumbline.hosts-file") Optional<String> hostsFile) {
    Path file = hostsFile.map(WorkerKit::path).orElseGet(() -> path(dataDir).resolve("hosts.yaml"));
    return new Hosts(() -> HostInventory.read(file));
  }

  private static Path path(String text) {
    return text.startsWith("~/")
        ? Path.of(System.getProperty("user.home"), text.substring(2))
        : Path.of(text);
  }
}
