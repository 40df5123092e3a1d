package dev.plumbline.traceanalysis;

import dev.plumbline.schemas.trace.StepKind;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An annotation that names a step.
 *
 * @param batch sequences in the step; null when not told
 */
record StepName(Family family, StepKind kind, Integer batch) {

  /** Who writes it, in the order in which they are tried (definitions, section 1). */
  enum Family {
    USER("user"),
    PROFILER_STEP("profiler-step"),
    VLLM("vllm"),
    /** Scopes inside vLLM's step, for traces without its step annotation. */
    VLLM_FORWARD("vllm"),
    SGLANG("sglang"),
    ATOM("atom");

    final String id;

    Family(String id) {
      this.id = id;
    }
  }

  private static final Pattern PROFILER_STEP = Pattern.compile("^ProfilerStep#\\d+");

  /** vLLM, with the token counts in parentheses; AMD's builds put the batch after the verb. */
  private static final Pattern VLLM =
      Pattern.compile(
          "^execute_(?:model[ _])?(?:\\d+_)?context_(\\d+)(?:\\([^)]*\\))?_generation_(\\d+)");

  private static final Pattern VLLM_FORWARD =
      Pattern.compile("^(?:gpu_model_runner: forward|execute_model)");
  private static final Pattern SGLANG = Pattern.compile("^step\\[(\\w+)(?:[ ,]+bs=(\\d+))?");
  private static final Pattern ATOM = Pattern.compile("^(prefill|decode)\\[(?:bs=(\\d+))?");

  /** What an annotation's name says, in a known form or the user's; empty if it names no step. */
  static Optional<StepName> parse(String name, Pattern user) {
    if (user != null && user.matcher(name).find()) {
      return Optional.of(
          known(name)
              .map(known -> new StepName(Family.USER, known.kind, known.batch))
              .orElse(new StepName(Family.USER, StepKind.UNKNOWN, null)));
    }
    return known(name);
  }

  private static Optional<StepName> known(String name) {
    if (PROFILER_STEP.matcher(name).find()) {
      return Optional.of(new StepName(Family.PROFILER_STEP, StepKind.UNKNOWN, null));
    }
    Matcher vllm = VLLM.matcher(name);
    if (vllm.find()) {
      return vllm(number(vllm.group(1)), number(vllm.group(2)));
    }
    if (VLLM_FORWARD.matcher(name).find()) {
      return Optional.of(new StepName(Family.VLLM_FORWARD, StepKind.UNKNOWN, null));
    }
    Matcher sglang = SGLANG.matcher(name);
    if (sglang.find()) {
      StepKind kind =
          switch (sglang.group(1)) {
            case "DECODE" -> StepKind.DECODE;
            case "EXTEND", "PREFILL" -> StepKind.PREFILL;
            case "MIXED" -> StepKind.MIXED;
            default -> StepKind.UNKNOWN;
          };
      return Optional.of(new StepName(Family.SGLANG, kind, number(sglang.group(2))));
    }
    Matcher atom = ATOM.matcher(name);
    if (atom.find()) {
      StepKind kind = atom.group(1).equals("decode") ? StepKind.DECODE : StepKind.PREFILL;
      return Optional.of(new StepName(Family.ATOM, kind, number(atom.group(2))));
    }
    return Optional.empty();
  }

  private static Optional<StepName> vllm(Integer contexts, Integer generations) {
    if (contexts == null || generations == null) {
      return Optional.of(new StepName(Family.VLLM, StepKind.UNKNOWN, null));
    }
    StepKind kind =
        contexts > 0 && generations > 0
            ? StepKind.MIXED
            : contexts > 0
                ? StepKind.PREFILL
                : generations > 0 ? StepKind.DECODE : StepKind.UNKNOWN;
    return Optional.of(new StepName(Family.VLLM, kind, contexts + generations));
  }

  private static Integer number(String digits) {
    return digits == null || digits.length() > 8 ? null : Integer.valueOf(digits);
  }
}
