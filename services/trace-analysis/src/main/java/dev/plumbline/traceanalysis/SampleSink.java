package dev.plumbline.traceanalysis;

import dev.plumbline.schemas.attribution.StepSample;
import java.util.List;
import java.util.concurrent.CompletionStage;

/** Where step samples go. */
interface SampleSink {

  /** Completes once all of them are safely kept. */
  CompletionStage<Void> publish(List<StepSample> samples);
}
