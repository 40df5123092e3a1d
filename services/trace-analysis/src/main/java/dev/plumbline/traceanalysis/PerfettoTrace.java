package dev.plumbline.traceanalysis;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.plumbline.schemas.Json;
import dev.plumbline.schemas.trace.Component;
import dev.plumbline.schemas.trace.TraceReport.RankWait;
import java.io.IOException;
import java.io.OutputStream;
import java.math.BigDecimal;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * A small trace that Perfetto opens (Chrome JSON): one process for each rank, with a track of its
 * steps, one of its idle time by cause, and one for each stream with components for kernels. Ranks
 * lie on one clock.
 *
 * <p>Slices of a Perfetto track nest or follow each other. Where kernels of a stream overlap, the
 * later one is drawn from the end of the earlier; neighbours of one component that touch are drawn
 * as one.
 */
public final class PerfettoTrace {

  private static final int STEPS = 1;
  private static final int IDLE = 2;
  private static final int FIRST_STREAM = 3;

  private final JsonGenerator json;

  private PerfettoTrace(JsonGenerator json) {
    this.json = json;
  }

  /** Writes the trace and closes the stream. */
  public static void write(Analysed analysed, OutputStream out) throws IOException {
    try (JsonGenerator json = Json.mapper().getFactory().createGenerator(out)) {
      new PerfettoTrace(json).write(analysed);
    }
  }

  private void write(Analysed analysed) throws IOException {
    List<RankAnalysis> ranks =
        analysed.ranks().stream().filter(rank -> rank.trace().events().count() > 0).toList();
    long zero = Long.MAX_VALUE;
    for (RankAnalysis rank : ranks) {
      zero = Math.min(zero, rank.trace().events().firstStart() + shift(analysed, rank));
    }
    json.writeStartObject();
    json.writeStringField("displayTimeUnit", "ns");
    json.writeArrayFieldStart("traceEvents");
    for (int process = 0; process < ranks.size(); process++) {
      RankAnalysis rank = ranks.get(process);
      new Process(process, rank, shift(analysed, rank) - zero).write();
    }
    json.writeEndArray();
    json.writeEndObject();
  }

  /** From the clock of a rank's trace to the common one. */
  private static long shift(Analysed analysed, RankAnalysis rank) {
    Long base = rank.trace().metadata().baseNs();
    long offset = 0;
    for (RankWait wait : analysed.report().collectives().ranks()) {
      if (wait.clockOffsetNs() != null && wait.rank() != null) {
        offset = wait.rank().equals(rank.report().rank()) ? wait.clockOffsetNs() : offset;
      }
    }
    return (base == null ? 0 : base) - offset;
  }

  private final class Process {
    private final int pid;
    private final RankAnalysis rank;
    private final long shift;
    private final DeviceEvents events;

    Process(int pid, RankAnalysis rank, long shift) {
      this.pid = pid;
      this.rank = rank;
      this.shift = shift;
      this.events = rank.trace().events();
    }

    void write() throws IOException {
      Integer number = rank.report().rank();
      name("process_name", 0, number == null ? rank.report().source() : "rank " + number);
      name("thread_name", STEPS, "steps");
      for (Steps.Step step : rank.steps().steps()) {
        slice(STEPS, step.name(), step.fromNs(), step.toNs(), 1);
      }
      name("thread_name", IDLE, "idle");
      for (RankAnalysis.Gap gap : rank.gaps(events.firstStart(), events.lastEnd())) {
        String cause = gap.cause().name().toLowerCase(Locale.ROOT);
        slice(IDLE, "idle:" + cause, gap.fromNs(), gap.toNs(), 1);
      }
      streams();
    }

    private void streams() throws IOException {
      Map<Long, Track> tracks = new TreeMap<>();
      for (int i = 0; i < events.count(); i++) {
        Track track = tracks.get(events.stream(i));
        if (track == null) {
          track = new Track(FIRST_STREAM + tracks.size());
          tracks.put(events.stream(i), track);
          name("thread_name", track.tid, "stream " + (tracks.size() - 1));
        }
        track.add(rank.component(i), events.start(i), events.end(i));
      }
      for (Track track : tracks.values()) {
        track.flush();
      }
    }

    /** The slice that may still grow. */
    private final class Track {
      private final int tid;
      private Component component;
      private long from;
      private long to = Long.MIN_VALUE;
      private int count;

      Track(int tid) {
        this.tid = tid;
      }

      void add(Component next, long start, long end) throws IOException {
        if (next == component && start <= to) {
          to = Math.max(to, end);
          count++;
        } else if (end > to) {
          flush();
          component = next;
          from = Math.max(start, to);
          to = end;
          count = 1;
        }
      }

      void flush() throws IOException {
        if (component != null) {
          slice(tid, component.id(), from, to, count);
        }
      }
    }

    private void name(String kind, int tid, String text) throws IOException {
      json.writeStartObject();
      json.writeStringField("ph", "M");
      json.writeStringField("name", kind);
      json.writeNumberField("pid", pid);
      json.writeNumberField("tid", tid);
      json.writeObjectFieldStart("args");
      json.writeStringField("name", text);
      json.writeEndObject();
      json.writeEndObject();
    }

    private void slice(int tid, String text, long fromNs, long toNs, int count) throws IOException {
      json.writeStartObject();
      json.writeStringField("ph", "X");
      json.writeStringField("name", text);
      json.writeNumberField("pid", pid);
      json.writeNumberField("tid", tid);
      json.writeNumberField("ts", BigDecimal.valueOf(fromNs + shift, 3));
      json.writeNumberField("dur", BigDecimal.valueOf(toNs - fromNs, 3));
      if (count > 1) {
        json.writeObjectFieldStart("args");
        json.writeNumberField("events", count);
        json.writeEndObject();
      }
      json.writeEndObject();
    }
  }
}
