"""Tests of the probe: python3 -m unittest discover -s src/test/python (standard library only)."""

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
PROBE = os.path.normpath(os.path.join(HERE, "..", "..", "..", "probe", "plumbline_probe.py"))
sys.path.insert(0, os.path.dirname(PROBE))
sys.dont_write_bytecode = True
import plumbline_probe as probe  # noqa: E402

# Without site packages: the interpreter that every host has.
BARE = [sys.executable, "-S", "-E", "-u", PROBE]


def ask(request, *more):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "request.json")
        with open(path, "w") as file:
            file.write(request if isinstance(request, str) else json.dumps(request))
        done = subprocess.run(BARE + ["--request", path, *more],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    return done.returncode, [json.loads(line) for line in done.stdout.decode().splitlines()]


def operation(name, kind, dtype="int8", **shape):
    return {"name": name, "operation": kind, "dtype": dtype, "shape": shape}


class Statistics(unittest.TestCase):

    def test_quantiles_lie_between_the_sorted_values(self):
        self.assertEqual(probe.quantile([4, 1, 3, 2], 0.5), 2.5)
        self.assertEqual(probe.quantile([5], 0.95), 5)
        # 0.95 * 10 = 9.5: half way between the last two.
        self.assertAlmostEqual(probe.quantile(list(range(11)), 0.95), 9.5)

    def test_a_wide_spread_is_not_valid(self):
        self.assertEqual(probe.Measured([1.0] * 10, 3).fields()["valid"], True)
        fields = probe.Measured([1.0] * 9 + [3.0], 3).fields()
        # p95 of these ten is at 8.55: 1 + 0.55 * 2 = 2.1.
        self.assertFalse(fields["valid"])
        self.assertEqual(fields["reasons"], ["p95 is 2.10 times the median, more than 1.25"])

    def test_rates(self):
        fields = probe.Measured([0.001] * 3, 3, moved_bytes=2_000_000, flops=4e9,
                                bus_factor=1.75).fields()
        self.assertAlmostEqual(fields["medianUs"], 1000)
        self.assertAlmostEqual(fields["gbPerS"], 2.0)
        self.assertAlmostEqual(fields["tflopPerS"], 4.0)
        self.assertAlmostEqual(fields["busGbPerS"], 3.5)


class FakeGpu:
    """Says what the test wants it to say of clocks, counters and processes."""

    def __init__(self, clocks=(1980,), violations=({}, {}), listed=frozenset()):
        self.foreign = set()
        self.own = {7}
        self.clocks = list(clocks)
        self.counters = list(violations)
        self.listed = set(listed)

    def clock(self):
        return self.clocks.pop(0) if len(self.clocks) > 1 else self.clocks[0]

    def violations(self):
        return self.counters.pop(0)

    def processes(self):
        return self.listed


class Validity(unittest.TestCase):

    def reasons(self, gpu):
        with probe.Watching(gpu) as watching:
            pass
        return watching.reasons

    def test_a_quiet_gpu_has_no_reasons(self):
        self.assertEqual(self.reasons(FakeGpu(listed={7})), [])

    def test_a_moving_throttle_counter(self):
        gpu = FakeGpu(violations=({"power": 1000, "thermal": 5}, {"power": 61000, "thermal": 5}))
        self.assertEqual(self.reasons(gpu), ["the power throttle counter moved by 60 us"])

    def test_a_drifting_clock(self):
        self.assertEqual(self.reasons(FakeGpu(clocks=(1980, 1530))),
                         ["the SM clock went from 1980 to 1530 MHz"])
        self.assertEqual(self.reasons(FakeGpu(clocks=(1980, 1900))), [])

    def test_another_process(self):
        self.assertEqual(self.reasons(FakeGpu(listed={7, 99})),
                         ["another process held the GPU: 99"])


class PlainPython(unittest.TestCase):

    def test_measures_what_it_can_and_says_why_not_the_rest(self):
        status, lines = ask({"device": "cpu", "repeats": 3, "timeLimitSeconds": 30, "operations": [
            dict(operation("copy", "copy", elements=65536), countPerStep=2, component="memcpy"),
            operation("gemm", "gemm", dtype="bf16", m=1, n=16, k=32),
            operation("large", "gemm", m=4096, n=4096, k=4096),
            operation("ring", "all_reduce", elements=4),
            operation("odd", "copy", dtype="int3", elements=4),
            operation("no", "copy")]})
        self.assertEqual(status, 0)
        self.assertEqual(lines[0]["kind"], "hello")
        self.assertIsNone(lines[0]["torch"])
        results = {line["name"]: line for line in lines if line["kind"] == "result"}
        self.assertEqual(list(results), ["copy", "gemm", "large", "ring", "odd", "no"])
        copy = results["copy"]
        self.assertGreater(copy["medianUs"], 0)
        self.assertLessEqual(copy["minUs"], copy["medianUs"])
        self.assertLessEqual(copy["medianUs"], copy["p95Us"])
        # Read once and written once.
        self.assertAlmostEqual(copy["gbPerS"] * copy["medianUs"] * 1e3, 131072, delta=1)
        self.assertEqual((copy["countPerStep"], copy["component"]), (2, "memcpy"))
        # What is measured is named, not what was asked.
        self.assertEqual(results["gemm"]["dtype"], "fp64")
        for name in ("large", "ring"):
            self.assertIn("torch cannot be imported", results[name]["unavailable"])
            self.assertFalse(results[name]["valid"])
        self.assertIn("int3", results["odd"]["unavailable"])
        self.assertIn("elements", results["no"]["unavailable"])
        self.assertEqual(lines[-1], {"kind": "done", "results": 6})

    def test_no_cuda_without_torch(self):
        status, lines = ask({"device": "cuda", "operations": [operation("c", "copy", elements=4)]})
        self.assertEqual(status, 0)
        self.assertIn("torch cannot be imported",
                      [line for line in lines if line["kind"] == "result"][0]["unavailable"])

    def test_a_trace_needs_torch(self):
        status, lines = ask({"device": "cpu", "measure": False,
                             "operations": [operation("c", "copy", elements=4)],
                             "decode": {"batch": 1, "steps": 2, "traceDir": "/nowhere"}})
        self.assertEqual(status, 1)
        self.assertEqual(lines[-1]["kind"], "error")
        self.assertIn("no trace", lines[-1]["message"])

    def test_the_time_limit_leaves_no_operation_unanswered(self):
        status, lines = ask({"device": "cpu", "timeLimitSeconds": 0.0001, "operations": [
            operation("a", "copy", elements=4), operation("b", "copy", elements=4)]})
        self.assertEqual(status, 0)
        for line in lines:
            if line["kind"] == "result":
                self.assertIn("time limit", line["unavailable"])
        self.assertEqual(lines[-1]["results"], 2)


class BadRequests(unittest.TestCase):

    def test_each_gives_one_sentence_and_status_2(self):
        one = [operation("a", "copy", elements=4)]
        for request, words in (
                ("{", "cannot read"),
                ("[]", "not a JSON object"),
                ({"operations": one}, "device"),
                ({"device": "tpu", "operations": one}, "device"),
                ({"device": "cpu", "repeats": "many", "operations": one}, "repeats"),
                ({"device": "cpu", "gpus": -1, "operations": one}, "gpus"),
                ({"device": "cpu", "operations": one + one}, "two operations"),
                ({"device": "cpu", "operations": [{"name": "x"}]}, "needs a name"),
                ({"device": "cpu", "operations": [operation("x", "copy", elements=-4)]}, "positive"),
                ({"device": "cpu", "operations": [operation("x", "copy", elements=True)]}, "positive"),
                ({"device": "cpu", "operations": one, "decode": {}}, "traceDir")):
            status, lines = ask(request)
            self.assertEqual(status, 2, request)
            self.assertEqual([line["kind"] for line in lines], ["error"])
            self.assertIn(words, lines[0]["message"])


class Process(unittest.TestCase):

    def test_self_test_and_version(self):
        done = subprocess.run(BARE + ["--self-test"], stdout=subprocess.PIPE, timeout=60)
        self.assertEqual(done.returncode, 0)
        self.assertTrue(done.stdout.decode().startswith("plumbline_probe " + probe.VERSION))
        done = subprocess.run(BARE + ["--version"], stdout=subprocess.PIPE, timeout=60)
        self.assertEqual(done.stdout.decode().strip(), "plumbline_probe " + probe.VERSION)

    def test_sigterm_ends_it_at_once(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "request.json")
            with open(path, "w") as file:
                json.dump({"device": "cpu", "repeats": 10000, "timeLimitSeconds": 600,
                           "operations": [operation("c", "copy", elements=1 << 20)]}, file)
            run = subprocess.Popen(BARE + ["--request", path], stdout=subprocess.PIPE)
            self.assertIn(b"hello", run.stdout.readline())
            begin = time.monotonic()
            run.send_signal(signal.SIGTERM)
            run.communicate(timeout=30)
            self.assertEqual(run.returncode, 143)
            self.assertLess(time.monotonic() - begin, 20)

    def test_numbers_that_json_does_not_know_are_never_printed(self):
        with contextlib.redirect_stdout(io.StringIO()):
            with self.assertRaises(ValueError):
                probe.emit("result", medianUs=float("nan"))


if __name__ == "__main__":
    unittest.main()
