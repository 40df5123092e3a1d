package dev.plumbline.lab;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Connects the commands in the lab's {@code bin} folder with the lab: each is one small script that
 * sends its name and arguments to a loopback port and prints the framed lines that come back.
 *
 * <p>Request: {@code tool NUL cwd NUL pid NUL argc NUL arg NUL …}. Answer: lines {@code Otext} for
 * standard output, {@code Etext} for standard error, then {@code Xcode} to exit or {@code F} to run
 * the machine's own tool of that name instead. A lost connection is exit status 255.
 */
final class ControlServer implements AutoCloseable {

  /** Exit status of a tool that leaves the call to the machine's own one. */
  static final int FALL_THROUGH = -1;

  /** One command of the host. */
  interface Tool {
    /** Runs it; returns the exit status or {@link #FALL_THROUGH}. */
    int run(Call call) throws IOException, InterruptedException;
  }

  /** One call of a tool, and where its output goes. */
  static final class Call {
    private final String cwd;
    private final List<String> args;
    private final OutputStream out;

    Call(String cwd, List<String> args, OutputStream out) {
      this.cwd = cwd;
      this.args = args;
      this.out = out;
    }

    List<String> args() {
      return args;
    }

    /** A path argument as the calling shell meant it. */
    Path path(String text) {
      return Path.of(cwd).resolve(text);
    }

    /** Prints text to standard output; may hold several lines. */
    void out(String text) throws IOException {
      frame('O', text);
    }

    void err(String text) throws IOException {
      frame('E', text);
    }

    private void frame(char kind, String text) throws IOException {
      for (String line : text.split("\n", -1)) {
        out.write((kind + line + "\n").getBytes(StandardCharsets.UTF_8));
      }
      out.flush();
    }
  }

  private final ServerSocket socket;
  private final Map<String, Tool> tools = new TreeMap<>();

  ControlServer() {
    try {
      socket = new ServerSocket();
      socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 64);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot open the control port: " + e.getMessage(), e);
    }
  }

  /** Adds a command; must be called before {@link #start}. */
  void add(String name, Tool tool) {
    tools.put(name, tool);
  }

  /** Writes the scripts to {@code bin} and answers them until closed. */
  void start(Path bin) throws IOException {
    Files.createDirectories(bin);
    String script = resource("tool.sh").replace("@PORT@", Integer.toString(socket.getLocalPort()));
    for (String name : tools.keySet()) {
      executable(bin.resolve(name), script);
    }
    executable(bin.resolve("sudo"), resource("sudo.sh"));
    executable(bin.resolve("systemd-run"), resource("systemd-run.sh"));
    Thread.ofPlatform().daemon().name("lab-control").start(this::accept);
  }

  private static String resource(String name) throws IOException {
    try (InputStream in = ControlServer.class.getResourceAsStream("/lab/" + name)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private static void executable(Path file, String content) throws IOException {
    // By rename, since a shell may be reading the old one.
    Path part = file.resolveSibling(file.getFileName() + ".part");
    Files.writeString(part, content);
    Files.setPosixFilePermissions(part, PosixFilePermissions.fromString("rwxr-xr-x"));
    Files.move(part, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
  }

  private void accept() {
    while (!socket.isClosed()) {
      try {
        Socket client = socket.accept();
        Thread.ofPlatform().daemon().name("lab-tool").start(() -> serve(client));
      } catch (IOException e) {
        if (!socket.isClosed()) {
          throw new UncheckedIOException("the control port failed: " + e.getMessage(), e);
        }
      }
    }
  }

  private void serve(Socket client) {
    try (client) {
      client.setTcpNoDelay(true);
      InputStream in = new BufferedInputStream(client.getInputStream());
      String name = field(in);
      String cwd = field(in);
      field(in); // the script's own pid: for people who watch the wire
      int count = Integer.parseInt(field(in));
      List<String> args = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        args.add(field(in));
      }
      OutputStream out = new BufferedOutputStream(client.getOutputStream());
      int status = run(name, new Call(cwd, args, out));
      String end = status == FALL_THROUGH ? "F\n" : "X" + status + "\n";
      out.write(end.getBytes(StandardCharsets.UTF_8));
      out.flush();
    } catch (IOException e) {
      // The caller was killed or its session ended: as with a real tool, nobody is left to tell.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private int run(String name, Call call) throws IOException, InterruptedException {
    Tool tool = tools.get(name);
    if (tool == null) {
      call.err(name + ": not a command of this host");
      return 127;
    }
    return tool.run(call);
  }

  private static String field(InputStream in) throws IOException {
    ByteArrayOutputStream text = new ByteArrayOutputStream();
    for (int b = in.read(); b != 0; b = in.read()) {
      if (b < 0) {
        throw new EOFException("a tool's request ended early");
      }
      text.write(b);
    }
    return text.toString(StandardCharsets.UTF_8);
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot close the control port: " + e.getMessage(), e);
    }
  }
}
