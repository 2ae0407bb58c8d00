"""A program whose step waits for three functions by known shares: 20, 30 and 50 % of 10 ms on the host, then a kernel
of 1 ms. One function searches texts, one calls Python functions, one sleeps. How long each really took, by its own clock,
is printed at the end, as JSON.

    three_functions.py [--steps N] [--library FILE] [--shares 20,30,50] [--ms 10]

FILE: what python_cuda.c becomes; without it PyTorch and a GPU are used, and --matmuls, 2048 wide, a step."""

import argparse
import ctypes
import json
import re
import time

p = argparse.ArgumentParser()
p.add_argument("--steps", type=int, default=300)
p.add_argument("--library")
p.add_argument("--shares", default="20,30,50")
p.add_argument("--ms", type=float, default=10)
p.add_argument("--matmuls", type=int, default=4)
a = p.parse_args()
lengths = [float(s) / 100 * a.ms * 1e6 for s in a.shares.split(",")]
took = {}

if a.library:
    cuda = ctypes.CDLL(a.library)
    assert cuda.cuda_begin() == 0
    push, pop = lambda name: cuda.range_push(name.encode()), cuda.range_pop
    compute = lambda: cuda.cuda_run(ctypes.c_long(1_000_000))
else:
    import torch

    x = torch.randn(2048, 2048, device="cuda")
    push, pop = torch.cuda.nvtx.range_push, torch.cuda.nvtx.range_pop

    def compute():
        for _ in range(a.matmuls):
            x @ x
        torch.cuda.synchronize()


text = "the quick brown fox " * 40


def tokenise(until):
    while time.perf_counter_ns() < until:
        re.findall(r"\w+", text)


class Images:
    def scale(self, v):
        return v * 3 + 1

    def augment(self, until):
        while time.perf_counter_ns() < until:
            for v in range(100):
                self.scale(v)


def fetch(until):
    left = until - time.perf_counter_ns()
    if left > 0:
        time.sleep(left / 1e9)


images = Images()


def step():
    push("step")
    push("data_load")
    at = time.perf_counter_ns()
    for function, length in zip((tokenise, images.augment, fetch), lengths):
        function(at + int(length))
        end = time.perf_counter_ns()
        took.setdefault(function.__qualname__, []).append(end - at)
        at = end
    pop()
    push("compute")
    compute()
    pop()
    pop()


step()
begin = time.perf_counter_ns()
for _ in range(a.steps):
    step()
print(json.dumps({"step_ms": (time.perf_counter_ns() - begin) / 1e6 / a.steps,
                  "ms": {k: sum(v[1:]) / 1e6 / a.steps for k, v in took.items()}}))
