package dev.plumbline.macroload;

/** Told about twice a second how a run goes, on the thread that called the run. */
@FunctionalInterface
public interface ProgressListener {

  /** Listens to nothing. */
  ProgressListener NONE = progress -> {};

  void progress(Progress progress);

  /**
   * A moment of a level.
   *
   * @param level from 1
   * @param levels how many there will be
   * @param load the level in words, such as {@code concurrency 8}
   * @param warmingUp true before the measured window
   * @param ended completed and failed requests of the window
   * @param failed failed ones of these
   * @param total requests wanted; null when the level's length is given in seconds
   * @param outputThroughput content events per second since the last call
   * @param elapsedNs since the run began
   */
  record Progress(
      int level,
      int levels,
      String load,
      boolean warmingUp,
      long ended,
      long failed,
      Long total,
      double outputThroughput,
      long elapsedNs) {}
}
