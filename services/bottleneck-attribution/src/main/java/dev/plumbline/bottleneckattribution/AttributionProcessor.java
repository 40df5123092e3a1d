package dev.plumbline.bottleneckattribution;

import dev.plumbline.schemas.CloudEvent;
import dev.plumbline.schemas.Json;
import dev.plumbline.schemas.attribution.Alert;
import dev.plumbline.schemas.attribution.Attribution;
import dev.plumbline.schemas.attribution.StepSample;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.metrics.Sensor;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.processor.Cancellable;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;

/**
 * Samples in; attributions, alerts and dead letters out. The panes are kept in memory as objects
 * and written through to the stores, which are read only when the task starts: state, output and
 * offset are then one transaction.
 *
 * <p>Series are not re-partitioned: the input key is host/model (checked), so all series of one
 * host and model are in one task already.
 */
final class AttributionProcessor implements Processor<byte[], byte[], byte[], Outgoing> {

  static final String SERIES_STORE = "attribution-series";
  static final String PANES_STORE = "attribution-panes";
  static final String CURRENT_STORE = "attribution-current";
  private static final String SOURCE = "/plumbline/bottleneck-attribution";

  /** Each punctuation costs a transaction, also when nothing happens; so this one is slow. */
  private static final Duration TICK = Duration.ofSeconds(1);

  private static final long UNKNOWN = -1;

  private final AttributionSettings settings;
  private final WindowSpec spec;
  private final ShiftDetector shifts;
  private final SampleReader reader;
  private final Map<String, Live> series = new HashMap<>();

  private ProcessorContext<byte[], Outgoing> context;
  private KeyValueStore<String, byte[]> seriesStore;
  private KeyValueStore<String, byte[]> panesStore;
  private KeyValueStore<String, byte[]> currentStore;
  private Sensor late;
  private Sensor duplicate;
  private Sensor dead;

  /** The emission to come; null when nothing changed since the last. */
  private Cancellable emission;

  /** A series at work. */
  private static final class Live {
    final SeriesWindows windows;
    ShiftDetector.State shift;
    boolean changed;

    /**
     * Wall clock of the last record. After a start {@link #UNKNOWN} until the first tick, which
     * tells the time: what waits unread while the service is down must not find its windows closed.
     */
    long quietSinceMs;

    Live(SeriesWindows windows, ShiftDetector.State shift) {
      this.windows = windows;
      this.shift = shift;
      this.quietSinceMs = UNKNOWN;
    }
  }

  AttributionProcessor(
      AttributionSettings settings, WindowSpec spec, ShiftDetector shifts, SampleReader reader) {
    this.settings = settings;
    this.spec = spec;
    this.shifts = shifts;
    this.reader = reader;
  }

  @Override
  public void init(ProcessorContext<byte[], Outgoing> processorContext) {
    context = processorContext;
    seriesStore = context.getStateStore(SERIES_STORE);
    panesStore = context.getStateStore(PANES_STORE);
    currentStore = context.getStateStore(CURRENT_STORE);
    late = sensor("late-samples");
    duplicate = sensor("duplicate-samples");
    dead = sensor("dead-letters");
    restore();
    context.schedule(TICK, PunctuationType.WALL_CLOCK_TIME, this::tick);
  }

  private Sensor sensor(String what) {
    return context
        .metrics()
        .addRateTotalSensor(
            "attribution", context.taskId().toString(), what, Sensor.RecordingLevel.INFO);
  }

  private void restore() {
    try (var stored = seriesStore.all()) {
      while (stored.hasNext()) {
        KeyValue<String, byte[]> entry = stored.next();
        StoredSeries state = Json.read(entry.value, StoredSeries.class);
        SeriesWindows windows =
            new SeriesWindows(spec, state.series(), state.firstOpenWindowMs(), state.eventTimeMs());
        Live live = new Live(windows, state.shift());
        series.put(entry.key, live);
        changed(live);
      }
    }
    try (var stored = panesStore.all()) {
      while (stored.hasNext()) {
        KeyValue<String, byte[]> entry = stored.next();
        int at = entry.key.lastIndexOf('@');
        series
            .get(entry.key.substring(0, at))
            .windows
            .restore(
                Long.parseLong(entry.key.substring(at + 1)), Json.read(entry.value, Pane.class));
      }
    }
  }

  @Override
  public void process(Record<byte[], byte[]> record) {
    long nowMs = context.currentSystemTimeMs();
    try {
      count(reader.read(record.key(), record.value(), Instant.ofEpochMilli(nowMs)), nowMs);
    } catch (IllegalArgumentException refused) {
      dead.record();
      context.forward(
          record
              .withValue(new Outgoing(Outgoing.To.DEAD_LETTERS, record.value()))
              .withHeaders(deadLetterHeaders(record.headers(), refused.getMessage())));
    }
  }

