#!/usr/bin/env python3
"""A small but real streaming server with the OpenAI API, on the standard library alone.

Tokens come when the processor has computed them: one engine thread multiplies a matrix by a vector for each sequence
of the batch, so a step takes longer the more sequences are in it. It is the service under test of local-cpu.yaml, for
machines without a GPU.

    python3 toy_server.py --port 8017 --pid-file /tmp/toy-server.pid
"""
import argparse
import json
import os
import queue
import random
import signal
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

WORDS = "the model reads one line and answers with another word each time it has thought long enough".split()


class Engine(threading.Thread):
    """Owns the computation: one step gives one token to each active sequence."""

    def __init__(self, size: int, max_batch: int) -> None:
        super().__init__(daemon=True)
        rng = random.Random(0)
        self.weights = [[rng.uniform(-1, 1) for _ in range(size)] for _ in range(size)]
        self.size, self.max_batch = size, max_batch
        self.arrivals: "queue.Queue[dict]" = queue.Queue()
        self.active: list = []
        self.tokens = 0

    def run(self) -> None:
        while True:
            self.admit(block=not self.active)
            for sequence in list(self.active):
                self.step(sequence)

    def admit(self, block: bool) -> None:
        while len(self.active) < self.max_batch:
            try:
                self.active.append(self.arrivals.get(block=block))
            except queue.Empty:
                return
            block = False

    def step(self, sequence: dict) -> None:
        state = sequence["state"]
        out = [sum(w * s for w, s in zip(row, state)) for row in self.weights]
        top = max(range(self.size), key=out.__getitem__)
        scale = max(abs(v) for v in out) or 1.0
        sequence["state"] = [v / scale for v in out]
        sequence["left"] -= 1
        self.tokens += 1
        last = sequence["left"] <= 0 or sequence["gone"]
        sequence["out"].put((WORDS[top % len(WORDS)], last))
        if last:
            self.active.remove(sequence)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    engine: Engine
    model: str

    def log_message(self, *args) -> None:
        pass

    def answer(self, status: int, body: object, kind: str = "application/json") -> None:
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self) -> None:
        if self.path == "/health":
            self.answer(200, {})
        elif self.path == "/v1/models":
            self.answer(200, {"object": "list", "data": [{"id": self.model, "object": "model"}]})
        elif self.path == "/metrics":
            label = '{model_name="%s"}' % self.model
            self.answer(
                200,
                f"vllm:num_requests_running{label} {len(self.engine.active)}\n"
                f"vllm:num_requests_waiting{label} {self.engine.arrivals.qsize()}\n"
                f"vllm:generation_tokens_total{label} {self.engine.tokens}\n",
                "text/plain",
            )
        else:
            self.answer(404, {"error": {"message": f"no such path: {self.path}", "code": 404}})

    def do_POST(self) -> None:
        try:
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        except ValueError:
            return self.answer(400, {"error": {"message": "the body is not JSON", "code": 400}})
        chat = self.path == "/v1/chat/completions"
        if not chat and self.path != "/v1/completions":
            return self.answer(404, {"error": {"message": f"no such path: {self.path}", "code": 404}})
        if body.get("model") not in (None, self.model):
            message = f"The model `{body.get('model')}` does not exist."
            return self.answer(404, {"error": {"message": message, "type": "NotFoundError", "code": 404}})
        prompt = body.get("prompt") if not chat else " ".join(str(m.get("content", "")) for m in body.get("messages", []))
        words = len(prompt) if isinstance(prompt, list) else len(str(prompt).split())
        limit = int(body.get("max_tokens") or body.get("max_completion_tokens") or 16)
        rng = random.Random(str(prompt))
        sequence = {
            "state": [rng.uniform(-1, 1) for _ in range(self.engine.size)],
            "left": limit,
            "gone": False,
            "out": queue.Queue(),
        }
        self.engine.arrivals.put(sequence)
        usage = {"prompt_tokens": words, "completion_tokens": limit, "total_tokens": words + limit}
        if body.get("stream"):
            self.stream(sequence, chat, usage if (body.get("stream_options") or {}).get("include_usage") else None)
        else:
            self.whole(sequence, chat, usage)

    def whole(self, sequence: dict, chat: bool, usage: dict) -> None:
        words, last = [], False
        while not last:
            word, last = sequence["out"].get()
            words.append(word)
        text = " ".join(words)
        choice = {"message": {"role": "assistant", "content": text}} if chat else {"text": text}
        self.answer(200, {"model": self.model, "choices": [{"index": 0, **choice, "finish_reason": "length"}], "usage": usage})

    def stream(self, sequence: dict, chat: bool, usage) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            if chat:
                self.event({"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}]})
            last = False
            while not last:
                word, last = sequence["out"].get()
                text = {"delta": {"content": " " + word}} if chat else {"text": " " + word}
                self.event({"choices": [{"index": 0, **text, "finish_reason": "length" if last else None}]})
            if usage:
                self.event({"choices": [], "usage": usage})
            self.chunk(b"data: [DONE]\n\n")
            self.wfile.write(b"0\r\n\r\n")
        except OSError:
            sequence["gone"] = True
            self.close_connection = True

    def event(self, body: dict) -> None:
        self.chunk(b"data: " + json.dumps({"model": self.model, **body}).encode() + b"\n\n")

    def chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256


def main() -> None:
    parser = argparse.ArgumentParser(description="A small streaming server with the OpenAI API, for trials without a GPU.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8017)
    parser.add_argument("--model", default="toy")
    parser.add_argument("--size", type=int, default=160, help="rows of the matrix: a larger one makes slower steps")
    parser.add_argument("--max-batch", type=int, default=8)
    parser.add_argument("--pid-file", help="where to write the process id")
    options = parser.parse_args()
    Handler.engine, Handler.model = Engine(options.size, options.max_batch), options.model
    Handler.engine.start()
    server = Server((options.host, options.port), Handler)
    if options.pid_file:
        with open(options.pid_file, "w") as out:
            out.write(str(os.getpid()))
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown, daemon=True).start())
    print(f"serving {options.model} on http://{options.host}:{options.port}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
    if options.pid_file and os.path.exists(options.pid_file):
        os.remove(options.pid_file)


if __name__ == "__main__":
    main()
