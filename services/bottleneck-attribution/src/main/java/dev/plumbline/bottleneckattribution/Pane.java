package dev.plumbline.bottleneckattribution;

import com.fasterxml.jackson.annotation.JsonProperty;
import dev.plumbline.schemas.attribution.StepSample;

/** One advance's worth of samples, with the ids that are in it. */
record Pane(@JsonProperty("totals") Totals totals, @JsonProperty("seen") SeenIds seen) {

  Pane() {
    this(new Totals(), new SeenIds());
  }

  /** Counts a sample; false when it was counted before. */
  boolean add(StepSample sample) {
    boolean fresh = seen.add(sample.id());
    if (fresh) {
      totals.add(sample);
    }
    return fresh;
  }
}
