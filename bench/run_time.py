#!/usr/bin/env python3
"""What `gapline run` takes, and how sure it is of what it says: the folders that it wrote, or their run.json, as arguments.

Runs of each kind in seconds (median over the folder, both sides added up), what the defaults take by that, and what as
many measured runs would take if each were recorded as well. Then the half-width of the 95 % interval (Welch's, in
percent) by all timed runs, and by the first three of each side."""

import json
import math
import pathlib
import statistics
import sys

REPEAT, RECORDED, BEFORE = 5, 2, 3  # by default: stopwatch and recorded runs a side; before there were three of both


def quantile(df):
    """97.5 % of Student's t, by Cornish and Fisher's expansion: within 0.5 % from 4 degrees of freedom on."""
    z = 1.959964
    terms = ((z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96, (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384)
    return z + sum(term / df ** (i + 1) for i, term in enumerate(terms))


def half_width(sides):
    parts = [statistics.variance(side) / statistics.mean(side) ** 2 / len(side) for side in sides]
    if sum(parts) == 0:
        return 0.0
    df = sum(parts) ** 2 / sum(part**2 / (len(side) - 1) for part, side in zip(parts, sides))
    return 100 * quantile(df) * math.sqrt(sum(parts))


def row(state):
    runs = json.loads(state.read_text(encoding="utf-8"))["runs"]

    def pair(kind, key):
        return [[key(r) for r in runs if r["side"] == s and r["kind"] == kind and not r.get("unused")]
                for s in ("baseline", "fixed")]

    recorded, watched = (sum(statistics.median(side) for side in pair(kind, lambda r: r["seconds"]))
                         for kind in ("recorded", "stopwatch"))
    steps = pair("stopwatch", lambda r: r["time_ns"] / max(1, r["steps"]))
    if min(map(len, steps)) < BEFORE:
        return None
    return (recorded, watched, RECORDED * recorded + REPEAT * watched, BEFORE * (recorded + watched),
            REPEAT * (recorded + watched), half_width(steps), half_width([side[:BEFORE] for side in steps]))


def main():
    heads = ("recorded", "stopwatch", "default", "3 of both", "5 of both", "+- all %", "+- 3 %")
    print(f"{'':32}" + "".join(f"{head:>11}" for head in heads))
    rows = []
    for path in map(pathlib.Path, sys.argv[1:]):
        state = path / "run.json" if path.is_dir() else path
        found = row(state)
        if found:
            rows.append(found)
            print(f"{state.parent.name[:31]:32}" + "".join(f"{number:11.2f}" for number in found))
    if rows:
        print(f"{'median':32}" + "".join(f"{statistics.median(column):11.2f}" for column in zip(*rows)))


if __name__ == "__main__":
    main()
