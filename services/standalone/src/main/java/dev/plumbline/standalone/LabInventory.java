package dev.plumbline.standalone;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import dev.plumbline.lab.Lab;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The user's host inventory with the simulated host added to it. */
final class LabInventory {

  private LabInventory() {}

  /**
   * Writes the joint inventory into the data folder and returns where; the user's file stays as it
   * is.
   */
  static Path write(Path data, Path usersHosts, Lab lab) throws IOException {
    ObjectMapper yaml = new ObjectMapper(new YAMLFactory());
    ObjectNode joint = (ObjectNode) yaml.readTree(lab.hostEntryYaml());
    if (Files.exists(usersHosts)) {
      JsonNode users = yaml.readTree(usersHosts.toFile()).path("hosts");
      ObjectNode hosts = (ObjectNode) joint.get("hosts");
      users.properties().forEach(host -> hosts.putIfAbsent(host.getKey(), host.getValue()));
    }
    Path file = data.resolve("hosts-with-lab.yaml");
    Files.write(file, yaml.writeValueAsBytes(joint));
    return file;
  }
}
