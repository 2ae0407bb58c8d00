#!/usr/bin/env python3
"""What capturing costs the program: per kernel launch, and from start to finish.

    capture_cost.py CAPTURE_CASES LIBRARY [--nsys NSYS] [--rounds N]

Runs workloads/capture-cases without a profiler, with gapline's library and with nsys, one after the other in every round,
because the machine's clocks drift by more than the differences. The median over the rounds is what counts. Needs a GPU.
"""

import argparse
import os
import statistics
import subprocess
import tempfile
import time

KERNELS, STEPS, SHORT_STEPS = 300, 1500, 20
NSYS = ["profile", "--trace=cuda,nvtx", "--sample=none", "--cpuctxsw=none", "--force-overwrite=true"]


def run(how, options, folder, steps):
    command, env = [options.program, "tiny", str(steps), str(KERNELS)], dict(os.environ)
    if how == "gapline":
        spool = tempfile.mkdtemp(dir=folder)
        env.update(GAPLINE_SPOOL=spool, CUDA_INJECTION64_PATH=options.library, NVTX_INJECTION64_PATH=options.library)
    elif how == "nsys":
        command = [options.nsys, *NSYS, "-o", f"{folder}/nsys", *command]
    begin = time.monotonic()
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)
    took = time.monotonic() - begin
    line = [l for l in done.stdout.splitlines() if l.endswith("ms a step")]
    if not line:
        raise SystemExit(f"{how}: {done.stderr or done.stdout}")
    return float(line[0].split()[0]), took


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("library", type=os.path.abspath)
    parser.add_argument("--nsys")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    ways = ["none", "gapline"] + (["nsys"] if options.nsys else [])
    step, whole = {w: [] for w in ways}, {w: [] for w in ways}
    with tempfile.TemporaryDirectory() as folder:
        run("none", options, folder, SHORT_STEPS)
        for r in range(options.rounds):
            # Each way follows each other one equally often.
            for way in ways[r % len(ways) :] + ways[: r % len(ways)]:
                step[way].append(run(way, options, folder, STEPS)[0])
                whole[way].append(run(way, options, folder, SHORT_STEPS)[1])
    print(f"{STEPS} steps of {KERNELS} kernels, then {SHORT_STEPS} steps from start to finish; {options.rounds} rounds")
    print(f"{'':10}{'ms a step':>12}{'added ns a launch':>20}{'start to finish s':>20}{'added s':>10}   all rounds, ms a step")
    for way in ways:
        ms, s = statistics.median(step[way]), statistics.median(whole[way])
        added = statistics.median(a - b for a, b in zip(step[way], step["none"])) * 1e6 / KERNELS
        more = statistics.median(a - b for a, b in zip(whole[way], whole["none"]))
        every = " ".join(f"{x:.3f}" for x in step[way])
        print(f"{way:10}{ms:12.4f}{added:20.0f}{s:20.3f}{more:10.3f}   {every}")


if __name__ == "__main__":
    main()
