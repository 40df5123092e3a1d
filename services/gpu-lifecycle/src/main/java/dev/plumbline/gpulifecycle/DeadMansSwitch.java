package dev.plumbline.gpulifecycle;

import dev.plumbline.schemas.command.Job;
import dev.plumbline.workerkit.HostAccess;
import dev.plumbline.workerkit.HostException;
import dev.plumbline.workerkit.StepFailure;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The switch on the host that starts the service when nobody renews: a transient systemd timer, or
 * a watchdog in a session of its own. It needs neither network nor Plumbline.
 */
record DeadMansSwitch(HostAccess host, String campaignId, Settings settings, Clock clock) {

  private static final int OWNER_ONLY = 0600;

  /** Where it lies on the host. */
  String directory() {
    return host.workDir() + "/restore/" + campaignId + ".switch";
  }

  /** Puts down what the switch needs to act alone. */
  void prepare(ServiceControl.Start start) throws HostException {
    host.makeDirectories(directory());
    long ttl = Math.max(1, settings.leaseTtl().toSeconds());
    put("lifecycle.sh", HostScript.text());
    put("ttl", text(ttl));
    put("period", text(Math.clamp(ttl / 20, 1, 5)));
    put("mode", text(start.pidFile() == null ? "run" : "spawn"));
    put("argv", terminated(start.argv()));
    if (start.pidFile() != null) {
      put("pidfile", text(start.pidFile()));
      put("cwd", text(start.directory() == null ? "/" : start.directory()));
      put("log", text(directory() + "/service.log"));
    }
    put("renewed", text(clock.instant()));
  }

  private void put(String name, byte[] content) throws HostException {
    String path = directory() + "/" + name;
    host.write(path + ".new", new ByteArrayInputStream(content), OWNER_ONLY);
    host.rename(path + ".new", path);
  }

  private static byte[] text(Object value) {
    return (value + "\n").getBytes(StandardCharsets.UTF_8);
  }

  private static byte[] terminated(List<String> argv) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (String argument : argv) {
      bytes.writeBytes(argument.getBytes(StandardCharsets.UTF_8));
      bytes.write(0);
    }
    return bytes.toByteArray();
  }

  /**
   * Arms it afresh.
   *
   * @return {@code timer} or {@code watchdog}
   */
  String arm() throws HostException, StepFailure {
    return run(settings.toolTimeout(), "arm", directory());
  }

  /**
   * Keeps it from firing, and arms it again if it died.
   *
   * @throws StepFailure with code {@code refused} when it has fired or was disarmed
   */
  void renew() throws HostException, StepFailure {
    run(settings.toolTimeout(), "renew", directory(), clock.instant().toString());
  }

  void disarm() throws HostException, StepFailure {
    run(settings.toolTimeout(), "disarm", directory());
  }

  /** Starts the service as the switch would; harmless when it runs. */
  void start() throws HostException, StepFailure {
    run(settings.startTimeout(), "start", directory());
  }

  /** True when it has started the service by itself. */
  boolean fired() throws HostException {
    return host.stat(directory() + "/fired").isPresent();
  }

  /**
   * Runs a command on the host if the token is the host's and the switch is armed, both checked
   * there, and never beside a start of the service.
   */
  String guarded(Job job, Duration timeout, List<String> command)
      throws HostException, StepFailure {
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "guarded",
                directory(),
                host.workDir(),
                Long.toString(job.token()),
                job.campaignId(),
                clock.instant().toString()));
    arguments.addAll(command);
    return HostScript.run(host, timeout, String.join(" ", command), arguments);
  }

  /** The script on the host, for commands that a guarded call runs. */
  String script() {
    return directory() + "/lifecycle.sh";
  }

  private String run(Duration timeout, String... arguments) throws HostException, StepFailure {
    return HostScript.run(host, timeout, List.of(arguments));
  }
}
