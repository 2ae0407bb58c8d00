#!/usr/bin/env python3
"""Recordings that cannot be true are doubted, and only those.

    check_possible.py GAPLINE

Each case changes the rows of two small profiles whose answers are known (tests/support/tiny_profile.py): one program is
1.6 times as fast as the other. Where a recording cannot be true, the result is inconclusive, every gate stays open, the
work is unknown, and a sentence says why. Beside it stands a recording that looks alike and is fine.
"""
import json
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
import facts  # noqa: E402
import tiny_profile as tiny  # noqa: E402

GATES = ["--min-speedup", "1.2", "--max-regression", "3", "--require-comparable"]
KERNELS, CALLS = "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME"
PER_STEP = 6  # correlations of a step: five launches and a wait


COPIES = "CUPTI_ACTIVITY_KIND_MEMCPY"


def copies(db):
    """One copy to the device in each step, while the host loads."""
    db.execute(f"CREATE TABLE {COPIES} (start, end, deviceId, contextId, streamId, correlationId, globalPid, bytes, copyKind, srcKind, dstKind)")
    db.execute("INSERT INTO StringIds VALUES (80, 'cudaMemcpyAsync_v3020')")
    for i, (at,) in enumerate(db.execute("SELECT start FROM NVTX_EVENTS WHERE text = 'step' ORDER BY start").fetchall()):
        db.execute(f"INSERT INTO {CALLS} VALUES (?, ?, 0, ?, ?, 80, 0)", (at + 1000, at + 3000, tiny.GLOBAL_PID | tiny.TID, 50_000 + i))
        db.execute(f"INSERT INTO {COPIES} VALUES (?, ?, 0, 1, 7, ?, ?, 65536, 1, 1, 2)", (at + 5000, at + 7000, 50_000 + i, tiny.GLOBAL_PID))


def lose_kernels(db, first, steps):
    db.execute(f"DELETE FROM {KERNELS} WHERE correlationId > ? AND correlationId <= ?", (first * PER_STEP, (first + steps) * PER_STEP))


def capture_graph(db, first, steps):
    """The launches of those steps were captured: nothing runs meanwhile."""
    lose_kernels(db, first, steps)
    db.executemany("INSERT INTO StringIds VALUES (?, ?)", [(70, "cudaStreamBeginCapture_v10000"), (71, "cudaStreamEndCapture_v10000")])
    for name, at, shift in (70, first * PER_STEP + 1, -20), (71, (first + steps) * PER_STEP, -10):
        (start,) = db.execute(f"SELECT start FROM {CALLS} WHERE correlationId = ?", (at,)).fetchone()
        db.execute(f"INSERT INTO {CALLS} VALUES (?, ?, 0, ?, ?, ?, 0)", (start + shift, start + shift + 5, tiny.GLOBAL_PID | tiny.TID, 90000 + name, name))


def number_steps(db, number, name="step {}"):
    rows = db.execute("SELECT rowid FROM NVTX_EVENTS WHERE text = 'step' ORDER BY start").fetchall()
    for i, (row,) in enumerate(rows):
        db.execute("UPDATE NVTX_EVENTS SET text = ? WHERE rowid = ?", (name.format(number(i)), row))


def pause(db, step, ns):
    """Nothing was recorded for so long before a step."""
    (at,) = db.execute("SELECT start FROM NVTX_EVENTS WHERE text GLOB 'step*' ORDER BY start LIMIT 1 OFFSET ?", (step,)).fetchone()
    for table in KERNELS, CALLS, "NVTX_EVENTS":
        db.execute(f"UPDATE {table} SET start = start + ?, end = end + ? WHERE start >= ?", (ns, ns, at))


def holes(number, name="step {}"):
    def edit(db):
        number_steps(db, number, name)
        for step in 20, 40:
            pause(db, step, 3_000_000)

    return edit


