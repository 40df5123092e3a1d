package dev.plumbline.workerkit;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.plumbline.schemas.Nearest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * The hosts that Plumbline may touch, from {@code hosts.yaml}. A host named {@code local} is always
 * there: this machine, unless the file says otherwise.
 */
public final class HostInventory {

  private static final String LOCAL = "local";
  private static final int SSH_PORT = 22;
  private static final List<String> KEYS =
      List.of(
          "transport",
          "address",
          "port",
          "user",
          "keyFile",
          "knownHostsFile",
          "workDir",
          "python",
          "procRoot",
          "cgroupRoot",
          "deviceRoot",
          "sudo");

  private final Map<String, HostEntry> hosts;

  private HostInventory(Map<String, HostEntry> hosts) {
    this.hosts = hosts;
  }

  /**
   * Reads the file; when it is absent only {@code local} is known.
   *
   * @throws IllegalArgumentException with one sentence that names the file, the host and the key
   */
  public static HostInventory read(Path file) {
    Map<String, HostEntry> hosts = new LinkedHashMap<>();
    if (Files.exists(file)) {
      Reader reader = new Reader(file);
      JsonNode root = reader.parse();
      reader.checkKeys(root, List.of("hosts"), "");
      root.path("hosts")
          .properties()
          .forEach(host -> hosts.put(host.getKey(), reader.entry(host.getKey(), host.getValue())));
    }
    hosts.putIfAbsent(LOCAL, HostEntry.local(LOCAL));
    return new HostInventory(hosts);
  }

  public Optional<HostEntry> find(String name) {
    return Optional.ofNullable(name).map(hosts::get);
  }

  /** In the order of the file. */
  public List<String> names() {
    return List.copyOf(hosts.keySet());
  }

  /** The host that somebody who wrote {@code name} probably meant. */
  public Optional<String> nearest(String name) {
    return Nearest.of(name, hosts.keySet());
  }

  private record Reader(Path file) {

    JsonNode parse() {
      try {
        YAMLMapper yaml = new YAMLMapper();
        JsonNode root = yaml.readTree(Files.readString(file));
        if (root.isMissingNode() || root.isNull()) {
          return yaml.createObjectNode();
        }
        JsonNode hosts = root.path("hosts");
        if (!root.isObject() || !(hosts.isObject() || hosts.isNull() || hosts.isMissingNode())) {
          throw fault("must hold a map named 'hosts'");
        }
        return root;
      } catch (JsonProcessingException e) {
        int line = e.getLocation() == null ? 0 : e.getLocation().getLineNr();
        throw fault(
            "line " + line + " is not YAML: " + e.getOriginalMessage().lines().findFirst().get());
      } catch (IOException e) {
        throw fault("cannot be read: " + e.getMessage());
      }
    }

    void checkKeys(JsonNode node, Collection<String> known, String where) {
      node.fieldNames()
          .forEachRemaining(
              key -> {
                if (!known.contains(key)) {
                  String hint =
                      Nearest.of(key, known)
                          .map(k -> "did you mean '" + k + "'?")
                          .orElse("known are " + String.join(", ", known));
                  throw fault(where + "unknown key '" + key + "'; " + hint);
                }
              });
    }

    HostEntry entry(String name, JsonNode node) {
      String where = "host '" + name + "': ";
      if (!node.isObject()) {
        throw fault(where + "must be a map with the key 'transport'");
      }
      checkKeys(node, KEYS, where);
      Transport transport = transport(node, where);
      boolean ssh = transport == Transport.SSH;
      return new HostEntry(
          name,
          transport,
          ssh ? required(node, "address", where) : text(node, "address", where),
          ssh ? port(node, where) : null,
          text(node, "user", where),
          ssh ? path(required(node, "keyFile", where)) : path(text(node, "keyFile", where)),
          ssh
              ? path(
                  Optional.ofNullable(text(node, "knownHostsFile", where))
                      .orElse("~/.ssh/known_hosts"))
              : path(text(node, "knownHostsFile", where)),
          onHost(node, "workDir", where),
          text(node, "python", where),
          onHost(node, "procRoot", where),
          onHost(node, "cgroupRoot", where),
          onHost(node, "deviceRoot", where),
          flag(node, "sudo", where));
    }

    private Transport transport(JsonNode node, String where) {
      String text = required(node, "transport", where);
      return switch (text.toLowerCase(Locale.ROOT)) {
        case "ssh" -> Transport.SSH;
        case "local" -> Transport.LOCAL;
        default -> throw fault(where + "transport must be 'ssh' or 'local' but is '" + text + "'");
      };
    }

    private int port(JsonNode node, String where) {
      JsonNode port = node.path("port");
      if (port.isMissingNode()) {
        return SSH_PORT;
      }
      if (!port.isInt() || port.intValue() < 1 || port.intValue() > 65535) {
        throw fault(where + "port must be a number from 1 to 65535 but is '" + port.asText() + "'");
      }
      return port.intValue();
    }

    private boolean flag(JsonNode node, String key, String where) {
      JsonNode value = node.path(key);
      if (!value.isMissingNode() && !value.isBoolean()) {
        throw fault(where + key + " must be true or false but is '" + value.asText() + "'");
      }
      return value.asBoolean(false);
    }

    private String required(JsonNode node, String key, String where) {
      String text = text(node, key, where);
      if (text == null) {
        throw fault(where + "the key '" + key + "' is missing");
      }
      return text;
    }

    private String text(JsonNode node, String key, String where) {
      JsonNode value = node.path(key);
      if (value.isMissingNode() || value.isNull()) {
        return null;
      }
      if (!value.isValueNode() || value.asText().isBlank()) {
        throw fault(where + key + " must be a text");
      }
      return value.asText();
    }

    private String onHost(JsonNode node, String key, String where) {
      String text = text(node, key, where);
      if (text != null && !text.startsWith("/") && !text.startsWith("~/")) {
        throw fault(where + key + " must be an absolute path but is '" + text + "'");
      }
      return text;
    }

    /** A file here: {@code ~/} is the user's home, a relative path begins beside the inventory. */
    private String path(String text) {
      if (text == null) {
        return null;
      }
      return text.startsWith("~/")
          ? Path.of(System.getProperty("user.home"), text.substring(2)).toString()
          : file.toAbsolutePath().resolveSibling(text).normalize().toString();
    }

    private IllegalArgumentException fault(String what) {
      return new IllegalArgumentException("host inventory " + file + ": " + what);
    }
  }
}
