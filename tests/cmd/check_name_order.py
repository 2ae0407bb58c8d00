#!/usr/bin/env python3
"""The same program, its names numbered in another order: the same report, to the last digit.

    check_name_order.py GAPLINE

Profiles whose steps wait in ten operating-system calls, each profile written three times with the calls' names in another
order in its table of texts. The calls of a phase become one row, whose sum of doubles would differ with their order.
"""
import json
import pathlib
import random
import sqlite3
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "support")]
import tiny_profile

CALLS = ["read", "poll", "futex", "sem_wait", "open64", "fread", "nanosleep", "select", "epoll_wait", "pthread_cond_wait"]


def make(path, seed, order):
    tiny_profile.write(path, steps=37, seed=seed, jitter=30_000)
    draw, names = random.Random(seed), list(CALLS)
    random.Random(order).shuffle(names)
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE OSRT_API (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, correlationId INTEGER, "
               "nameId INTEGER, returnValue INTEGER)")
    db.executemany("INSERT INTO StringIds VALUES (?, ?)", enumerate(names, 50))
    for begin, end in db.execute("SELECT start, end FROM NVTX_EVENTS WHERE text = 'data_load' ORDER BY 1").fetchall():
        at = begin + draw.randint(0, 5_000)
        while at < end - 50_000:
            back = at + draw.randint(2_000, 40_000)
            db.execute("INSERT INTO OSRT_API VALUES (?, ?, 27, ?, NULL, ?, 0)",
                       (at, back, tiny_profile.GLOBAL_PID | tiny_profile.TID, 50 + names.index(draw.choice(CALLS))))
            at = back + draw.randint(100, 5_000)
    db.commit()
    db.close()


def said(gapline, folder, seed, order):
    sides = []
    (folder / str(order)).mkdir()
    for side, of in ("baseline", 2 * seed), ("fixed", 2 * seed + 1):
        sides += [f"--{side}", folder / str(order) / f"{side}.sqlite"]
        make(sides[-1], of, order)
    subprocess.run([gapline, "report", *sides, "--json", folder / str(order) / "out.json", "-q"], check=True)
    return json.loads((folder / str(order) / "out.json").read_text())


def main():
    for seed in range(1, 4):
        with tempfile.TemporaryDirectory(prefix="gapline-names-") as name:
            first, *others = (said(sys.argv[1], pathlib.Path(name), seed, order) for order in range(3))
            rows = first["baseline"]["budget"]["idle"]
            assert any(row["cause"] == "host_blocked" for row in rows), rows
            for other in others:
                assert other == first, [key for key in first if first[key] != other[key]]
    print("names in three orders: the same reports")


main()
