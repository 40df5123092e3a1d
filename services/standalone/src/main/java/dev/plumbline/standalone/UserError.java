package dev.plumbline.standalone;

import dev.plumbline.schemas.Fault;
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

  int exitCode() {
    return exitCode;
  }
}
