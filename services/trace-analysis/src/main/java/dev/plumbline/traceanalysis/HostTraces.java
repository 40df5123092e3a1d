package dev.plumbline.traceanalysis;

import dev.plumbline.schemas.trace.TraceFile;
import dev.plumbline.workerkit.FileStat;
import dev.plumbline.workerkit.HostAccess;
import dev.plumbline.workerkit.HostException;
import dev.plumbline.workerkit.Hosts;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;

/** Traces that stay on their hosts and are read from there while they are analysed. */
final class HostTraces implements AutoCloseable {

  private final Map<String, HostAccess> hosts = new HashMap<>();
  private final List<TraceInput> inputs = new ArrayList<>();
  private final AtomicLong bytesRead = new AtomicLong();
  private long bytesTotal;

  private HostTraces() {}

  /**
   * Connects and looks whether the files are there.
   *
   * @param defaultHost for files that name none
   * @param cancelled asked at each read, which then fails
   */
  static HostTraces open(
      Hosts hosts, List<TraceFile> files, String defaultHost, BooleanSupplier cancelled)
      throws HostException {
    HostTraces traces = new HostTraces();
    try {
      for (TraceFile file : files) {
        traces.add(hosts, file, file.host() == null ? defaultHost : file.host(), cancelled);
      }
      return traces;
    } catch (HostException | RuntimeException e) {
      traces.close();
      throw e;
    }
  }

  private void add(Hosts known, TraceFile file, String host, BooleanSupplier cancelled)
      throws HostException {
    HostAccess access = hosts.get(host);
    if (access == null) {
      access = known.connect(host);
      hosts.put(host, access);
    }
    FileStat stat =
        access
            .stat(file.path())
            .filter(found -> !found.directory())
            .orElseThrow(
                () ->
                    new HostException(
                        HostException.NOT_FOUND,
                        "there is no trace " + file.path() + " on the host " + host,
                        false));
    bytesTotal += stat.bytes();
    HostAccess from = access;
    inputs.add(
        new TraceInput(
            file.path(), file.rank(), () -> new Counted(opened(from, file.path()), cancelled)));
  }

  private static InputStream opened(HostAccess access, String path) throws IOException {
    try {
      return access.read(path);
    } catch (HostException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  List<TraceInput> inputs() {
    return inputs;
  }

  long bytesRead() {
    return bytesRead.get();
  }

  long bytesTotal() {
    return bytesTotal;
  }

  @Override
  public void close() {
    hosts.values().forEach(HostAccess::close);
  }

  private final class Counted extends FilterInputStream {
    private final BooleanSupplier cancelled;

    Counted(InputStream in, BooleanSupplier cancelled) {
      super(in);
      this.cancelled = cancelled;
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
      if (cancelled.getAsBoolean()) {
        throw new IOException("the analysis was cancelled");
      }
      int read = super.read(target, offset, length);
      bytesRead.addAndGet(Math.max(0, read));
      return read;
    }
  }
}
