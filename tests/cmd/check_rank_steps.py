#!/usr/bin/env python3
"""Ranks that were not recorded from the same step to the same step.

    check_rank_steps.py GAPLINE

Makes jobs of four ranks, in which rank 1 computes 3 × 0.48 × 120 µs longer in every backward pass, on one host and on two
whose clocks are 3 ms apart (about three steps). Some ranks lack the first steps, some the last. What is said has to be
what is said where every rank was recorded from the first to the last step that all of them have: of one host to the
digit, of files as of digests. Where nothing tells which step is which, nothing is said of ranks.
"""
import json
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "support")]
import facts
import tiny_job

GAPLINE, RANKS, STEPS = sys.argv[1], 4, 40
MORE_MS = 3 * 0.48 * 0.12
JOBS = {  # by rank, the steps from which and before which it was recorded
    "one begins late": {2: (5, STEPS)},
    "the slow one begins late": {1: (5, STEPS)},
    "one begins in the middle": {3: (20, STEPS)},
    "one ends early": {2: (0, 35)},
    "one begins late, another ends early": {2: (5, STEPS), 3: (0, 35)},
    "the slow one begins late, another ends early": {1: (5, STEPS), 0: (0, 35)},
    "one ends early, another begins late": {0: (0, 35), 3: (5, STEPS)},
    "one host begins late, the other ends early": {0: (5, STEPS), 1: (5, STEPS), 2: (0, 35), 3: (0, 35)},
    "all begin elsewhere": {0: (1, 38), 1: (4, 40), 2: (0, 39), 3: (2, 36)},
}


def report(folder, files, *options):
    sides = [word for side in ("--baseline", "--fixed") for f in files for word in (side, f)]
    subprocess.run([GAPLINE, "report", *sides, "--json", folder / "out.json", "-q", *options], check=True)
    return json.loads((folder / "out.json").read_text(), object_hook=facts.text)["baseline"]


def digests(files):
    for f in files:
        subprocess.run([GAPLINE, "digest", f, "-o", f.with_suffix(".digest"), "-q", "--force"], check=True)
    return [f.with_suffix(".digest") for f in files]


def make(folder, name, recorded, **options):
    return tiny_job.write(folder / name, ranks=RANKS, steps=STEPS, slow=1, recorded=recorded, **{"jitter": 20_000, **options})


def said(side):
    """What is said but of files, of the time before the steps, and of all that was recorded, measured or not."""
    left_out = ("files", "files_are", "data", "startup", "shown")
    side = {key: value for key, value in side.items() if key not in left_out}
    side["steps"] = {key: value for key, value in side["steps"].items() if key != "coverage"}
    side["devices"] = [{key: value for key, value in d.items() if key != "latency_limit_ms"} for d in side["devices"]]
    side["runs"] = [{key: value for key, value in run.items() if key != "file"} for run in side["runs"]]
    return side


def differences(a, b, path=""):
    if isinstance(a, dict) and isinstance(b, dict):
        return [d for key in {**a, **b} for d in differences(a.get(key), b.get(key), f"{path}.{key}")]
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return [d for i, (x, y) in enumerate(zip(a, b)) for d in differences(x, y, f"{path}[{i}]")]
    return [] if a == b else [f"{path}: {str(a)[:80]} / {str(b)[:80]}"]


def check(folder, what, recorded, **host):
    first = max(span[0] for span in recorded.values())
    last = min(span[1] for span in recorded.values())
    files = make(folder, "apart", recorded, **host)
    together = make(folder, "together", {r: (first, last) for r in range(RANKS)}, **host)
    side, expected = report(folder, files), report(folder, together)
    ranks, own = side["ranks"], {side["devices"][r["device"]]["rank"]: r["own_ms_per_step"] for r in side["ranks"]["list"]}
    late = ranks["straggler"]
    assert ranks["matched"] and late["kind"] == "persistent", (what, late)
    assert side["devices"][late["device"]]["rank"] == 1 and late["longer"]["phase"] == "backward", (what, late)
    assert abs(late["longer"]["ms_per_step"] - MORE_MS) < 0.004, (what, late)
    assert side["steps"]["measured"] == expected["steps"]["measured"] == last - first - 1, (what, side["steps"])
    assert all(0.15 < own[1] - own[r] < 0.19 for r in own if r != 1), (what, own)
    clocks = ranks["clocks"] or []
    assert all(c["known"] and abs(abs(c["offset_ms"]) - 3) <= c["within_ms"] for c in clocks[1:]), (what, clocks)
    if not clocks:
        # A rank that goes on while others end their last step: what it does until they do is recorded of one job alone.
        which = {"ranks", "steps", "runs"} if last < STEPS else set(side)
        found = [d for d in differences(said(side), said(expected)) if d.split(".")[1].split("[")[0] in which]
        assert not found, (what, found[:20])
    notes = " ".join(side["data"]["notes"])
    for rank, (begin, end) in list(recorded.items())[:3]:
        lacks = " and ".join(f"{which} {n}" if n > 1 else which for which, n in (("the first", begin), ("the last", STEPS - end)) if n)
        assert f"rank {rank} lacks {lacks}" in notes or not lacks, (what, notes)
    for other in report(folder, digests(files)), report(folder, files, "--step", "step"):  # the latter holds all rows at once
        found = differences(said(side), said(other)) + differences(side["data"]["notes"], other["data"]["notes"])
        assert found in ([], [".steps.origin: marked / named"]), (what, found[:20])


