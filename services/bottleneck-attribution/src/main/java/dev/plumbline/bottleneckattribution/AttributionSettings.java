package dev.plumbline.bottleneckattribution;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.time.Duration;

/** Settings of the rolling attribution (definitions, section 8). */
@ConfigMapping(prefix = "plumbline.bottleneck-attribution")
public interface AttributionSettings {

  /** Length of a window; a multiple of the advance. */
  @WithDefault("PT5M")
  Duration windowSize();

  /** Distance between the starts of two windows. */
  @WithDefault("PT30S")
  Duration windowAdvance();

  /** How long after its end a window still takes late samples. */
  @WithDefault("PT2M")
  Duration windowGrace();

  /** Longest wait from a sample to the update of its windows, in wall-clock time. */
  @WithDefault("PT0.1S")
  Duration emitInterval();

  /** A sample that lies further than this in the future goes to the dead letters. */
  @WithDefault("PT10M")
  Duration maxAhead();

  /** A series without samples for this long, and without an open alert, is forgotten. */
  @WithDefault("P30D")
  Duration forgetAfter();

  /** Smallest margin of a bottleneck that counts for a shift, as a fraction of 1. */
  @WithDefault("0.02")
  double shiftMargin();

  /** Successive windows that must agree before a shift is raised or cleared. */
  @WithDefault("2")
  int shiftWindows();

  /** A shifted bottleneck that held for this many windows is the new normal; its alert clears. */
  @WithDefault("120")
  int shiftAcceptWindows();
}
