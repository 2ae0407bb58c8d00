"""A program whose GPU waits for Python's global interpreter lock: a thread called loader-1 decodes in pure Python without
end, and whenever the main thread comes back from native code, which it calls after its GPU work, it has to wait for the
lock until the switch interval is over. How long it waited, by its own clock, is printed at the end, as JSON: from when
the native code had ended to when Python code went on, less the time in which the lock was its own already and it had no
processor. And how long it was outside native code, for whatever reason: it waited for the lock no longer than that.

    gil_holder.py --library FILE [--steps N] [--interval MS] [--holder spins|sleeps|compresses|none]

FILE: what python_cuda.c becomes. Its ranges, its GPU work and its clock are called without giving the lock away (PyDLL),
the native code is not (CDLL)."""

import argparse
import ctypes
import json
import sys
import threading
import time
import zlib

p = argparse.ArgumentParser()
p.add_argument("--library", required=True)
p.add_argument("--steps", type=int, default=40)
p.add_argument("--interval", type=float, default=5)
p.add_argument("--holder", default="spins", choices=("spins", "sleeps", "compresses", "none"))
p.add_argument("--native-ms", type=float, default=1)
a = p.parse_args()
sys.setswitchinterval(a.interval / 1e3)
native, held = ctypes.CDLL(a.library), ctypes.PyDLL(a.library)
held.waited.restype = ctypes.c_long
assert held.cuda_begin() == 0
stop = False
waited = []


def decode():
    total = 0
    for i in range(200):
        total += i * i
    return total


def load():
    while not stop:
        if a.holder == "spins":
            decode()
        elif a.holder == "sleeps":
            time.sleep(0.001)
        else:
            zlib.compress(bytes(1 << 20))


def compute():
    held.cuda_run(ctypes.c_long(20_000))
    native.pause_native(ctypes.c_long(int(a.native_ms * 1e6)))
    waited.append(held.waited())


def step():
    held.range_push(b"step")
    compute()
    held.range_pop()


loader = threading.Thread(target=load, name="loader-1", daemon=True)
if a.holder != "none":
    loader.start()
step()
begin = time.monotonic_ns()
for _ in range(a.steps):
    step()
end = time.monotonic_ns()
stop = True
if a.holder != "none":
    loader.join()
# A step is from one end of GPU work to the next: the last wait is in none.
step_ms = (end - begin) / 1e6 / a.steps
print(json.dumps({"step_ms": step_ms, "outside_ms": step_ms - a.native_ms - 0.02 - waited[-1] / 1e6 / a.steps, "waited_ms": sum(waited[:-1]) / 1e6 / a.steps}))
