package dev.plumbline.standalone;

import dev.plumbline.schemas.Fault;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.List;
import java.util.stream.Collectors;

/** What the user did or what the world refused, said in one sentence for each fault. */
final class UserError extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int exitCode;

  UserError(int exitCode, String message) {
    super(message, null, false, false);
    this.exitCode = exitCode;
  }

  /** Bad input. */
  static UserError badInput(String message) {
    return new UserError(Main.USAGE, message);
  }

  /** Bad input with all its faults, one a line. */
  static UserError badInput(String heading, List<Fault> faults) {
    return badInput(heading + "\n" + lines(faults));
  }

  static String lines(List<Fault> faults) {
    return faults.stream()
        .map(f -> f.field().isEmpty() ? "  " + f.message() : "  " + f.field() + ": " + f.message())
        .collect(Collectors.joining("\n"));
  }

  /** Why a file or folder could not be had, without its name. */
  static String reason(IOException e) {
    return switch (e) {
      case AccessDeniedException denied -> "permission denied";
      case FileAlreadyExistsException file -> "it is a file, or lies below one";
      case NoSuchFileException missing -> "there is no such file or folder";
      case FileSystemException other when other.getReason() != null -> other.getReason();
      default -> e.getMessage();
    };
  }

  int exitCode() {
    return exitCode;
  }
}
