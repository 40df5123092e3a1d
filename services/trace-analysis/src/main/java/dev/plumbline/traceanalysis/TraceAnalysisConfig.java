package dev.plumbline.traceanalysis;

import io.smallrye.config.ConfigMapping;
import java.util.Optional;

/** Settings of this service. */
@ConfigMapping(prefix = "plumbline.trace-analysis")
public interface TraceAnalysisConfig {

  /** A file of component rules that is read before the built-in ones. */
  Optional<String> rulesFile();

  /** Where whole reports are kept; absent: {@code analyses} in Plumbline's data directory. */
  Optional<String> reportDirectory();
}
