"""A program whose step waits, in one Python function, for three libraries by known shares: 20, 30 and 50 % of 10 ms of
hashing, compressing and copying, then a kernel of 1 ms. How long each really took, by its own clock, is printed at the
end, as JSON.

    native_functions.py [--steps N] [--library FILE] [--shares 20,30,50] [--ms 10]

FILE: what python_cuda.c becomes; without it PyTorch and a GPU are used, and what is copied is a tensor."""

import argparse
import ctypes
import hashlib
import json
import random
import time
import zlib

p = argparse.ArgumentParser()
p.add_argument("--steps", type=int, default=300)
p.add_argument("--library")
p.add_argument("--shares", default="20,30,50")
p.add_argument("--ms", type=float, default=10)
a = p.parse_args()
lengths = [float(s) / 100 * a.ms * 1e6 for s in a.shares.split(",")]
took = {}
clock = time.perf_counter_ns

if a.library:
    cuda = ctypes.CDLL(a.library)
    assert cuda.cuda_begin() == 0
    push, pop = lambda name: cuda.range_push(name.encode()), cuda.range_pop
    compute = lambda: cuda.cuda_run(ctypes.c_long(1_000_000))
    source, target = bytearray(1 << 23), memoryview(bytearray(1 << 23))
    copy = lambda: target.__setitem__(slice(None), source)
else:
    import torch

    x = torch.randn(2048, 2048, device="cuda")
    push, pop = torch.cuda.nvtx.range_push, torch.cuda.nvtx.range_pop
    torch.set_num_threads(1)
    source, target = torch.zeros(1 << 22, dtype=torch.uint8), torch.zeros(1 << 22, dtype=torch.uint8)
    copy = lambda: target.copy_(source)

    def compute():
        for _ in range(4):
            x @ x
        torch.cuda.synchronize()


data = random.Random(1).choices(b"abcdefghijklmnop", k=1 << 14)
data, packer = bytes(data), zlib.compressobj(6)
much = 8 * data  # a piece takes so long that calling for it counts for nothing
ways = {"hash": lambda: hashlib.md5(much),
        "compress": lambda: (packer.compress(data), packer.flush(zlib.Z_FULL_FLUSH)),
        "copy": copy}  # fmt: skip


def load(at):
    for (name, way), length in zip(ways.items(), lengths):
        until = at + int(length)
        while clock() < until:
            way()
        end = clock()
        took.setdefault(name, []).append(end - at)
        at = end


def step():
    push("step")
    push("data_load")
    load(clock())
    pop()
    push("compute")
    compute()
    pop()
    pop()


step()
begin = clock()
for _ in range(a.steps):
    step()
print(json.dumps({"step_ms": (clock() - begin) / 1e6 / a.steps,
                  "ms": {k: sum(v[1:]) / 1e6 / a.steps for k, v in took.items()}}))
