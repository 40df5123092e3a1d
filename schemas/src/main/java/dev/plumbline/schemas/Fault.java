package dev.plumbline.schemas;

/**
 * One thing that is wrong with what somebody asked for.
 *
 * @param field where, as a path such as {@code plan.macro.concurrency[2]}; empty for the whole
 * @param message one sentence: what is wrong and what to do
 */
public record Fault(String field, String message) {}
