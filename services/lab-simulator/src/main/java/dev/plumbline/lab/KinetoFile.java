package dev.plumbline.lab;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.zip.Deflater;
import java.util.zip.GZIPOutputStream;

/**
 * The trace of one rank as Kineto writes it for a vLLM worker (compared with h200/campaign and
 * h200/nccl-2-ranks): a decode step is one graph launch whose correlation id all its kernels share,
 * a step with prompts launches its kernels one by one. The GPU events of a step lie after its
 * launch; host annotations, runtime calls, device events and metadata follow each other unsorted.
 */
final class KinetoFile {

  private static final int STREAM = 7;
  private static final long LEAD_NS = 22_000;

  private final Scenario scenario;
  private final int rank;
  private final int pid;
  private final long baseNs;
  private final long originNs;
  private final StringBuilder text = new StringBuilder(1 << 16);
  private final String[] kernelHead;
  private final String[] kernelTail;
  private int externalId;
  private int correlation = 1_000;

  KinetoFile(Scenario scenario, int rank, long epochNs) {
    this.scenario = scenario;
    this.rank = rank;
    this.pid = 7_000 + rank;
    // Kineto's base is a date some weeks past, the same for all ranks.
    this.baseNs = epochNs - Math.floorMod(epochNs, 7_776_000_000_000_000L);
    this.originNs = epochNs - baseNs;
    List<Scenario.Kernel> kernels = scenario.trace().kernels();
    this.kernelHead = new String[kernels.size()];
    this.kernelTail = new String[kernels.size()];
    int sms = scenario.gpus().multiprocessors();
    for (int k = 0; k < kernels.size(); k++) {
      kernelHead[k] = head("kernel", kernels.get(k).name(), rank, STREAM);
      int blocks = 16 * (1 + k % 9);
      kernelTail[k] =
          String.format(
              Locale.ROOT,
              "\"registers per thread\": %d,%n      \"shared memory\": %d, \"blocks per SM\": %.6f,"
                  + " \"warps per SM\": %.6f,%n      \"grid\": [%d, 1, 1], \"block\": [256, 1, 1],"
                  + " \"est. achieved occupancy %%\": %d",
              32 + 8 * (k % 12),
              1024 * (k % 7),
              (double) blocks / sms,
              8.0 * blocks / sms,
              blocks,
              k % 40);
    }
  }

  private static String head(String category, String name, int pid, int tid) {
    return "  {\n    \"ph\": \"X\", \"cat\": \""
        + category
        + "\", \"name\": \""
        + name
        + "\", \"pid\": "
        + pid
        + ", \"tid\": "
        + tid
        + ",\n    \"ts\": ";
  }

  void write(Path file, List<TracePlan.RankStep> steps) throws IOException {
    try (OutputStream out =
        new BufferedOutputStream(
            new GZIPOutputStream(Files.newOutputStream(file), 1 << 16) {
              {
                def.setLevel(Deflater.BEST_SPEED);
              }
            },
            1 << 16)) {
      metadata();
      for (TracePlan.RankStep step : steps) {
        step(step);
        flush(out);
      }
      end(steps, file);
      flush(out);
    }
  }

  private void flush(OutputStream out) throws IOException {
    out.write(text.toString().getBytes(StandardCharsets.UTF_8));
    text.setLength(0);
  }

  private void metadata() {
    Scenario.Gpus gpus = scenario.gpus();
    String ranks =
        IntStream.range(0, gpus.count())
            .mapToObj(Integer::toString)
            .collect(Collectors.joining(", "));
    text.append("{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n");
    for (int g = 0; g < gpus.count(); g++) {
      text.append(
          """
              {
                "id": %d, "name": "%s", "totalGlobalMem": %d,
                "computeMajor": %d, "computeMinor": %d,
                "maxThreadsPerBlock": 1024, "maxThreadsPerMultiprocessor": 1536,
                "regsPerBlock": 65536, "warpSize": 32,
                "sharedMemPerBlock": 49152, "numSms": %d
              }%s
          """
              .formatted(
                  g,
                  gpus.name(),
                  (gpus.memoryTotalMiB() - gpus.memoryReservedMiB()) << 20,
                  gpus.computeMajor(),
                  gpus.computeMinor(),
                  gpus.multiprocessors(),
                  g + 1 < gpus.count() ? "," : ""));
    }
    text.append(
        """
          ],
          "cuda_driver_version": 13000,
          "cuda_runtime_version": 12080,
          "cupti_version": 26,
          "trace_id": "%032X",
          "distributedInfo": {"backend": "nccl", "rank": %d, "world_size": %d, "pg_count": 1, \
        "pg_config": [{"pg_name": "0", "pg_desc": "default_pg", "backend_config": "cuda:nccl", \
        "pg_size": %d, "ranks": [%s]}], "nccl_version": "2.27.5"},
          "displayTimeUnit": "ms",
          "baseTimeNanoseconds": %d,
          "traceEvents": [
        """
            .formatted(originNs * 31 + rank, rank, gpus.count(), gpus.count(), ranks, baseNs));
  }

