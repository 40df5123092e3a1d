package dev.plumbline.schemas;

import com.fasterxml.jackson.annotation.JsonEnumDefaultValue;
import com.fasterxml.jackson.annotation.JsonProperty;

/** The steps of a campaign, in their fixed order; each is done by one worker. */
public enum Step {
  /** Look at the host, its GPUs, the unit and the end point; changes nothing. */
  @JsonProperty("inspect")
  INSPECT(Worker.GPU_LIFECYCLE),
  /** Look whether the scripts to deploy exist and are readable; changes nothing. */
  @JsonProperty("check-scripts")
  CHECK_SCRIPTS(Worker.SCRIPT_DEPLOYMENT),
  /** Take the host: write the fencing token. */
  @JsonProperty("lease")
  LEASE(Worker.GPU_LIFECYCLE),
  /** Load on the running server. */
  @JsonProperty("macro")
  MACRO(Worker.MACRO_LOAD),
  /** Profile the running server through its own end points. */
  @JsonProperty("live-trace")
  LIVE_TRACE(Worker.MICRO_BENCH),
  /** Stop the server and prove that the GPUs are free. */
  @JsonProperty("free")
  FREE(Worker.GPU_LIFECYCLE),
  @JsonProperty("deploy")
  DEPLOY(Worker.SCRIPT_DEPLOYMENT),
  @JsonProperty("micro")
  MICRO(Worker.MICRO_BENCH),
  /** Profile the probe's decode step on the freed GPUs. */
  @JsonProperty("trace")
  TRACE(Worker.MICRO_BENCH),
  /** Put the server back, prove it by a completion, give the lease back. */
  @JsonProperty("restore")
  RESTORE(Worker.GPU_LIFECYCLE),
  @JsonProperty("analyse")
  ANALYSE(Worker.TRACE_ANALYSIS),
  /** A step of a newer version. */
  @JsonEnumDefaultValue
  @JsonProperty("unknown")
  UNKNOWN(null);

  private final Worker worker;

  Step(Worker worker) {
    this.worker = worker;
  }

  /** The worker that does this step; null for {@link #UNKNOWN}. */
  public Worker worker() {
    return worker;
  }

  /** The name in JSON and in {@code ce_id}. */
  public String id() {
    return name().toLowerCase(java.util.Locale.ROOT).replace('_', '-');
  }
}
