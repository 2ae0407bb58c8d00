#!/usr/bin/env python3
"""scrub.py INPUT.sqlite OUTPUT.sqlite.gz [--secret WORD]... [--list]

Copies an nsys SQLite export without what it tells about the machine and its people: environment, host, users, paths,
command lines, other processes. What is kept is named here, so a table that nobody thought of is dropped. Event rows stay
as they are, which is checked; of paths in names (dlopen) the last part stays.

The result is searched for paths and for the secrets: those given, and this machine's host name, user, home and longer
environment values, so run it where the capture was made. Anything found is an error, and no output is left. --list
prints every text that remains.
"""
import argparse
import getpass
import gzip
import hashlib
import os
import re
import socket
import sqlite3
import sys
import tempfile

# Rows with times: kept to the last bit.
EVENTS = re.compile(
    r"CUPTI_ACTIVITY_KIND_\w+|NVTX_EVENTS|OSRT_API|PROFILER_OVERHEAD|CUDA_GRAPH_(NODE_)?EVENTS|CUDA_GPU_MEMORY_\w+"
    r"|CUDA_UM_\w+_EVENTS|(CUBLAS|CUDNN)_EVENTS|GPU_METRICS|MPI_\w+"
)
# Rows about the device, the file and its words; those with texts are cleaned below.
FACTS = re.compile(
    r"StringIds|ENUM_\w+|TARGET_INFO_(GPU|CUDA_DEVICE|CUDA_CONTEXT_INFO|CUDA_NULL_STREAM|CUDA_STREAM|GPU_METRICS)"
    r"|TARGET_INFO_(SYSTEM_ENV|SESSION_START_TIME)|ANALYSIS_DETAILS|PROCESSES|ThreadNames|DIAGNOSTIC_EVENT"
    r"|META_DATA_EXPORT|META_DATA_CAPTURE|EXPORT_META_DATA"
)
SYSTEM_ENV_KEPT = ("NvDriverVersion", "CudaDriverVersion")
META_KEPT = re.compile(r"EXPORT_(PRODUCT|SCHEMA)_\w+")
GPU_IDENTITY = ("uuid", "luid", "ctxswDevPath", "ctrlDevPath")

STRING_COLUMNS = ("nameId", "textId", "jsonTextId", "demangledName", "shortName", "mangledName")
PATH = re.compile(r"(?:/[^\s/()<>\"']+)*/(?=[^\s/()<>\"']+)")
PATH_LEFT = re.compile(r"(?<![\w.*])/[\w.+~-]+/[\w.+~-]+")
# In raw bytes, where numbers look like short paths now and then.
PATH_LEFT_RAW = re.compile(rb"/[A-Za-z][\w.+-]{3,}/[A-Za-z][\w.+-]{3,}")


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def tables(db):
    return [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]


def columns(db, table):
    return [row[1] for row in db.execute(f"PRAGMA table_info({quoted(table)})")]


def fingerprint(db, table):
    digest = hashlib.sha256()
    for row in db.execute(f"SELECT * FROM {quoted(table)} ORDER BY rowid"):
        digest.update(repr(row).encode())
    return digest.hexdigest()


def string_columns(db, table):
    """Columns that point into StringIds: by name, or because the file's own DDL says so."""
    ddl = db.execute("SELECT sql FROM sqlite_master WHERE name = ?", (table,)).fetchone()[0]
    named = set(re.findall(r"^\s*(\w+)[^\n]*REFERENCES StringIds", ddl, re.MULTILINE))
    return [c for c in columns(db, table) if c in named or c in STRING_COLUMNS]


def processes_seen(db):
    """Processes with events; the rest of the machine's are nobody's business."""
    seen = set()
    for table in filter(EVENTS.fullmatch, tables(db)):
        for column in ("globalPid", "globalTid"):
            if column in columns(db, table):
                query = f"SELECT DISTINCT {column} FROM {quoted(table)} WHERE {column} IS NOT NULL"
                seen.update(row[0] >> 24 for row in db.execute(query))
    return seen


