package dev.plumbline.gpulifecycle;

import dev.plumbline.schemas.host.GpuHolder;
import dev.plumbline.schemas.host.GpuState;
import dev.plumbline.schemas.host.HostSnapshot;
import dev.plumbline.schemas.host.Reading;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** A host snapshot for people, at most 100 columns wide for usual names. */
public final class HostText {

  private HostText() {}

  /** Several lines, each ended; an absent value shows the tool's own words. */
  public static String render(HostSnapshot snapshot) {
    StringBuilder text = new StringBuilder();
    text.append("Host ").append(snapshot.host()).append('\n');
    if (snapshot.gpus().isEmpty()) {
      text.append("  no GPU: ").append(snapshot.noGpuReason()).append('\n');
    } else {
      models(text, snapshot);
      line(text, "GPU", "memory MiB", "util %", "SM MHz", "temp C", "power W", "throttle");
      for (GpuState gpu : snapshot.gpus()) {
        line(
            text,
            gpu.index() == null ? "?" : gpu.index().toString(),
            number(gpu.memoryUsedMiB()) + " / " + number(gpu.memoryTotalMiB()),
            number(gpu.utilizationPercent()),
            number(gpu.smClockMhz()),
            number(gpu.temperatureC()),
            number(gpu.powerW()) + " / " + number(gpu.powerLimitW()),
            gpu.throttle() == null ? "-" : gpu.throttle().replaceFirst("^0x0*(?=.)", "0x"));
      }
      text.append('\n');
      snapshot.gpus().forEach(gpu -> identity(text, gpu));
      holders(text, snapshot);
    }
    HostSnapshot.ServiceState service = snapshot.service();
    if (service != null) {
      text.append("\nService ").append(service.unit()).append(": ").append(service.active());
      text.append(service.mainPid() == null ? "" : ", main process " + service.mainPid());
      if (!service.pids().isEmpty()) {
        text.append("\n  a campaign that frees the GPUs would stop ")
            .append(service.pids().stream().map(String::valueOf).collect(Collectors.joining(", ")));
      }
      text.append('\n');
    }
    return text.toString();
  }

  /** The kinds of GPU, each with how many there are. */
  private static void models(StringBuilder text, HostSnapshot snapshot) {
    Map<String, Long> models =
        snapshot.gpus().stream()
            .collect(
                Collectors.groupingBy(
                    gpu -> or(gpu.name(), "GPU of unknown name") + ", driver " + gpu.driver(),
                    TreeMap::new,
                    Collectors.counting()));
    models.forEach((model, count) -> text.append("  %d × %s%n".formatted(count, model)));
    text.append('\n');
  }

  private static void identity(StringBuilder text, GpuState gpu) {
    text.append("  GPU ")
        .append(gpu.index() == null ? "?" : gpu.index())
        .append("  ")
        .append(gpu.uuid())
        .append("  ")
        .append(or(gpu.pciBusId(), "bus id unknown"))
        .append("Enabled".equals(gpu.mig()) ? "  MIG on: cannot be proven free" : "")
        .append('\n');
  }

  private static void holders(StringBuilder text, HostSnapshot snapshot) {
    if (snapshot.holders().isEmpty()) {
      text.append("\n  no compute process is listed\n");
      return;
    }
    text.append('\n');
    for (GpuHolder holder : snapshot.holders()) {
      text.append(
          "  pid %d %s (user %s) holds %s MiB of %s; %s%n"
              .formatted(
                  holder.pid(),
                  holder.name(),
                  or(holder.user(), "unknown"),
                  number(holder.memoryUsedMiB()),
                  holder.gpuUuid(),
                  holder.ofService()
                      ? "belongs to the service"
                      : "foreign: a campaign that frees the GPUs would refuse"));
    }
  }

  private static void line(StringBuilder text, Object... cells) {
    text.append(String.format(Locale.ROOT, "  %-3s  %17s  %6s  %6s  %6s  %11s  %s%n", cells));
  }

  private static String number(Reading reading) {
    return reading.value() == null
        ? reading.absent()
        : String.format(Locale.ROOT, "%.0f", reading.value());
  }

  private static String or(String text, String otherwise) {
    return text == null ? otherwise : text;
  }
}
