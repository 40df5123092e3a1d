package dev.plumbline.schemas.micro;

import java.util.List;

/**
 * Which micro-benchmarks to run on the freed host.
 *
 * @param device {@code cuda} or {@code cpu}
 * @param gpus ranks to use for collectives; null: all GPUs of the host
 * @param python absolute path of the interpreter on the host; null: the host's default
 * @param repeats timed repeats per operation; null: 10
 * @param timeLimitSeconds limit of the whole probe; null: derived from the step's deadline
 */
public record MicroSpec(
    String device,
    Integer gpus,
    String python,
    Integer repeats,
    Double timeLimitSeconds,
    List<MicroOperation> operations) {}
