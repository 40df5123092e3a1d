package dev.plumbline.schemas;

/** The five workers; each reads its own command topic. */
public enum Worker {
  GPU_LIFECYCLE(Topic.GPU_LIFECYCLE_COMMANDS),
  SCRIPT_DEPLOYMENT(Topic.SCRIPT_DEPLOYMENT_COMMANDS),
  MACRO_LOAD(Topic.MACRO_LOAD_COMMANDS),
  MICRO_BENCH(Topic.MICRO_BENCH_COMMANDS),
  TRACE_ANALYSIS(Topic.TRACE_ANALYSIS_COMMANDS);

  private final Topic commands;

  Worker(Topic commands) {
    this.commands = commands;
  }

  public Topic commands() {
    return commands;
  }

  /** The service's name, such as {@code gpu-lifecycle}. */
  public String id() {
    return name().toLowerCase(java.util.Locale.ROOT).replace('_', '-');
  }
}
