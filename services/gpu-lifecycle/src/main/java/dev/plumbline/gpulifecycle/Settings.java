package dev.plumbline.gpulifecycle;

import java.time.Duration;

/**
 * Limits of this service; {@link GpuLifecycleConfig} documents each.
 *
 * @param leaseTtl the host restores its service by itself when the lease was not renewed for so
 *     long
 * @param maxDown the worker stops renewing a restore that is owed for longer than this
 * @param toolTimeout limit of one small command on a host, {@code nvidia-smi} included
 * @param stopTimeout limit of the stop
 * @param signalTimeout how long a signal to a leftover may take to have its effect
 * @param startTimeout limit of one start command
 * @param freeTimeout how long the GPUs may take to be proven free after the stop
 * @param samples successive observations that must all agree
 * @param sampleEvery distance of the observations
 * @param idleLimitMiB memory that a GPU without baseline may show and still be free
 * @param toleranceMiB what a GPU may show above its baseline
 * @param completionTimeout limit of one completion
 * @param retryEvery first pause between two attempts to restore; doubles up to sixteen times it
 */
record Settings(
    Duration leaseTtl,
    Duration maxDown,
    Duration toolTimeout,
    Duration stopTimeout,
    Duration signalTimeout,
    Duration startTimeout,
    Duration freeTimeout,
    int samples,
    Duration sampleEvery,
    double idleLimitMiB,
    double toleranceMiB,
    Duration completionTimeout,
    Duration retryEvery) {

  static Settings defaults() {
    return new Settings(
        Duration.ofSeconds(300),
        Duration.ofHours(4),
        Duration.ofSeconds(20),
        Duration.ofSeconds(120),
        Duration.ofSeconds(20),
        Duration.ofSeconds(300),
        Duration.ofSeconds(120),
        3,
        Duration.ofMillis(500),
        600,
        64,
        Duration.ofSeconds(120),
        Duration.ofSeconds(5));
  }

  /** How often a lease is renewed: five renewals may be lost before the switch fires. */
  Duration renewEvery() {
    return leaseTtl.dividedBy(6);
  }
}
