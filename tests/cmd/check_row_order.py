#!/usr/bin/env python3
"""The same profiles with the rows of every table in another order: the same reports, byte for byte.

    check_row_order.py GAPLINE

A database promises no order of rows. Each profile is written anew, every table of it without its keys (SQLite keeps the
rows of a table in the order of an integer key) and its rows shuffled. Page, JSON, Markdown and the terminal say of the
copies what they say of the profiles as they were; so do the stacks that --perfetto writes.
"""
import gzip
import lzma
import pathlib
import random
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE.parent / "support")]
import tiny_profile
import tiny_samples

OUTPUTS = {"--output": "report.html", "--json": "report.json", "--markdown": "report.md", "--perfetto": "report.trace"}
ORDERS = 2


def shuffle(path, to, seed):
    """A copy of a database with its tables and their rows in another order."""
    draw, db = random.Random(seed), sqlite3.connect(to)
    db.create_function("draw", 0, draw.random)
    db.execute("ATTACH ? AS old", (str(path),))
    tables = [name for (name,) in db.execute("SELECT name FROM old.sqlite_master WHERE type = 'table' ORDER BY name")]
    draw.shuffle(tables)
    moved = 0
    for table in tables:
        columns = ", ".join(f'"{name}" {kind}' for _, name, kind, *_ in db.execute(f'PRAGMA old.table_info("{table}")'))
        db.execute(f'CREATE TABLE main."{table}" ({columns})')
        db.execute(f'INSERT INTO main."{table}" SELECT * FROM old."{table}" ORDER BY draw()')
        first, *_ = columns.split('"')[1:]
        column = f'SELECT quote("{first}") FROM'
        moved += db.execute(f'{column} main."{table}"').fetchall() != db.execute(f'{column} old."{table}"').fetchall()
    db.commit()
    db.close()
    assert moved >= 4, f"{path}: {moved} tables are in another order"


# ---- the profiles ----


def example(folder):
    """What gapline's own collector wrote, with the GPU's state and timed runs: three runs per side."""
    for side in "baseline", "fixed":
        for run in range(1, 4):
            with gzip.open(ROOT / f"examples/training-step/runs/{side}-{run}.sqlite.gz") as packed:
                (folder / f"{side}-{run}.sqlite").write_bytes(packed.read())


def truth(name):
    def unpack(folder):
        with tarfile.open(ROOT / "examples/truth" / name / "captures.tar.xz") as tar:
            for member in tar.getmembers():
                (folder / pathlib.Path(member.name).name).write_bytes(tar.extractfile(member).read())

    return unpack


def add_ties(db):
    """Rows of one place and time, which only their contents tell apart: ranges, kernels, calls, names of a thread; and rows
    that make no sense."""
    thread = tiny_profile.GLOBAL_PID | tiny_profile.TID
    loads = db.execute("SELECT start, end FROM NVTX_EVENTS WHERE text = 'data_load'").fetchall()
    for start, end in loads:
        for name in "wait", "fetch", "decode":
            db.execute("INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, domainId) VALUES (?, ?, 59, ?, ?, 0)", (start + 9, end - 9, name, thread))
    db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT start, end, deviceId, contextId, streamId + 1, correlationId, globalPid, demangledName + 4,"
               " shortName, graphNodeId FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE correlationId % 3 = 0")
    for name in "loader", "main", "worker":
        db.execute("INSERT INTO NVTX_EVENTS (start, eventType, text, globalTid, domainId) VALUES (1000, 39, ?, ?, 0)", (name, thread))
    for start, end, name in (7, 5, "ends early"), (0, 0, "no time"), (9, 2, "ends before"):
        db.execute("INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, domainId) VALUES (?, ?, 59, ?, ?, 0)", (start, end, name, thread))


