#!/usr/bin/env python3
"""Sides that share no session give no direction within about 8 %, and the first screen names what parts them.

    check_sessions.py GAPLINE

Three runs a side of one program, in turns, its steps 3 % apart (tests/support/tiny_profile.py), then a week, a host, a
GPU apart; beside them what must not part them: a container's name, a UUID that was scrubbed, one that only one side has.
"""
import json
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
import tiny_profile as tiny  # noqa: E402

START, SECOND, WEEK = 1_795_000_000_000_000_000, 1_000_000_000, 604_800_000_000_000
GPU = "GPU-{}0000000-0000-0000-0000-00000000000{}"
CASES = {  # what is different: pause, hosts, UUIDs, what is said
    "nothing": (0, ("a", "a"), ("1", "1"), ""),
    "a week": (WEEK, (None, None), (None, None), "on another day."),
    "hosts": (0, ("node-a", "node-b"), (None, None), "on another host."),
    "GPUs": (0, ("node-a", "node-a"), (GPU.format(1, 1), GPU.format(2, 2)), "on another GPU."),
    "all": (WEEK, ("a", "b"), (GPU.format(1, 1), GPU.format(2, 2)), "on another day, on another host and on another GPU."),
    "containers": (0, ("0123456789ab", "ba9876543210"), (None, None), ""),
    "two containers on one GPU": (0, ("0123456789ab", "ba9876543210"), (GPU.format(1, 1),) * 2, ""),
    "host names of one GPU": (0, ("node-a", "node-b"), (GPU.format(1, 1),) * 2, ""),
    "scrubbed UUIDs": (0, (None, None), (GPU.format(0, 1), GPU.format(0, 2)), ""),
    "one side's UUID": (0, (None, None), (GPU.format(1, 1), None), ""),
}


def write(path, side, run, pause, host, uuid):
    started = START + (2 * run + side) * 5 * SECOND + side * pause
    tiny.write(path, seed=2 * run + side + 1, jitter=4_000, started=started, load=400_000 - 27_000 * side)
    db = sqlite3.connect(path)
    if host:
        db.execute("CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid INTEGER, devStateName TEXT, name TEXT, nameEnum INTEGER, value TEXT)")
        db.execute("INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (0, '', 'Hostname', 1, ?)", (host,))
    if uuid:
        db.execute("ALTER TABLE TARGET_INFO_GPU ADD COLUMN uuid TEXT")
        db.execute("UPDATE TARGET_INFO_GPU SET uuid = ?", (uuid,))
    db.commit()
    db.close()


def wrong(gapline, folder, pause, hosts, uuids, says):
    words, out = [], folder / "r.json"
    for run in range(3):
        for side in (0, 1):
            path = folder / f"{side}-{run}.sqlite"
            write(path, side, run, pause, hosts[side], uuids[side])
            words += ["--fixed" if side else "--baseline", path]
    text = subprocess.run([gapline, "report", *words, "--json", out], capture_output=True, text=True, cwd=folder).stdout
    v = json.loads(out.read_text())["verdict"]
    said = " ".join(text.split())
    if v["result"] != ("inconclusive" if says else "faster"):
        yield f"{v['result']} {v['ci95']}"
    if says and "The fixed side was measured " + says not in said:
        yield "not said: " + says
    if not says and "The fixed side was measured" in said:
        yield "said: another session"


def main():
    bad = 0
    for name, case in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            for what in wrong(str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(folder), *case):
                print(f"{name}: {what}")
                bad += 1
    print(f"{len(CASES)} pairs of sides, {bad} wrong")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
