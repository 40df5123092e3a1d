package dev.plumbline.microbench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.plumbline.schemas.host.Reading;
import dev.plumbline.schemas.micro.MicroOperation;
import dev.plumbline.schemas.micro.MicroReport.Result;
import dev.plumbline.workerkit.NvidiaSmi;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ProbeOutputTest {

  private final List<String> notes = new ArrayList<>();
  private final ProbeOutput output =
      new ProbeOutput((done, total, note) -> notes.add(done + "/" + total + " " + note));

  private static final String RESULT =
      """
      {"kind":"result","name":"up","operation":"gemm","shape":{"m":1,"n":512,"k":7168},"dtype":"bf16",\
      "kernel":"nvjet","repeats":10,"warmup":3,"medianUs":6.8,"minUs":6.7,"maxUs":6.9,"p95Us":6.85,\
      "gbPerS":1082.4,"tflopPerS":1.08,"valid":true,"reasons":[]}""";

  @Test
  void readsWhatTheProbeSays() {
    output.accept(
        "{\"kind\":\"hello\",\"probe\":\"0.1.0\",\"torch\":null,\"gpus\":8,\"capabilities\":[\"gemm\",\"copy\"]}");
    output.accept("{\"kind\":\"progress\",\"done\":1,\"total\":2,\"note\":\"up\"}");
    output.accept(RESULT);
    output.accept("{\"kind\":\"trace\",\"rank\":3,\"path\":\"/t/r3.json.gz\",\"bytes\":42}");
    output.accept("{\"kind\":\"done\",\"results\":1}");
    assertThat(output.hello())
        .isEqualTo(
            Map.of("probe", "0.1.0", "torch", "none", "gpus", "8", "capabilities", "gemm, copy"));
    assertThat(notes).containsExactly("1/2 up");
    Result result = output.results().getFirst();
    assertThat(result.medianUs()).isEqualTo(6.8);
    assertThat(result.shape()).containsEntry("k", 7168L);
    assertThat(result.valid()).isTrue();
    assertThat(output.traces()).containsExactly(new ProbeOutput.Trace(3, "/t/r3.json.gz", 42));
    assertThat(output.done()).isTrue();
    assertThat(output.strangeLines()).isZero();
  }

  @Test
  void countsWhatItDoesNotUnderstandAndGoesOn() {
    output.accept("NCCL version 2.27");
    output.accept("");
    output.accept("[1, 2]");
    output.accept("{\"kind\":\"weather\"}");
    output.accept("{\"kind\":\"result\",\"shape\":\"none\"}");
    output.accept(RESULT);
    assertThat(output.strangeLines()).isEqualTo(4);
    assertThat(output.results()).hasSize(1);
    assertThat(output.hello()).containsEntry("linesNotUnderstood", "4");
  }

  @Test
  void aResultWithoutTimeAndReasonIsNoResult() {
    output.accept("{\"kind\":\"result\",\"name\":\"x\",\"valid\":true}");
    output.accept("{\"kind\":\"result\",\"name\":\"y\",\"medianUs\":0,\"valid\":true}");
    output.accept(
        "{\"kind\":\"result\",\"name\":\"z\",\"unavailable\":\"no torch\",\"valid\":true}");
    assertThat(output.results()).noneMatch(Result::valid);
    assertThat(output.results())
        .extracting(Result::unavailable)
        .containsExactly(
            "the probe gave neither a time nor a reason",
            "the probe gave neither a time nor a reason",
            "no torch");
  }

  private static MicroOperation operation(String name) {
    return new MicroOperation(name, "gemm", Map.of("m", 1L), "bf16", 4, null);
  }

  @Test
  void eachOperationAskedIsAnswered() {
    output.accept(RESULT);
    List<Result> results =
        MicroBench.results(
            List.of(operation("down"), operation("up")),
            new ProbeRun.Outcome(output, "the probe ended with status 137 before it was done"),
            List.of());
    assertThat(results).extracting(Result::name).containsExactly("down", "up");
    assertThat(results.get(0).unavailable()).contains("status 137");
    assertThat(results.get(0).countPerStep()).isEqualTo(4);
    assertThat(results.get(1).valid()).isTrue();
  }

  @Test
  void aNumberTakenBesideAnotherProcessIsKeptAndMarked() {
    output.accept(RESULT);
    Result result =
        MicroBench.results(
                List.of(operation("up")),
                new ProbeRun.Outcome(output, null),
                List.of(new NvidiaSmi.Process("GPU-1", 77, "train", Reading.of(5))))
            .getFirst();
    assertThat(result.medianUs()).isEqualTo(6.8);
    assertThat(result.valid()).isFalse();
    assertThat(result.reasons()).containsExactly("another process held the GPU: 77 (train)");
  }
}
