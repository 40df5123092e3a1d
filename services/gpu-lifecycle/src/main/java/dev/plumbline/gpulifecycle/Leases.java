package dev.plumbline.gpulifecycle;

import dev.plumbline.schemas.host.HostLease;
import dev.plumbline.workerkit.StepFailure;

/** Tells the world who holds a host. */
@FunctionalInterface
interface Leases {

  /** Returns when the fact is stored; only then may what it announces be done. */
  void publish(HostLease lease) throws StepFailure, InterruptedException;
}
