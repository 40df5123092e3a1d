package dev.plumbline.lab;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;

/** The command line of a lab that runs as a process of its own. */
record LabCommand(Path data, Scenario scenario, LabOptions options) {

  private static final String USAGE =
      """
      usage: lab [--data DIR] [--scenario NAME|FILE] [--ssh-port N] [--http-port N]
                 [--bind ADDRESS] [--advertise ADDRESS] [--fault NAME]... [--seed N]
      scenarios: kimi-k2.5-int4-8x-pcie, llama-70b-fp16-2x-nvlink
      faults: wrong-host-key, sticky-memory, stop-ignored, completion-dead, foreign-holder""";

  /**
   * Reads the arguments.
   *
   * @throws IllegalArgumentException with the usage
   */
  static LabCommand parse(String[] args) {
    Path data = Path.of("lab");
    String scenario = "kimi-k2.5-int4-8x-pcie";
    LabOptions defaults = LabOptions.defaults();
    int sshPort = 0;
    int httpPort = 0;
    String bind = defaults.bindAddress();
    String advertised = null;
    long seed = defaults.seed();
    Set<LabOptions.Fault> faults = EnumSet.noneOf(LabOptions.Fault.class);
    for (int i = 0; i < args.length; i += 2) {
      if (i + 1 >= args.length) {
        throw new IllegalArgumentException(args[i] + " needs a value\n" + USAGE);
      }
      String value = args[i + 1];
      switch (args[i]) {
        case "--data" -> data = Path.of(value);
        case "--scenario" -> scenario = value;
        case "--ssh-port" -> sshPort = port(value);
        case "--http-port" -> httpPort = port(value);
        case "--bind" -> bind = value;
        case "--advertise" -> advertised = value;
        case "--seed" -> seed = number(value);
        case "--fault" -> faults.add(fault(value));
        default -> throw new IllegalArgumentException("unknown option " + args[i] + "\n" + USAGE);
      }
    }
    boolean file = Files.isRegularFile(Path.of(scenario));
    String address = advertised == null ? defaults.advertisedAddress() : advertised;
    return new LabCommand(
        data,
        file ? Scenario.file(Path.of(scenario)) : Scenario.named(scenario),
        new LabOptions(sshPort, httpPort, bind, address, faults, seed));
  }

  private static int port(String text) {
    long port = number(text);
    if (port < 0 || port > 65_535) {
      throw new IllegalArgumentException(text + " is not a port: use 0 to 65535");
    }
    return (int) port;
  }

  private static long number(String text) {
    try {
      return Long.parseLong(text);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(text + " is not a number\n" + USAGE, e);
    }
  }

  private static LabOptions.Fault fault(String text) {
    try {
      return LabOptions.Fault.valueOf(text.toUpperCase(Locale.ROOT).replace('-', '_'));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("no fault named " + text + "\n" + USAGE, e);
    }
  }
}