  private void count(StepSample sample, long nowMs) {
    Series of = Series.of(sample);
    String key = of.key();
    Live live = series.get(key);
    boolean fresh = live == null;
    if (fresh) {
      live = new Live(SeriesWindows.of(spec, of), ShiftDetector.State.initial());
      series.put(key, live);
    }
    live.quietSinceMs = nowMs;
    live.windows.observe(sample.at().toEpochMilli());
    close(key, live, live.windows.eventTimeMs(), nowMs);
    if (fresh) {
      store(key, live);
    }
    switch (live.windows.add(sample)) {
      case COUNTED -> {
        changed(live);
        long paneMs = spec.paneOf(sample.at().toEpochMilli());
        panesStore.put(paneKey(key, paneMs), Json.bytes(live.windows.pane(paneMs)));
      }
      case DUPLICATE -> duplicate.record();
      case LATE -> late.record();
    }
  }

  private void changed(Live live) {
    live.changed = true;
    if (emission == null) {
      emission =
          context.schedule(settings.emitInterval(), PunctuationType.WALL_CLOCK_TIME, this::emit);
    }
  }

  private void emit(long nowMs) {
    emission.cancel();
    emission = null;
    for (Live live : series.values()) {
      if (live.changed) {
        live.changed = false;
        live.windows.takeUpdates().forEach(window -> publish(live, window, nowMs));
      }
    }
  }

  private void tick(long nowMs) {
    for (Map.Entry<String, Live> entry : series.entrySet()) {
      Live live = entry.getValue();
      if (live.quietSinceMs == UNKNOWN) {
        live.quietSinceMs = nowMs;
      }
      // With no record coming, event time goes on with the wall clock, so that windows still close.
      long quietMs = Math.max(0, nowMs - live.quietSinceMs);
      close(entry.getKey(), live, live.windows.eventTimeMs() + quietMs, nowMs);
    }
    series.entrySet().removeIf(entry -> forget(entry.getKey(), entry.getValue(), nowMs));
  }

  private void close(String key, Live live, long timeMs, long nowMs) {
    if (spec.firstOpenWindow(timeMs) <= live.windows.firstOpenWindowMs()) {
      return;
    }
    SeriesWindows.Closed closed = live.windows.close(timeMs);
    for (Attribution window : closed.windows()) {
      publish(live, window, nowMs);
      ShiftDetector.Decision decision =
          shifts.next(live.shift, window, Instant.ofEpochMilli(nowMs));
      live.shift = decision.state();
      decision.alerts().forEach(alert -> publish(alert, nowMs));
    }
    closed.expiredPanes().forEach(pane -> panesStore.delete(paneKey(key, pane)));
    if (!closed.windows().isEmpty()) {
      store(key, live);
    }
  }

  /** Bounds the state by what is alive; an open alert must still be able to clear. */
  private boolean forget(String key, Live live, long nowMs) {
    boolean old =
        live.windows.isEmpty()
            && live.shift.raised() == null
            && nowMs - Math.max(live.windows.eventTimeMs(), live.quietSinceMs)
                > settings.forgetAfter().toMillis();
    if (old) {
      seriesStore.delete(key);
      currentStore.delete(key);
    }
    return old;
  }

  private void store(String key, Live live) {
    seriesStore.put(
        key,
        Json.bytes(
            new StoredSeries(
                live.windows.series(),
                live.windows.firstOpenWindowMs(),
                live.windows.eventTimeMs(),
                live.shift)));
  }

  private void publish(Live live, Attribution window, long nowMs) {
    byte[] json = Json.bytes(window);
    if (live.windows.isCurrent(window)) {
      currentStore.put(window.key(), json);
    }
    String id =
        window.key()
            + "/"
            + window.windowStart()
            + "/"
            + window.samples()
            + (window.closed() ? "/closed" : "");
    forward(Outgoing.To.ATTRIBUTIONS, window.key(), json, id, "Attribution", nowMs);
  }

  private void publish(Alert alert, long nowMs) {
    String id = alert.id() + "/" + alert.state().name().toLowerCase(java.util.Locale.ROOT);
    forward(Outgoing.To.ALERTS, alert.key(), Json.bytes(alert), id, "Alert", nowMs);
  }

  private void forward(
      Outgoing.To to, String key, byte[] json, String id, String type, long nowMs) {
    Headers headers = new RecordHeaders();
    new CloudEvent(id, SOURCE, type, key, Instant.ofEpochMilli(nowMs))
        .headers()
        .forEach(headers::add);
    context.forward(
        new Record<>(key.getBytes(StandardCharsets.UTF_8), new Outgoing(to, json), nowMs, headers));
  }

  /** The names that the other services' consumers use too, so that one reader fits all. */
  private Headers deadLetterHeaders(Headers original, String reason) {
    Headers headers = new RecordHeaders(original.toArray());
    headers.add("dead-letter-reason", utf8(reason));
    context
        .recordMetadata()
        .ifPresent(
            from -> {
              headers.add("dead-letter-topic", utf8(from.topic()));
              headers.add("dead-letter-partition", utf8(Integer.toString(from.partition())));
              headers.add("dead-letter-offset", utf8(Long.toString(from.offset())));
            });
    return headers;
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static String paneKey(String key, long paneMs) {
    return key + "@" + paneMs;
  }
}
