#!/usr/bin/env python3
"""Pairs in the spirit of real programs (tests/support/made_real_pairs.py), held against what is true of them.

    check_real_pairs.py GAPLINE [--like N] [WORDS ...]

Wrong are: a direction that is not there or an interval without the truth, a gate against the truth, same work and parts of
why that may not be said, a decision where the recording is in doubt, a finding that has to be there and is not. With
--like N besides N pairs of each program against itself, of which at most 2.5 % may have a direction, and none another work,
and pairs of unmarked programs that have nothing to do with each other, of which none may have a number.
"""
import argparse
import itertools
import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import facts  # noqa: E402
import made_fixes  # noqa: E402
import made_moves  # noqa: E402
import made_real_pairs as made  # noqa: E402
import made_strange  # noqa: E402
import made_units  # noqa: E402
import made_unseen  # noqa: E402

PAIRS = made.PAIRS + made_fixes.FIXES + made_moves.MOVES + made_strange.STRANGE + made_unseen.UNSEEN + made_units.UNITS

SLACK = 1.015
GATES = ["--min-speedup", "1.05", "--max-regression", "3", "--require-comparable"]


def judge(gapline, words):
    run = subprocess.run([gapline, "report", *words, "-q", "--json", "-"], capture_output=True, text=True)
    return json.loads(run.stdout, object_hook=facts.text) if run.stdout else {"error": run.stderr}


def account_of(part):
    """"idle:host_code", "copy_exposed:h2d", …"""
    of = part["cause"] if part["kind"] == "idle" else part["direction"]
    return f"{part['kind']}:{of or 'all'}" if part["kind"] in ("idle", "copy_exposed") else part["kind"]


def wrong_speed(truth, v):
    result, ci = v["result"], v["ci95"]
    if result == "faster" and truth <= 1.01 or result == "slower" and truth >= 1 / 1.01:
        yield f"{result}, truth {truth:.3f}"
    if ci and result != "inconclusive" and not ci[0] / SLACK <= truth <= ci[1] * SLACK:
        yield f"{result} [{ci[0]:.3f}, {ci[1]:.3f}], truth {truth:.3f}"
    for gate in v["gates"]:
        least = {"min_speedup": 1.05, "max_regression": 1 / 1.03}.get(gate["name"])
        if least and gate["result"] == "failed" and truth > least * SLACK:
            yield f"{gate['name']} failed, truth {truth:.3f}"
        if gate["name"] == "min_speedup" and gate["result"] == "passed" and truth < least / SLACK:
            yield f"{gate['name']} passed, truth {truth:.3f}"


def wrong_of(pair, doc):
    if "verdict" not in doc:
        yield str(doc)[:300]
        return
    v = doc["verdict"]
    if pair.doubt:
        gates = [g for g in v["gates"] if pair.doubt is True or g["name"] not in pair.doubt]
        if v["result"] != "inconclusive" or any(g["result"] != "inconclusive" for g in gates):
            yield f"{v['result']}, {[g['result'] for g in v['gates']]}, where nothing can be said"
    elif v["speedup"] is None:
        yield f"no number: {v['differences'][:1]}"
    else:
        yield from wrong_speed(made.truth_of(pair), v)
    if v["same_work"] not in pair.work:
        yield f"work: {v['same_work']}, {v['differences'][:2]}"
    named = {account_of(p) for p in v["why"]["parts"]}
    if pair.why is not None and not all(n in pair.why or n.split(":")[0] in pair.why for n in named):
        yield f"why: {sorted(named)}"
    ids = {f["id"] for f in doc["findings"]}
    yield from (f"no finding {i}" for i in pair.finds if i not in ids)
    yield from (f"finding {i}" for i in pair.never if i in ids)
    if pair.shown and v["result"] == "inconclusive":
        yield f"inconclusive {v['ci95']}: {v['reasons'][0]}"
    yield from (f"says: {s}" for s in v["reasons"] + v["notes"] + v["differences"] if pair.unsaid and re.search(pair.unsaid, s))


