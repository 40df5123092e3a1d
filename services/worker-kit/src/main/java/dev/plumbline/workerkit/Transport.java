package dev.plumbline.workerkit;

/** How a host is reached. */
public enum Transport {
  SSH,
  /** This machine, by child processes. */
  LOCAL
}
