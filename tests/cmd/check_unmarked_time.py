#!/usr/bin/env python3
"""What looking for steps costs where no range marks them and nothing repeats: `gapline report` of a generated job, and of
the same one without its NVTX_EVENTS.

    check_unmarked_time.py GAPLINE GENERATE

By the clock, for what touches memory costs more than its instructions say; those are counted by check_instructions. Processor time of both in the same run, the smallest of a few, for a machine may be busy with something else. Status 77
with a sanitizer in the command.
"""

import pathlib
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile

TRIALS = 2  # and as many again, if these say too much: what is measured is the smallest
ROWS, MOST = 10000000, 1.15  # measured: 1.08 to 1.13; more of fewer rows, for part of it is the same of any number


def seconds(gapline, profile, folder):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run([gapline, "report", profile, profile, "-o", f"{folder}/report.html", "-q"], check=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def main():
    gapline, generate = sys.argv[1:3]
    if b"__asan_init" in pathlib.Path(gapline).read_bytes():
        print("built with a sanitizer: times mean nothing")
        return 77
    with tempfile.TemporaryDirectory(prefix="gapline-unmarked-") as folder:
        marked, unmarked = f"{folder}/marked.sqlite", f"{folder}/unmarked.sqlite"
        subprocess.run([generate, "job", marked, f"rows={ROWS}", "fixed=0"], check=True)
        shutil.copyfile(marked, unmarked)
        with sqlite3.connect(unmarked) as db:
            db.execute("DROP TABLE NVTX_EVENTS")
        db.close()
        trials = []
        while len(trials) < 2 * TRIALS:
            trials.append([seconds(gapline, path, folder) for path in (marked, unmarked)])
            with_ranges, without = (min(column) for column in zip(*trials))
            if len(trials) >= TRIALS and without <= MOST * with_ranges:
                break
    print(f"{with_ranges:.2f} s with ranges, {without:.2f} s without: {without / with_ranges:.2f} times, at most {MOST}")
    return without > MOST * with_ranges


if __name__ == "__main__":
    sys.exit(main())
