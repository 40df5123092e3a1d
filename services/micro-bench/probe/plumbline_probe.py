#!/usr/bin/env python3
"""Plumbline's probe: times single operations of a model's decode step on this machine.

  plumbline_probe.py --request FILE [--trace-dir DIR]
  plumbline_probe.py --self-test | --version

The request is JSON: {"device": "cuda" or "cpu", "gpus": 8, "repeats": 10, "timeLimitSeconds": 60,
"operations": [{"name", "operation", "shape": {...}, "dtype", "countPerStep", "component"}],
"measure": false to only shape the traced step, "decode": {"batch", "steps", "traceDir"}}.
The answer is JSON, one object a line, on standard output: hello, progress, result, trace, error,
done. Standard error is for people. Exit status: 0 done, 1 failed, 2 bad request, 143 told to stop.

Needs Python 3.8. Uses torch where it can be imported; without it, copies and small matrix products
are timed in plain Python, and everything else is answered as unavailable, with the reason.
Every number is measured: nothing here is estimated or kept from another run.
"""

import argparse
import array
import ctypes
import json
import math
import os
import platform
import signal
import subprocess
import sys
import tempfile
import threading
import time

VERSION = "0.1.0"
BYTES = {
    "fp64": 8, "fp32": 4, "bf16": 2, "fp16": 2, "fp8": 1, "int8": 1, "int4": 0.5,
}
SPREAD_LIMIT = 1.25  # p95 over median
CLOCK_DRIFT_LIMIT = 0.05
WARM_UP_SECONDS = 0.2
WARM_UP_RUNS = 3
REPEAT_SECONDS = 0.004  # one timed repeat holds enough calls to last this long
PURE_GEMM_LIMIT = 4_000_000  # multiplications that plain Python does in well under a second


class Unavailable(Exception):
    """This operation cannot be measured here; the text says why."""


class BadRequest(Exception):
    pass


def emit(kind, **fields):
    print(json.dumps({"kind": kind, **fields}, allow_nan=False), flush=True)


# --- Statistics -------------------------------------------------------------------------------


def quantile(values, q):
    """Linear between the two nearest of the sorted values."""
    ordered = sorted(values)
    position = (len(ordered) - 1) * q
    low = math.floor(position)
    high = math.ceil(position)
    return ordered[low] + (ordered[high] - ordered[low]) * (position - low)


def spread_reasons(times):
    median = quantile(times, 0.5)
    ratio = quantile(times, 0.95) / median if median > 0 else math.inf
    if ratio > SPREAD_LIMIT:
        return ["p95 is %.2f times the median, more than %.2f" % (ratio, SPREAD_LIMIT)]
    return []


class Measured:
    """Times of one call in seconds, and what one call moves and computes."""

    def __init__(self, times, warm_up, moved_bytes=None, flops=None, kernel=None, dtype=None,
                 bus_factor=None, reasons=()):
        self.times = times
        self.warm_up = warm_up
        self.moved_bytes = moved_bytes
        self.flops = flops
        self.kernel = kernel
        self.dtype = dtype
        self.bus_factor = bus_factor
        self.reasons = list(reasons)

    def fields(self):
        median = quantile(self.times, 0.5)
        reasons = self.reasons + spread_reasons(self.times)
        fields = {
            "kernel": self.kernel,
            "repeats": len(self.times),
            "warmup": self.warm_up,
            "medianUs": median * 1e6,
            "minUs": min(self.times) * 1e6,
            "maxUs": max(self.times) * 1e6,
            "p95Us": quantile(self.times, 0.95) * 1e6,
            "valid": not reasons,
            "reasons": reasons,
        }
        if self.dtype:
            fields["dtype"] = self.dtype
        if self.moved_bytes and median > 0:
            fields["gbPerS"] = self.moved_bytes / median / 1e9
        if self.flops and median > 0:
            fields["tflopPerS"] = self.flops / median / 1e12
        if self.bus_factor is not None and "gbPerS" in fields:
            fields["busGbPerS"] = fields["gbPerS"] * self.bus_factor
        return {key: value for key, value in fields.items() if value is not None}


