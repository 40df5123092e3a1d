package dev.plumbline.workerkit;

import io.quarkus.runtime.Quarkus;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.util.Optional;
import org.jboss.logging.Logger;

/**
 * Ends this service when the process that started it is gone, if system property {@code
 * plumbline.starter} names its pid. An orphan would go on to renew the lease of a host for which
 * nobody else works any more, and keep its dead-man's switch from putting the server back.
 */
@ApplicationScoped
public class Starter {

  private static final Logger LOG = Logger.getLogger(Starter.class);
  private static final String PROPERTY = "plumbline.starter";

  void onStart(@Observes StartupEvent event) {
    Long pid = Long.getLong(PROPERTY);
    if (pid != null) {
      follow(
          pid,
          () -> {
            LOG.warnf("process %d, which started this service, is gone: ending", pid);
            Quarkus.asyncExit();
          });
    }
  }

  /** Runs {@code end} once that process is gone; at once when there is none. */
  static void follow(long pid, Runnable end) {
    Optional<ProcessHandle> starter = ProcessHandle.of(pid);
    if (starter.isEmpty()) {
      end.run();
    } else {
      starter.get().onExit().thenRun(end);
    }
  }
}
