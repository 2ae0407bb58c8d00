#!/usr/bin/env python3
"""What recorded captures alone say of the speedup without a profiler, held against programs whose own clocks are known.

    check_exports.py GAPLINE EXAMPLES_TRUTH

Of each pair that examples/truth keeps, timed runs are taken out; what is left is as much as an export holds. At least
95 of 100 intervals have to hold the speedup of the programs' own clocks, which itself is known within what it varies by.
What the bound was once calibrated on (H200) and what was recorded after it (H100) are counted apart.
The captures beside the repository are added where they are there.
"""

import gzip
import json
import math
import pathlib
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tarfile
import tempfile

SIDES = "baseline", "fixed"
HELD = 0.95
STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306)
# A step's ms by the program's own clock, without a profiler: shared/captures/README.md.
BESIDE = {"torch-compile": {"baseline": [2.585, 1.808, 1.835], "fixed": [0.333, 0.400, 0.386]}}


def truth(steps):
    """ln of the speedup, and half of its 95 % interval (Welch)."""
    logs = [[math.log(ms) for ms in steps[side]] for side in SIDES]
    parts = [statistics.variance(x) / len(x) for x in logs]
    freedom = sum(parts) ** 2 / sum(p * p / (len(x) - 1) for p, x in zip(parts, logs))
    half = STUDENT[max(0, min(len(STUDENT), int(freedom)) - 1)] * math.sqrt(sum(parts))
    return statistics.mean(logs[0]) - statistics.mean(logs[1]), half


def own_clock(folder):
    steps = {side: [] for side in SIDES}
    for path in folder / "unprofiled.jsonl", folder / "stopwatch.jsonl":
        for line in path.read_text().splitlines() if path.exists() else []:
            row = json.loads(line)
            steps[row["variant"]].append(row["step_ms"])
    return steps if all(len(ms) > 1 for ms in steps.values()) else None


def pairs(examples, work):
    for archive in sorted(examples.glob("*/captures.tar.xz")):
        steps = own_clock(archive.parent)
        with tarfile.open(archive) as tar:
            names = set(tar.getnames())
            files = [work / f"{side}-1.sqlite" for side in SIDES]
            if steps and all(f.name in names for f in files):
                for f in files:
                    tar.extract(f.name, work)
                yield archive.parent.name, "since" if (archive.parent / "stopwatch.jsonl").exists() else "calibrated", files, steps
    for name, steps in BESIDE.items():
        folder = examples.parents[2] / "shared/captures" / name
        if folder.exists():
            files = [work / f"{side}.sqlite" for side in SIDES]
            for f in files:
                with gzip.open(folder / f"{f.name}.gz") as packed, open(f, "wb") as out:
                    shutil.copyfileobj(packed, out)
            yield name, "calibrated", files, steps
        else:
            print(f"{name}: skipped, {folder} is not there")


def main():
    gapline, examples = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    held, missed, unsaid, widths = {"calibrated": 0, "since": 0}, {"calibrated": [], "since": []}, [], []
    with tempfile.TemporaryDirectory() as work:
        for name, when, files, steps in pairs(examples, pathlib.Path(work)):
            for f in files:
                db = sqlite3.connect(f)
                db.execute("DROP TABLE IF EXISTS GAPLINE_STOPWATCH")
                db.commit()
                db.close()
            done = subprocess.run([gapline, "report", *files, "--json", "-"], capture_output=True, text=True, check=True)
            verdict = json.loads(done.stdout)["verdict"]
            assert verdict["measured"] == "recorded", name
            (lo, hi), (ln, half) = verdict["ci95"], truth(steps)
            if math.log(lo) <= ln + half and math.log(hi) >= ln - half:
                held[when] += 1
            else:
                missed[when].append(f"{name}: {math.exp(ln):.3f} is not in {lo:.3f} to {hi:.3f}")
            counted = verdict["recorded"]["ci95"]
            wider = max(counted[0] / lo, hi / counted[1])
            said = {reason["id"] for reason in verdict["reasons"]}
            unseen = "state_unseen" in said  # that widens it, too, and the machine's state may have widened it by more before
            more = verdict["while_recorded"] and "machine_state" in said
            if not unseen and (wider > 1.0501) != verdict["while_recorded"] and abs(wider - 1.05) > 0.001 and not more:
                unsaid.append(f"{name}: {wider:.3f}, while recorded: {verdict['while_recorded']}")
            widths.append(math.sqrt(hi / lo) - 1)
    for when in held:
        print(f"{when}: {held[when]} of {held[when] + len(missed[when])} held", *missed[when], sep="\n    ")
    print(f"half-width: median {100 * statistics.median(widths):.1f} %, most {100 * max(widths):.0f} %", *unsaid, sep="\n")
    n, m = sum(held.values()), sum(map(len, missed.values()))
    assert n + m >= 40, "pairs are missing"
    return n < HELD * (n + m) or bool(unsaid)


if __name__ == "__main__":
    sys.exit(main())
