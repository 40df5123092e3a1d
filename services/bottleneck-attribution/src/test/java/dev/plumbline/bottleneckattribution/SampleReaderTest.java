package dev.plumbline.bottleneckattribution;

import static dev.plumbline.bottleneckattribution.Samples.T0;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.plumbline.schemas.trace.Component;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SampleReaderTest {

  static final String GOOD =
      """
      {"id":"c-1/tracing/1/0/0","campaignId":"c-1","host":"gpu-1","model":"kimi",
       "fingerprint":{"kind":"decode","batchBucket":8,"tensorParallel":8},"rank":0,
       "at":"2026-03-01T12:00:00Z","kind":"decode","windowNs":100,
       "exposedNs":{"compute":50,"communication":40,"memory":0,"idle":10},
       "idleCausesNs":{"hostBound":10,"synchronisation":0,"launchLatency":0,"graphInternal":0,"unknown":0},
       "componentsNs":{"gemm":50,"all_reduce":40}}
      """;

  private final SampleReader reader = new SampleReader(Duration.ofMinutes(10));

  @Test
  void aGoodSampleIsRead() {
    assertThat(read("gpu-1/kimi", GOOD).componentsNs())
        .isEqualTo(Map.of(Component.GEMM, 50L, Component.ALL_REDUCE, 40L));
  }

  @Test
  void componentsOfANewerVersionAreAddedUpAsOther() {
    String newer = GOOD.replace("\"gemm\":50", "\"other\":5,\"warp_drive\":15,\"flux\":30");

    assertThat(read("gpu-1/kimi", newer).componentsNs())
        .isEqualTo(Map.of(Component.OTHER, 50L, Component.ALL_REDUCE, 40L));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "\"gemm\":50|\"gemm\":51|componentsNs sums to 91 ns, but compute + communication + memory is"
            + " 90",
        "\"windowNs\":100|\"windowNs\":101|exposedNs sums to 100 ns, but windowNs is 101",
        "\"hostBound\":10|\"hostBound\":9|idleCausesNs sums to 9 ns, but exposedNs.idle is 10",
        "\"hostBound\":10,\"synchronisation\":0|\"hostBound\":11,\"synchronisation\":-1|idleCausesNs"
            + " holds -1, not between 0 and windowNs = 100",
        "\"windowNs\":100|\"windowNs\":0|windowNs is 0, not between 1 ns and one hour",
        "\"id\":|\"i\":|the sample has no id",
        "\"fingerprint\":|\"f\":|the sample has no fingerprint",
        "2026-03-01T12:00:00Z|2026-03-01T12:10:01Z|at 2026-03-01T12:10:01Z is more than PT10M in the"
            + " future",
        "\"host\":\"gpu-1\"|\"host\":\"gpu-2\"|the record key must be host/model, here gpu-2/kimi",
      })
  void whatWouldMakeTheSumsWrongIsRefused(String from, String to, String sentence) {
    assertThat(GOOD).contains(from);
    assertThatThrownBy(() -> read("gpu-1/kimi", GOOD.replace(from, to)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(sentence);
  }

  @Test
  void whatIsNoSampleIsRefused() {
    assertThatThrownBy(() -> read("gpu-1/kimi", "null")).hasMessage("the sample has no content");
    assertThatThrownBy(() -> read("gpu-1/kimi", "{not json"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("not a valid StepSample: ");
    assertThatThrownBy(() -> reader.read(utf8("gpu-1/kimi"), null, T0))
        .hasMessage("the sample has no value");
    assertThatThrownBy(() -> reader.read(null, utf8(GOOD), T0))
        .hasMessage("the record key must be host/model, here gpu-1/kimi");
  }

  private dev.plumbline.schemas.attribution.StepSample read(String key, String json) {
    return reader.read(utf8(key), utf8(json), T0);
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