def like(gapline, folder, seeds):
    n = directions = bad = 0
    for pair in PAIRS:
        for seed in range(seeds):
            for side in 0, 1:
                v = judge(gapline, made.write(pair, folder, 100 + seed, True, side))["verdict"]
                n += 1
                directions += v["result"] in ("faster", "slower")
                named = v["result"] not in ("faster", "slower") and v["why"]["parts"]  # no row is a reason without a direction
                if v["result"] in ("faster", "slower") or v["same_work"] in ("different", "same_job") or named:
                    print(f"{pair.what}, program {side} against itself, seed {seed}: {v['result']} {v['speedup']} {v['ci95']}, {v['same_work']} {v['differences'][:2]} {named}", flush=True)
                bad += v["same_work"] in ("different", "same_job") or bool(named)
    print(f"{n} pairs of like against like: {directions} directions, {bad} times other work or a row that is named")
    return bad + (directions > 0.025 * n)


def unrelated(gapline, folder):
    bad = 0
    for name in made.UNRELATED:
        for side in 0, 1:
            made.write_unrelated(name, folder / f"{name}-{side}.sqlite", side)
    for one in made.UNRELATED:
        for other in made.UNRELATED:
            v = judge(gapline, [folder / f"{one}-0.sqlite", folder / f"{other}-1.sqlite"])["verdict"]
            wrong = v["speedup"] is None or v["same_work"] not in ("same", "unknown") if one == other else v["speedup"] is not None or v["result"] != "inconclusive"
            if wrong:
                print(f"{one} and {other}: {v['result']} {v['speedup']}, {v['same_work']}")
            bad += wrong
    print(f"{len(made.UNRELATED) ** 2} pairs of unmarked programs, {bad} wrong")
    return bad


def foreign(gapline, folder):
    """A profile of another program among the two runs of a side: no number is one of steps."""
    bad, names = 0, list(made.UNRELATED)
    for name, side in itertools.product(names, (0, 1, 2, 3)):
        made.write_unrelated(name, folder / f"{name}-{side}.sqlite", side)
    for one, side in itertools.product(names, (0, 1)):
        other = names[(names.index(one) + 1) % len(names)]
        sides = [[f"{one}-{s}.sqlite", f"{other if s == side else one}-{s + 2}.sqlite"] for s in (0, 1)]
        doc = judge(gapline, [word for s in (0, 1) for file in sides[s] for word in (("--baseline", "--fixed")[s], folder / file)])
        v = doc["verdict"]
        whose = ("baseline", "fixed side")[side]
        words = f"runs of the {whose} repeat different things", f"In 1 of 2 runs of the {whose} nothing repeats"
        said = any(w in reason for w in words for reason in v["differences"] + v["reasons"])
        whole = not doc["baseline"]["steps"]["found"] and not doc["fixed"]["steps"]["found"]
        if v["result"] != "inconclusive" or not (whole or said and v["speedup"] is None):
            bad += 1
            print(f"{one}, and {other} among the runs of side {side}: {v['result']} {v['speedup']}")
    print(f"{2 * len(names)} pairs with a run of another program, {bad} wrong")
    return bad


def main():
    args = argparse.ArgumentParser()
    args.add_argument("gapline")
    args.add_argument("words", nargs="*")
    args.add_argument("--like", type=int, default=0)
    args = args.parse_args()
    bad = n = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for pair in PAIRS:
            if args.words and not any(w in pair.what for w in args.words):
                continue
            n += 1
            wrong = list(wrong_of(pair, judge(args.gapline, made.write(pair, folder) + list(pair.options) + GATES)))
            bad += bool(wrong)
            for what in wrong:
                print(f"{pair.what}: {what}")
        print(f"{n} pairs, {bad} wrong")
        bad += foreign(args.gapline, folder)
        if args.like:
            bad += like(args.gapline, folder, args.like) + unrelated(args.gapline, folder)
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
