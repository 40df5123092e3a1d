package dev.plumbline.bottleneckattribution;

/**
 * A record on its way out.
 *
 * @param value its bytes; null only for a dead letter that came without
 */
record Outgoing(To to, byte[] value) {

  enum To {
    ATTRIBUTIONS,
    ALERTS,
    DEAD_LETTERS
  }
}
