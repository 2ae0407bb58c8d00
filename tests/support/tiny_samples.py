"""Adds samples of the host thread to a profile of tiny_profile.py, in nsys's tables: in `data_load` functions run one
after the other, each for a known time, and in `compute` the thread is in the driver. Everything is known, so that what
is said of it can be counted."""

import sqlite3

OUTER = [("_start", "/opt/acme/bin/train"), ("main", "/opt/acme/bin/train"), ("next_batch(Dataset&)", "/opt/acme/lib/libdata.so")]
DRIVER = OUTER[:2] + [("cudaStreamSynchronize", "/usr/lib/libcudart.so.13"), (None, "/usr/lib/libcuda.so.580")]

TABLES = """
CREATE TABLE IF NOT EXISTS COMPOSITE_EVENTS (id INTEGER NOT NULL PRIMARY KEY, start INTEGER NOT NULL, cpu INTEGER,
    threadState INTEGER, globalTid INTEGER, cpuCycles INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS SAMPLING_CALLCHAINS (id INTEGER NOT NULL, symbol INTEGER NOT NULL, module INTEGER NOT NULL,
    kernelMode INTEGER, thumbCode INTEGER, unresolved INTEGER, specialEntry INTEGER, originalIP INTEGER,
    unwindMethod INTEGER, stackDepth INTEGER NOT NULL, PRIMARY KEY (id, stackDepth));
"""


def stack_at(at, functions):
    """The stack, outermost first, `at` ns after a data_load began; what lasts longer is the last function's."""
    for name, module, length in functions:
        if at < length:
            break
        at -= length
    return OUTER + [part for part in ((n, module) for n in name.split(" > "))]


def add(path, functions, interval=1_000_000, until=None, sleeps=False):
    """`functions`: (name, module, ns), the name with what it calls: "parse > strtod". `until`: ns after which nothing is
    sampled. `sleeps`: in data_load nothing is sampled, as of a thread that is on no processor."""
    db = sqlite3.connect(path)
    db.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;" + TABLES)
    ids = {}

    def text(value):
        if value not in ids:
            (n,) = db.execute("SELECT max(id) FROM StringIds").fetchone()
            db.execute("INSERT INTO StringIds VALUES (?, ?)", (n + 1, value))
            ids[value] = n + 1
        return ids[value]

    loads = db.execute("SELECT start, end, globalTid FROM NVTX_EVENTS WHERE text = 'data_load' ORDER BY start").fetchall()
    (end,) = db.execute("SELECT max(end) FROM NVTX_EVENTS").fetchone()
    time, sample, at = loads[0][0] + 17, 0, 0
    while time < min(end, until or end):
        while at + 1 < len(loads) and loads[at + 1][0] <= time:
            at += 1
        start, stop, thread = loads[at]
        loading = start <= time < stop
        if not (loading and sleeps):
            sample += 1
            db.execute("INSERT INTO COMPOSITE_EVENTS VALUES (?, ?, 1, 1, ?, 1)", (sample, time, thread))
            frames = stack_at(time - start, functions) if loading else DRIVER
            for depth, (name, module) in enumerate(reversed(frames)):
                row = (sample, text(name or "0x7fe9fde2a1ca"), text(module), 0, 0, name is None, None, 1, 1, depth)
                db.execute("INSERT INTO SAMPLING_CALLCHAINS VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        time += interval
    db.commit()
    db.close()
