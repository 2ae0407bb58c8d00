#!/usr/bin/env python3
"""One program on both sides, of which the fixed one's profiles say less: nothing is resolved, nothing new, nothing another job.

    check_one_sided.py GAPLINE
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

CALLS, COPIES = "CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_MEMCPY"
THREAD = tiny.GLOBAL_PID | tiny.TID


def waits(call):
    """So waits the thread of each step while it loads, all of it but 10 us."""

    def edit(db):
        db.execute("CREATE TABLE OSRT_API (start, end, eventClass, globalTid, correlationId, nameId, returnValue)")
        db.execute("INSERT INTO StringIds VALUES (90, ?)", (call,))
        db.execute(f"INSERT INTO OSRT_API SELECT start + 5000, end - 5000, 27, {THREAD}, 0, 90, 0 FROM NVTX_EVENTS WHERE text = 'data_load'")

    return edit


def copies(size=1 << 16):
    """Each step's input, of 20 us, between two launches: the GPU waits for it."""

    def edit(db):
        db.execute(f"CREATE TABLE {COPIES} (start, end, deviceId, contextId, streamId, correlationId, globalPid, bytes, copyKind, srcKind, dstKind)")
        db.execute("INSERT INTO StringIds VALUES (80, 'cudaMemcpyAsync_v3020')")
        for i, (at,) in enumerate(db.execute("SELECT end FROM NVTX_EVENTS WHERE text = 'data_load' ORDER BY start").fetchall()):
            db.execute(f"INSERT INTO {CALLS} VALUES (?, ?, 0, {THREAD}, ?, 80, 0)", (at - 24_000, at - 23_000, 50_000 + i))
            db.execute(f"INSERT INTO {COPIES} VALUES (?, ?, 0, 1, 7, ?, {tiny.GLOBAL_PID}, ?, 1, 1, 2)", (at - 22_000, at - 2_000, 50_000 + i, size))

    return edit


def without(table):
    return lambda db: db.execute(f"DELETE FROM {table}")


def same_gpu(db):
    db.execute("ALTER TABLE TARGET_INFO_GPU ADD COLUMN uuid TEXT DEFAULT 'GPU-11111111-2222-3333-4444-555555555555'")


def nothing(db):
    pass


CASES = {  # name: how long a step loads, ns; what both sides' profiles get; what is taken from the fixed side's; findings that have to be there
    "CUDA calls, where the host loads": (2_500_000, [copies()], without(CALLS), {"input_starvation"}, 1),
    "CUDA calls, where it synchronises": (2_500_000, [], without(CALLS), {"sync_every_step"}, 3),
    "calls of the system, a lock": (2_500_000, [waits("pthread_mutex_lock")], without("OSRT_API"), {"lock_contention"}, 1),
    "calls of the system, a sleep": (2_500_000, [waits("nanosleep")], without("OSRT_API"), {"paced"}, 3),
    "calls of the system, a short sleep": (700_000, [waits("nanosleep")], without("OSRT_API"), {"paced"}, 1),
    "copies": (400_000, [copies()], without(COPIES), {"input_starvation"}, 1),
    "launches of copies": (400_000, [copies()], lambda db: db.execute(f"DELETE FROM {CALLS} WHERE nameId = 80"), {"input_starvation"}, 1),
    "when they began": (400_000, [copies(), same_gpu], without("TARGET_INFO_SESSION_START_TIME"), {"input_starvation"}, 3),
}


def report(gapline, folder, sides):
    out = folder / "r.json"
    words = [w for name, paths in zip(("--baseline", "--fixed"), sides) for path in paths for w in (name, path)]
    r = subprocess.run([gapline, "report", *words, "--require-comparable", "-q", "--json", out], capture_output=True, text=True)
    return json.loads(out.read_text()), r.stderr


def wrong(doc, needs):
    v = doc["verdict"]
    if v["result"] in ("faster", "slower"):
        yield v["result"]
    if v["same_work"] == "different":
        yield "another job"
    yield from (f"{f['id']} {f['status']}" for f in doc["findings"] if f["status"] in ("resolved", "reduced", "new"))
    yield from (f"no {name}" for name in needs - {f["id"] for f in doc["findings"]})


def main():
    bad = 0
    for name, (load, edits, less, needs, runs) in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            sides = [[], []]
            for run in range(2 * runs):
                path = pathlib.Path(folder) / f"{run}.sqlite"
                tiny.write(path, load=load, seed=run + 1)
                db = sqlite3.connect(path)
                for edit in edits + [less if run % 2 else nothing]:
                    edit(db)
                db.commit()
                db.close()
                sides[run % 2].append(path)
            for order in sides, sides[::-1]:
                doc, errors = report(sys.argv[1], pathlib.Path(folder), order)
                for what in wrong(doc, needs if order is sides else set()):
                    print(f"{name}: {what}", errors)
                    bad += 1
    print(f"{len(CASES)} programs, {bad} wrong")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
