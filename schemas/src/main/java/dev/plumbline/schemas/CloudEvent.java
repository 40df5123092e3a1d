package dev.plumbline.schemas;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Attributes of a CloudEvents 1.0 message in binary mode: Kafka headers {@code ce_…} and {@code
 * content-type}.
 *
 * @param id deterministic, for deduplication
 * @param source such as {@code /plumbline/macro-load}
 * @param type the record's name, as in the JSON field {@code type}
 * @param subject the campaign or key it is about
 */
public record CloudEvent(String id, String source, String type, String subject, Instant time) {

  /** Headers in binary mode, values in UTF-8. */
  public Map<String, byte[]> headers() {
    Map<String, byte[]> headers = new LinkedHashMap<>();
    headers.put("ce_specversion", utf8("1.0"));
    headers.put("ce_id", utf8(id));
    headers.put("ce_source", utf8(source));
    headers.put("ce_type", utf8(type));
    headers.put("ce_subject", utf8(subject));
    headers.put("ce_time", utf8(time.toString()));
    headers.put("content-type", utf8("application/json"));
    return headers;
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
