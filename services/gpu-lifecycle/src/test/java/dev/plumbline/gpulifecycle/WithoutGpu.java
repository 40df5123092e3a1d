package dev.plumbline.gpulifecycle;

import dev.plumbline.workerkit.Exec;
import dev.plumbline.workerkit.FileStat;
import dev.plumbline.workerkit.HostAccess;
import dev.plumbline.workerkit.HostEntry;
import dev.plumbline.workerkit.HostException;
import java.io.InputStream;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** A real host whose GPUs, if it has any, are left in peace. */
record WithoutGpu(HostAccess host) implements HostAccess {

  @Override
  public Exec exec(List<String> argv, Duration timeout) throws HostException {
    return argv.getFirst().equals("nvidia-smi")
        ? new Exec(OptionalInt.of(127), "", "not found")
        : host.exec(argv, timeout);
  }

  @Override
  public Exec exec(List<String> argv, byte[] stdin, Duration timeout) throws HostException {
    return host.exec(argv, stdin, timeout);
  }

  @Override
  public HostEntry entry() {
    return host.entry();
  }

  @Override
  public String home() {
    return host.home();
  }

  @Override
  public String workDir() {
    return host.workDir();
  }

  @Override
  public InputStream read(String path) throws HostException {
    return host.read(path);
  }

  @Override
  public Optional<FileStat> stat(String path) throws HostException {
    return host.stat(path);
  }

  @Override
  public void write(String path, InputStream content, int mode) throws HostException {
    host.write(path, content, mode);
  }

  @Override
  public void rename(String from, String to) throws HostException {
    host.rename(from, to);
  }

  @Override
  public void makeDirectories(String path) throws HostException {
    host.makeDirectories(path);
  }

  @Override
  public List<String> list(String directory) throws HostException {
    return host.list(directory);
  }

  @Override
  public void delete(String path) throws HostException {
    host.delete(path);
  }

  @Override
  public void close() {
    host.close();
  }
}
