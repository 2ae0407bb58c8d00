"""Windows of a recorded Nsight Systems export: what a capture by --duration, or one begun late, would have recorded.

A call or range belongs to the window that it starts in, an operation to that of its launch, as CUPTI has it.
"""
import pathlib
import sqlite3

GPU = ("KERNEL", "MEMCPY", "MEMSET", "GRAPH_TRACE")
PREFIX = "CUPTI_ACTIVITY_KIND_"


def tables(db):
    return [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]


def columns(db, table):
    return {row[1] for row in db.execute(f"PRAGMA table_info({table})")}


def extent(db):
    """From the first operation's start to the last one's end, ns; None: there are none."""
    times = [db.execute(f"SELECT min(start), max(end) FROM {PREFIX}{kind}").fetchone()
             for kind in GPU if PREFIX + kind in tables(db)]
    times = [t for t in times if t[0] is not None]
    return (min(t[0] for t in times), max(t[1] for t in times)) if times else None


def crop(source, target, begin, end, marks):
    """Writes the window from `begin` to `end`, shares of the extent of the GPU's work, to `target`; without NVTX unless
    `marks`. Returns whether there is work to take a window of."""
    target = pathlib.Path(target)
    target.write_bytes(pathlib.Path(source).read_bytes())
    with sqlite3.connect(target) as db:
        there = tables(db)
        first_last = extent(db)
        if not first_last:
            return False
        first, last = first_last
        window = [first + (last - first) * share for share in (begin, end)]
        launches = PREFIX + "RUNTIME" in there
        if launches:
            db.execute(f"CREATE TEMP TABLE launched AS SELECT correlationId FROM {PREFIX}RUNTIME")
            db.execute("CREATE INDEX temp.launched_at ON launched (correlationId)")
        for table in there:
            of_window = table.startswith(PREFIX) or table in ("NVTX_EVENTS", "OSRT_API")
            if of_window and "start" in columns(db, table):
                db.execute(f"DELETE FROM {table} WHERE start < ? OR start > ?", window)
        if launches:
            db.execute(f"CREATE TEMP TABLE kept AS SELECT correlationId FROM {PREFIX}RUNTIME")
            db.execute("CREATE INDEX temp.kept_at ON kept (correlationId)")
            for kind in GPU:
                if PREFIX + kind in there:
                    db.execute(f"DELETE FROM {PREFIX}{kind} WHERE correlationId IN launched"
                               " AND correlationId NOT IN kept")
        if not marks and "NVTX_EVENTS" in there:
            db.execute("DROP TABLE NVTX_EVENTS")
    return True
