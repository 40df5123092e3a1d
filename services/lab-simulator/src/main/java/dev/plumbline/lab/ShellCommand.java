package dev.plumbline.lab;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.Map;
import org.apache.sshd.server.Environment;
import org.apache.sshd.server.ExitCallback;
import org.apache.sshd.server.channel.ChannelSession;
import org.apache.sshd.server.command.Command;

/**
 * One command of an SSH session, run by a real {@code /bin/sh}. As with OpenSSH without a terminal,
 * a command outlives its session unless it writes to it.
 */
final class ShellCommand implements Command {

  /**
   * The lab's processes have pids above any that a kernel gives, and {@code kill} is built into the
   * shell; every other pid goes to the built-in as usual.
   */
  private static final String PRELUDE =
      """
      kill() {
        for lab_arg in "$@"; do
          case $lab_arg in
            [5-9][0-9][0-9][0-9][0-9][0-9][0-9] | -[5-9][0-9][0-9][0-9][0-9][0-9][0-9])
              "$LAB_BIN/kill" "$@"; return ;;
          esac
        done
        command kill "$@"
      }
      """;

  private final String command;
  private final Path bin;
  private final Path home;
  private InputStream in;
  private OutputStream out;
  private OutputStream err;
  private ExitCallback exit;

  ShellCommand(String command, Path bin, Path home) {
    this.command = command;
    this.bin = bin;
    this.home = home;
  }

  @Override
  public void setInputStream(InputStream stream) {
    in = stream;
  }

  @Override
  public void setOutputStream(OutputStream stream) {
    out = stream;
  }

  @Override
  public void setErrorStream(OutputStream stream) {
    err = stream;
  }

  @Override
  public void setExitCallback(ExitCallback callback) {
    exit = callback;
  }

  @Override
  public void start(ChannelSession channel, Environment environment) throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder("/bin/sh", "-c", PRELUDE + command).directory(home.toFile());
    Map<String, String> env = builder.environment();
    String path = env.getOrDefault("PATH", "/usr/local/bin:/usr/bin:/bin");
    env.putAll(environment.getEnv());
    env.put("PATH", bin + File.pathSeparator + path);
    env.put("HOME", home.toString());
    env.put("LAB_BIN", bin.toString());
    Process process = builder.start();
    Thread stdout = pump(process.getInputStream(), out);
    Thread stderr = pump(process.getErrorStream(), err);
    start(() -> feed(process));
    start(() -> await(process, stdout, stderr));
  }

  private static Thread pump(InputStream from, OutputStream to) {
    // Not a virtual thread: reading a pipe blocks its carrier, and two commands would starve all.
    return start(
        () -> {
          byte[] buffer = new byte[8192];
          try (from) {
            for (int n = from.read(buffer); n >= 0; n = from.read(buffer)) {
              to.write(buffer, 0, n);
              to.flush();
            }
          } catch (IOException e) {
            // The session is gone: closing the pipe lets the command's next write fail, as a
            // broken connection does.
          }
        });
  }

  private static Thread start(Runnable work) {
    return Thread.ofPlatform().daemon().name("lab-shell").start(work);
  }

  private void feed(Process process) {
    byte[] buffer = new byte[8192];
    try (OutputStream stdin = process.getOutputStream()) {
      for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
        stdin.write(buffer, 0, n);
        stdin.flush();
      }
    } catch (IOException e) {
      // The command ended, or the session did: either way there is nothing more to feed.
    }
  }

  private void await(Process process, Thread stdout, Thread stderr) {
    try {
      int status = process.waitFor();
      stdout.join();
      stderr.join();
      exit.onExit(status);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      exit.onExit(255, "interrupted");
    }
  }

  @Override
  public void destroy(ChannelSession channel) {
    // Deliberately nothing: see the class comment.
  }
}