def tenant(ns=50_000):
    """Another process runs a kernel in each step."""

    def edit(db):
        other = 1 << 48 | 900 << 24
        db.execute("INSERT INTO StringIds VALUES (72, 'others')")
        for (start,) in db.execute(f"SELECT start FROM {KERNELS} WHERE correlationId % {PER_STEP} = 1").fetchall():
            db.execute(f"INSERT INTO {KERNELS} VALUES (?, ?, 0, 1, 7, 0, ?, 72, 72, NULL)", (start - 90_000, start - 90_000 + ns, other))

    return edit


def collectives(db):
    db.execute("INSERT INTO StringIds VALUES (73, 'ncclDevKernel_AllReduce_Sum_f32_RING_LL')")
    db.execute(f"UPDATE {KERNELS} SET demangledName = 73, shortName = 73 WHERE correlationId % {PER_STEP} = 5")


def timed(ns):
    def edit(db):
        db.execute("CREATE TABLE GAPLINE_STOPWATCH (start INTEGER NOT NULL, time INTEGER, steps INTEGER NOT NULL, process INTEGER NOT NULL, launches INTEGER, step TEXT, unused TEXT)")
        for run in range(3):
            step = ns + 100 * run
            db.execute("INSERT INTO GAPLINE_STOPWATCH VALUES (?, ?, 50, ?, NULL, 'step', NULL)", (1_795_000_000_000_000_000 + run, 50 * step, 100 * step))

    return edit


def unmark(*steps):
    """The range of each of those steps goes on to the end of the next one."""

    def edit(db):
        rows = db.execute("SELECT rowid, end FROM NVTX_EVENTS WHERE text = 'step' ORDER BY start").fetchall()
        for step in steps:
            db.execute("UPDATE NVTX_EVENTS SET end = ? WHERE rowid = ?", (rows[step + 1][1], rows[step][0]))
            db.execute("DELETE FROM NVTX_EVENTS WHERE rowid = ?", (rows[step + 1][0],))

    return edit


def by_optimizers(edit, lost=()):
    """Marked by gapline, which marks an optimizer at each step's end; those marks are gone of some."""

    def both(db):
        ends = [row for row in db.execute("SELECT end, globalTid FROM NVTX_EVENTS WHERE text = 'step' ORDER BY start")]
        edit(db)
        db.execute("DELETE FROM NVTX_EVENTS WHERE text = 'compute'")
        db.execute("UPDATE NVTX_EVENTS SET text = 'gapline: step', eventType = 60, rangeId = rowid, endGlobalTid = globalTid WHERE text = 'step'")
        db.executemany("INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, NULL, 'optimizer', ?, NULL, NULL, 0)",
                       [(end - 500, end - 100, tid) for i, (end, tid) in enumerate(ends) if i not in lost])

    return both


def drop_marks(*steps):
    """The ranges of those steps were lost, and not the steps."""

    def edit(db):
        rows = db.execute("SELECT rowid FROM NVTX_EVENTS WHERE text = 'step' ORDER BY start").fetchall()
        db.executemany("DELETE FROM NVTX_EVENTS WHERE rowid = ?", [rows[step] for step in steps])

    return edit


def clock_back(*steps):
    """The clock was set back by half a step at each of those."""

    def edit(db):
        starts = [at for (at,) in db.execute("SELECT start FROM NVTX_EVENTS WHERE text = 'step' ORDER BY start")]
        for step in sorted(steps, reverse=True):
            for table in KERNELS, CALLS, "NVTX_EVENTS":
                back = (starts[step] - starts[step - 1]) // 2
                db.execute(f"UPDATE {table} SET start = start - ?, end = end - ? WHERE start >= ?", (back, back, starts[step]))

    return edit


def drop_rows(tables, *steps):
    """Those rows of those steps were lost, and time went on."""

    def edit(db):
        starts = [at for (at,) in db.execute("SELECT start FROM NVTX_EVENTS WHERE text = 'step' ORDER BY start")]
        for step in steps:
            for table in tables:
                db.execute(f"DELETE FROM {table} WHERE start >= ? AND start < ?", (starts[step], starts[step + 1]))

    return edit


