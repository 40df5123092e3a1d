package dev.plumbline.embeddedkafka;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Properties;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.metadata.storage.Formatter;

/**
 * A single-node KRaft broker in this JVM, on loopback, for standalone use and for tests.
 *
 * <p>The data folder may be used again after a clean stop or after the process was killed: Kafka
 * recovers its logs at the start. One folder serves one broker at a time.
 */
public final class EmbeddedKafka implements AutoCloseable {

  private static final String HOST = "127.0.0.1";
  private static final int START_TRIES = 3;

  private final KafkaRaftServer server;
  private final FileChannel lockFile;
  private final int port;

  private EmbeddedKafka(KafkaRaftServer server, FileChannel lockFile, int port) {
    this.server = server;
    this.lockFile = lockFile;
    this.port = port;
  }

  /**
   * Starts a broker and returns when it serves clients.
   *
   * @param dataDir the broker's own folder; made when absent
   * @param port of the clients; 0 takes a free one
   * @throws IllegalStateException with one sentence: the port or the folder is in use, the folder
   *     cannot be written, or the broker refused to start
   */
  public static EmbeddedKafka start(Path dataDir, int port) {
    if (port != 0 && !isFree(port)) {
      throw new IllegalStateException(
          "Kafka cannot listen on "
              + HOST
              + ":"
              + port
              + ": the port is in use; end the program that holds it or choose another port");
    }
    Path folder = dataDir.toAbsolutePath().normalize();
    FileChannel lockFile = lock(folder);
    RuntimeException last = null;
    // A port found free can be taken by another process before the broker binds it.
    for (int attempt = 1; attempt <= START_TRIES; attempt++) {
      int clientPort = port == 0 ? freePort() : port;
      try {
        return new EmbeddedKafka(startServer(folder, clientPort), lockFile, clientPort);
      } catch (RuntimeException e) {
        last = e;
      }
    }
    closeQuietly(lockFile);
    throw new IllegalStateException(
        "the embedded Kafka did not start in " + folder + ": " + last.getMessage(), last);
  }

  /** What clients connect to, such as {@code 127.0.0.1:9092}. */
  public String bootstrapServers() {
    return HOST + ":" + port;
  }

  /** Stops the broker and frees its folder; what was acknowledged stays there. */
  @Override
  public void close() {
    try {
      server.shutdown();
      server.awaitShutdown();
    } finally {
      closeQuietly(lockFile);
    }
  }

  private static KafkaRaftServer startServer(Path folder, int clientPort) {
    KafkaConfig config =
        KafkaConfig.fromProps(BrokerProperties.of(folder, HOST, clientPort, freePort()), false);
    format(folder);
    KafkaRaftServer server = new KafkaRaftServer(config, Time.SYSTEM);
    try {
      server.startup();
      return server;
    } catch (RuntimeException e) {
      server.shutdown();
      server.awaitShutdown();
      throw e;
    }
  }

