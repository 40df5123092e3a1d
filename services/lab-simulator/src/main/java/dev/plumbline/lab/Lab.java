package dev.plumbline.lab;

import dev.plumbline.schemas.Json;
import dev.plumbline.schemas.campaign.CampaignRequested;
import dev.plumbline.schemas.campaign.Plan;
import dev.plumbline.schemas.campaign.ServiceUnderTest;
import dev.plumbline.schemas.load.LoadSpec;
import dev.plumbline.schemas.micro.MicroOperation;
import dev.plumbline.schemas.micro.MicroSpec;
import dev.plumbline.schemas.micro.TraceSpec;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A GPU host that is not there: SSH server, {@code nvidia-smi}, {@code systemctl}, {@code ps},
 * {@code python3}, an inference server and its profiler, all over one state. It is a counterpart to
 * try the product against; the product reaches it as it reaches any host and knows nothing of it.
 */
public final class Lab implements AutoCloseable {

  /** Name of the host in the inventory and in sample requests. */
  public static final String HOST = "lab-1";

  private final Path dataDir;
  private final Scenario scenario;
  private final LabOptions options;
  private final LabState state;
  private final ControlServer control;
  private final SshHost ssh;
  private final InferenceServer http;

  private Lab(Path dataDir, Scenario scenario, LabOptions options) throws IOException {
    this.dataDir = dataDir;
    this.scenario = scenario;
    this.options = options;
    Files.createDirectories(profileDir());
    state = new LabState(dataDir, scenario, options, Clock.systemUTC());
    TraceWriter traces = new TraceWriter(scenario, dataDir.resolve("truth"), options.seed());
    control = new ControlServer();
    Processes processes = new Processes(state);
    control.add("nvidia-smi", new NvidiaSmi(state, scenario));
    control.add("systemctl", new Systemctl(state, scenario));
    control.add("ps", processes::ps);
    control.add("kill", processes::kill);
    control.add("python3", new Probe(state, scenario, traces, options.seed()));
    http = new InferenceServer(scenario, state, options, steps -> live(traces, steps));
    int httpPort = options.httpPort() != 0 ? options.httpPort() : state.now().httpPort();
    http.reserve(httpPort, options.httpPort() != 0);
    if (state.now().active() != SavedState.Active.ACTIVE) {
      http.stopped();
    }
    state.observe(http, http::activeBatch);
    control.start(dataDir.resolve("bin"));
    int sshPort = options.sshPort() != 0 ? options.sshPort() : state.now().sshPort();
    ssh = new SshHost(dataDir, options, sshPort);
    state.ports(ssh.port(), http.port());
  }

  /**
   * Starts a lab; one that was killed with the same folder is found again as it was.
   *
   * @param dataDir everything that the lab writes lies below it
   * @throws IOException when the folder cannot be written or a port cannot be had
   */
  public static Lab start(Path dataDir, Scenario scenario, LabOptions options) throws IOException {
    Path dir = Files.createDirectories(dataDir).toRealPath();
    return new Lab(dir, scenario, options);
  }

  /** As vLLM names the files of its workers. */
  private void live(TraceWriter traces, List<Engine.Step> steps) throws IOException {
    long epochNs = TimeUnit.MILLISECONDS.toNanos(state.nowMs());
    traces.write(profileDir(), "dp0_pp0_tp%1$d_dcp0_ep0_", steps, epochNs);
  }

  public int sshPort() {
    return ssh.port();
  }

  /** Base URL of the inference server, without {@code /v1}. */
  public String httpUrl() {
    return "http://" + options.advertisedAddress() + ":" + http.port();
  }

  public Scenario scenario() {
    return scenario;
  }

  /** Where the server writes its live traces. */
  public Path profileDir() {
    return dataDir.resolve("profiles");
  }

  /** Where the planted truth of each written trace lies, as {@code <trace>.truth.json}. */
  public Path truthDir() {
    return dataDir.resolve("truth");
  }

  /** User of the SSH server. */
  public String user() {
    return SshHost.USER;
  }

  public Path keyFile() {
    return ssh.clientKey();
  }

  public Path knownHostsFile() {
    return ssh.knownHosts();
  }

  /** Cuts all SSH connections, as a network failure does. */
  public void cutConnections() {
    ssh.cutConnections();
  }

  /** A host inventory with this host in it. */
  public String hostEntryYaml() {
    return """
        hosts:
          %s:
            transport: ssh
            address: "%s"
            port: %d
            user: %s
            keyFile: "%s"
            knownHostsFile: "%s"
            procRoot: "%s"
            cgroupRoot: "%s"
        """
        .formatted(
            HOST,
            options.advertisedAddress(),
            ssh.port(),
            SshHost.USER,
            ssh.clientKey(),
            ssh.knownHosts(),
            dataDir.resolve("proc"),
            dataDir.resolve("cgroup"));
  }

  /** A request for a whole campaign on this host, as JSON text of one line. */
  public String sampleRequest(String campaignId) {
    List<MicroOperation> operations =
        scenario.micro().stream()
            .map(
                m ->
                    new MicroOperation(
                        m.name(),
                        m.operation(),
                        m.shape(),
                        m.dtype(),
                        m.countPerStep(),
                        m.component()))
            .toList();
    CampaignRequested request =
        new CampaignRequested(
            campaignId,
            HOST,
            new ServiceUnderTest(
                ServiceUnderTest.Strategy.SYSTEMD,
                scenario.unit(),
                null,
                null,
                httpUrl(),
                scenario.model(),
                60.0),
            new Plan(
                new LoadSpec(
                    List.of(1, 32, 64, 128, 192), null, null, null, 32, 48, "chat", 60.0, null),
                new MicroSpec("cuda", scenario.gpus().count(), null, 20, null, operations),
                new TraceSpec(true, true, 1, 10, profileDir().toString(), null),
                null,
                null,
                null),
            null,
            false,
            "lab",
            Map.of("scenario", scenario.name()));
    try {
      // Through the interface, which carries the type's name.
      return Json.mapper()
          .writerFor(dev.plumbline.schemas.campaign.CampaignRequest.class)
          .writeValueAsString(request);
    } catch (com.fasterxml.jackson.core.JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() throws IOException {
    // As a machine that loses power: the state on disk stays what it was.
    ssh.close();
    control.close();
    http.close();
    state.close();
  }

  /** Runs a lab as a process of its own until it is ended; see {@link LabCommand}. */
  public static void main(String[] args) throws Exception {
    LabCommand command;
    try {
      command = LabCommand.parse(args);
    } catch (IllegalArgumentException e) {
      System.err.println(e.getMessage());
      System.exit(2);
      return;
    }
    try (Lab lab = start(command.data(), command.scenario(), command.options())) {
      Path inventory = command.data().resolve("hosts.yaml");
      Files.writeString(inventory, lab.hostEntryYaml(), StandardCharsets.UTF_8);
      System.out.println("lab " + lab.scenario().name() + " on " + lab.httpUrl());
      System.out.println("ssh port " + lab.sshPort() + ", inventory " + inventory);
      Thread.currentThread().join();
    } catch (IOException e) {
      System.err.println(e.getMessage());
      System.exit(1);
    }
  }
}