def drop_amid(first, last):
    """All rows from the third launch of a step to that of another one were lost."""

    def edit(db):
        starts = [at for (at,) in db.execute("SELECT start FROM NVTX_EVENTS WHERE text = 'step' ORDER BY start")]
        db.execute("DELETE FROM NVTX_EVENTS WHERE start > ? AND start <= ?", (starts[first] + 1, starts[last]))
        for table in KERNELS, CALLS:
            db.execute(f"DELETE FROM {table} WHERE correlationId > ? AND correlationId <= ?", (first * PER_STEP + 2, last * PER_STEP + 2))

    return edit


def pauses(steps, *before):
    """The program does nothing for so many steps' time before each of those."""

    def edit(db):
        starts = [at for (at,) in db.execute("SELECT start FROM NVTX_EVENTS WHERE text = 'step' ORDER BY start")]
        for step in sorted(before, reverse=True):
            pause(db, step, int(steps * (starts[1] - starts[0])))

    return edit


def repeat_kernels(db):
    """One step runs most of its kernels twice, and one of them once."""
    launches = db.execute(f"SELECT start, end, correlationId FROM {KERNELS} WHERE correlationId > ? AND correlationId <= ?", (30 * PER_STEP, 30 * PER_STEP + 4)).fetchall()
    for start, end, correlation in launches:
        half = (start + end) // 2
        db.execute(f"UPDATE {KERNELS} SET end = ? WHERE correlationId = ?", (half, correlation))
        db.execute(f"INSERT INTO {KERNELS} SELECT ?, ?, deviceId, contextId, streamId, correlationId, globalPid, demangledName, shortName, graphNodeId FROM {KERNELS} WHERE correlationId = ?", (half, end, correlation))


def write_twice(every):
    """Of so many kernels one is written down again."""
    return lambda db: db.execute(f"INSERT INTO {KERNELS} SELECT * FROM {KERNELS} WHERE correlationId % {every} = {every - 1}")


def ticks(db):
    """A launch of many steps, of a graph say, has two kernels of less than a microsecond, which a coarse clock saw at one time."""
    db.execute(f"INSERT INTO {KERNELS} SELECT end + 1000, end + 2000, deviceId, contextId, streamId, correlationId, globalPid, 5, 6, NULL FROM {KERNELS} WHERE correlationId % 6 = 4")
    db.execute(f"INSERT INTO {KERNELS} SELECT * FROM {KERNELS} WHERE demangledName = 5")


def fail_launches(code, *steps):
    """The launches of those steps returned an error, and their kernels never ran."""

    def edit(db):
        for step in steps:
            db.execute(f"UPDATE {CALLS} SET returnValue = ? WHERE correlationId > ? AND correlationId < ?", (code, step * PER_STEP, (step + 1) * PER_STEP))
            lose_kernels(db, step, 1)

    return edit


def far_behind(steps):
    """The last kernels run an hour after all else."""

    def edit(db):
        (n,) = db.execute("SELECT count(*) FROM NVTX_EVENTS WHERE text = 'step'").fetchone()
        db.execute(f"UPDATE {KERNELS} SET start = start + 3600000000000, end = end + 3600000000000 WHERE correlationId > ?", ((n - steps) * PER_STEP,))

    return edit


def outlive(db):
    """A kernel of the first step, on another stream, outlives the second step's: their ends are one, and both are there."""
    (end,) = db.execute(f"SELECT max(end) FROM {KERNELS} WHERE correlationId < ?", (2 * PER_STEP,)).fetchone()
    db.execute(f"UPDATE {KERNELS} SET end = ?, streamId = 8 WHERE correlationId = ?", (end + 1_000, PER_STEP - 1))


def nothing(db):
    pass


def numbered(db):
    number_steps(db, lambda i: i)