def sampled(folder):
    """Stacks of a thread, memory that is allocated and freed, and counters of the GPU."""
    for side, load in ("baseline", 8), ("fixed", 3):
        path = folder / f"{side}-1.sqlite"
        memory = [(100_000 + i, 4096 * i, 1 << 20, 2, freed) for i in range(1, 9) for freed in (0, 1)]
        tiny_profile.write(path, steps=30, load=load * 1_000_000, jitter=20_000, seed=load, memory=memory)
        functions = [("read_records(File&) > inflate", "/opt/acme/lib/libdata.so", 2_000_000), ("parse", "/opt/acme/lib/libdata.so", load * 1_000_000)]
        tiny_samples.add(path, functions, interval=300_000)
        db = sqlite3.connect(path)
        db.execute("CREATE TABLE GPU_METRICS (rawTimestamp INTEGER, timestamp INTEGER, typeId INTEGER, metricId INTEGER, value)")
        db.execute("CREATE TABLE TARGET_INFO_GPU_METRICS (typeId INTEGER, sourceId INTEGER, typeName TEXT, metricId INTEGER, metricName TEXT)")
        add_ties(db)
        names = ["SMs Active [Throughput %]", "DRAM Read Bandwidth [Throughput %]", "NVLink RX Requests User Data [Throughput %]",
                 "NVLink RX Responses User Data [Throughput %]"]
        db.executemany("INSERT INTO TARGET_INFO_GPU_METRICS VALUES (256, 0, '', ?, ?)", enumerate(names, 10))
        (end,) = db.execute("SELECT max(end) FROM CUPTI_ACTIVITY_KIND_KERNEL").fetchone()
        rows = [(at, metric, at // 100_000 * metric % 45) for at in range(0, end, 100_000) for metric in range(10, 14)]
        db.executemany("INSERT INTO GPU_METRICS VALUES (?1, ?1, 256, ?2, ?3)", rows)
        db.commit()
        db.close()


def recorded(folder):
    """What nsys recorded of a program with threads, beside what gapline recorded of another."""
    for side, name in ("baseline", "kernel-bound-baseline"), ("fixed", "kernel-bound-fixed"):
        (folder / f"{side}-1.sqlite").write_bytes(lzma.open(HERE / "recorded" / f"{name}.sqlite.xz").read())


PROFILES = {"an example, three runs per side": example, "an export of nsys": truth("host-lock-2-nsys"), "two GPUs": truth("nccl-serial-2-nsys"),
            "samples of Python": truth("gil-loader-2"), "samples, memory, counters": sampled, "recorded kernels": recorded}


def said(gapline, folder):
    """All that is written about the profiles of a folder, the same command whatever their order."""
    sides = [word for side in ("baseline", "fixed") for path in sorted(folder.glob(f"{side}-*.sqlite")) for word in (f"--{side}", path.name)]
    done = subprocess.run([gapline, "report", *sides, *(word for pair in OUTPUTS.items() for word in pair)], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, (done.returncode, done.stderr)
    return {"terminal": done.stdout.encode(), **{name: (folder / name).read_bytes() for name in OUTPUTS.values()}}


def main():
    wrong = []
    for title, make in PROFILES.items():
        with tempfile.TemporaryDirectory(prefix="gapline-rows-") as name:
            folder = pathlib.Path(name) / "profiles"
            folder.mkdir()
            make(folder)
            plain = folder.parent / "plain"
            shutil.copytree(folder, plain)
            gapline = pathlib.Path(sys.argv[1]).resolve()
            first = said(gapline, folder)
            for order in range(1, ORDERS + 1):
                for path in plain.glob("*.sqlite"):
                    (folder / path.name).unlink()
                    shuffle(path, folder / path.name, order)
                other = said(gapline, folder)
                for output, text in first.items():
                    if other[output] == text:
                        continue
                    at = next(i for i, (a, b) in enumerate(zip(text + b"\0", other[output] + b"\0")) if a != b)
                    where = slice(max(at - 90, 0), at + 60)
                    wrong.append(f"{title}, order {order}: {output} differs at {at}: {text[where]} | {other[output][where]}")
    print("\n".join(wrong) or f"{len(PROFILES)} pairs of profiles in {ORDERS} other orders: the same reports")
    sys.exit(1 if wrong else 0)


main()
