package dev.plumbline.traceanalysis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.plumbline.schemas.trace.Component;
import dev.plumbline.schemas.trace.DeviceClass;
import dev.plumbline.schemas.trace.TraceReport.ExposedTimes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

/** The sweep against one that looks at every nanosecond. */
@SuppressWarnings("EnumOrdinal") // the sweep's columns
class ExposedSweepTest {

  private record Event(int start, int length, Component component) {
    boolean runsAt(long time) {
      return start <= time && time < start + length;
    }
  }

  private record Gap(long from, long to) {}

  @Provide
  Arbitrary<List<Event>> events() {
    Arbitrary<Component> components =
        Arbitraries.of(
            Component.GEMM,
            Component.NORM,
            Component.ALL_REDUCE,
            Component.ALL_GATHER,
            Component.MEMCPY,
            Component.MEMSET);
    return Combinators.combine(
            Arbitraries.integers().between(0, 60),
            Arbitraries.integers().between(0, 25),
            components)
        .as(Event::new)
        .list()
        .ofMinSize(1)
        .ofMaxSize(25)
        .map(list -> list.stream().sorted(Comparator.comparingInt(Event::start)).toList());
  }

  private static ExposedSweep sweep(List<Event> events) {
    DeviceEvents columns = new DeviceEvents();
    byte[] components = new byte[events.size()];
    for (int i = 0; i < events.size(); i++) {
      Event event = events.get(i);
      columns.add(event.start, event.length, 0, DeviceEvents.KERNEL, 0, -1, null);
      components[i] = (byte) event.component.ordinal();
    }
    return new ExposedSweep(columns, components);
  }

  @Property(tries = 2000)
  void everyNanosecondBelongsToExactlyOne(
      @ForAll("events") List<Event> events, @ForAll("bounds") List<Integer> bounds) {
    long from = Math.min(bounds.get(0), bounds.get(1));
    long to = Math.max(bounds.get(0), bounds.get(1));
    List<Gap> gaps = new ArrayList<>();

    ExposedSweep.Result result =
        sweep(events).over(from, to, (f, t, before, after) -> gaps.add(new Gap(f, t)));

    long[] byClass = new long[3];
    long idle = 0;
    long busy = 0;
    long communicationBusy = 0;
    long both = 0;
    long overlapped = 0;
    for (long time = from; time < to; time++) {
      long now = time;
      List<Event> running = events.stream().filter(event -> event.runsAt(now)).toList();
      boolean compute = any(running, DeviceClass.COMPUTE);
      boolean communication = any(running, DeviceClass.COMMUNICATION);
      if (running.isEmpty()) {
        idle++;
      } else {
        busy++;
        byClass[compute ? 0 : communication ? 1 : 2]++;
      }
      communicationBusy += communication ? 1 : 0;
      both += communication && compute ? 1 : 0;
      overlapped += running.size() > 1 ? 1 : 0;
    }
    assertThat(result.exposed())
        .isEqualTo(new ExposedTimes(byClass[0], byClass[1], byClass[2], idle));
    assertThat(result.exposed().total()).isEqualTo(to - from);
    assertThat(result.busyNs()).isEqualTo(busy);
    assertThat(result.communicationBusyNs()).isEqualTo(communicationBusy);
    assertThat(result.bothBusyNs()).isEqualTo(both);
    assertThat(result.overlappedNs()).isEqualTo(overlapped);
    assertThat(gaps.stream().mapToLong(gap -> gap.to - gap.from).sum()).isEqualTo(idle);
    assertThat(result.componentNs()).isEqualTo(shares(events, from, to));
  }

  @Provide
  Arbitrary<List<Integer>> bounds() {
    return Arbitraries.integers().between(0, 90).list().ofSize(2);
  }

  private static boolean any(List<Event> running, DeviceClass deviceClass) {
    return running.stream().anyMatch(event -> event.component.deviceClass() == deviceClass);
  }

  /** 1/k between any two neighbouring boundaries, the remainder to the first started. */
  private static long[] shares(List<Event> events, long from, long to) {
    TreeSet<Long> boundaries = new TreeSet<>(List.of(from, to));
    for (Event event : events) {
      if (event.length > 0) {
        boundaries.add((long) event.start);
        boundaries.add((long) event.start + event.length);
      }
    }
    long[] shares = new long[Component.values().length];
    List<Long> cuts = boundaries.stream().filter(cut -> from <= cut && cut <= to).toList();
    for (int i = 0; i + 1 < cuts.size(); i++) {
      long now = cuts.get(i);
      long length = cuts.get(i + 1) - now;
      List<Event> running = events.stream().filter(event -> event.runsAt(now)).toList();
      for (DeviceClass deviceClass :
          List.of(DeviceClass.COMPUTE, DeviceClass.COMMUNICATION, DeviceClass.MEMORY)) {
        List<Event> winners =
            running.stream().filter(e -> e.component.deviceClass() == deviceClass).toList();
        if (!winners.isEmpty()) {
          for (Event winner : winners) {
            shares[winner.component.ordinal()] += length / winners.size();
          }
          shares[winners.getFirst().component.ordinal()] += length % winners.size();
          break;
        }
      }
    }
    return shares;
  }

  @Test
  void theRemainderGoesToTheFirstStarted() {
    List<Event> events =
        List.of(
            new Event(0, 10, Component.NORM),
            new Event(0, 10, Component.GEMM),
            new Event(0, 10, Component.ROPE));
    long[] shares = sweep(events).over(0, 10, (f, t, b, a) -> {}).componentNs();
    assertThat(shares[Component.NORM.ordinal()]).isEqualTo(4);
    assertThat(shares[Component.GEMM.ordinal()]).isEqualTo(3);
    assertThat(shares[Component.ROPE.ordinal()]).isEqualTo(3);
  }

  @Test
  void manyEventsAtOnce() {
    List<Event> events = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      events.add(new Event(i, 1000, Component.GEMM));
    }
    ExposedSweep.Result result = sweep(events).over(0, 1099, (f, t, b, a) -> {});
    assertThat(result.exposed()).isEqualTo(new ExposedTimes(1099, 0, 0, 0));
    assertThat(result.overlappedNs()).isEqualTo(1097);
  }
}
