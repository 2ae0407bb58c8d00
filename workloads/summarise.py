#!/usr/bin/env python3
"""summarise.py FOLDER: what the runs of capture.sh say by the programs' own clocks: step times by side and their spread,
the speedup, what the stopwatch and recording cost; and beside it what gapline's report says. Fails when the runs did not
all compute the same losses."""
import json
import math
import os
import statistics
import sys


def read(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.startswith("{")]


def spread(values):
    return statistics.stdev(values) if len(values) > 1 else 0.0


def line(label, runs):
    values = [run["step_ms"] for run in runs]
    print(
        f"{label:24} {len(values)} runs: {statistics.mean(values):.3f} ms a step"
        f" ({min(values):.3f} to {max(values):.3f}, s.d. {spread(values) / statistics.mean(values):.2%});"
        f" median step {statistics.mean(r['step_ms_median'] for r in runs):.3f};"
        f" batch prepared in {statistics.mean(r['prepare_ms'] for r in runs):.3f} ms of CPU time"
    )
    return values


def main():
    folder = sys.argv[1]
    free = read(folder, "unprofiled.jsonl")
    beside = {"stopwatch": read(folder, "stopwatch.jsonl"), "recorded": read(folder, "profiled.jsonl")}
    side = {}
    for variant in ("baseline", "fixed"):
        side[variant] = line(variant, [r for r in free if r["variant"] == variant and "series" not in r])
    again = line("baseline again (A/A)", [r for r in free if "series" in r])
    logs = [math.log(b / f) for b, f in zip(side["baseline"], side["fixed"])]
    speedup = math.exp(statistics.mean(logs))
    factor = math.exp(spread(logs))
    print(f"speedup, unprofiled: {speedup:.3f} (geometric mean of pairs; one pair varies by a factor {factor:.3f})")
    print(f"A/A, unprofiled: {statistics.mean(side['baseline']) / statistics.mean(again):.4f}")
    for kind, runs in beside.items():
        for variant in ("baseline", "fixed"):
            of = [r for r in runs if r["variant"] == variant]
            if of:
                cost = statistics.mean(line(f"{variant}, {kind}", of)) / statistics.mean(side[variant]) - 1
                print(f"  {kind}: {cost:+.2%}")
    with open(os.path.join(folder, "raw", "report.json"), encoding="utf-8") as file:
        verdict = json.load(file)["verdict"]
    print(f"gapline: {verdict['result']}, {verdict['speedup']}, interval {verdict['ci95']}")
    for run in free[:1]:
        print(f"loss {run['loss_first']} -> {run['loss_last']}; GPU {run['gpu']}; options: "
              + " ".join(f"{k}={run[k]}" for k in ("steps", "warmup", "size", "batch", "fault_ms", "fault_work", "seed")))
    everything = free + beside["stopwatch"] + beside["recorded"]
    hashes = {run["loss_hash"] for run in everything}
    worst = max(run["gradient_error"] for run in everything)
    print(f"losses: {'equal to the last bit in all' if len(hashes) == 1 else 'DIFFERENT in'} {len(everything)} runs;"
          f" worst gradient error {worst}")
    return len(hashes) != 1


if __name__ == "__main__":
    sys.exit(main())
