#!/usr/bin/env python3
"""Pairs made to deceive, held against what is known of them: no untruth may be said.

    check_untruths.py GAPLINE [KIND ...] [--pairs N] [--first N] [--keep FOLDER]

For each kind of tests/support/made_pairs.py N pairs with fixed seeds. Wrong are: a direction that is not there, an
`unchanged` that hides more than 2.5 %, an interval that misses the truth by more than 1.5 %, a gate that passes or fails
against the truth, and a verdict that is not mirrored when the sides are swapped. Kinds that can be decided have to be,
in a third of the pairs at least: who says nothing says no untruth.
"""
import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
import facts  # noqa: E402
import made_lengths  # noqa: E402, F401: more kinds
import made_pairs  # noqa: E402
import made_sides  # noqa: E402, F401: and more
import made_windows  # noqa: E402, F401: and more

SLACK = 1.015
ONCE_WRONG = {"cold": (18, 34, 46, 76), "lengths": (60, 137), "drift": (27, 37, 40, 51)}  # seeds: see the history of this file
DECIDED = {"pauses", "accumulation", "prefetch", "overtaken", "behind", "workers", "warm", "cut", "walking", "queued",
           "padded", "every", "starts", "one_marked", "killed", "overhead", "host_cost", "work_differs", "throttled",
           "graph_modes", "steady"}
SHOWN = 1.1  # what one run per side can show where the GPU waits for the host; most pairs have one run per side
MIRROR = {"faster": "slower", "slower": "faster"}


def report(gapline, folder, sides, *options):
    out = folder / "r.json"
    out.unlink(missing_ok=True)
    words = [w for side in sides for w in side]
    r = subprocess.run(
        [gapline, "report", *words, "-q", "--json", out, *options], capture_output=True, text=True, timeout=120
    )
    return r.returncode, json.loads(out.read_text(), object_hook=facts.text) if out.exists() else None, r.stderr


def swapped(sides):
    other = {"--baseline": "--fixed", "--fixed": "--baseline"}
    return [(other[o], path) for o, path in sides]


def wrong_result(p, v):
    said, ci, truth = v["result"], v["ci95"], p.truth
    if p.nothing or p.doubt:
        if said != "inconclusive":
            yield f"{said}, where nothing can be said"
        if p.nothing and v["speedup"] is not None:
            yield f"a speedup of {v['speedup']}, where there is nothing to compare"
        return
    if truth is None:
        if said in MIRROR:
            yield f"{said}, where no direction can be given"
        return
    if said == "faster" and truth <= 1.01 or said == "slower" and truth >= 1 / 1.01:
        yield f"{said}, truth {truth:.4f}"
    elif said == "unchanged" and not 1 / 1.025 <= truth <= 1.025:
        yield f"{said}, truth {truth:.4f}"
    elif said != "inconclusive" and not ci[0] / SLACK <= truth <= ci[1] * SLACK:
        yield f"{said} {v['speedup']:.4f} [{ci[0]:.4f}, {ci[1]:.4f}], truth {truth:.4f}"


def wrong_gates(p, v):
    truth = p.truth
    for g in v["gates"]:
        name = g["name"]
        if (p.nothing or p.doubt) and g["result"] == "passed":
            yield f"{name} passed, where nothing can be said"
        if p.doubt and g["result"] == "failed":
            yield f"{name} failed, where nothing can be said"
        if p.nothing or p.doubt or truth is None:
            continue
        if name == "min_speedup":
            if g["result"] == "passed" and (truth < 1.1 / SLACK or v["result"] != "faster"):
                yield f"--min-speedup 1.1 passed, truth {truth:.4f}, {v['result']}"
            if g["result"] == "failed" and truth > 1.1 * SLACK:
                yield f"--min-speedup 1.1 failed, truth {truth:.4f}"
        if name == "max_regression":
            if g["result"] == "passed" and truth < 1 / 1.03 / SLACK and v["result"] != "inconclusive":
                yield f"--max-regression 3 passed, truth {truth:.4f}"
            if g["result"] == "failed" and truth > 1 / 1.03 * SLACK:
                yield f"--max-regression 3 failed, truth {truth:.4f}"


def unmirrored(v, w):
    if MIRROR.get(v["result"], v["result"]) != w["result"]:
        yield f"{v['result']}, swapped {w['result']}"
    if v["speedup"] is None or w["speedup"] is None:
        if v["speedup"] != w["speedup"]:
            yield "a speedup one way only"
        return
    if not math.isclose(v["speedup"], 1 / w["speedup"], rel_tol=1e-12):
        yield f"{v['speedup']}, swapped {w['speedup']}"
    if v["ci95"] and w["ci95"]:
        for a, b in zip(v["ci95"], reversed(w["ci95"])):
            if not math.isclose(a, 1 / b, rel_tol=1e-12):
                yield f"{v['ci95']}, swapped {w['ci95']}"


def wrong_words(p, v):
    said = " ".join(v["reasons"] + v["differences"])
    for words in p.says:
        if words not in said:
            yield f"not said: {words}"
    for words in p.never:
        if words in said:
            yield f"said: {words}"


def untruths(gapline, kind, seed, keep):
    p = made_pairs.pair(kind, seed)
    with tempfile.TemporaryDirectory() as d:
        folder = pathlib.Path(d)
        if keep:
            folder = keep / f"{kind}-{seed}"
            folder.mkdir(parents=True, exist_ok=True)
        sides = p.write(folder)
        rc, doc, said = report(gapline, folder, sides, "--min-speedup", "1.1", "--max-regression", "3", "--require-comparable")
        if doc is None:
            return p, None, [f"exit {rc}: {said.strip()}"]
        v = doc["verdict"]
        wrong = [*wrong_result(p, v), *wrong_gates(p, v), *wrong_words(p, v)]
        if p.nothing and rc not in (1, 4) or p.doubt and rc != 4:  # what is not comparable may fail that gate
            wrong.append(f"exit {rc} with gates, where nothing can be said")
        _, other, _ = report(gapline, folder, swapped(sides))
        wrong += unmirrored(v, other["verdict"])
    return p, v, wrong


def main():
    args = argparse.ArgumentParser()
    args.add_argument("gapline")
    args.add_argument("kinds", nargs="*", default=[])
    args.add_argument("--pairs", type=int, default=12)
    args.add_argument("--first", type=int, default=0)
    args.add_argument("--keep", type=pathlib.Path)
    args = args.parse_args()
    bad = 0
    with ThreadPoolExecutor(2) as pool:
        for kind in args.kinds or made_pairs.KINDS:
            seeds = {*range(args.first, args.first + args.pairs), *ONCE_WRONG.get(kind, ())}
            seeds = sorted(seeds)
            results, large, open_ = {}, 0, 0
            for seed, (p, v, wrong) in zip(
                seeds, pool.map(lambda s: untruths(args.gapline, kind, s, args.keep), seeds)
            ):
                result = v["result"] if v else "error"
                results[result] = results.get(result, 0) + 1
                if p.truth and max(p.truth, 1 / p.truth) >= SHOWN and not p.doubt and not p.nothing:
                    large += 1
                    open_ += result == "inconclusive"
                for w in wrong:
                    print(f"{kind} {seed}:{p.words} {w}")
                bad += bool(wrong)
            print(f"{kind}: {len(seeds)} pairs, {results}", flush=True)
            if kind in DECIDED and 3 * (large - open_) < large:
                print(f"{kind}: too few are decided")
                bad += 1
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