def without_ranges(files):
    for f in files:
        with sqlite3.connect(f) as db:
            db.execute("DELETE FROM NVTX_EVENTS")
        db.close()
    return files


def check_pattern(folder, what):
    """The same where steps are found without ranges."""
    recorded = JOBS[what]
    first, last = max(span[0] for span in recorded.values()), min(span[1] for span in recorded.values())
    side = report(folder, without_ranges(make(folder, "bare", recorded, per_host=RANKS)))
    expected = report(folder, without_ranges(make(folder, "together", {r: (first, last) for r in range(RANKS)}, per_host=RANKS)))
    assert side["steps"]["measured"] == expected["steps"]["measured"] == last - first - 1, (what, side["steps"])
    assert side["ranks"]["matched"] and side["ranks"]["straggler"]["kind"] == "persistent", (what, side["ranks"])
    longer, other = side["ranks"]["straggler"].pop("longer"), expected["ranks"]["straggler"].pop("longer")
    assert abs(longer["ms_per_step"] - other["ms_per_step"]) < (1e-4 if last < STEPS else 1e-9), (what, longer, other)
    found = differences(side["ranks"], expected["ranks"])
    assert not found, (what, found[:20])


def check_refusal(folder):
    """Every step as long as any other, and clocks that may be some steps apart: no shift is better than another."""
    recorded = {2: (5, STEPS), 3: (5, STEPS)}
    files = make(folder, "refused", recorded, jitter=0, per_host=2, ahead=3_000_000)
    for side in report(folder, files), report(folder, digests(files)):
        assert side["ranks"] is None, side["ranks"]
        assert any("It is unknown which step of one rank belongs to which of another" in n for n in side["data"]["notes"]), side["data"]
        assert all(row["cause"] != "bubble" for device in side["devices"] for row in device["idle"])
    many = tiny_job.write(folder / "many", ranks=12, steps=STEPS, slow=1, jitter=2, per_host=6, ahead=3_000_000,
                          recorded={r: (5, STEPS) for r in range(6, 12)})  # more than a timeline shows
    assert report(folder, many, "-o", folder / "out.html", "--markdown", folder / "out.md")["ranks"] is None
    recorded = {**recorded, 0: (0, 35), 1: (0, 35)}  # as many on both hosts, and the clocks speak against matching them in order
    side = report(folder, make(folder, "refused", recorded, jitter=0, per_host=2, ahead=500_000))
    assert side["ranks"] is None, side["ranks"]


def check_marks(folder):
    """Ranks of which nobody marked the steps are said, and nobody is named for the waiting; asked for what repeats, the
    slow one is, and no reason that only marks would tell."""
    marked = make(folder, "all-marked", {})
    truth = report(folder, marked)
    files = make(folder, "some-marked", {})
    without_ranges(files[1:3])
    for given in files, digests(files):
        found = report(folder, given)
        notes = [note for note in found["data"]["notes"] if "have no steps of their own" in note]
        assert len(notes) == 1 and "2 of the 4 ranks" in notes[0] and "(rank 1, rank 2)" in notes[0], found["data"]["notes"]
        assert found["ranks"]["straggler"] is None, found["ranks"]["straggler"]
        found = report(folder, given, "--loop", "gemm")
        assert not [note for note in found["data"]["notes"] if "of their own" in note], found["data"]["notes"]
        straggler = found["ranks"]["straggler"]
        assert straggler["device"] == truth["ranks"]["straggler"]["device"] and straggler["longer"] is None, straggler
        assert abs(found["steps"]["period_ms"]["mean"] / truth["steps"]["period_ms"]["mean"] - 1) < 1e-3, found["steps"]
    assert not [note for note in truth["data"]["notes"] if "of their own" in note], truth["data"]["notes"]


def main():
    with tempfile.TemporaryDirectory(prefix="gapline-rank-steps-") as name:
        folder = pathlib.Path(name)
        for what, recorded in JOBS.items():
            for hosts, host in ("one host", {"per_host": RANKS}), ("two hosts", {"per_host": 2, "ahead": 3_000_000}):
                check(folder, f"{what}, {hosts}", recorded, **host)
            print(f"{what}: the same as from ranks that were recorded together, on one host and on two, of digests too")
        for what in ("one begins late", "the slow one begins late, another ends early", "one begins in the middle"):
            check_pattern(folder, what)
        print("three of them without ranges: the same")
        check_marks(folder)
        print("ranks that nobody marked are said; nobody is blamed then")
        check_refusal(folder)
        print("nothing is said of ranks where it is not known which step is which")


main()
