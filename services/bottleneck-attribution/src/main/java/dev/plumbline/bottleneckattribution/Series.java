package dev.plumbline.bottleneckattribution;

import dev.plumbline.schemas.attribution.Fingerprint;
import dev.plumbline.schemas.attribution.StepSample;

/** What is attributed: comparable steps of one model on one host. */
record Series(String host, String model, Fingerprint fingerprint) {

  static Series of(StepSample sample) {
    return new Series(sample.host(), sample.model(), sample.fingerprint());
  }

  /** The key of everything published about it: {@code host/model/fingerprint}. */
  String key() {
    return host + "/" + model + "/" + fingerprint.id();
  }
}
