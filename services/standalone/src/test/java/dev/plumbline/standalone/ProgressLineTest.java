package dev.plumbline.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import dev.plumbline.schemas.Step;
import dev.plumbline.schemas.campaign.CampaignState;
import dev.plumbline.schemas.campaign.CampaignStatus;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import org.junit.jupiter.api.Test;

class ProgressLineTest {

  private static final Instant NOON = Instant.parse("2026-12-01T12:00:00Z");

  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private final ProgressLine line =
      new ProgressLine(
          new PrintStream(bytes, true, StandardCharsets.UTF_8),
          false,
          Clock.fixed(NOON, ZoneOffset.UTC));

  @Test
  void awayFromATerminalEachChangeIsOneLine() {
    line.show(
        status(
            CampaignState.MACRO,
            Step.MACRO,
            1,
            new CampaignStatus.Progress(2, 6L, "concurrency 8")));
    line.show(
        status(
            CampaignState.MACRO,
            Step.MACRO,
            1,
            new CampaignStatus.Progress(2, 6L, "concurrency 8")));
    line.show(status(CampaignState.MICRO, Step.MICRO, 2, null));
    assertThat(bytes.toString(StandardCharsets.UTF_8))
        .isEqualTo(
            """
                0.0 s  macro      macro 2/6  concurrency 8
                0.0 s  micro      micro (attempt 2)
            """);
  }

  private static CampaignStatus status(
      CampaignState state, Step step, int attempt, CampaignStatus.Progress progress) {
    return new CampaignStatus(
        "c", "h", "m", state, step, attempt, progress, null, NOON, NOON, NOON, null, null, null);
  }
}
