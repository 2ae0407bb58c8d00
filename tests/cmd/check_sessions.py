#!/usr/bin/env python3
"""Sides that share no session give no direction within about 8 %, and the first screen names what parts them.

    check_sessions.py GAPLINE

Three runs a side of one program, in turns, its steps 3 % apart (tests/support/tiny_profile.py), then a week, a host, a
GPU apart; beside them what must not part them: a container's name, a UUID that was scrubbed, one that only one side has.
Then a baseline that was saved on four days: what those differ by takes the place of the 8 %.
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
DAY = WEEK // 7
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


def saved_on_days(gapline, folder, days):
    """The baseline's runs of `days` days in a store, and the fixed side's of the day after."""
    for day in range(days + 1):
        for run in range(3):
            write(folder / f"{day}-{run}.sqlite", int(day == days), 3 * day + run, 0, "node-a", None)
            db = sqlite3.connect(folder / f"{day}-{run}.sqlite")
            db.execute("UPDATE TARGET_INFO_SESSION_START_TIME SET utcEpochNs = utcEpochNs + ?", (day * DAY,))
            db.commit()
            db.close()
        files = [folder / f"{day}-{run}.sqlite" for run in range(3)]
        if day < days:
            subprocess.run([gapline, "save", "main", *files, "--add", "--quiet"], check=True, cwd=folder)
    text = subprocess.run([gapline, "report", "--baseline", "@main", *(w for f in files for w in ("--fixed", f)),
                           "--json", "r.json"], capture_output=True, text=True, cwd=folder).stdout
    return json.loads((folder / "r.json").read_text())["verdict"], " ".join(text.split())


def wrong_of_store(gapline):
    for days in (3, 4):
        with tempfile.TemporaryDirectory() as folder:
            v, said = saved_on_days(gapline, pathlib.Path(folder), days)
            measured = [r for r in v["reasons"] if r["id"] == "sessions_measured"]
            if (v["result"] == "faster") != (days == 4) or bool(measured) != (days == 4):
                yield f"{days} days: {v['result']} {v['ci95']}, {len(measured)} measured"
            if days == 4 and "The 4 sessions of the baseline differ by 0" not in said:
                yield f"{days} days: not said in {said}"


def main():
    bad = 0
    for what in wrong_of_store(str(pathlib.Path(sys.argv[1]).resolve())):
        print(what)
        bad += 1
    for name, case in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            for what in wrong(str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(folder), *case):
                print(f"{name}: {what}")
                bad += 1
    print(f"{len(CASES)} pairs of sides, {bad} wrong")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