def clean(db):
    have = set(tables(db))
    dropped = sorted(t for t in have if not EVENTS.fullmatch(t) and not FACTS.fullmatch(t))
    for table in dropped:
        db.execute(f"DROP TABLE {quoted(table)}")
    have -= set(dropped)

    seen = processes_seen(db)
    for table, column in (("PROCESSES", "globalPid"), ("ThreadNames", "globalTid")):
        if table in have:
            for (identity,) in db.execute(f"SELECT DISTINCT {column} FROM {table}").fetchall():
                if identity is None or identity >> 24 not in seen:
                    db.execute(f"DELETE FROM {table} WHERE {column} IS ?", (identity,))
    if "PROCESSES" in have:
        for rowid, name in db.execute("SELECT rowid, name FROM PROCESSES").fetchall():
            program = os.path.basename((name or "").split(" ")[0])
            db.execute("UPDATE PROCESSES SET name = ? WHERE rowid = ?", (program, rowid))
    if "TARGET_INFO_SYSTEM_ENV" in have:
        marks = ",".join("?" * len(SYSTEM_ENV_KEPT))
        db.execute(f"DELETE FROM TARGET_INFO_SYSTEM_ENV WHERE name NOT IN ({marks})", SYSTEM_ENV_KEPT)
    if "TARGET_INFO_SESSION_START_TIME" in have and "localTime" in columns(db, "TARGET_INFO_SESSION_START_TIME"):
        db.execute("UPDATE TARGET_INFO_SESSION_START_TIME SET localTime = utcTime")
    for table in ("TARGET_INFO_GPU", "TARGET_INFO_CUDA_DEVICE"):
        for column in set(GPU_IDENTITY) & set(columns(db, table)):
            db.execute(f"UPDATE {table} SET {column} = NULL")
    for table in {"META_DATA_EXPORT", "META_DATA_CAPTURE", "EXPORT_META_DATA"} & have:
        for rowid, name in db.execute(f"SELECT rowid, name FROM {table}").fetchall():
            if not META_KEPT.fullmatch(name or ""):
                db.execute(f"DELETE FROM {table} WHERE rowid = ?", (rowid,))
    if "DIAGNOSTIC_EVENT" in have:
        for rowid, text in db.execute("SELECT rowid, text FROM DIAGNOSTIC_EVENT").fetchall():
            if "/" in (text or ""):
                db.execute("DELETE FROM DIAGNOSTIC_EVENT WHERE rowid = ?", (rowid,))

    used = set()
    for table in have - {"StringIds"}:
        for column in string_columns(db, table):
            used.update(row[0] for row in db.execute(f"SELECT DISTINCT {quoted(column)} FROM {quoted(table)}"))
    for identity, value in db.execute("SELECT id, value FROM StringIds").fetchall():
        if identity not in used:
            db.execute("DELETE FROM StringIds WHERE id = ?", (identity,))
        elif "/" in (value or ""):
            db.execute("UPDATE StringIds SET value = ? WHERE id = ?", (PATH.sub("", value), identity))
    for table in have:
        # A table that had rows and has none now would say that the capture saw nothing of its kind.
        if table.startswith(("META_", "EXPORT_", "DIAGNOSTIC_")):
            if db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] == 0:
                db.execute(f"DROP TABLE {table}")
    return dropped


def secrets_here():
    words = {socket.gethostname(), getpass.getuser(), os.path.expanduser("~"), os.getcwd()}
    words.update(value for value in os.environ.values() if len(value) >= 8)
    return words


def texts(db):
    for table in tables(db):
        for row in db.execute(f"SELECT * FROM {quoted(table)}"):
            for column, value in zip(columns(db, table), row):
                if isinstance(value, (str, bytes)):
                    yield table, column, value


def leaks(path, db, secrets):
    with open(path, "rb") as file:
        raw = file.read()
    found = {f"path: {m.group().decode()}" for m in PATH_LEFT_RAW.finditer(raw)}
    # Short words ("root", "gpu") occur in names by chance: they must stand alone there.
    for word in secrets:
        if len(word) < 3 or word == "/":
            continue
        pattern = rb"(?<![A-Za-z0-9_])" + re.escape(word.encode()) + rb"(?![A-Za-z0-9_])"
        if re.search(pattern, raw):
            found.add(f"secret: {word}")
    for table, column, value in texts(db):
        if isinstance(value, bytes):
            found.add(f"blob: {table}.{column}")
        elif PATH_LEFT.search(value):
            found.add(f"path: {value} in {table}.{column}")
    return sorted(found)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("input")
    arguments.add_argument("output")
    arguments.add_argument("--secret", action="append", default=[], help="a word that must not remain")
    arguments.add_argument("--list", action="store_true", help="print every text that remains")
    given = arguments.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        work, result = os.path.join(folder, "work"), os.path.join(folder, "result")
        source = sqlite3.connect(f"file:{given.input}?mode=ro&immutable=1", uri=True)
        db = sqlite3.connect(work)
        source.backup(db)
        before = {t: fingerprint(source, t) for t in tables(source) if EVENTS.fullmatch(t)}
        source.close()
        dropped = clean(db)
        db.commit()
        db.execute("VACUUM INTO ?", (result,))  # a new file: nothing of the old rows in free pages
        db.close()

        db = sqlite3.connect(result)
        after = {t: fingerprint(db, t) for t in tables(db) if EVENTS.fullmatch(t)}
        if before != after:
            sys.exit(f"{given.input}: event rows were changed: a defect of this script")
        found = leaks(result, db, secrets_here() | set(given.secret))
        if given.list:
            for table, column, value in sorted(set(texts(db)), key=str):
                if not table.startswith("ENUM_"):
                    print(f"{table}.{column}: {value}")
        db.close()
        if found:
            sys.exit(f"{given.input}: still in the result:\n  " + "\n  ".join(found))
        with open(result, "rb") as plain, open(given.output, "wb") as out:
            # As gzip -9n: neither name nor time.
            with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=out, mtime=0) as packed:
                packed.write(plain.read())
    print(f"{given.output}: {os.path.getsize(given.output)} bytes; tables dropped: {', '.join(dropped) or 'none'}")


if __name__ == "__main__":
    main()
