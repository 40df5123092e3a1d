package dev.plumbline.schemas.micro;

/**
 * How to capture traces.
 *
 * @param live profile the running server through {@code /start_profile} and {@code /stop_profile}
 * @param freed profile the probe's decode step on the freed GPUs
 * @param batch concurrent sequences while profiling; null: 1
 * @param steps decode steps to record; null: 10
 * @param profileDir where the server writes its traces, on the host; needed for {@code live}
 * @param limitBytes largest accepted size of all files together; null: 2 GiB
 */
public record TraceSpec(
    boolean live,
    boolean freed,
    Integer batch,
    Integer steps,
    String profileDir,
    Long limitBytes) {}
