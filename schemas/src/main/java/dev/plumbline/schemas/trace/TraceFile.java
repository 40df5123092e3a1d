package dev.plumbline.schemas.trace;

/**
 * A trace that stays where it is, passed by reference.
 *
 * @param host host in the inventory on which the file lies
 * @param path absolute path there
 * @param rank null when unknown
 * @param bytes size of the file
 * @param sha256 null when not computed
 * @param origin {@code live} (the running server), {@code freed} (the probe on free GPUs) or {@code
 *     given}
 */
public record TraceFile(
    String host, String path, Integer rank, Long bytes, String sha256, String origin) {}
