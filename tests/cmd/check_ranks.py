#!/usr/bin/env python3
"""One file a process, or one file for all: the same report.

    check_ranks.py GAPLINE

Splits a capture of two processes into a file for each, and compares what is said of the two files with what is said of
the one. Skipped where there are no captures (../shared/captures
beside the repository, or GAPLINE_CAPTURES).
"""
import gzip
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile

MASK = ~0xFFFFFF


def split(source, folder, shift):
    """One file a process; in those but the first, times count from `shift` ns later, and the session starts as much later."""
    whole = folder / "whole.sqlite"
    whole.write_bytes(gzip.decompress(source.read_bytes()))
    with sqlite3.connect(whole) as db:
        processes = [p for (p,) in db.execute("SELECT DISTINCT globalPid FROM CUPTI_ACTIVITY_KIND_KERNEL ORDER BY 1")]
    files = []
    for i, process in enumerate(processes):
        files.append(folder / f"part-{len(processes) - i}.sqlite")  # in another order than the processes
        shutil.copy(whole, files[-1])
        db = sqlite3.connect(files[-1])
        for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
            if "globalTid" in columns:
                db.execute(f"DELETE FROM {table} WHERE (globalTid & {MASK}) <> {process}")
            elif "globalPid" in columns:
                db.execute(f"DELETE FROM {table} WHERE globalPid <> {process}")
            if i and "start" in columns:
                db.execute(f"UPDATE {table} SET start = start - {shift}")
                if "end" in columns:
                    db.execute(f'UPDATE {table} SET "end" = "end" - {shift} WHERE "end" IS NOT NULL')
        if i:
            db.execute(f"UPDATE TARGET_INFO_SESSION_START_TIME SET utcEpochNs = utcEpochNs + {shift}")
        db.commit()
        db.close()
    return whole, files


def report(gapline, folder, baseline, fixed):
    out = folder / "out.json"
    sides = [word for side, files in (("--baseline", baseline), ("--fixed", fixed)) for f in files for word in (side, f)]
    subprocess.run([gapline, "report", *sides, "--json", out, "-q"], check=True)
    return json.loads(out.read_text())


def without_files(result):
    for side in "baseline", "fixed":
        result[side].pop("files")
        result[side].pop("files_are")
        for run in result[side]["runs"]:
            run.pop("file")
        result[side]["data"]["notes"] = [n for n in result[side]["data"]["notes"] if "count as the ranks" not in n]
    return result


def main():
    beside = pathlib.Path(__file__).resolve().parents[3] / "shared" / "captures"
    gapline, captures = sys.argv[1], pathlib.Path(os.environ.get("GAPLINE_CAPTURES", beside)) / "ddp-2gpu"
    if not captures.is_dir():
        print("no captures here: nothing was compared")
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="gapline-ranks-") as name:
        folder, whole, parts = pathlib.Path(name), [], []
        for side in "baseline", "fixed":
            (folder / side).mkdir()
            one, files = split(captures / f"{side}.sqlite.gz", folder / side, 1_000_000)
            whole.append([one])
            parts.append(files)
        one, two = report(gapline, folder, *whole), report(gapline, folder, *parts)
        for side in "baseline", "fixed":
            assert two[side]["steps"]["runs"] == 1, two[side]["files_are"]
            assert [f["run"] for f in two[side]["files"]] == [0, 0]
            assert len(two[side]["devices"]) == 2
        one, two = without_files(one), without_files(two)
        for key in one:
            if one[key] != two[key]:
                sys.exit(f"{key} differs between one file and a file a process")
        print("the same report from one file and from a file a process")


if __name__ == "__main__":
    main()