  private static void format(Path folder) {
    if (Files.exists(folder.resolve("meta.properties"))) {
      return;
    }
    try (PrintStream nowhere =
        new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8)) {
      new Formatter()
          .setPrintStream(nowhere)
          .setNodeId(BrokerProperties.NODE_ID)
          .setClusterId(Uuid.randomUuid().toString())
          .setControllerListenerName(BrokerProperties.CONTROLLER)
          .addDirectory(folder.toString())
          .setMetadataLogDirectory(folder.toString())
          .run();
    } catch (Exception e) {
      throw new IllegalStateException(
          "cannot format " + folder + " for Kafka: " + e.getMessage(), e);
    }
  }

  /** Held while the broker lives; the system frees it when the process dies. */
  private static FileChannel lock(Path folder) {
    FileChannel channel = null;
    try {
      Files.createDirectories(folder);
      channel =
          FileChannel.open(
              folder.resolve("plumbline.lock"),
              StandardOpenOption.CREATE,
              StandardOpenOption.WRITE);
      FileLock lock = channel.tryLock();
      if (lock != null) {
        return channel;
      }
    } catch (OverlappingFileLockException e) {
      // Another broker of this JVM: the same answer as for another process.
    } catch (IOException e) {
      closeQuietly(channel);
      throw new IllegalStateException(
          "Kafka cannot use the folder " + folder + ": " + e + "; choose another data folder", e);
    }
    closeQuietly(channel);
    throw new IllegalStateException(
        "the Kafka folder "
            + folder
            + " is in use by another Plumbline; end that one or choose another data folder");
  }

  private static boolean isFree(int port) {
    try (ServerSocket socket = new ServerSocket()) {
      // As Kafka does: connections of a broker just ended may linger in TIME_WAIT.
      socket.setReuseAddress(true);
      socket.bind(new InetSocketAddress(HOST, port));
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  private static int freePort() {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getByName(HOST))) {
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new IllegalStateException("no free port on " + HOST + ": " + e.getMessage(), e);
    }
  }

  private static void closeQuietly(FileChannel channel) {
    if (channel == null) {
      return;
    }
    try {
      channel.close();
    } catch (IOException e) {
      // Nothing was written through it; the lock goes with the process at the latest.
      System.getLogger(EmbeddedKafka.class.getName())
          .log(System.Logger.Level.WARNING, "cannot close the lock file", e);
    }
  }

  /** The broker's configuration: one node, little memory, quick to start and to forget clients. */
  private static final class BrokerProperties {
    static final int NODE_ID = 1;
    static final String CONTROLLER = "CONTROLLER";

    private BrokerProperties() {}

    static Properties of(Path folder, String host, int clientPort, int controllerPort) {
      Properties p = new Properties();
      p.put("process.roles", "broker,controller");
      p.put("node.id", Integer.toString(NODE_ID));
      p.put("controller.quorum.voters", NODE_ID + "@" + host + ":" + controllerPort);
      p.put("controller.listener.names", CONTROLLER);
      p.put("inter.broker.listener.name", "PLAINTEXT");
      p.put("listener.security.protocol.map", "PLAINTEXT:PLAINTEXT," + CONTROLLER + ":PLAINTEXT");
      p.put(
          "listeners",
          "PLAINTEXT://%s:%d,%s://%s:%d"
              .formatted(host, clientPort, CONTROLLER, host, controllerPort));
      p.put("advertised.listeners", "PLAINTEXT://" + host + ":" + clientPort);
      p.put("log.dirs", folder.toString());
      p.put("auto.create.topics.enable", "false");
      oneReplica(p);
      smallMemory(p);
      quick(p);
      return p;
    }

    private static void oneReplica(Properties p) {
      p.put("default.replication.factor", "1");
      p.put("min.insync.replicas", "1");
      p.put("offsets.topic.replication.factor", "1");
      p.put("offsets.topic.num.partitions", "1");
      p.put("transaction.state.log.replication.factor", "1");
      p.put("transaction.state.log.min.isr", "1");
      p.put("transaction.state.log.num.partitions", "1");
      p.put("share.coordinator.state.topic.replication.factor", "1");
      p.put("share.coordinator.state.topic.min.isr", "1");
      p.put("share.coordinator.state.topic.num.partitions", "1");
    }

    private static void smallMemory(Properties p) {
      // The default is 128 MB, taken at the start.
      p.put("log.cleaner.dedupe.buffer.size", "2097152");
      p.put("log.cleaner.threads", "1");
      p.put("num.network.threads", "2");
      p.put("num.io.threads", "4");
      p.put("background.threads", "2");
      p.put("group.coordinator.threads", "1");
    }

    private static void quick(Properties p) {
      p.put("group.initial.rebalance.delay.ms", "0");
      // There is no other broker that could take over.
      p.put("controlled.shutdown.enable", "false");
      // After a kill the controller waits for the end of the old session before the new one.
      p.put("broker.session.timeout.ms", "3000");
      p.put("broker.heartbeat.interval.ms", "500");
      // After a kill the dead process' consumers own their partitions until their session ends; the
      // default is 45 s.
      p.put("group.consumer.min.session.timeout.ms", "6000");
      p.put("group.consumer.session.timeout.ms", "10000");
      p.put("group.consumer.min.heartbeat.interval.ms", "500");
      p.put("group.consumer.heartbeat.interval.ms", "1000");
    }
  }
}