  private void step(TracePlan.RankStep step) {
    boolean graph = step.step().decodeOnly();
    int n = step.kernel().length;
    int copies =
        (int) java.util.Arrays.stream(step.kernel()).filter(k -> k == TracePlan.COPY_IN).count();
    long begin = step.startNs()[0] - LEAD_NS;
    long end = step.endNs() + 8_000;
    String name =
        "execute_context_%d(%d)_generation_%d(%d)"
            .formatted(
                step.step().contexts(),
                step.step().contextTokens(),
                step.step().generations(),
                step.step().generations());
    int annotation = host("user_annotation", name, begin, end);
    host("python_function", "vllm/v1/worker/gpu_model_runner.py(2540): execute_model", begin, end);
    for (int i = 0; i < copies; i++) {
      host("cpu_op", "aten::copy_", step.startNs()[i] - 14_000, step.startNs()[i] - 1_500);
      int launch = runtime("cudaMemcpyAsync", 41, step.startNs()[i] - 10_000, 7_000, true);
      copy(step, i, "Memcpy HtoD (Pinned -> Device)", 4 * Math.max(1, step.step().batch()), launch);
    }
    long firstKernel = step.startNs()[copies];
    long launchAt = firstKernel - Math.min(55_000, (firstKernel - step.startNs()[copies - 1]) / 2);
    int graphLaunch =
        graph ? runtime("cudaGraphLaunch", 311, launchAt, firstKernel - launchAt - 2_000, true) : 0;
    for (int i = copies; i < n - 1; i++) {
      int launch = graphLaunch;
      if (!graph) {
        long ahead = Math.min(begin + 6_000 + (i - copies) * 4_000L, step.startNs()[i] - 6_000);
        launch = runtime("cudaLaunchKernel", 211, Math.max(begin + 1_000, ahead), 900, true);
      }
      kernel(step, i, launch, !graph);
    }
    long copyOut = step.startNs()[n - 1];
    host("cpu_op", "aten::to", firstKernel + 2_000, end - 1_000);
    host("cpu_op", "aten::_to_copy", firstKernel + 3_000, end - 1_500);
    host("cpu_op", "aten::copy_", firstKernel + 4_000, end - 2_000);
    int back = runtime("cudaMemcpyAsync", 41, copyOut - 9_000, 7_000, true);
    runtime("cudaStreamSynchronize", 131, copyOut - 1_500, end - copyOut - 1_000, false);
    copy(step, n - 1, "Memcpy DtoH (Device -> Pinned)", 4 * Math.max(1, step.step().batch()), back);
    text.append(head("gpu_user_annotation", name, rank, STREAM));
    // Kineto widens GPU annotations by one nanosecond on each side.
    span(step.startNs()[0] - 1, step.endNs() + 1);
    text.append(",\n    \"args\": {\n      \"External id\": ")
        .append(annotation)
        .append("\n    }\n  },\n");
  }

  /** An event of the host thread; returns its external id. */
  private int host(String category, String name, long from, long to) {
    int id = ++externalId;
    text.append(head(category, name, pid, pid));
    span(from, to);
    text.append(",\n    \"args\": {\n      \"External id\": ").append(id);
    text.append(",\"Record function id\": 0, \"Ev Idx\": ")
        .append(id - 1)
        .append("\n    }\n  },\n");
    return id;
  }

  /** A runtime call, and the start of its flow; returns its correlation id. */
  private int runtime(String name, int cbid, long at, long duration, boolean flow) {
    int id = ++correlation;
    text.append(head("cuda_runtime", name, pid, pid));
    span(at, at + Math.max(100, duration));
    text.append(",\n    \"args\": {\n      \"cbid\": ").append(cbid);
    text.append(", \"correlation\": ").append(id).append("\n    }\n  },\n");
    if (flow) {
      flow("s", id, pid, pid, at, "");
    }
    return id;
  }

  private void flow(String kind, int id, int process, int thread, long at, String more) {
    text.append("  {\n    \"ph\": \"").append(kind).append("\", \"id\": ").append(id);
    text.append(", \"pid\": ").append(process).append(", \"tid\": ").append(thread);
    text.append(", \"ts\": ");
    micros(originNs + at);
    text.append(",\n    \"cat\": \"ac2g\", \"name\": \"ac2g\"").append(more).append("\n  },\n");
  }

