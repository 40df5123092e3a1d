package dev.plumbline.standalone;

import dev.plumbline.schemas.campaign.CampaignState;
import dev.plumbline.schemas.campaign.CampaignStatus;
import java.io.PrintStream;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;

/**
 * The live view of a campaign: one line that is rewritten on a terminal, one line per change
 * elsewhere. Shows the time since the start and since the step began.
 */
final class ProgressLine {

  private static final String ERASE = "\r\u001b[K";

  private final PrintStream out;
  private final boolean terminal;
  private final Clock clock;
  private final Instant start;
  private CampaignStatus last;
  private String lastText = "";
  private Instant stepSince;

  ProgressLine(PrintStream out, boolean terminal, Clock clock) {
    this.out = out;
    this.terminal = terminal;
    this.clock = clock;
    this.start = clock.instant();
    this.stepSince = start;
  }

  /** To standard error, as the launcher says it is. */
  static ProgressLine standardError() {
    return new ProgressLine(
        System.err, "1".equals(System.getenv("PLUMBLINE_TTY")), Clock.systemUTC());
  }

  void show(CampaignStatus status) {
    if (last == null || last.state() != status.state() || last.step() != status.step()) {
      finishStep();
      stepSince = clock.instant();
    }
    last = status;
    draw();
  }

  /** Redraws the elapsed time; does nothing where lines are not rewritten. */
  void tick() {
    if (terminal && last != null) {
      draw();
    }
  }

  void note(String text) {
    out.println((terminal ? ERASE : "") + elapsed(start) + "  " + text);
  }

  void end() {
    finishStep();
    out.flush();
  }

  private void draw() {
    String text = describe(last);
    if (terminal) {
      out.print(ERASE + elapsed(start) + "  " + text + "  (" + elapsed(stepSince).strip() + ")");
      out.flush();
    } else if (!text.equals(lastText)) {
      out.println(elapsed(start) + "  " + text);
    }
    lastText = text;
  }

  private void finishStep() {
    if (terminal && last != null) {
      out.println(
          ERASE
              + elapsed(start)
              + "  "
              + describe(last)
              + "  ("
              + elapsed(stepSince).strip()
              + ")");
      last = null;
    }
  }

  private static String describe(CampaignStatus status) {
    StringBuilder text =
        new StringBuilder(String.format(Locale.ROOT, "%-10s", name(status.state())));
    if (status.queuePosition() != null && status.state() == CampaignState.QUEUED) {
      text.append(" position ").append(status.queuePosition());
    }
    if (status.step() != null) {
      text.append(' ').append(status.step().id());
    }
    if (status.attempt() != null && status.attempt() > 1) {
      text.append(" (attempt ").append(status.attempt()).append(')');
    }
    CampaignStatus.Progress progress = status.progress();
    if (progress != null) {
      if (progress.total() != null) {
        text.append(' ').append(progress.done()).append('/').append(progress.total());
      }
      if (progress.note() != null) {
        text.append("  ").append(progress.note());
      }
    }
    return text.toString().stripTrailing();
  }

  private static String name(CampaignState state) {
    return state.name().toLowerCase(Locale.ROOT);
  }

  private String elapsed(Instant since) {
    long tenths = Duration.between(since, clock.instant()).toMillis() / 100;
    return String.format(Locale.ROOT, "%5d.%d s", tenths / 10, tenths % 10);
  }
}
