package dev.plumbline.traceanalysis;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Writes small traces in Kineto's form. Times are in microseconds. */
final class TraceJson {

  private final List<String> events = new ArrayList<>();
  private String metadata = "\"schemaVersion\": 1";

  TraceJson metadata(String members) {
    metadata = members;
    return this;
  }

  TraceJson kernel(String name, String ts, String dur, int stream, long correlation) {
    return raw(
        """
        {"ph": "X", "cat": "kernel", "name": "%s", "pid": 0, "tid": %d, "ts": %s, "dur": %s,
         "args": {"device": 0, "stream": %d, "correlation": %d, "grid": [1, 1, 1]}}"""
            .formatted(name, stream, ts, dur, stream, correlation));
  }

  TraceJson call(String name, String ts, String dur, int thread, long correlation) {
    return raw(
        """
        {"ph": "X", "cat": "cuda_runtime", "name": "%s", "pid": 1, "tid": %d, "ts": %s, "dur": %s,
         "args": {"cbid": 211, "correlation": %d}}"""
            .formatted(name, thread, ts, dur, correlation));
  }

  TraceJson annotation(String name, String ts, String dur, int thread) {
    return raw(
        """
        {"ph": "X", "cat": "user_annotation", "name": "%s", "pid": 1, "tid": %d, "ts": %s,
         "dur": %s, "args": {"External id": 1}}"""
            .formatted(name, thread, ts, dur));
  }

  TraceJson raw(String event) {
    events.add(event);
    return this;
  }

  String text() {
    return "{" + metadata + ", \"traceEvents\": [\n" + String.join(",\n", events) + "\n]}";
  }

  TraceInput input(String name) {
    return input(name, text());
  }

  static TraceInput input(String name, String text) {
    return input(name, text.getBytes(StandardCharsets.UTF_8));
  }

  static TraceInput input(String name, byte[] bytes) {
    return new TraceInput(name, null, () -> new ByteArrayInputStream(bytes));
  }

  static Trace read(String text) {
    return read(text.getBytes(StandardCharsets.UTF_8));
  }

  static Trace read(byte[] bytes) {
    return TraceReader.read(
        input("test.json", bytes),
        name -> StepName.parse(name, null).isPresent(),
        ReadLimits.defaults());
  }
}