  private void kernel(TracePlan.RankStep step, int i, int launch, boolean withArguments) {
    int k = step.kernel()[i];
    text.append(kernelHead[k]);
    span(step.startNs()[i], step.startNs()[i] + step.durationNs()[i]);
    text.append(",\n    \"args\": {\n      \"queued\": 0, \"device\": ").append(rank);
    text.append(", \"context\": 1,\n      \"stream\": ").append(STREAM);
    text.append(", \"correlation\": ").append(launch).append(",\n      ").append(kernelTail[k]);
    if (withArguments && scenario.trace().kernels().get(k).name().startsWith("nccl")) {
      long elements = (long) scenario.hiddenSize() * Math.max(1, tokens(step.step()));
      text.append(", \"Collective name\": \"allreduce\", \"In msg nelems\": ").append(elements);
      text.append(", \"Out msg nelems\": ").append(elements).append(", \"Group size\": ");
      text.append(scenario.gpus().count()).append(", \"dtype\": \"BFloat16\"");
      text.append(", \"Process Group Name\": \"0\", \"Process Group Description\": \"default_pg\"");
    }
    text.append("\n    }\n  },\n");
    flow("f", launch, rank, STREAM, step.startNs()[i], ", \"bp\": \"e\"");
  }

  private static int tokens(Engine.Step step) {
    return step.contextTokens() + step.generations();
  }

  private void copy(TracePlan.RankStep step, int i, String name, int bytes, int launch) {
    text.append(head("gpu_memcpy", name, rank, STREAM));
    span(step.startNs()[i], step.startNs()[i] + step.durationNs()[i]);
    double rate = (double) bytes / Math.max(1, step.durationNs()[i]);
    text.append(",\n    \"args\": {\n      \"device\": ").append(rank).append(", \"context\": 1,");
    text.append("\n      \"stream\": ").append(STREAM).append(", \"correlation\": ").append(launch);
    text.append(",\n      \"bytes\": ").append(bytes).append(", \"memory bandwidth (GB/s)\": ");
    text.append(rate).append("\n    }\n  },\n");
    flow("f", launch, rank, STREAM, step.startNs()[i], ", \"bp\": \"e\"");
  }

  private void span(long from, long to) {
    micros(originNs + from);
    text.append(", \"dur\": ");
    micros(Math.max(0, to - from));
  }

  /** Nanoseconds as microseconds with three decimals, never through a double. */
  private void micros(long ns) {
    text.append(ns / 1000).append('.');
    long rest = ns % 1000;
    text.append((char) ('0' + rest / 100)).append((char) ('0' + rest / 10 % 10));
    text.append((char) ('0' + rest % 10));
  }

  private void end(List<TracePlan.RankStep> steps, Path file) {
    long last = steps.getLast().endNs() + 500_000;
    named("process_name", pid, 0, "\"name\": \"VLLM::Worker_TP" + rank + "\"");
    named("process_labels", pid, 0, "\"labels\": \"CPU\"");
    named("process_name", rank, 0, "\"name\": \"VLLM::Worker_TP" + rank + "\"");
    named("process_labels", rank, 0, "\"labels\": \"GPU " + rank + "\"");
    named("thread_name", rank, STREAM, "\"name\": \"stream " + STREAM + " \"");
    named("thread_name", pid, pid, "\"name\": \"thread " + pid + " (VLLM::Worker_TP)\"");
    text.append("  {\n    \"ph\": \"X\", \"cat\": \"Trace\", \"ts\": ");
    span(0, last);
    text.append(",\n    \"pid\": \"Spans\", \"tid\": \"PyTorch Profiler\",");
    text.append(
        "\n    \"name\": \"PyTorch Profiler (0)\",\n    \"args\": {\n      \"Op count\": 0\n    }\n  },\n");
    text.append("  {\n    \"name\": \"Record Window End\", \"ph\": \"i\", \"s\": \"g\",");
    text.append("\n    \"pid\": \"\", \"tid\": \"\", \"ts\": ");
    micros(originNs + last);
    text.append("\n  }\n  ],\n  \"traceName\": \"");
    text.append(file.toString().replace(".tmp", "")).append("\"\n}\n");
  }

  private void named(String kind, int process, int thread, String args) {
    text.append("  {\n    \"name\": \"").append(kind).append("\", \"ph\": \"M\", \"ts\": ");
    micros(originNs);
    text.append(", \"pid\": ").append(process).append(", \"tid\": ").append(thread);
    text.append(",\n    \"args\": {\n      ").append(args).append("\n    }\n  },\n");
  }
}
