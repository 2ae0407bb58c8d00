#!/usr/bin/env python3
"""Makes synthetic profiles whose answers are known and compares what `gapline report` says with the truth, exactly.

    check_generated.py GAPLINE GENERATE [SCALE]

GENERATE is bench/generate; SCALE multiplies the sizes (default 1).
"""

import json
import pathlib
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[n] / name) for n, name in ((1, "support"), (2, "bench"))]
import facts
import truth

PAIRS = [  # what both sides are; the fixed side loads its data faster
    "rows=20000",
    "rows=20000 seed=2 sync=4 warmup=5",
    "rows=12000 seed=3 ranks=4 kernels=40",
    "rows=20000 seed=4 ranks=2 sync=3 numbered=1 warmup=8",
    "rows=6000 seed=5 kernels=6",
    "rows=30000 seed=6 kernels=900 steps=24",
    "rows=9000 seed=7 kernels=17 sync=50 numbered=1 warmup=1",
]


def notices_a_nanosecond(side, path):
    with open(f"{path}.truth.json") as f:
        other = json.load(f)
    other["devices"][0]["rows"][-1]["waiting"] += 1
    return len(truth.compare(side, other)[1]) == 2  # the row and its part


def check_bounds(gapline, generate, folder):
    """Profiles with more names and kernels than anybody reads: rows are few, sums are whole, and it is said. The sizes
    of the rows come from the generator (bench/shapes.c). Returns what is wrong."""
    wrong = []

    def equal(what, found, true):
        if abs(found - true) > 1e-9 * abs(true):
            wrong.append(f"{what}: {found}, expected {true}")

    def analysed(shape, n, *options):
        path, report = f"{folder}/{shape}.sqlite", f"{folder}/{shape}.json"
        subprocess.run([generate, shape, path, str(n)], check=True)
        subprocess.run([gapline, "report", path, path, "--json", report, "-q", *options], check=True)
        with open(report) as f:
            side = json.load(f, object_hook=facts.text)["fixed"]
        return side, " ".join(side["data"]["notes"])

    side, notes = analysed("names", 5000)
    budget = side["budget"]
    equal("phases", len(side["phases"]) <= 1000, True)
    equal("cost of all phases", sum(p["cost_ms_per_step"] for p in side["phases"]), budget["per_step"]["period"])
    equal("idle rows", sum(r["ms_per_step"] for r in budget["idle"]), budget["per_step"]["idle"])
    equal("idle of all phases", sum(p["idle_ms_per_step"] for p in side["phases"]), budget["per_step"]["idle"])
    equal("a row for the rest", side["phases"][-1]["name"] == "(other ranges)", True)
    equal("what is said of phases", "There are 4500 phases (NVTX ranges); the 997 most expensive" in notes, True)

    side, notes = analysed("kernels", 5000)
    equal("kernels", len(side["kernels"]) <= 1000, True)
    launches = sum(k["instances_per_step"] for k in side["kernels"])
    equal("launches of all kernels", launches, side["totals"]["launches_per_step"])
    equal("launches", launches, 500)
    equal("time of all kernels", sum(k["ms_per_step"] for k in side["kernels"]), 500 * 0.0015)
    equal("what is said of kernels", "are 4500 kernels by name; the 998 longest" in notes, True)

    side, notes = analysed("one-step", 250000, "--step", "none")
    equal("kernels of one step", sum(k["instances_per_step"] for k in side["kernels"]), 250000)
    equal("what the timeline says", "ends before the run does: 50000 GPU operations" in notes, True)
    return wrong


TRIALS = 4  # a machine may be busy with something else


def too_long(took):
    return min(took[1]) > 1.3 * min(took[0]) + 0.1


def check_unmarked(gapline, generate, folder, scale):
    """A job whose steps repeat says the same without its ranges, in 1.3 times the time (and 0.1 s that a small one may
    take longer), by the smallest processor time of a few; with a sanitizer times mean nothing. Returns what is wrong."""
    paths = [f"{folder}/unmarked-{side}.sqlite" for side in "ab"]
    for seed, path in enumerate(paths):
        subprocess.run([generate, "job", path, f"rows={300000 * scale}", "repeats=1", f"seed={seed + 1}",
                        f"fixed={seed}"], check=True)
    bare = [f"{path}-bare" for path in paths]
    for path, without in zip(paths, bare):
        shutil.copy(path, without)
        with sqlite3.connect(without) as db:
            db.execute("DROP TABLE NVTX_EVENTS")
    steps, took, wrong = [None, None], [[], []], []
    while len(took[0]) < TRIALS or (len(took[0]) < 4 * TRIALS and too_long(took)):  # in turns: what else the machine does slows both
        for i, pair in enumerate((paths, bare)):
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            subprocess.run([gapline, "report", *pair, "--json", f"{folder}/unmarked.json", "-q"], check=True)
            took[i].append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)
            with open(f"{folder}/unmarked.json") as f:
                steps[i] = [side["steps"] for side in (lambda r: (r["baseline"], r["fixed"]))(json.load(f))]
    slow, took = too_long(took), [min(times) for times in took]
    for a, b in zip(*steps):
        if b["origin"] != "pattern" or abs(b["period_ms"]["mean"] / a["period_ms"]["mean"] - 1) > 0.001:
            wrong.append(f"without ranges: {b}, with them: {a}")
    print(f"without ranges: {took[1]:.2f} s, with them {took[0]:.2f} s")
    if b"__asan_init" not in pathlib.Path(gapline).read_bytes() and slow:
        wrong.append(f"without ranges it takes {took[1]:.2f} s, with them {took[0]:.2f} s")
    return wrong


def main():
    gapline, generate = sys.argv[1:3]
    scale = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    failed, checked = 0, 0
    with tempfile.TemporaryDirectory(prefix="gapline-generated-") as folder:
        for pair in PAIRS:
            words = [f"rows={int(w[5:]) * scale}" if w.startswith("rows=") else w for w in pair.split()]
            warmup = next((w[7:] for w in words if w.startswith("warmup=")), "3")
            paths = [f"{folder}/{side}.sqlite" for side in ("baseline", "fixed")]
            for path, fixed in zip(paths, "01"):
                subprocess.run([generate, "job", path, *words, f"fixed={fixed}"], check=True)
            report = f"{folder}/report.json"
            subprocess.run([gapline, "report", *paths, "--warmup", warmup, "--json", report, "-q"], check=True)
            n, wrong, result = truth.compare_files(report, *paths)
            verdict = result["verdict"]["result"]
            if verdict == "slower" or (pair == PAIRS[0] and verdict != "faster"):
                wrong.append(f"the verdict is {verdict}")
            if result["verdict"]["differences"]:
                wrong.append(f"differences where there are none: {result['verdict']['differences']}")
            if not notices_a_nanosecond(result["fixed"], paths[1]):
                wrong.append("one nanosecond more in the truth goes unnoticed")
            checked += n
            failed += bool(wrong)
            for fault in wrong[:10]:
                print(f"{pair}: {fault}")
        wrong = check_bounds(gapline, generate, folder) + check_unmarked(gapline, generate, folder, scale)
        failed += bool(wrong)
        for fault in wrong:
            print(f"bounds: {fault}")
    print(f"{checked} numbers of {len(PAIRS)} pairs compared with the truth, {failed} pairs wrong")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
