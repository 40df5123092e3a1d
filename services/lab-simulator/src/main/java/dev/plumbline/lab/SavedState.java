package dev.plumbline.lab;

import dev.plumbline.schemas.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * What survives the lab's own end; immutable.
 *
 * @param mainPid 0 while the unit has no main process
 * @param invocation as systemd's InvocationID: new at each start
 * @param readyMs wall clock at which the model is loaded
 * @param bootMs wall clock at which the host was booted
 * @param nextPid never given before
 * @param sshPort of the last start, 0: none yet
 * @param httpPort likewise
 * @param processes of the whole host but for running probes, which end with the lab
 */
record SavedState(
    Active active,
    long mainPid,
    String invocation,
    boolean masked,
    long readyMs,
    long bootMs,
    String bootId,
    long nextPid,
    int sshPort,
    int httpPort,
    List<HostProcess> processes) {

  /** State of the unit as systemd names it. */
  enum Active {
    ACTIVE,
    DEACTIVATING,
    INACTIVE
  }

  SavedState {
    processes = List.copyOf(processes);
  }

  static SavedState booted(long bootMs, String bootId, long firstPid) {
    return new SavedState(
        Active.INACTIVE, 0, "", false, 0, bootMs, bootId, firstPid, 0, 0, List.of());
  }

  SavedState unit(Active newActive, long newMainPid, String newInvocation, long newReadyMs) {
    return new SavedState(
        newActive,
        newMainPid,
        newInvocation,
        masked,
        newReadyMs,
        bootMs,
        bootId,
        nextPid,
        sshPort,
        httpPort,
        processes);
  }

  /** The unit being stopped, or stopped. */
  SavedState unit(Active newActive) {
    return unit(newActive, newActive == Active.INACTIVE ? 0 : mainPid, invocation, 0);
  }

  SavedState masked(boolean on) {
    return new SavedState(
        active,
        mainPid,
        invocation,
        on,
        readyMs,
        bootMs,
        bootId,
        nextPid,
        sshPort,
        httpPort,
        processes);
  }

  SavedState ports(int ssh, int http) {
    return new SavedState(
        active,
        mainPid,
        invocation,
        masked,
        readyMs,
        bootMs,
        bootId,
        nextPid,
        ssh,
        http,
        processes);
  }

  /** The next {@code count} pids are taken. */
  SavedState pidsTaken(int count) {
    return with(nextPid + count, processes);
  }

  SavedState plus(List<HostProcess> more) {
    List<HostProcess> all = new ArrayList<>(processes);
    all.addAll(more);
    return with(nextPid, all);
  }

  SavedState without(Predicate<HostProcess> which) {
    return with(nextPid, processes.stream().filter(which.negate()).toList());
  }

  private SavedState with(long newNextPid, List<HostProcess> newProcesses) {
    return new SavedState(
        active,
        mainPid,
        invocation,
        masked,
        readyMs,
        bootMs,
        bootId,
        newNextPid,
        sshPort,
        httpPort,
        newProcesses);
  }

  /** The state in a file, or empty if there is none. */
  static Optional<SavedState> read(Path file) {
    if (!Files.exists(file)) {
      return Optional.empty();
    }
    try {
      return Optional.of(Json.read(Files.readAllBytes(file), SavedState.class));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + file + ": " + e.getMessage(), e);
    }
  }

  /** Replaces the file as a whole, so that a kill leaves the old state or the new one. */
  void write(Path file) {
    Path part = file.resolveSibling(file.getFileName() + ".part");
    try {
      Files.write(part, Json.bytes(this));
      Files.move(part, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot write " + file + ": " + e.getMessage(), e);
    }
  }
}