FASTER, SIDE = dict(load=50_000), dict(load=400_000)
MISUSED = ["--files-are", "repeats"]
LOST, FAILED, EMPTY, GONE, BACK, FAR, JUMP, MEET, OTHER, TIMED, MARKS, UNIT, AGAIN = "Operations were lost", "40 CUDA calls failed, first with error 222 (PTX of a newer version). So there is no verdict", "no GPU work but", "nothing at all in", "in two CUDA calls at once", "after all else", "step numbers of", "collectives of", "Another process", "less than its kernels need", "times every kernel of the others", "times the other side's work", "are recorded twice: at one time, on one stream."
SENTENCES = LOST, FAILED, EMPTY, GONE, BACK, FAR, JUMP, MEET, OTHER, TIMED, MARKS, UNIT, AGAIN
CASES = {  # name: what was done to the baseline and the fixed side, the sentence, options, runs a side
    "lost in the middle": (nothing, lambda db: lose_kernels(db, 25, 8), LOST, [], 1),
    "lost here and there": (lambda db: [lose_kernels(db, n, 1) for n in (11, 23, 37)], nothing, LOST, [], 1),
    "launches that failed": (nothing, fail_launches(222, *range(20, 28)), FAILED, [], 1),
    "all copies lost": (copies, lambda db: [copies(db), db.execute(f"DELETE FROM {COPIES}")], LOST, [], 1),
    "copies that copy nothing": (copies, lambda db: [copies(db), db.execute(f"DELETE FROM {COPIES} WHERE correlationId % 3")], None, [], 1),
    "lost at the end": (nothing, lambda db: lose_kernels(db, 55, 5), None, [], 1),
    "all but the ranges of some steps": (nothing, drop_rows([KERNELS, CALLS], *range(3, 59, 6)), EMPTY, [], 1),
    "all but the ranges of some steps, on both sides": (drop_rows([KERNELS, CALLS], 20, 30), drop_rows([KERNELS, CALLS], 15, 25), None, [], 1),
    "steps lost": (nothing, drop_rows([KERNELS, CALLS, "NVTX_EVENTS"], *range(3, 59, 6)), GONE, [], 3),
    "steps lost, one run": (drop_rows([KERNELS, CALLS, "NVTX_EVENTS"], 10, 11, 30, 40, 41, 42), nothing, GONE, [], 1),
    "a stretch lost amid steps": (drop_amid(20, 28), nothing, GONE, [], 1),
    "one pause of seven steps": (pauses(7, 30), pauses(7, 30), None, [], 3),
    "pauses of half a step": (pauses(0.5, *range(7, 56, 12)), nothing, None, [], 3),
    "pauses of 1.4 steps": (pauses(1.4, *range(7, 56, 12)), nothing, None, [], 3),
    "captured in a graph": (nothing, lambda db: capture_graph(db, 25, 1), None, [], 1),
    "numbers jump": (numbered, holes(lambda i: i + 7 * (i >= 20) + 7 * (i >= 40)), JUMP, [], 1),
    "numbers jump, in tens": (holes(lambda i: 10 * (i + 3 * (i >= 20) + 3 * (i >= 40))), numbered, JUMP, [], 1),
    "numbers jump, beside how many there are": (lambda db: number_steps(db, lambda i: i, "step {}/100"), holes(lambda i: i + 7 * (i >= 20) + 7 * (i >= 40), "step {}/100"), JUMP, [], 1),
    "numbers begin again after a pause": (numbered, holes(lambda i: i % 20), None, [], 1),
    "numbers go on in tens": (numbered, lambda db: number_steps(db, lambda i: 10 * i), None, [], 1),
    "a mark lost": (nothing, unmark(30), MARKS, [], 1),
    "marks lost": (unmark(12, 20, 41), nothing, MARKS, [], 1),
    "a mark lost, where steps copy": (copies, lambda db: [copies(db), unmark(30)(db)], MARKS, [], 1),
    "steps with the kernels of two and the copies of one": (copies, lambda db: [unmark(12, 20, 41)(db), copies(db)], None, [], 1),
    "models trained one after another, one of them marked": (by_optimizers(unmark(12, 20, 41)), by_optimizers(nothing), None, [], 1),
    "marks of an optimizer lost": (by_optimizers(unmark(12, 20, 41), (12, 20, 41)), by_optimizers(nothing), MARKS, [], 1),
    "ranges lost": (nothing, drop_marks(5, 10, 20, 30, 40, 50), MARKS, [], 3),
    "every fourth range lost": (drop_marks(*range(2, 60, 4)), nothing, MARKS, [], 1),
    "two of three ranges lost": (nothing, drop_marks(*[i for i in range(60) if i % 3]), UNIT, [], 1),
    "a clock set back": (nothing, clock_back(*range(5, 56, 5)), BACK, [], 3),
    "one row far behind": (lambda db: db.execute(f"UPDATE {KERNELS} SET start = start + 3600000000000, end = end + 3600000000000 WHERE correlationId = {30 * PER_STEP + 2}"), nothing, FAR, [], 1),
    "a step far behind": (nothing, far_behind(1), FAR, [], 1),
    "work of the first step outlives the second": (nothing, outlive, None, [], 1),
    "steps of two on both sides": (unmark(20), unmark(20), None, [], 1),
    "kernels recorded twice": (write_twice(30), nothing, AGAIN, [], 1),
    "kernels recorded twice on both sides": (write_twice(1), write_twice(1), AGAIN, [], 3),
    "two kernels recorded twice": (write_twice(151), nothing, None, [], 1),
    "kernels within a tick of a clock of microseconds": (ticks, ticks, None, [], 1),
    "most kernels twice in a step": (nothing, repeat_kernels, None, [], 1),
    "another process on one side": (tenant(), nothing, OTHER, [], 1),
    "another process on one side, hardly at all": (tenant(3_000), nothing, None, [], 1),
    "another process on both sides": (tenant(), tenant(), None, [], 1),
    "another process on both sides, more on one": (tenant(20_000), tenant(), OTHER, [], 3),
    "ranks as repeats": (collectives, collectives, MEET, MISUSED, 3),
    "repeats without collectives": (nothing, nothing, None, MISUSED, 3),
    "timed below the kernels": (timed(900_000), timed(200_000), TIMED, [], 1),
    "timed above the kernels": (timed(900_000), timed(560_000), None, [], 1),
}


