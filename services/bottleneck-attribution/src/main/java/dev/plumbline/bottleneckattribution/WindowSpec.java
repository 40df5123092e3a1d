package dev.plumbline.bottleneckattribution;

import java.time.Duration;

/**
 * Hopping event-time windows, aligned to the epoch (definitions, section 8). A window is named by
 * its start. Each is made of panes: pieces one advance long that neighbouring windows share, so
 * that one sample costs one update and not one for each window that it belongs to. Times are epoch
 * milliseconds.
 *
 * @param size length of a window; a multiple of the advance
 * @param advance distance between the starts of two windows, and length of a pane
 * @param grace how long after its end a window still takes samples
 */
public record WindowSpec(Duration size, Duration advance, Duration grace) {

  public WindowSpec {
    require(advance.toMillis() > 0, "window advance " + advance + " must be at least 1 ms");
    require(
        size.toMillis() >= advance.toMillis() && size.toMillis() % advance.toMillis() == 0,
        "window size " + size + " must be a multiple of the advance " + advance);
    require(!grace.isNegative(), "window grace " + grace + " must not be negative");
  }

  private static void require(boolean condition, String sentence) {
    if (!condition) {
      throw new IllegalArgumentException(sentence);
    }
  }

  /** Start of the pane that holds this time; also the start of the last window that holds it. */
  long paneOf(long timeMs) {
    return Math.floorDiv(timeMs, advance.toMillis()) * advance.toMillis();
  }

  /** Start of the earliest window that holds this pane. */
  long firstWindowOf(long paneMs) {
    return paneMs - size.toMillis() + advance.toMillis();
  }

  /** Start of the earliest window that still takes samples when event time has come to this. */
  long firstOpenWindow(long timeMs) {
    return paneOf(timeMs - size.toMillis() - grace.toMillis()) + advance.toMillis();
  }
}
