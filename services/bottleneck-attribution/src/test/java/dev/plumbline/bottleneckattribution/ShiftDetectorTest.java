package dev.plumbline.bottleneckattribution;

import static org.assertj.core.api.Assertions.assertThat;

import dev.plumbline.schemas.Json;
import dev.plumbline.schemas.attribution.Alert;
import dev.plumbline.schemas.attribution.Attribution;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.CharRange;
import net.jqwik.api.constraints.StringLength;
import org.junit.jupiter.api.Test;

/**
 * Windows are written as letters: each is a window whose bottleneck has that name, upper case with
 * a margin of 10 points, lower case with 1 point.
 */
class ShiftDetectorTest {

  private static final ShiftDetector DETECTOR = new ShiftDetector(0.02, 2, 5);

  @Test
  void aChangeThatStaysForTwoWindowsIsRaisedOnce() {
    assertThat(alerts("AAABBBB")).containsExactly("4 raised A>B");
  }

  @Test
  void theAlertClearsUnderItsOwnIdWhenTheOldBottleneckIsBack() {
    List<Alert> alerts = run("AABBAA");

    assertThat(describe(alerts)).containsExactly("3 raised A>B", "5 cleared A>B");
    assertThat(alerts.get(1).id()).isEqualTo(alerts.get(0).id());
    assertThat(alerts.get(0).windowStart()).isEqualTo(start(2));
    assertThat(alerts.get(0).message())
        .isEqualTo("the bottleneck moved from A to B (40.0 % of the step, margin 10.0 points)");
    assertThat(alerts.get(0).evidence())
        .containsEntry("from", "A")
        .containsEntry("to", "B")
        .containsEntry("share", "0.4000")
        .containsEntry("margin", "0.1000")
        .containsEntry("samples", "12");
  }

  @Test
  void oneWindowIsNoShift() {
    assertThat(alerts("AABABABAA")).isEmpty();
  }

  @Test
  void twoDifferentWindowsAreNoShift() {
    assertThat(alerts("AABCBC")).isEmpty();
  }

  @Test
  void aNarrowMarginNeitherStartsNorContinuesAShift() {
    assertThat(alerts("AAbbbb")).isEmpty();
    assertThat(alerts("AABbBA")).isEmpty();
    assertThat(alerts("AABbBB")).containsExactly("5 raised A>B");
    assertThat(alerts("AABBaaaa")).containsExactly("3 raised A>B");
  }

  @Test
  void aNarrowStartIsNotTheNormalBottleneck() {
    assertThat(alerts("aaBBBB")).isEmpty();
  }

  @Test
  void aSecondShiftReplacesTheFirst() {
    assertThat(alerts("AABBCCAA"))
        .containsExactly("3 raised A>B", "5 cleared A>B", "5 raised A>C", "7 cleared A>C");
  }

  @Test
  void aShiftThatHoldsBecomesTheNormal() {
    assertThat(alerts("AABBBBBBB" + "AA"))
        .containsExactly("3 raised A>B", "8 cleared A>B", "10 raised B>A");
  }

  @Property
  void everyAlertIsRaisedOnceAndClearedAtMostOnceAndOnlyOneIsOpen(
      @ForAll
          @CharRange(from = 'A', to = 'C')
          @CharRange(from = 'a', to = 'c')
          @StringLength(max = 60)
          String windows) {
    Map<String, Alert.State> last = new HashMap<>();
    for (Alert alert : run(windows)) {
      assertThat(last.put(alert.id(), alert.state()))
          .isEqualTo(alert.state() == Alert.State.RAISED ? null : Alert.State.RAISED);
      assertThat(last.values().stream().filter(s -> s == Alert.State.RAISED).count())
          .isLessThanOrEqualTo(1);
    }
  }

  private static List<String> alerts(String windows) {
    return describe(run(windows));
  }

  private static List<String> describe(List<Alert> alerts) {
    return alerts.stream()
        .map(
            alert -> {
              String[] id = alert.id().split("/");
              long window = (alert.at().getEpochSecond() - start(0).getEpochSecond()) / 30;
              return window
                  + (alert.state() == Alert.State.RAISED ? " raised " : " cleared ")
                  + id[id.length - 2]
                  + ">"
                  + id[id.length - 1];
            })
        .toList();
  }

  private static List<Alert> run(String windows) {
    List<Alert> alerts = new ArrayList<>();
    ShiftDetector.State state = ShiftDetector.State.initial();
    for (int i = 0; i < windows.length(); i++) {
      ShiftDetector.Decision decision =
          DETECTOR.next(state, window(i, windows.charAt(i)), start(i));
      alerts.addAll(decision.alerts());
      // Through the form in which it is stored, as after a restart.
      state = Json.read(Json.bytes(decision.state()), ShiftDetector.State.class);
    }
    return alerts;
  }

  private static Instant start(int window) {
    return Samples.T0.plusSeconds(30L * window);
  }

  private static Attribution window(int number, char letter) {
    double margin = Character.isUpperCase(letter) ? 0.10 : 0.01;
    String bottleneck = String.valueOf(Character.toUpperCase(letter));
    return new Attribution(
        "gpu-1",
        "kimi",
        Samples.DECODE,
        start(number),
        start(number).plusSeconds(300),
        12,
        Map.of(bottleneck, 0.4),
        100,
        100,
        bottleneck,
        0.4,
        margin,
        "c-1",
        true);
  }
}
