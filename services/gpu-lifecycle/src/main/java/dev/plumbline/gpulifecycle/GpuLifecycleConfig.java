package dev.plumbline.gpulifecycle;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.time.Duration;

/** Settings of this service. */
@ConfigMapping(prefix = "plumbline.gpu-lifecycle")
public interface GpuLifecycleConfig {

  /**
   * The host starts its service by itself when the lease was not renewed for so long: long enough
   * for a restart of Plumbline, short enough to be a price one is willing to pay for its loss.
   */
  @WithDefault("300s")
  Duration leaseTtl();

  /** A restore that is owed for longer is no longer renewed, whatever the campaign does. */
  @WithDefault("4h")
  Duration maxDown();

  /** Limit of one small command on a host; {@code nvidia-smi} can hang for ever. */
  @WithDefault("20s")
  Duration toolTimeout();

  /** Limit of the stop of the service; more than its own {@code TimeoutStopSec}. */
  @WithDefault("120s")
  Duration stopTimeout();

  /** How long a leftover may take to end after a signal. */
  @WithDefault("20s")
  Duration signalTimeout();

  /** Limit of one start command; a unit of type notify starts for as long as it loads. */
  @WithDefault("300s")
  Duration startTimeout();

  /** How long the GPUs may take to be proven free after the stop. */
  @WithDefault("120s")
  Duration freeTimeout();

  /** Successive looks that must all find the GPUs free. */
  @WithDefault("3")
  int samples();

  /** Distance between two looks. */
  @WithDefault("500ms")
  Duration sampleEvery();

  /** Used memory, in MiB, at which a GPU without a baseline still counts as idle. */
  @WithDefault("600")
  double idleLimitMib();

  /** Used memory, in MiB, that a GPU may show above its baseline. */
  @WithDefault("64")
  double toleranceMib();

  /** Limit of one completion; the first after a start may compile. */
  @WithDefault("120s")
  Duration completionTimeout();

  /** First pause between two attempts to restore; doubles up to sixteen times this. */
  @WithDefault("5s")
  Duration retryEvery();

  /** The same as a plain record. */
  default Settings settings() {
    return new Settings(
        leaseTtl(),
        maxDown(),
        toolTimeout(),
        stopTimeout(),
        signalTimeout(),
        startTimeout(),
        freeTimeout(),
        samples(),
        sampleEvery(),
        idleLimitMib(),
        toleranceMib(),
        completionTimeout(),
        retryEvery());
  }
}
