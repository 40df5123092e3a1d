package dev.plumbline.schemas.micro;

import java.util.Map;

/**
 * One operation to measure.
 *
 * @param name unique in the request, such as {@code moe_up}
 * @param operation {@code gemm}, {@code quantized_gemm}, {@code moe}, {@code attention}, {@code
 *     all_reduce}, {@code copy} or {@code launch}; the probe answers {@code unavailable} for what
 *     it cannot do
 * @param shape {@code m}, {@code n}, {@code k}, {@code elements}, {@code heads}, {@code context},
 *     {@code experts} …
 * @param dtype such as {@code bf16}, {@code int4}
 * @param countPerStep how often one decode step does it; null: not part of the step
 * @param component the trace component that it explains, such as {@code all_reduce}; null: derived
 *     from the operation
 */
public record MicroOperation(
    String name,
    String operation,
    Map<String, Long> shape,
    String dtype,
    Integer countPerStep,
    String component) {}
