#!/usr/bin/env python3
"""The copy of whatever is known as a profile is known as one.

    check_scrub_known.py GAPLINE

A file is an export of nsys by the tables that it has. Files with two of these, of which columns are missing or of which no row
may be kept, are scrubbed, and their copies are scrubbed again: they have to be taken for profiles, and to be the same bytes.
"""

import itertools
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

THREAD = 0x1000000000000 | 77 << 24 | 5
# table, its columns, a row of which nothing can be kept or nothing refers to
MARKS = [
    ("StringIds", ["id", "value"], [900, "a text that no row has"]),
    ("TARGET_INFO_SESSION_START_TIME", ["utcEpochNs", "utcTime"], [1_700_000_000_000_000_000, "jdoe"]),
    ("ThreadNames", ["nameId", "priority", "globalTid"], [900, 20, THREAD + (1 << 24)]),
    ("CUPTI_ACTIVITY_KIND_RUNTIME", ["start", "end", "globalTid", "nameId"], [1, 2, THREAD, 900]),
    ("CUPTI_ACTIVITY_KIND_KERNEL", ["start", "end", "globalPid", "shortName"], [1, 2, THREAD & ~0xFFFFFF, 900]),
    ("META_DATA_EXPORT", ["name", "value"], ["EXPORT_HOST", "orca17"]),
]


def write(path, tables, lacks, rows):
    """`lacks`: the number of a column that is not there; as many as there are columns: all are others; -1: none lacks."""
    db = sqlite3.connect(path)
    for table, columns, row in tables:
        kept = [i for i in range(len(columns)) if i != lacks % (len(columns) + 1)] if lacks >= 0 else range(len(columns))
        names = [columns[i] for i in kept] if lacks < len(columns) else ["other"]
        values = [row[i] for i in kept] if lacks < len(columns) else ["jdoe"]
        db.execute(f"CREATE TABLE {table} ({', '.join(names)})")
        for _ in range(rows):
            db.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(names))})", values)
    db.commit()
    db.close()


def scrub(gapline, profile, copy):
    done = subprocess.run([gapline, "scrub", "--force", profile, "-o", copy, "-q"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return copy.read_bytes()


def main():
    gapline, tried = os.path.abspath(sys.argv[1]), 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        profile, copy, again = (folder / f"{n}.sqlite" for n in ("profile", "copy", "again"))
        for pair, lacks, rows in itertools.product(itertools.combinations(MARKS, 2), range(-1, 5), range(3)):
            profile.unlink(missing_ok=True)
            write(profile, pair, lacks, rows)
            try:
                first = scrub(gapline, profile, copy)
                assert scrub(gapline, copy, again) == first, "the copy of a copy differs"
            except AssertionError as why:
                sys.exit(f"{' and '.join(table for table, _, _ in pair)}, {rows} rows, column {lacks} is missing: {why}")
            assert b"jdoe" not in first and b"orca17" not in first
            tried += 1
    print(f"{tried} profiles are known by their copies")


if __name__ == "__main__":
    main()
