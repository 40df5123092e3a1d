package dev.plumbline.bottleneckattribution;

import static org.assertj.core.api.Assertions.assertThat;

import dev.plumbline.schemas.Json;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

/** The two parts of a pane that are more than a sum: the histogram and the set of ids. */
class SumsTest {

  @Property
  void aPercentileIsOffByLessThanATenthOfAPercent(
      @ForAll @Size(min = 1, max = 200) List<@LongRange(min = 0, max = 3_600_000_000_000L) Long> ns,
      @ForAll @IntRange(min = 1, max = 100) int percent) {
    DurationHistogram histogram = new DurationHistogram();
    ns.forEach(histogram::add);
    List<Long> sorted = new ArrayList<>(ns);
    Collections.sort(sorted);
    long exact = sorted.get((percent * ns.size() + 99) / 100 - 1);

    long reported = histogram.percentile(percent);

    assertThat(Math.abs(reported - exact) * 1024).isLessThanOrEqualTo(exact);
  }

  @Property
  void histogramsAddUpExactly(
      @ForAll List<@LongRange(min = 0, max = 1L << 50) Long> left,
      @ForAll List<@LongRange(min = 0, max = 1L << 50) Long> right) {
    DurationHistogram one = new DurationHistogram();
    left.forEach(one::add);
    DurationHistogram other = new DurationHistogram();
    right.forEach(other::add);
    DurationHistogram all = new DurationHistogram();
    left.forEach(all::add);
    right.forEach(all::add);

    one.add(other);

    assertThat(one).isEqualTo(all);
    assertThat(Json.read(Json.bytes(one), DurationHistogram.class)).isEqualTo(all);
  }

  @Property
  void anIdIsFreshExactlyOnce(
      @ForAll List<@IntRange(min = 0, max = 40) Integer> ordinals, @ForAll Random random) {
    SeenIds seen = new SeenIds();
    Set<String> reference = new HashSet<>();
    for (int ordinal : ordinals) {
      String id = "c/tracing/1/" + random.nextInt(2) + "/" + ordinal;
      assertThat(seen.add(id)).isEqualTo(reference.add(id));
      seen = Json.read(Json.bytes(seen), SeenIds.class);
    }
  }

  @Test
  void aRunOfStepsTakesOneInterval() {
    SeenIds seen = new SeenIds();
    for (int i = 9_999; i >= 0; i--) {
      seen.add("c/tracing/1/0/" + i);
    }

    assertThat(seen.intervals().get("c/tracing/1/0/")).hasSize(1).containsEntry(0L, 9_999L);
  }

  @Test
  void idsThatOnlyLookAlikeAreDifferent() {
    SeenIds seen = new SeenIds();

    for (String id :
        List.of("a/1", "a/01", "a/", "a", "1", "a/1/", "a/-1", "a/1234567890123456789012")) {
      assertThat(seen.add(id)).as(id).isTrue();
      assertThat(seen.add(id)).as(id).isFalse();
    }
  }
}