def time_on_host(call, repeats, deadline):
    """Repeats of many calls each, by the host's monotonic clock; returns (times, warm-up runs)."""
    started = time.perf_counter()
    runs = 0
    while runs < WARM_UP_RUNS or time.perf_counter() - started < WARM_UP_SECONDS:
        call(runs)
        runs += 1
        if time.monotonic() > deadline:
            raise Unavailable("the time limit was reached while warming up")
        if runs >= WARM_UP_RUNS and time.perf_counter() - started > 2:
            break
    # The first calls may compile or page in: what one costs now is measured now.
    begin = time.perf_counter()
    for i in range(WARM_UP_RUNS):
        call(i)
    one = (time.perf_counter() - begin) / WARM_UP_RUNS
    inner = max(1, min(10_000, math.ceil(5 * REPEAT_SECONDS / max(one, 1e-9))))
    times = []
    for _ in range(repeats):
        begin = time.perf_counter_ns()
        for i in range(inner):
            call(i)
        times.append((time.perf_counter_ns() - begin) / inner / 1e9)
        if time.monotonic() > deadline:
            break
    return times, runs


# --- Shapes -----------------------------------------------------------------------------------


def dimension(operation, key, default=None):
    value = (operation.get("shape") or {}).get(key, default)
    if value is None:
        raise Unavailable("the shape does not say %s" % key)
    return value


def element_bytes(operation):
    dtype = operation.get("dtype") or "bf16"
    if dtype not in BYTES:
        raise Unavailable("the dtype %s is not known" % dtype)
    return BYTES[dtype]


# --- Plain Python -----------------------------------------------------------------------------


