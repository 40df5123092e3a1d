package dev.plumbline.workerkit;

/**
 * What is known of a file on a host.
 *
 * @param mode permission bits, such as {@code 0644}
 */
public record FileStat(long bytes, int mode, boolean directory) {}
