package dev.plumbline.microbench;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.time.Duration;

/** Settings of this service. */
@ConfigMapping(prefix = "plumbline.micro-bench")
public interface MicroBenchConfig {

  /** Limit of one small command on a host, {@code nvidia-smi} included. */
  @WithDefault("20s")
  Duration toolTimeout();

  /** Limit of a connection to the server for a live trace. */
  @WithDefault("10s")
  Duration connectTimeout();
}
