package dev.plumbline.schemas.host;

/**
 * One GPU at one moment, by UUID: the index can change at each boot.
 *
 * @param throttle bit mask of active clock event reasons as the tool prints it, null when absent
 */
public record GpuState(
    String uuid,
    Integer index,
    String name,
    String pciBusId,
    String driver,
    Reading memoryTotalMiB,
    Reading memoryUsedMiB,
    Reading utilizationPercent,
    Reading smClockMhz,
    Reading memoryClockMhz,
    Reading temperatureC,
    Reading powerW,
    Reading powerLimitW,
    String throttle,
    String mig) {}