class PlainPython:
    """Real work on the CPU with the standard library only."""

    name = "plain Python"
    capabilities = ["copy", "gemm"]

    def __init__(self, device, why):
        self.device = device
        self.why = why

    def measure(self, operation, request, deadline):
        if self.device != "cpu":
            raise Unavailable(self.why)
        if operation["operation"] == "copy":
            return self.copy(operation, request, deadline)
        if operation["operation"] == "gemm":
            return self.gemm(operation, request, deadline)
        raise Unavailable(self.why)

    def copy(self, operation, request, deadline):
        size = int(dimension(operation, "elements") * element_bytes(operation))
        source = memoryview(bytearray(os.urandom(min(size, 1 << 20)) * (size // (1 << 20) + 1))[:size])
        target = memoryview(bytearray(size))

        def call(_):
            target[:] = source

        times, warm_up = time_on_host(call, request["repeats"], deadline)
        return Measured(times, warm_up, moved_bytes=2 * size, kernel="memoryview copy")

    def gemm(self, operation, request, deadline):
        m, n, k = (dimension(operation, key) for key in "mnk")
        if m * n * k > PURE_GEMM_LIMIT:
            raise Unavailable(
                "%d x %d x %d is more than plain Python multiplies in time; %s" % (m, n, k, self.why))
        left = [array.array("d", [(i * k + j) % 7 - 3.0 for j in range(k)]) for i in range(m)]
        right = [array.array("d", [(i * n + j) % 5 - 2.0 for i in range(k)]) for j in range(n)]

        def call(_):
            return [[sum(map(float.__mul__, row, column)) for column in right] for row in left]

        times, warm_up = time_on_host(call, request["repeats"], deadline)
        return Measured(times, warm_up, moved_bytes=8 * (m * k + k * n + m * n),
                        flops=2 * m * n * k, kernel="sum of float products", dtype="fp64")


# --- Watching the GPU -------------------------------------------------------------------------


class GpuWatch:
    """Clocks and throttle counters through NVML, and who else holds the GPU."""

    SM_CLOCK = 1
    VIOLATIONS = {"power": 0, "thermal": 1, "board limit": 3, "reliability": 5}

    class ViolationTime(ctypes.Structure):
        _fields_ = [("reference", ctypes.c_ulonglong), ("violation", ctypes.c_ulonglong)]

    def __init__(self):
        self.nvml = None
        self.handle = None
        self.own = set()
        self.foreign = self.processes()
        try:
            self.nvml = ctypes.CDLL("libnvidia-ml.so.1")
            if self.nvml.nvmlInit_v2() != 0:
                self.nvml = None
        except (OSError, AttributeError):
            self.nvml = None

    def watch(self, uuid, index):
        """Called once the CUDA context exists: what holds the GPU now and did not before is ours."""
        self.own = self.processes() - self.foreign
        if self.nvml is None:
            return
        handle = ctypes.c_void_p()
        name = ("GPU-" + str(uuid)).encode() if uuid else None
        if name is None or self.nvml.nvmlDeviceGetHandleByUUID(name, ctypes.byref(handle)) != 0:
            if self.nvml.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(handle)) != 0:
                return
        self.handle = handle

    @staticmethod
    def processes():
        """Pids as the driver lists them: the host's, which inside a container are not ours."""
        try:
            listed = subprocess.run(
                ["nvidia-smi", "--query-compute-apps=pid", "--format=csv,noheader"],
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=20, check=True)
            return {int(pid) for pid in listed.stdout.decode().split() if pid.isdigit()}
        except (OSError, subprocess.SubprocessError, ValueError):
            return set()

    def clock(self):
        value = ctypes.c_uint()
        if self.handle and self.nvml.nvmlDeviceGetClockInfo(
                self.handle, self.SM_CLOCK, ctypes.byref(value)) == 0:
            return value.value
        return None

    def violations(self):
        values = {}
        for name, number in self.VIOLATIONS.items():
            value = self.ViolationTime()
            if self.handle and self.nvml.nvmlDeviceGetViolationStatus(
                    self.handle, number, ctypes.byref(value)) == 0:
                values[name] = value.violation
        return values

    def during(self):
        return Watching(self)


class Watching:
    """The clock while something is timed."""

    def __init__(self, gpu):
        self.gpu = gpu
        self.clocks = []
        self.stop = threading.Event()
        self.reasons = []

    def __enter__(self):
        self.before = self.gpu.violations()
        self.sample()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()
        return self

    def sample(self):
        clock = self.gpu.clock()
        if clock:
            self.clocks.append(clock)

    def run(self):
        while not self.stop.wait(0.005):
            self.sample()

    def __exit__(self, *_):
        self.sample()
        self.stop.set()
        self.thread.join()
        after = self.gpu.violations()
        for name, value in after.items():
            if value > self.before.get(name, value):
                self.reasons.append("the %s throttle counter moved by %.0f us"
                                    % (name, (value - self.before[name]) / 1000))
        if self.clocks and (max(self.clocks) - min(self.clocks)) > CLOCK_DRIFT_LIMIT * max(self.clocks):
            self.reasons.append("the SM clock went from %d to %d MHz" % (max(self.clocks), min(self.clocks)))
        foreign = self.gpu.foreign | (self.gpu.processes() - self.gpu.own)
        if foreign:
            self.reasons.append("another process held the GPU: "
                                + ", ".join(str(pid) for pid in sorted(foreign)))
        return False


# --- torch ------------------------------------------------------------------------------------


class Torch:
    """Operations by torch, on CUDA or the CPU."""

    def __init__(self, torch, device, watch=None, index=0):
        self.torch = torch
        self.device = device
        self.cuda = device == "cuda"
        self.watch = watch
        self.at = torch.device("cuda", index) if self.cuda else torch.device("cpu")
        self.name = "torch " + torch.__version__
        self.capabilities = ["copy", "gemm", "launch", "attention", "moe", "all_reduce"]
        self.noted = False
        try:
            if self.cuda:
                import vllm  # noqa: F401
                self.capabilities.append("quantized_gemm")
        except Exception:  # a broken installation may raise anything
            pass

    def dtype(self, operation):
        names = {"fp64": "float64", "fp32": "float32", "bf16": "bfloat16", "fp16": "float16",
                 "int8": "int8"}
        dtype = operation.get("dtype") or "bf16"
        if dtype not in names:
            raise Unavailable("torch has no plain %s here" % dtype)
        return getattr(self.torch, names[dtype])

    def random(self, operation, *shape):
        dtype = self.dtype(operation)
        if dtype == self.torch.int8:
            return self.torch.randint(-8, 8, shape, dtype=dtype, device=self.at)
        return self.torch.randn(shape, device=self.at, dtype=self.torch.float32).to(dtype)

    def copies(self, size):
        """So many sets of weights that each call finds its own cold, as in a real model."""
        if not self.cuda:
            return 1
        properties = self.torch.cuda.get_device_properties(self.at)
        cache = getattr(properties, "L2_cache_size", 0) or 64 << 20
        free = self.torch.cuda.mem_get_info(self.at)[0]
        if size * 2 > free:
            raise Unavailable("needs %.1f GB and %.1f GB are free" % (size / 1e9, free / 1e9))
        return max(1, min(64, math.ceil(3 * cache / max(size, 1)), int(free * 0.5 // max(size, 1))))

    def builders(self):
        return {
            "gemm": self.gemm, "copy": self.copy, "launch": self.launch,
            "attention": self.attention, "moe": self.moe, "quantized_gemm": self.quantized_gemm,
        }

    def build(self, operation):
        """Returns (call(i), bytes moved, floating point operations)."""
        kind = operation["operation"]
        if kind not in self.builders():
            raise Unavailable("operation %s is not known to this probe" % kind)
        return self.builders()[kind](operation)

    def gemm(self, operation):
        m, n, k = (dimension(operation, key) for key in "mnk")
        size = element_bytes(operation)
        sets = self.copies(n * k * size)
        x = self.random(operation, m, k)
        weights = [self.random(operation, n, k) for _ in range(sets)]
        if self.dtype(operation) == self.torch.int8:
            raise Unavailable("an int8 product needs a quantised kernel: ask for quantized_gemm")
        linear = self.torch.nn.functional.linear
        return (lambda i: linear(x, weights[i % sets]),
                size * (m * k + n * k + m * n), 2 * m * n * k)

    def copy(self, operation):
        elements = dimension(operation, "elements")
        size = elements * element_bytes(operation)
        sets = self.copies(2 * size)
        sources = [self.random(operation, elements) for _ in range(sets)]
        targets = [self.torch.empty_like(source) for source in sources]
        return lambda i: targets[i % sets].copy_(sources[i % sets]), 2 * size, None

    def launch(self, operation):
        x = self.torch.zeros(1, device=self.at)
        return lambda i: x.add_(1), None, None

    def attention(self, operation):
        batch = dimension(operation, "batch", dimension(operation, "m", 1))
        heads = dimension(operation, "heads")
        kv_heads = dimension(operation, "kvHeads", heads)
        context = dimension(operation, "context")
        width = dimension(operation, "headDim", 128)
        size = element_bytes(operation)
        kv_bytes = 2 * batch * kv_heads * context * width * size
        sets = self.copies(kv_bytes)
        query = self.random(operation, batch, heads, 1, width)
        keys = [self.random(operation, batch, kv_heads, context, width) for _ in range(sets)]
        values = [self.random(operation, batch, kv_heads, context, width) for _ in range(sets)]
        attend = self.torch.nn.functional.scaled_dot_product_attention
        more = {"enable_gqa": True} if kv_heads != heads else {}
        return (lambda i: attend(query, keys[i % sets], values[i % sets], **more),
                kv_bytes + 2 * batch * heads * width * size,
                4 * batch * heads * context * width)

    def moe(self, operation):
        """Up and down projection of the chosen experts of each token, as batched products."""
        m, n, k = (dimension(operation, key) for key in "mnk")
        experts = dimension(operation, "experts")
        top = min(dimension(operation, "topK", 8), experts)
        size = element_bytes(operation)
        self.copies(experts * 2 * n * k * size)
        up = self.random(operation, experts, n, k)
        down = self.random(operation, experts, k, n)
        x = self.random(operation, m, k)
        torch = self.torch
        chosen = [torch.rand(m, experts, device=self.at).topk(top).indices.flatten() for _ in range(16)]
        rows = torch.arange(m, device=self.at).repeat_interleave(top)

        def call(i):
            ids = chosen[i % 16]
            hidden = torch.bmm(up[ids], x[rows].unsqueeze(2))
            return torch.bmm(down[ids], torch.nn.functional.silu(hidden)).view(m, top, k).sum(1)

        return call, size * m * top * 2 * n * k, 4 * m * top * n * k

    def quantized_gemm(self, operation):
        """vLLM's Marlin kernel, W4A16; whatever goes wrong in it is the answer."""
        if not self.cuda:
            raise Unavailable("needs CUDA")
        m, n, k = (dimension(operation, key) for key in "mnk")
        group = dimension(operation, "group", 128)
        if (operation.get("dtype") or "int4") != "int4":
            raise Unavailable("only int4 weights with 16-bit activations are known")
        try:
            from vllm.model_executor.layers.quantization.utils import marlin_utils
            from vllm.model_executor.layers.quantization.utils.marlin_utils_test import marlin_quantize
            from vllm.scalar_type import scalar_types
        except Exception as trouble:
            raise Unavailable("vLLM's Marlin kernel cannot be imported: %s" % one_line(trouble))
        try:
            torch = self.torch
            sets = self.copies(n * k // 2)
            weights = [
                marlin_quantize(torch.randn(k, n, device=self.at, dtype=torch.half),
                                scalar_types.uint4b8, group, False)
                for _ in range(min(sets, 8))]
            workspace = marlin_utils.marlin_make_workspace_new(self.at)
            empty = torch.empty(0, dtype=torch.int, device=self.at)
            x = torch.randn(m, k, device=self.at, dtype=torch.half)

            def call(i):
                _, packed, scales, g_idx, order = weights[i % len(weights)][:5]
                return marlin_utils.apply_gptq_marlin_linear(
                    input=x, weight=packed, weight_scale=scales, weight_zp=empty, g_idx=g_idx,
                    g_idx_sort_indices=order, workspace=workspace, wtype=scalar_types.uint4b8,
                    output_size_per_partition=n, input_size_per_partition=k, is_k_full=True)

            call(0)
            torch.cuda.synchronize()
        except Exception as trouble:
            raise Unavailable("vLLM's Marlin kernel does not run: %s" % one_line(trouble))
        return call, n * k // 2 + 2 * (m * k + m * n) + 2 * n * k // group, 2 * m * n * k

    def measure(self, operation, request, deadline):
        if operation["operation"] == "all_reduce":
            raise AssertionError("all_reduce is measured by several ranks")
        torch = self.torch
        with torch.no_grad():
            call, moved, flops = self.build(operation)
            if not self.cuda:
                times, warm_up = time_on_host(call, request["repeats"], deadline)
                return Measured(times, warm_up, moved, flops, "aten on CPU")
            if operation["operation"] == "launch":
                times, warm_up, reasons = self.time_launches(call, request["repeats"])
            else:
                times, warm_up, reasons = self.time_on_device(call, request["repeats"], deadline)
            return Measured(times, warm_up, moved, flops, self.kernel(call), reasons=reasons)

    def warm_up(self, call, deadline=math.inf):
        started = time.perf_counter()
        runs = 0
        while runs < WARM_UP_RUNS or time.perf_counter() - started < WARM_UP_SECONDS:
            call(runs)
            runs += 1
            if runs % 16 == 0 or runs <= WARM_UP_RUNS:
                self.torch.cuda.synchronize()
            if time.monotonic() > deadline:
                raise Unavailable("the time limit was reached while warming up")
        self.torch.cuda.synchronize()
        # The first calls may compile: what one costs now is measured now.
        begin = time.perf_counter()
        for i in range(16):
            call(i)
        self.torch.cuda.synchronize()
        return runs, (time.perf_counter() - begin) / 16

    def time_on_device(self, call, repeats, deadline=math.inf):
        """CUDA events around replays of a graph of many calls: no launch of ours in between."""
        torch = self.torch
        warm_up, one = self.warm_up(call, deadline)
        inner = max(1, min(200, math.ceil(REPEAT_SECONDS / max(one, 1e-6))))
        try:
            stream = torch.cuda.Stream()
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                call(0)
            torch.cuda.current_stream().wait_stream(stream)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                for i in range(inner):
                    call(i)
            run = graph.replay
        except RuntimeError as trouble:
            print("no CUDA graph: %s" % one_line(trouble), file=sys.stderr)
            torch.cuda.synchronize()

            def run():
                for i in range(inner):
                    call(i)
        # The clock settles under this very load before anything is timed.
        settle = time.perf_counter()
        while time.perf_counter() - settle < WARM_UP_SECONDS:
            run()
            torch.cuda.synchronize()
        pairs = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True))
                 for _ in range(repeats)]
        watching = self.watch.during() if self.watch else None
        if watching:
            with watching:
                self.timed(run, pairs)
        else:
            self.timed(run, pairs)
        times = [begin.elapsed_time(end) / 1e3 / inner for begin, end in pairs]
        return times, warm_up, watching.reasons if watching else []

    def timed(self, run, pairs):
        run()
        for begin, end in pairs:
            begin.record()
            run()
            end.record()
        self.torch.cuda.synchronize()

    def time_launches(self, call, repeats):
        """What one launch costs the host, with the queue never full."""
        warm_up, _ = self.warm_up(call)
        times = []
        with (self.watch or GpuWatch()).during() as watching:
            for _ in range(repeats):
                self.torch.cuda.synchronize()
                begin = time.perf_counter_ns()
                for i in range(200):
                    call(i)
                times.append((time.perf_counter_ns() - begin) / 200 / 1e9)
        self.torch.cuda.synchronize()
        return times, warm_up, watching.reasons

    def kernel(self, call):
        """The kernel that takes the largest share of one call."""
        try:
            from torch.profiler import ProfilerActivity, profile
            with profile(activities=[ProfilerActivity.CUDA]) as profiled:
                call(0)
                self.torch.cuda.synchronize()
            longest = max((event for event in profiled.events()
                           if "CUDA" in str(event.device_type)),
                          key=lambda event: event.time_range.elapsed_us(), default=None)
            return longest.name if longest else None
        except Exception as trouble:  # a busy profiler must not cost the measurement
            print("no kernel name: %s" % one_line(trouble), file=sys.stderr)
            return None


def one_line(trouble):
    text = " ".join(("%s: %s" % (type(trouble).__name__, trouble)).split())
    return text[:300]


# --- Several ranks ----------------------------------------------------------------------------


def rank_count(torch, request):
    if request["device"] == "cuda":
        present = torch.cuda.device_count()
        return min(request.get("gpus") or present, present)
    return request.get("gpus") or 1


def run_ranks(request_path, task, ranks, children, seconds):
    """Starts one process a rank; returns the JSON lines of all of them."""
    with tempfile.TemporaryDirectory(prefix="plumbline-probe-") as folder:
        logs = []
        for rank in range(ranks):
            log = open(os.path.join(folder, "rank%d.err" % rank), "w+b")
            logs.append(log)
            children.append(subprocess.Popen(
                [sys.executable, "-u", os.path.abspath(__file__), "--request", request_path,
                 "--task", task, "--rank", str(rank), "--world", str(ranks),
                 "--meet", os.path.join(folder, "meet")],
                stdin=subprocess.DEVNULL, stdout=open(os.path.join(folder, "rank%d.out" % rank), "wb"),
                stderr=log))
        end = time.monotonic() + seconds
        failed = None
        while failed is None and any(child.poll() is None for child in children):
            failed = next((i for i, c in enumerate(children) if c.poll() not in (None, 0)), None)
            if time.monotonic() > end:
                stop(children)
                raise Unavailable("%d ranks did not end within %d s" % (ranks, seconds))
            time.sleep(0.05)
        failed = next((i for i, c in enumerate(children) if c.poll() not in (None, 0)), failed)
        stop(children)
        if failed is not None:
            logs[failed].seek(0)
            lines = logs[failed].read().decode(errors="replace").strip().splitlines()
            raise Unavailable("rank %d of %d failed: %s" % (failed, ranks, (lines or ["no message"])[-1][:300]))
        lines = []
        for rank in range(ranks):
            with open(os.path.join(folder, "rank%d.out" % rank), "rb") as out:
                lines += [json.loads(line) for line in out.read().decode().splitlines() if line]
        return lines


def stop(children):
    for child in children:
        if child.poll() is None:
            child.terminate()
    for child in children:
        try:
            child.wait(5)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
    children.clear()


def rank_main(arguments, request):
    """One rank of a measurement that needs several, or of a traced step."""
    import torch
    device = request["device"]
    if device == "cuda":
        torch.cuda.set_device(arguments.rank)
    if arguments.world > 1:
        import torch.distributed as dist
        dist.init_process_group(
            "nccl" if device == "cuda" else "gloo", init_method="file://" + arguments.meet,
            rank=arguments.rank, world_size=arguments.world)
    backend = Torch(torch, device, index=arguments.rank)
    if arguments.task == "all_reduce":
        rank_all_reduce(torch, backend, arguments, request)
    else:
        rank_decode(torch, backend, arguments, request)
    if arguments.world > 1:
        dist.destroy_process_group()


def all_reduce_call(torch, backend, operation):
    import torch.distributed as dist
    elements = dimension(operation, "elements")
    dtype = backend.dtype(operation)
    if backend.device == "cpu" and dtype in (torch.bfloat16, torch.float16):
        # gloo adds no 16-bit numbers on every version; the bytes are what counts.
        elements, dtype = max(1, elements // 2), torch.float32
    data = torch.zeros(elements, dtype=dtype, device=backend.at)
    return lambda i: dist.all_reduce(data)


def rank_all_reduce(torch, backend, arguments, request):
    import torch.distributed as dist
    for operation in request["operations"]:
        if operation["operation"] != "all_reduce":
            continue
        try:
            size = dimension(operation, "elements") * element_bytes(operation)
            call = all_reduce_call(torch, backend, operation)
            # The same number of calls on each rank: a rank alone would wait for ever.
            for i in range(20):
                call(i)
            inner = 50 if backend.cuda else 20
            times = []
            for _ in range(request["repeats"]):
                if backend.cuda:
                    torch.cuda.synchronize()
                dist.barrier()
                begin = time.perf_counter_ns()
                for i in range(inner):
                    call(i)
                if backend.cuda:
                    torch.cuda.synchronize()
                times.append((time.perf_counter_ns() - begin) / inner / 1e9)
        except Unavailable as why:
            if arguments.rank == 0:
                emit("unavailable", name=operation["name"], why=str(why))
            continue
        everyone = [None] * arguments.world
        dist.all_gather_object(everyone, times)
        if arguments.rank == 0:
            emit("times", name=operation["name"], times=[max(at) for at in zip(*everyone)],
                 bytes=size, kernel="nccl" if backend.cuda else "gloo")


def step_calls(torch, backend, world, request):
    """One call list that does each operation as often as a decode step does."""
    built = []
    for operation in request["operations"]:
        count = operation.get("countPerStep") or 0
        if count <= 0:
            continue
        try:
            if operation["operation"] == "all_reduce":
                if world < 2:
                    continue
                call = all_reduce_call(torch, backend, operation)
            else:
                call = backend.build(operation)[0]
            built.append((operation["name"], count, call))
        except Unavailable as why:
            print("%s is not in the traced step: %s" % (operation["name"], why), file=sys.stderr)
    if not built:
        raise Unavailable("none of the operations with a countPerStep can be run here")
    layers = max(count for _, count, _ in built)
    # Spread evenly, as layers do.
    return [(name, call, layer) for layer in range(layers) for name, count, call in built
            if (layer * count) // layers != ((layer + 1) * count) // layers]


def rank_decode(torch, backend, arguments, request):
    from torch.profiler import ProfilerActivity, profile, schedule
    decode = request["decode"]
    steps = decode.get("steps") or 10
    folder = decode["traceDir"]
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "decode-rank%d.pt.trace.json.gz" % arguments.rank)
    activities = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if backend.cuda else [])
    with torch.no_grad():
        calls = step_calls(torch, backend, arguments.world, request)
        for _ in range(3):
            for _, call, layer in calls:
                call(layer)
        with profile(activities=activities,
                     schedule=schedule(wait=0, warmup=1, active=steps, repeat=1),
                     on_trace_ready=lambda done: done.export_chrome_trace(path + ".part.gz")) as prof:
            for _ in range(steps + 1):
                for _, call, layer in calls:
                    call(layer)
                if backend.cuda:
                    torch.cuda.synchronize()
                prof.step()
    os.replace(path + ".part.gz", path)
    emit("trace", rank=arguments.rank, path=path, bytes=os.path.getsize(path))


# --- The run ----------------------------------------------------------------------------------


def read_request(path):
    try:
        with open(path, encoding="utf-8") as file:
            request = json.load(file)
    except (OSError, ValueError) as trouble:
        raise BadRequest("cannot read the request: %s" % one_line(trouble))
    if not isinstance(request, dict):
        raise BadRequest("the request is not a JSON object")
    request.setdefault("operations", [])
    request["repeats"] = request.get("repeats") or 10
    if request.get("device") not in ("cuda", "cpu"):
        raise BadRequest("device must be cuda or cpu, not %r" % (request.get("device"),))
    if not isinstance(request["repeats"], int) or not 1 <= request["repeats"] <= 10_000:
        raise BadRequest("repeats must be a whole number from 1 to 10000")
    if request.get("gpus") is not None and not (isinstance(request["gpus"], int) and request["gpus"] > 0):
        raise BadRequest("gpus must be a positive whole number")
    names = set()
    for operation in request["operations"]:
        if not isinstance(operation, dict) or not operation.get("name") or not operation.get("operation"):
            raise BadRequest("an operation needs a name and an operation")
        if operation["name"] in names:
            raise BadRequest("two operations have the name %s" % operation["name"])
        names.add(operation["name"])
        shape = operation.get("shape") or {}
        if not isinstance(shape, dict) or any(
                isinstance(v, bool) or not isinstance(v, int) or v <= 0 for v in shape.values()):
            raise BadRequest("the shape of %s must hold positive whole numbers" % operation["name"])
    decode = request.get("decode")
    if decode is not None and not (isinstance(decode, dict) and decode.get("traceDir")):
        raise BadRequest("decode needs a traceDir")
    return request


def backend_for(device):
    """Returns (backend, torch module or None, GpuWatch or None)."""
    watch = GpuWatch() if device == "cuda" else None
    try:
        import torch
    except Exception as trouble:  # a broken installation may raise anything
        return PlainPython(device, "torch cannot be imported by %s (%s)"
                           % (sys.executable, one_line(trouble))), None, None
    if device == "cuda":
        if not torch.cuda.is_available():
            return PlainPython(device, "torch %s sees no CUDA device" % torch.__version__), None, None
        torch.zeros(1, device="cuda")
        watch.watch(getattr(torch.cuda.get_device_properties(0), "uuid", None), 0)
    else:
        torch.manual_seed(1)
    return Torch(torch, device, watch), torch, watch


def described(operation):
    fields = {key: operation.get(key) for key in
              ("name", "operation", "shape", "dtype", "countPerStep", "component")}
    return {key: value for key, value in fields.items() if value is not None}


def all_reduces(torch, request, request_path, children, deadline):
    """Results of all all_reduce operations, by name: Measured or Unavailable."""
    names = [o["name"] for o in request["operations"] if o["operation"] == "all_reduce"]
    if not names:
        return {}
    if torch is None:
        return {}
    ranks = rank_count(torch, request)
    if ranks < 2:
        why = Unavailable("an all-reduce needs at least two ranks, and there is %d" % ranks)
        return {name: why for name in names}
    try:
        lines = run_ranks(request_path, "all_reduce", ranks, children,
                          max(1, min(600, deadline - time.monotonic())))
    except Unavailable as why:
        return {name: why for name in names}
    outcome = {}
    for line in lines:
        if line["kind"] == "times":
            outcome[line["name"]] = Measured(
                line["times"], 20, moved_bytes=line["bytes"], kernel=line["kernel"],
                bus_factor=2 * (ranks - 1) / ranks)
        elif line["kind"] == "unavailable":
            outcome[line["name"]] = Unavailable(line["why"])
    return outcome


def measure_all(backend, torch, request, request_path, children, deadline):
    operations = request["operations"]
    collectives = all_reduces(torch, request, request_path, children, deadline)
    for number, operation in enumerate(operations):
        emit("progress", done=number, total=len(operations), note=operation["name"])
        fields = described(operation)
        try:
            if time.monotonic() > deadline:
                raise Unavailable("the time limit of the probe was reached before")
            if operation["name"] in collectives:
                measured = collectives[operation["name"]]
                if isinstance(measured, Unavailable):
                    raise measured
            else:
                measured = backend.measure(operation, request, deadline)
            fields.update(measured.fields())
        except Unavailable as why:
            fields.update(unavailable=str(why), valid=False, reasons=[])
        except (RuntimeError, MemoryError) as trouble:  # out of memory, a kernel that fails
            fields.update(unavailable=one_line(trouble), valid=False, reasons=[])
        emit("result", **fields)
    return len(operations)


def run(arguments):
    children = []

    def end(number, _frame):
        for child in children:
            child.kill()
        os._exit(128 + number)

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    try:
        request = read_request(arguments.request)
    except BadRequest as trouble:
        emit("error", message=str(trouble))
        return 2
    if arguments.task:
        rank_main(arguments, request)
        return 0
    if arguments.trace_dir and request.get("decode"):
        request["decode"]["traceDir"] = arguments.trace_dir
    limit = request.get("timeLimitSeconds") or 600.0
    deadline = time.monotonic() + limit
    backend, torch, watch = backend_for(request["device"])
    ranks = rank_count(torch, request) if torch else 0
    emit("hello", probe=VERSION, python=platform.python_version(),
         torch=torch.__version__ if torch else None, device=request["device"],
         gpus=ranks if request["device"] == "cuda" else 0, capabilities=backend.capabilities,
         watched=bool(watch and watch.handle))
    results = 0
    if request.get("measure", True):
        results = measure_all(backend, torch, request, arguments.request, children, deadline)
    if request.get("decode"):
        try:
            if torch is None:
                raise Unavailable(backend.why)
            path = arguments.request
            if arguments.trace_dir:
                path = os.path.join(arguments.trace_dir, "request.json")
                os.makedirs(arguments.trace_dir, exist_ok=True)
                with open(path, "w", encoding="utf-8") as file:
                    json.dump(request, file)
            emit("progress", done=0, total=1, note="decode trace")
            for line in run_ranks(path, "decode", max(1, ranks), children,
                                  max(1, deadline - time.monotonic())):
                if line["kind"] == "trace":
                    print(json.dumps(line), flush=True)
        except Unavailable as why:
            emit("error", message="no trace: %s" % why)
            return 1
    emit("done", results=results)
    return 0


def self_test():
    """Proves the interpreter, the arithmetic and one real measurement; says what is there."""
    assert quantile([4, 1, 3, 2], 0.5) == 2.5
    plain = PlainPython("cpu", "self-test")
    request = {"repeats": 3}
    deadline = time.monotonic() + 20
    copied = plain.measure({"operation": "copy", "shape": {"elements": 65536}, "dtype": "int8"},
                           request, deadline).fields()
    assert copied["medianUs"] > 0 and copied["gbPerS"] > 0
    try:
        import torch
        found = torch.__version__
        devices = torch.cuda.device_count() if torch.cuda.is_available() else 0
    except Exception as trouble:
        found, devices = "not importable (%s)" % one_line(trouble), 0
    print("plumbline_probe %s, python %s, torch %s, %d CUDA devices"
          % (VERSION, platform.python_version(), found, devices))


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--request")
    parser.add_argument("--trace-dir")
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("--version", action="store_true")
    for hidden in ("--task", "--meet"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    for hidden in ("--rank", "--world"):
        parser.add_argument(hidden, type=int, default=0, help=argparse.SUPPRESS)
    arguments = parser.parse_args(argv)
    if arguments.version:
        print("plumbline_probe " + VERSION)
        return 0
    if arguments.self_test:
        self_test()
        return 0
    if not arguments.request:
        parser.error("--request is missing")
    try:
        return run(arguments)
    except BrokenPipeError:
        return 1
    except Exception as trouble:  # the reader needs a line, not a stack trace
        if arguments.task:
            raise
        emit("error", message=one_line(trouble))
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
