#!/usr/bin/env python3
"""A simulation in Python that reads the result of each step, while a thread of it decodes the samples of the next epoch.
`baseline` decodes in a thread, in pure Python, and so with the interpreter's lock; `fixed` in a process. Options and the
line of JSON at the end are those of all workloads (workloads/README.md)."""

import argparse
import ctypes
import hashlib
import json
import multiprocessing
import os
import statistics
import sys
import threading
import time

PHASES = ["simulate", "report"]
PATTERN = bytes(range(251)) * 4


def whole(least, most):
    def number(text):
        value = int(text)
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"takes a whole number from {least} to {most}")
        return value

    return number


def options():
    p = argparse.ArgumentParser(prog="gil-loader", usage="gil-loader --variant baseline|fixed [options]")
    p.add_argument("--variant", required=True, choices=("baseline", "fixed"))
    p.add_argument("--steps", type=whole(2, 1000000), default=60, help="steps, warm-up included")
    p.add_argument("--warmup", type=whole(1, 999999), default=10, help="leading steps left out of the timing that it prints")
    p.add_argument("--size", type=whole(1, 65536), default=200, help="thousands of rounds of the kernel")
    p.add_argument("--fault-ms", type=float, default=5, help="how long the launching thread waits for the lock each step")
    p.add_argument("--fault-work", type=whole(0, 1000000), help="the same in us of the interpreter's switch interval")
    p.add_argument("--seed", type=whole(0, 2000000000), default=1)
    p.add_argument("--names", choices=("plain", "neutral"), default="plain")
    o = p.parse_args()
    if o.warmup >= o.steps or not 0 <= o.fault_ms <= 1000:
        p.error("--warmup is less than --steps, --fault-ms from 0 to 1000")
    if o.fault_work is None:
        o.fault_work = int(o.fault_ms * 1000)
    return o


def decode(sample):
    """A run-length code, read byte by byte."""
    out, total = bytearray(), 0
    for byte in PATTERN:
        out.append((byte ^ sample) & 0xFF)
        total = (total * 31 + byte) & 0xFFFFFFFF
    return total


class Loader:
    """Decodes until it is told to stop; says how much it decoded."""

    def __init__(self, stop):
        self.stop, self.decoded = stop, 0

    def run(self):
        while not self.stop.is_set():
            for _ in range(50):
                decode(self.decoded)
                self.decoded += 1


def decode_in_process(stop):
    Loader(stop).run()


def start_loader(variant):
    if variant == "baseline":
        stop = threading.Event()
        worker = threading.Thread(target=Loader(stop).run, name="loader-1")
    else:
        context = multiprocessing.get_context("spawn")
        stop = context.Event()
        worker = context.Process(target=decode_in_process, args=(stop,))
    worker.start()
    return stop, worker


def main():
    o = options()
    device = ctypes.CDLL(os.path.join(os.path.dirname(os.path.abspath(__file__)), "libgil-loader.so"))
    held = ctypes.PyDLL(device._name)  # these keep the lock: only GPU work gives it away
    device.device_begin.restype = ctypes.c_char_p
    held.lock_waited.restype = ctypes.c_int64
    gpu = device.device_begin()
    if gpu is None:
        print("gil-loader: no CUDA GPU", file=sys.stderr)
        return 3
    names = [name.encode() if o.names == "plain" else bytes([ord("a") + i]) for i, name in enumerate(PHASES)]
    result, digest = ctypes.c_uint64(), hashlib.blake2b(digest_size=8)
    sys.setswitchinterval(max(o.fault_work, 1) / 1e6)
    steps, faults = [], []

    def step(i):
        held.range_push(b"step")
        held.range_push(names[0])
        failed = device.device_advance(ctypes.c_uint64(o.seed * 1000003 + i), o.size * 1000, ctypes.byref(result))
        faults.append(held.lock_waited() / 1e6)
        held.range_pop()
        held.range_push(names[1])
        digest.update(result.value.to_bytes(8, "little"))
        held.range_pop()
        held.range_pop()
        return failed

    stop, worker = start_loader(o.variant)
    before = time.perf_counter_ns()
    for i in range(o.steps):
        if step(i):
            stop.set()
            worker.join()
            return 3
        end = time.perf_counter_ns()
        steps.append((end - before) / 1e6 if i else 0)
        before = end
    stop.set()
    worker.join()
    timed = steps[o.warmup :]
    line = {"workload": "gil-loader", "variant": o.variant, "gpu": gpu.decode(), "gpus": 1, "steps": o.steps, "warmup": o.warmup,
            "size": o.size, "fault_ms": o.fault_ms, "fault_work": o.fault_work, "seed": o.seed,
            "fault_ms_measured": statistics.fmean(faults[o.warmup :]), "step_ms": statistics.fmean(timed),
            "step_ms_deviation": statistics.stdev(timed) if len(timed) > 1 else 0, "step_ms_median": statistics.median(timed),
            "step_ms_min": min(timed), "step_ms_max": max(timed), "result_hash": digest.hexdigest(), "phases": PHASES,
            "steps_ms": steps, "faults_ms": faults}  # fmt: skip
    rounded = json.loads(json.dumps(line), parse_float=lambda text: round(float(text), 4))
    print(json.dumps(rounded, separators=(",", ":")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
