package dev.plumbline.schemas;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NearestTest {

  private static final List<String> KNOWN =
      List.of("concurrency", "requests", "durationSeconds", "warmup", "endPoint", "host", "k");

  @ParameterizedTest
  @CsvSource({
    "concurency, concurrency", // a letter left out
    "concurrenccy, concurrency", // one too many
    "hots, host", // neighbours swapped
    "hist, host", // one replaced
    "end_point, endPoint", // another way of writing it
    "ENDPOINT, endPoint",
    "duration, durationSeconds", // a beginning
    "request, requests",
  })
  void findsTheWordThatWasMeant(String word, String meant) {
    assertThat(Nearest.of(word, KNOWN)).contains(meant);
  }

  @ParameterizedTest
  @CsvSource({"colour", "x", "''", "po", "c", "-"})
  void findsNothingWhereNothingIsNear(String word) {
    assertThat(Nearest.of(word, KNOWN)).isEmpty();
  }

  @Test
  void prefersTheNearer() {
    assertThat(Nearest.of("request", List.of("requested", "requests"))).contains("requests");
  }
}
