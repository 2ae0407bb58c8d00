#!/usr/bin/env python3
"""Swaps two pages of a profile, again and again: an error, or the same words as ever.

    check_swaps.py GAPLINE SWAPS

SWAPS is how many are tried of each profile. Each page is sound by itself, and SQLite reads on. Two that
continue long texts are left out, and the first pages of two tables with columns of the same types are only counted: nothing tells
those apart.
"""

import contextlib
import gzip
import pathlib
import random
import sqlite3
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
import tiny_profile

GAPLINE, SWAPS = pathlib.Path(sys.argv[1]).resolve(), int(sys.argv[2])


def show(path):
    done = subprocess.run([GAPLINE, "show", "-q", path.name], cwd=path.parent, capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr.decode()


def alike(path):
    """By page: the types of the columns of the table whose first page it is."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        tables = db.execute("SELECT rootpage, name FROM sqlite_master WHERE type = 'table'").fetchall()
        return {page: [row[2] for row in db.execute(f'PRAGMA table_info("{name}")')] for page, name in tables}


def main():
    silent, refused, same, twins = 0, 0, 0, 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        tiny_profile.write(folder / "tiny.sqlite")
        profiles = [(folder / "tiny.sqlite").read_bytes()]
        profiles += [gzip.decompress(p.read_bytes()) for p in sorted(HERE.parents[1].glob("examples/*/baseline.sqlite.gz"))]
        path = folder / "swapped.sqlite"
        for whole in profiles:
            size = int.from_bytes(whole[16:18], "big")
            pages = [whole[at : at + size] for at in range(0, len(whole), size)]
            rows = [i for i in range(1, len(pages)) if pages[i][0] in (2, 5, 10, 13)]
            path.write_bytes(whole)
            usual, columns = show(path), alike(path)
            assert usual[0] == 0, usual
            chance = random.Random(19)
            for _ in range(SWAPS):
                a, b = chance.choice(rows), chance.choice(range(1, len(pages)))
                swapped = list(pages)
                swapped[a], swapped[b] = pages[b], pages[a]
                path.write_bytes(b"".join(swapped))
                found = show(path)
                if found[0] == 3 and "is damaged" in found[2]:
                    refused += 1
                elif found == usual:
                    same += 1
                elif a + 1 in columns and columns[a + 1] == columns.get(b + 1):
                    twins += 1
                else:
                    silent += 1
                    print(f"pages {a + 1} and {b + 1} of {len(pages)}: status {found[0]} {found[2]}")
    print(f"{refused} swaps were refused, {same} changed nothing, {twins} were of tables alike, "
          f"{silent} gave another result in silence")
    assert refused > 9 * (same + twins), "hardly anything was looked at"
    sys.exit(bool(silent))


if __name__ == "__main__":
    main()
