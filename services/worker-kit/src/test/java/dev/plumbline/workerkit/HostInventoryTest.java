package dev.plumbline.workerkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HostInventoryTest {

  @TempDir Path folder;

  private HostInventory read(String yaml) throws IOException {
    return HostInventory.read(Files.writeString(folder.resolve("hosts.yaml"), yaml));
  }

  @Test
  void everyKeyIsRead() throws IOException {
    HostInventory hosts =
        read(
            """
            hosts:
              lab-1:
                transport: ssh
                address: 10.0.0.7
                port: 2222
                user: lab
                keyFile: /keys/id_ed25519
                knownHostsFile: keys/known_hosts
                workDir: ~/plumb
                python: /opt/python
                procRoot: /lab/proc
                cgroupRoot: /lab/cgroup
                deviceRoot: /lab/dev
                sudo: true
            """);
    assertThat(hosts.names()).containsExactly("lab-1", "local");
    assertThat(hosts.find("lab-1"))
        .hasValue(
            new HostEntry(
                "lab-1",
                Transport.SSH,
                "10.0.0.7",
                2222,
                "lab",
                "/keys/id_ed25519",
                folder + "/keys/known_hosts",
                "~/plumb",
                "/opt/python",
                "/lab/proc",
                "/lab/cgroup",
                "/lab/dev",
                true));
  }

  @Test
  void whatIsNotGivenHasItsDefault() throws IOException {
    HostEntry entry =
        read("hosts: {gpu: {transport: ssh, address: gpu.lab, keyFile: /k}}")
            .find("gpu")
            .orElseThrow();
    assertThat(entry.port()).isEqualTo(22);
    assertThat(entry.knownHostsFile())
        .isEqualTo(System.getProperty("user.home") + "/.ssh/known_hosts");
    assertThat(entry.python()).isEqualTo("python3");
    assertThat(entry.procRoot()).isEqualTo("/proc");
    assertThat(entry.cgroupRoot()).isEqualTo("/sys/fs/cgroup");
    assertThat(entry.deviceRoot()).isEqualTo("/dev");
    assertThat(entry.sudo()).isFalse();
    assertThat(WorkDir.of(entry, "/home/lab")).isEqualTo("/home/lab/.plumbline");
  }

  @Test
  void withoutAFileThereIsThisMachine() {
    HostInventory hosts = HostInventory.read(folder.resolve("absent.yaml"));
    assertThat(hosts.names()).containsExactly("local");
    assertThat(hosts.find("local").orElseThrow().transport()).isEqualTo(Transport.LOCAL);
    assertThat(hosts.find("lab-1")).isEmpty();
    assertThat(hosts.find(null)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "hosts:", "# nothing yet\n"})
  void anEmptyFileIsGood(String yaml) throws IOException {
    assertThat(read(yaml).names()).containsExactly("local");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          hosts: {a: {transport: ssh, adress: x, keyFile: /k}} | host 'a': unknown key 'adress'; did you mean 'address'?
          hosts: {a: {transport: ssh, keyFile: /k}}            | host 'a': the key 'address' is missing
          hosts: {a: {transport: ssh, address: x}}             | host 'a': the key 'keyFile' is missing
          hosts: {a: {address: x}}                             | host 'a': the key 'transport' is missing
          hosts: {a: {transport: telnet}}                      | transport must be 'ssh' or 'local' but is 'telnet'
          hosts: {a: {transport: ssh, address: x, keyFile: /k, port: 70000}} | port must be a number from 1 to 65535 but is '70000'
          hosts: {a: {transport: ssh, address: x, keyFile: /k, port: ssh}}   | port must be a number from 1 to 65535 but is 'ssh'
          hosts: {a: {transport: local, sudo: perhaps}}        | sudo must be true or false but is 'perhaps'
          hosts: {a: {transport: local, workDir: runs}}        | workDir must be an absolute path but is 'runs'
          hosts: {a: {transport: local, user: [x]}}            | user must be a text
          hosts: {a: }                                         | host 'a': must be a map
          hosts: [a]                                           | must hold a map named 'hosts'
          host: {a: {transport: local}}                        | unknown key 'host'; did you mean 'hosts'?
          hosts: {a: {transport: local                         | line 1 is not YAML
          """)
  void aFaultIsNamed(String yaml, String message) {
    assertThatThrownBy(() -> read(yaml))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(folder + "/hosts.yaml: ")
        .hasMessageContaining(message)
        .hasMessageNotContaining("\n");
  }

  @Test
  void anUnknownHostIsAnsweredWithTheNearest() throws IOException {
    HostInventory inventory =
        read("hosts: {lab-1: {transport: local}, gpu-node: {transport: local}}");
    Hosts hosts = new Hosts(() -> inventory);
    HostException near = catchThrowableOfType(HostException.class, () -> hosts.connect("lab1"));
    assertThat(near.code()).isEqualTo("unknown-host");
    assertThat(near).hasMessageContaining("'lab1'").hasMessageContaining("did you mean 'lab-1'?");
    assertThat(catchThrowableOfType(HostException.class, () -> hosts.connect("zzz")))
        .hasMessageContaining("known are lab-1, gpu-node, local");
    assertThat(catchThrowableOfType(HostException.class, () -> hosts.connect(null)).code())
        .isEqualTo("unknown-host");
  }

  @Test
  void anEditIsSeenWithoutARestart() throws Exception {
    Path file = folder.resolve("hosts.yaml");
    Hosts hosts = new Hosts(() -> HostInventory.read(file));
    assertThat(catchThrowableOfType(HostException.class, () -> hosts.connect("here"))).isNotNull();
    Files.writeString(file, "hosts: {here: {transport: local}}");
    try (HostAccess here = hosts.connect("here")) {
      assertThat(here.entry().name()).isEqualTo("here");
    }
    Files.writeString(file, "hosts: {here: 1}");
    assertThat(catchThrowableOfType(HostException.class, () -> hosts.connect("here")))
        .hasMessageContaining("host 'here': must be a map");
  }
}
