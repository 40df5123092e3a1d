package dev.plumbline.schemas.host;

/**
 * A number that the host may not tell.
 *
 * @param value null when absent
 * @param absent why there is no value, as the tool said it; null when there is one
 */
public record Reading(Double value, String absent) {

  public static Reading of(double value) {
    return new Reading(value, null);
  }

  public static Reading absent(String reason) {
    return new Reading(null, reason);
  }
}
