package dev.plumbline.workerkit;

/** Where Plumbline keeps its files on a host. */
final class WorkDir {

  private WorkDir() {}

  static String of(HostEntry entry, String home) {
    String given = entry.workDir();
    if (given == null) {
      return home + "/.plumbline";
    }
    return given.startsWith("~/") ? home + given.substring(1) : given;
  }
}
