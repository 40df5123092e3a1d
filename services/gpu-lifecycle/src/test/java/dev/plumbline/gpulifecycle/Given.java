package dev.plumbline.gpulifecycle;

import dev.plumbline.schemas.Step;
import dev.plumbline.schemas.campaign.ServiceUnderTest;
import dev.plumbline.schemas.campaign.ServiceUnderTest.Strategy;
import dev.plumbline.schemas.command.Job;
import dev.plumbline.schemas.host.HostLease;
import dev.plumbline.workerkit.HostException;
import dev.plumbline.workerkit.StepContext;
import dev.plumbline.workerkit.StepFailure;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** What the tests of this service have in common. */
final class Given {

  static final ServiceUnderTest VLLM =
      new ServiceUnderTest(
          Strategy.SYSTEMD, "vllm.service", null, null, "http://lab-1:8000", "kimi", 60.0);

  final VirtualTime time = new VirtualTime();
  final List<HostLease> published = new ArrayList<>();
  final List<String> notes = new ArrayList<>();
  boolean cancelled;

  /** Null: answers with a text; else what it complains of. */
  String completionTrouble;

  List<String> models = List.of("kimi");

  Job job(Step step) {
    return new Job("c1", step, 1, "lab-1", 7L, time.instant().plus(Duration.ofMinutes(30)));
  }

  Leases leases(ScriptedHost host) {
    return lease -> {
      published.add(lease);
      host.deeds.add("published restoreOwed=" + lease.restoreOwed());
    };
  }

  /** Renewing has its own test: here it never reaches the host. */
  LeaseRenewal renewal() {
    return new LeaseRenewal(
        name -> {
          throw new HostException("unreachable", "not in this test", true);
        },
        Settings.defaults(),
        time,
        duration -> {
          throw new InterruptedException();
        });
  }

  EndPoint.Source endPoints() {
    return url ->
        new EndPoint() {
          @Override
          public List<String> models(Duration timeout) throws IOException {
            return models;
          }

          @Override
          public String complete(String model, Duration timeout) throws IOException {
            if (completionTrouble != null) {
              time.take(timeout);
              throw new IOException(completionTrouble);
            }
            return "Ready.";
          }
        };
  }

  StepContext context(Job job) {
    return new StepContext() {
      @Override
      public Job job() {
        return job;
      }

      @Override
      public Instant now() {
        return time.instant();
      }

      @Override
      public void progress(long done, Long total, String note) {
        notes.add(note);
      }

      @Override
      public boolean cancelled() {
        return cancelled;
      }

      @Override
      public void onCancel(Runnable action) {}

      @Override
      public void checkCancelled() throws StepFailure {
        if (cancelled) {
          throw new StepFailure("cancelled", "cancelled", false);
        }
      }
    };
  }
}