def write(folder, side, options, edit, run, together):
    path = folder / f"{side}-{run}.sqlite"
    at = 1_795_000_000_000_000_000 + (side == "fixed") * 10_000_000_000 + (0 if together else run * 20_000_000_000)
    tiny.write(path, seed=run + 10 * (side == "fixed") + 1, jitter=2_000, started=at, **options)
    db = sqlite3.connect(path)
    edit(db)
    db.commit()
    db.close()
    return path


def judge(gapline, folder, edits, options, runs):
    words = []
    for side, program, edit in zip(("baseline", "fixed"), (SIDE, FASTER), edits):
        for run in range(runs):
            words += [f"--{side}", write(folder, side, program, edit, run, bool(options))]
    out = folder / "r.json"
    r = subprocess.run([gapline, "report", *words, *options, *GATES, "-q", "--json", out], capture_output=True, text=True)
    return r, json.loads(out.read_text(), object_hook=facts.text) if out.exists() else None


def wrong(r, doc, says):
    if doc is None:
        yield f"exit {r.returncode}: {r.stderr.strip()}"
        return
    v = doc["verdict"]
    said = [s for s in v["reasons"] if any(w in s for w in SENTENCES)]
    if not says:
        if said:
            yield f"said: {said[0]}"
        if v["result"] != "faster":
            yield f"{v['result']}, and it is faster"
        if v["same_work"] == "different":
            yield "different work"
        return
    if v["result"] != "inconclusive":
        yield v["result"]
    yield from (f"{g['name']} {g['result']}" for g in v["gates"] if g["result"] != "inconclusive")
    if v["same_work"] != "unknown":
        yield f"same work: {v['same_work']}"
    if len(said) != 1 or says not in said[0]:
        yield f"said: {said}"
    if r.returncode != 4:
        yield f"exit {r.returncode}"


def main():
    bad = 0
    for name, (base, fixed, says, options, runs) in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            for what in wrong(*judge(sys.argv[1], pathlib.Path(folder), (base, fixed), options, runs), says):
                print(f"{name}: {what}")
                bad += 1
    print(f"{len(CASES)} recordings, {bad} wrong")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
