package dev.plumbline.schemas.campaign;

import com.fasterxml.jackson.annotation.JsonEnumDefaultValue;
import com.fasterxml.jackson.annotation.JsonProperty;

/** Where a campaign stands. */
public enum CampaignState {
  /** Read, and being checked against the host. */
  @JsonProperty("requested")
  REQUESTED(false),
  @JsonProperty("queued")
  QUEUED(false),
  @JsonProperty("leased")
  LEASED(false),
  @JsonProperty("macro")
  MACRO(false),
  @JsonProperty("freeing")
  FREEING(false),
  @JsonProperty("deploying")
  DEPLOYING(false),
  @JsonProperty("micro")
  MICRO(false),
  @JsonProperty("tracing")
  TRACING(false),
  @JsonProperty("restoring")
  RESTORING(false),
  @JsonProperty("analysing")
  ANALYSING(false),
  @JsonProperty("completed")
  COMPLETED(true),
  @JsonProperty("failed")
  FAILED(true),
  @JsonProperty("cancelled")
  CANCELLED(true),
  @JsonProperty("rejected")
  REJECTED(true),
  @JsonEnumDefaultValue
  @JsonProperty("unknown")
  UNKNOWN(false);

  private final boolean terminal;

  CampaignState(boolean terminal) {
    this.terminal = terminal;
  }

  public boolean terminal() {
    return terminal;
  }
}
