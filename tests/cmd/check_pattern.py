#!/usr/bin/env python3
"""Time per step without NVTX ranges, held against the time per step with them.

    check_pattern.py [GAPLINE]

Every pair of real captures (../shared/captures, or where GAPLINE_CAPTURES says) and of examples/truth is reported twice:
with its ranges, and from copies whose NVTX_EVENTS are gone, so that the steps have to be found from what repeats. Both
times are those of the recorded steps: what timed runs measured stands in the table GAPLINE_STOPWATCH, belongs to
ranges and to other runs, and is taken out of both. The two times per step agree within 3 % on at least nine of ten sides,
and a pair whose verdict is one direction with ranges is never the other without. GAPLINE is the built command. Prints the
table.
"""
import glob
import gzip
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
CAPTURES = os.environ.get("GAPLINE_CAPTURES", os.path.join(ROOT, "..", "shared", "captures"))
NEAR = 0.03  # of the time per step
LEAST = 0.9  # of the sides


def pairs(folder):
    """(name, baseline, fixed or None) of every capture with ranges; what is packed is unpacked into `folder`."""
    for packed in sorted(glob.glob(os.path.join(CAPTURES, "*", "*.sqlite.gz"))):
        name = os.path.basename(os.path.dirname(packed))
        base = os.path.basename(packed)[: -len(".gz")]
        if name == "public" or base == "fixed.sqlite":
            continue
        files = []
        for side in base, "fixed.sqlite":
            source = os.path.join(os.path.dirname(packed), side + ".gz")
            if not os.path.exists(source):
                files.append(None)
                continue
            files.append(os.path.join(folder, f"{name}-{side}"))
            with gzip.open(source) as f, open(files[-1], "wb") as out:
                shutil.copyfileobj(f, out)
        yield name, *files
    for archive in sorted(glob.glob(os.path.join(ROOT, "examples", "truth", "*", "captures.tar.xz"))):
        name = os.path.basename(os.path.dirname(archive))
        with tarfile.open(archive) as tar:
            names = tar.getnames()
            if not {"baseline-1.sqlite", "fixed-1.sqlite"} <= set(names):
                continue
            for side in "baseline-1.sqlite", "fixed-1.sqlite":
                with tar.extractfile(side) as f, open(os.path.join(folder, f"{name}-{side}"), "wb") as out:
                    shutil.copyfileobj(f, out)
        yield name, *(os.path.join(folder, f"{name}-{side}-1.sqlite") for side in ("baseline", "fixed"))


def without(path, *tables):
    copy = f"{path[: -len('.sqlite')]}.{len(tables)}.sqlite"
    shutil.copyfile(path, copy)
    db = sqlite3.connect(copy)
    for table in tables:
        db.execute(f"DROP TABLE IF EXISTS {table}")
    db.commit()
    db.close()
    return copy


def report(gapline, folder, baseline, fixed):
    out = os.path.join(folder, "report.json")
    run = subprocess.run([gapline, "report", baseline, fixed, "-o", os.devnull, "--json", out, "--quiet"],
                         capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"{baseline}: status {run.returncode}: {run.stderr}")
    with open(out) as f:
        return json.load(f)


def main():
    gapline = sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "build", "release", "gen", "gapline")
    sides = near = 0
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        for name, baseline, fixed in pairs(folder):
            alone = fixed is None
            files = [baseline, baseline if alone else fixed]
            if alone:  # one capture is no pair: a second one of the same ops, all a little later
                files[1] = os.path.join(folder, "later.sqlite")
                shutil.copyfile(baseline, files[1])
                db = sqlite3.connect(files[1])
                for (table,) in db.execute("SELECT name FROM sqlite_master WHERE name LIKE 'CUPTI_ACTIVITY_KIND_%' "
                                           "OR name = 'NVTX_EVENTS'").fetchall():
                    columns = {row[1] for row in db.execute(f"PRAGMA table_info({table})")}
                    if {"start", "end"} <= columns:
                        db.execute(f"UPDATE {table} SET start = start + 1000, \"end\" = \"end\" + 1000")
                db.commit()
                db.close()
            marked = report(gapline, folder, *(without(f, "GAPLINE_STOPWATCH") for f in files))
            bare = report(gapline, folder, *(without(f, "GAPLINE_STOPWATCH", "NVTX_EVENTS") for f in files))
            for side in ("baseline",) if alone else ("baseline", "fixed"):
                a, b = marked[side]["steps"], bare[side]["steps"]
                if not a["found"]:
                    continue
                sides += 1
                with_ms, without_ms = a["period_ms"]["mean"], b["period_ms"]["mean"] if b["found"] else 0
                off = without_ms / with_ms - 1
                near += abs(off) <= NEAR
                print(f"{name:28} {side:8}  {with_ms:9.4f}  {without_ms:9.4f} ms  {100 * off:+7.2f} %"
                      f"{'' if abs(off) <= NEAR else '  OFF'}")
                if b["found"] and b["origin"] != "pattern":
                    wrong.append(f"{name}, {side}: the steps without ranges come from a {b['origin']}")
            results = marked["verdict"]["result"], bare["verdict"]["result"]
            if set(results) == {"faster", "slower"}:
                wrong.append(f"{name}: {results[0]} with ranges, {results[1]} without")
            for file in glob.glob(os.path.join(folder, "*.sqlite")):
                os.remove(file)
    if not sides:
        print("no captures")
        return 77
    print(f"{near} of {sides} sides within {100 * NEAR:.0f} %")
    if near < LEAST * sides:
        wrong.append(f"only {near} of {sides} sides are near")
    for line in wrong:
        print("FAILED", line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
