package dev.plumbline.schemas.host;

/**
 * A process that holds a GPU.
 *
 * @param gpuUuid null when only the open device file is known
 * @param pid on the host
 * @param startTicks field 22 of {@code /proc/pid/stat}; null when unreadable
 * @param cgroup its cgroup path; null when unreadable
 * @param ofService true when it belongs to the service that the campaign would stop
 */
public record GpuHolder(
    String gpuUuid,
    long pid,
    String name,
    String user,
    Long startTicks,
    String cgroup,
    Reading memoryUsedMiB,
    boolean ofService) {}
