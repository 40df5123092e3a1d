package dev.plumbline.gpulifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.plumbline.schemas.Json;
import dev.plumbline.schemas.host.HostSnapshot;
import dev.plumbline.workerkit.HostException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class LeaseRenewalTest {

  private final VirtualTime time = new VirtualTime();
  private final ScriptedHost host = ScriptedHost.serving();
  private final List<Duration> pauses = new CopyOnWriteArrayList<>();

  private void owed() {
    host.files.put(
        "/home/lab/.plumbline/restore/c1.json",
        Json.bytes(
            new RestoreRecord(
                "c1",
                7,
                Given.VLLM,
                new HostSnapshot("lab-1", List.of(), null, List.of(), null),
                List.of(),
                null,
                null,
                time.instant(),
                time.instant(),
                null,
                null,
                List.of())));
  }

  private LeaseRenewal renewal(LeaseRenewal.Connector hosts) {
    return new LeaseRenewal(
        hosts,
        Settings.defaults(),
        time,
        duration -> {
          pauses.add(duration);
          time.take(duration);
        });
  }

  @Test
  void goesOnWhileTheHostIsOutOfReachAndEndsWhenItWasOwedForTooLong() {
    owed();
    AtomicInteger calls = new AtomicInteger();
    try (LeaseRenewal renewal =
        renewal(
            name -> {
              if (calls.incrementAndGet() % 2 == 0) {
                throw new HostException("unreachable", "the network is away", true);
              }
              return host;
            })) {
      renewal.resume(List.of("lab-1"));
      await().until(() -> time.instant().isAfter(java.time.Instant.parse("2026-01-01T04:00:00Z")));
      // Four hours in steps of 50 s, and the one that found it too late.
      await().until(() -> calls.get() >= 289);
      assertThat(pauses).allMatch(Duration.ofSeconds(50)::equals).hasSize(289);
    }
  }

  @Test
  void endsWhenTheSwitchHasFired() {
    owed();
    host.fired = true;
    AtomicInteger calls = new AtomicInteger();
    try (LeaseRenewal renewal =
        renewal(
            name -> {
              calls.incrementAndGet();
              return host;
            })) {
      renewal.watch("lab-1", "c1");
      await().until(() -> calls.get() == 1);
      assertThat(pauses).isEmpty();
    }
  }
}
