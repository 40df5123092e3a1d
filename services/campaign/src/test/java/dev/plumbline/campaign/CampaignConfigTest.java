package dev.plumbline.campaign;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.plumbline.schemas.Step;
import io.smallrye.config.SmallRyeConfigBuilder;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CampaignConfigTest {

  @Test
  void theDefaultsAreThoseOfTheLimits() {
    assertThat(config(Map.of()).settings().limits()).isEqualTo(Limits.defaults());
  }

  @Test
  void aStepsLimitCanBeSet() {
    Limits limits =
        config(Map.of("plumbline.campaign.step-limits.live-trace", "PT1M")).settings().limits();
    assertThat(limits.of(Requests.full("c1", "a"), Step.LIVE_TRACE))
        .isEqualTo(Duration.ofMinutes(1));
    assertThat(limits.of(Requests.full("c1", "a"), Step.FREE))
        .isEqualTo(Limits.defaults().of(Requests.full("c1", "a"), Step.FREE));
  }

  @Test
  void aValueThatCannotBeUsedIsNamed() {
    assertThatThrownBy(
            () -> config(Map.of("plumbline.campaign.step-limits.makro", "PT1M")).settings())
        .hasMessageContaining("step-limits.makro")
        .hasMessageContaining("macro");
    assertThatThrownBy(() -> config(Map.of("plumbline.campaign.silence", "PT0S")).settings())
        .hasMessageContaining("plumbline.campaign.silence");
  }

  private static CampaignConfig config(Map<String, String> values) {
    return new SmallRyeConfigBuilder()
        .withMapping(CampaignConfig.class)
        .withDefaultValues(values)
        .build()
        .getConfigMapping(CampaignConfig.class);
  }
}
