package dev.plumbline.traceanalysis;

import dev.plumbline.schemas.trace.Component;
import dev.plumbline.schemas.trace.DeviceClass;
import dev.plumbline.schemas.trace.TraceReport.ExposedTimes;
import java.util.Arrays;

/**
 * Gives each instant of a stretch of time to exactly one component or to idle (definitions, section
 * 1): compute before communication before memory, and inside a class 1/k to each of the k events
 * that run, the remainder of the division to the one that started first.
 */
@SuppressWarnings({"ArrayRecordComponent", "EnumOrdinal"}) // columns, private to the engine
final class ExposedSweep {

  /** Is told of each stretch in which the device does nothing. */
  interface GapSink {
    /**
     * Takes one gap.
     *
     * @param before the event that ended last; −1 when none has
     * @param after the event that ends the gap; −1 when there is none
     */
    void gap(long fromNs, long toNs, int before, int after);
  }

  /**
   * Where the time of one stretch went.
   *
   * @param componentNs exposed time by the ordinal of the component
   * @param communicationBusyNs union of the communication events
   * @param bothBusyNs time in which communication and compute both run
   * @param busyNs union of all events
   * @param overlappedNs time in which more than one event runs
   */
  record Result(
      ExposedTimes exposed,
      long[] componentNs,
      long communicationBusyNs,
      long bothBusyNs,
      long busyNs,
      long overlappedNs) {}

  private static final Component[] COMPONENTS = Component.values();
  private static final DeviceClass[] CLASSES = DeviceClass.values();

  private final DeviceEvents events;
  private final byte[] component;
  private final byte[] deviceClass;

  /** The latest end among the events up to an index. */
  private final long[] latestEnd;

  /**
   * Sweeps over the events of one trace, in order of their start.
   *
   * @param component ordinal of the component of each event
   */
  ExposedSweep(DeviceEvents events, byte[] component) {
    this.events = events;
    this.component = component;
    this.deviceClass = new byte[component.length];
    this.latestEnd = new long[component.length];
    long latest = Long.MIN_VALUE;
    for (int i = 0; i < component.length; i++) {
      deviceClass[i] = (byte) COMPONENTS[component[i]].deviceClass().ordinal();
      latest = Math.max(latest, events.end(i));
      latestEnd[i] = latest;
    }
  }

  /** Sweeps from one time to another; events that reach beyond are clipped. */
  Result over(long fromNs, long toNs, GapSink gaps) {
    return new Sweep(fromNs, toNs, gaps).run();
  }

  private final class Sweep {
    private final long to;
    private final GapSink gaps;
    private final long[] componentNs = new long[COMPONENTS.length];
    private final long[] classNs = new long[CLASSES.length];
    private final int[] running = new int[CLASSES.length];

    /** The running events in the order of their start. */
    private int[] active = new int[16];

    private int activeCount;
    private int next;
    private int lastEnded = -1;
    private long now;
    private long idle;
    private long communicationBusy;
    private long bothBusy;
    private long busy;
    private long overlapped;

    Sweep(long from, long to, GapSink gaps) {
      this.now = from;
      this.to = to;
      this.gaps = gaps;
      this.next = events.firstFrom(from);
      while (next > 0 && latestEnd[next - 1] > from) {
        next--;
      }
      lastEnded = next - 1;
    }

    Result run() {
      while (now < to) {
        removeEnded();
        addStarted();
        long until = Math.min(to, nextChange());
        if (activeCount == 0) {
          idle += until - now;
          gaps.gap(now, until, lastEnded, next < component.length ? next : -1);
        } else {
          account(until - now);
        }
        now = until;
      }
      return new Result(
          new ExposedTimes(
              classNs[DeviceClass.COMPUTE.ordinal()],
              classNs[DeviceClass.COMMUNICATION.ordinal()],
              classNs[DeviceClass.MEMORY.ordinal()],
              idle),
          componentNs,
          communicationBusy,
          bothBusy,
          busy,
          overlapped);
    }

    private void removeEnded() {
      int kept = 0;
      for (int i = 0; i < activeCount; i++) {
        int event = active[i];
        if (events.end(event) > now) {
          active[kept++] = event;
        } else {
          running[deviceClass[event]]--;
          lastEnded = event;
        }
      }
      activeCount = kept;
    }

    private void addStarted() {
      for (; next < component.length && events.start(next) <= now; next++) {
        if (events.end(next) > now) {
          if (activeCount == active.length) {
            active = Arrays.copyOf(active, activeCount * 2);
          }
          active[activeCount++] = next;
          running[deviceClass[next]]++;
        }
      }
    }

    private long nextChange() {
      // An event without duration interrupts nothing.
      while (next < component.length && events.duration(next) == 0) {
        next++;
      }
      long change = next < component.length ? events.start(next) : Long.MAX_VALUE;
      for (int i = 0; i < activeCount; i++) {
        change = Math.min(change, events.end(active[i]));
      }
      return change;
    }

    private void account(long length) {
      int compute = running[DeviceClass.COMPUTE.ordinal()];
      int communication = running[DeviceClass.COMMUNICATION.ordinal()];
      busy += length;
      if (activeCount > 1) {
        overlapped += length;
      }
      if (communication > 0) {
        communicationBusy += length;
        bothBusy += compute > 0 ? length : 0;
      }
      DeviceClass winner =
          compute > 0
              ? DeviceClass.COMPUTE
              : communication > 0 ? DeviceClass.COMMUNICATION : DeviceClass.MEMORY;
      classNs[winner.ordinal()] += length;
      share(winner.ordinal(), length);
    }

    private void share(int winner, long length) {
      long each = length / running[winner];
      long remainder = length % running[winner];
      for (int i = 0; i < activeCount; i++) {
        int event = active[i];
        if (deviceClass[event] == winner) {
          componentNs[component[event]] += each + remainder;
          remainder = 0;
        }
      }
    }
  }
}
