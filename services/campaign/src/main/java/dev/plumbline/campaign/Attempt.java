package dev.plumbline.campaign;

import dev.plumbline.schemas.Step;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * One attempt of one step, from its command to its end.
 *
 * @param number 1 for the first
 * @param askedAt when its command was last sent
 * @param heardAt when its worker last gave a sign of life; at first, when it was asked
 * @param endsBy once cancelled: until when its end is awaited; else null
 * @param trouble why it was cancelled or failed; null while it runs well
 * @param retryAt once failed: when the next attempt begins; else null
 */
record Attempt(
    Step step,
    int number,
    Instant issuedAt,
    Instant askedAt,
    Instant deadline,
    Instant heardAt,
    Instant endsBy,
    String trouble,
    Instant retryAt) {

  Attempt {
    askedAt = askedAt == null ? issuedAt : askedAt;
  }

  static Attempt issued(Step step, int number, Instant now, Instant deadline) {
    return new Attempt(step, number, now, now, deadline, now, null, null, null);
  }

  Attempt heard(Instant now) {
    return new Attempt(step, number, issuedAt, askedAt, deadline, now, endsBy, trouble, retryAt);
  }

  Attempt cancelled(Instant endsBy, String why) {
    return new Attempt(step, number, issuedAt, askedAt, deadline, heardAt, endsBy, why, null);
  }

  Attempt failed(Instant retryAt, String why) {
    return new Attempt(step, number, issuedAt, askedAt, deadline, heardAt, null, why, retryAt);
  }

  Attempt askedAgain(Instant now) {
    return new Attempt(step, number, issuedAt, now, deadline, heardAt, endsBy, trouble, retryAt);
  }

  /**
   * True when a worker that still had it would have been heard since our return: it ended as we
   * did. Asking again is harmless if not, since a worker knows its attempts by their number.
   */
  boolean forgotten(Instant now, Instant listeningSince, Duration patience) {
    return askedAt.isBefore(listeningSince)
        && heardAt.isBefore(listeningSince)
        && !now.isBefore(listeningSince.plus(patience));
  }

  /** True between a failure and the next attempt: nothing runs at a worker. */
  boolean pausing() {
    return retryAt != null;
  }

  /** True after its cancellation, while its end is awaited. */
  boolean ending() {
    return endsBy != null;
  }

  /**
   * Why a running attempt must be given up, if so.
   *
   * @param listeningSince since when we have been able to hear; silence before that proves nothing
   */
  Optional<String> overdue(Instant now, Instant listeningSince, Duration silence) {
    if (!now.isBefore(deadline)) {
      return Optional.of(
          "took longer than its limit of %s".formatted(text(Duration.between(issuedAt, deadline))));
    }
    Instant since = heardAt.isAfter(listeningSince) ? heardAt : listeningSince;
    return now.isBefore(since.plus(silence))
        ? Optional.empty()
        : Optional.of(
            "gave no sign of life for %s; is the service %s running?"
                .formatted(text(silence), step.worker().id()));
  }

  static String text(Duration duration) {
    return duration.toMillis() % 1000 == 0
        ? duration.toSeconds() + " s"
        : duration.toMillis() + " ms";
  }
}
