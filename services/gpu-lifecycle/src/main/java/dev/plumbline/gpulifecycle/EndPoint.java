package dev.plumbline.gpulifecycle;

import java.io.IOException;
import java.time.Duration;
import java.util.List;

/** The OpenAI-compatible server, as seen from here. */
interface EndPoint {

  /**
   * Names of the served models.
   *
   * @throws IOException with one sentence when it does not answer with them
   */
  List<String> models(Duration timeout) throws IOException, InterruptedException;

  /**
   * The text of one real, short completion; never blank. A server can be healthy and list its
   * models while completions hang: nothing less than this proves it.
   *
   * @throws IOException with one sentence when there is no such text in time
   */
  String complete(String model, Duration timeout) throws IOException, InterruptedException;

  /** Makes the end point of a base URL. */
  @FunctionalInterface
  interface Source {
    EndPoint at(String url) throws IOException;
  }
}
