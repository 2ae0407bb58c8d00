#!/usr/bin/env python3
"""Plants every form of a secret (check_scrub.py) in every column of every table, and looks for it in the copy.

    check_scrub_planted.py GAPLINE
"""

import json
import os
import pathlib
import re
import sqlite3
import sys
import tempfile

import check_scrub

HERE = pathlib.Path(__file__).resolve().parent

# Options that are kept when their values are harmless, one of each kind: nsys's of an export, of a capture, of the system; ours.
OPTIONS = ["EXPORT_PRODUCT_VERSION", "EXPORT_SCHEMA_VERSION_MAJOR", "START_TRIGGER", "COLLECT_CUDA", "CUDA_GRAPH_TRACE_OPTIONS:GRANULARITY",
           "NvDriverVersion", "complete", "gapline", "trace", "RANK", "SLURM_PROCID", "WORLD_SIZE"]

SIGNS = "$@!&#+%{="  # of scrub_parts.h


def kept_tables():
    """What a copy can hold, by its own list: name -> columns with their signs."""
    source = (HERE.parents[1] / "gen/read/scrub_layout.c").read_text(encoding="utf-8")
    macros = dict(re.findall(r'#define (\w+) ((?:"[^"]*"|\w+)(?: "[^"]*")*)', source))
    texts = lambda code: "".join(quoted if word == "" else texts(macros[word]) for quoted, word in re.findall(r'"([^"]*)"|(\b[A-Z]+\b)', code))
    listed = re.findall(r'\{"(\w+)", SCRUB_\w+,((?:\s|"[^"]*"|\b[A-Z]+\b)+)\}', source)
    found = {name: texts(code).split() for name, code in listed} | {f"ENUM_{name}": ["id", "$name", "$label"] for name in re.findall(r'ENUM\("(\w+)"\)', source)}
    assert len(found) > 60 and "@demangledName" in found["CUPTI_ACTIVITY_KIND_KERNEL"] and "start" in found["OPENMP_EVENT_KIND_TASK"], found
    return found


def all_tables():
    """Those of the layouts, with all columns that a copy can hold."""
    tables = check_scrub.tables_of_layouts()
    for table, columns in kept_tables().items():
        known = tables.setdefault(table, [])
        have = {name.lower() for name, _, _ in known}
        known += [(c.lstrip(SIGNS), "", False) for c in columns if c.lstrip(SIGNS).lower() not in have]
    return tables


def planted_rows(columns, default):
    """Rows of a table: each form of a secret in each column, whatever its type, as text, as a blob and in JSON; and for each
    form the id that it has in StringIds in the columns that hold such ids."""
    for i, (form, masked) in enumerate(check_scrub.MASKED):
        yield {c: 5000 + i for c, _, key in columns if not key and re.search("name|text|string|symbol|content|label", c, re.I)}
        if form == masked:
            continue
        for column, _, key in columns:
            if not key:
                for value in form, form.encode(), json.dumps({"SMs Active": form, form: "1"}), form.encode("utf-16-le"), json.dumps({"NCCL communicator ID": 7, "Root": form, form: 1}):
                    yield {column: value}
    if default.get("name") is not None and "value" in default:  # options, whose names decide
        for i, (form, masked) in enumerate(check_scrub.MASKED):
            if form != masked:
                for option in OPTIONS:
                    yield {"name": option, "value": form}
                    yield {"name": f"{option}{form}", "value": "1"}


def make_planted(path):
    db = sqlite3.connect(path)
    planted = set()
    for table, columns in all_tables().items():
        declared = ", ".join(f'"{name}" {kind}{" PRIMARY KEY" if key else ""}' for name, kind, key in columns)
        db.execute(f'CREATE TABLE "{table}" ({declared})')
        default = {name: check_scrub.PROGRAM if name in ("globalPid", "globalTid") else 2 if name == "severity" else 1 for name, _, _ in columns}
        if {"name", "value"} <= set(default):
            default["name"] = "EXPORT_PRODUCT_VERSION"
        rows = [] if table == "StringIds" else planted_rows(columns, default)
        marks = ", ".join("?" * len(columns))
        for number, row in enumerate(rows, 1):
            planted |= {(table, column) for column, value in row.items() if not isinstance(value, int)}
            db.execute(f'INSERT INTO "{table}" VALUES ({marks})', [number if key else (default | row)[name] for name, _, key in columns])
    db.executemany("INSERT INTO StringIds VALUES (?, ?)", [(5000 + i, form) for i, (form, _) in enumerate(check_scrub.MASKED)])
    for table, name, value in check_scrub.METADATA:
        db.execute(f"INSERT INTO {table} (name, value) VALUES (?, ?)", (name, value))
    db.execute('CREATE TABLE "/home/anton/people of orca17" ("jdoe at deep.sea" TEXT)')
    db.execute('ALTER TABLE NVTX_EVENTS ADD COLUMN "/home/anton/people" TEXT')
    db.commit()
    db.close()
    return planted


def check_planted(gapline, folder):
    """Every form of a secret in every column of every table: none of it is in the copy."""
    planted = make_planted(folder / "planted.sqlite")
    check_scrub.scrub(gapline, folder / "planted.sqlite", folder / "copy.sqlite")
    check_copy(folder)
    check_strings(folder)
    every = {(table, c.lstrip(SIGNS).lower()) for table, columns in kept_tables().items() for c in columns}
    unplanted = every - {(table, column.lower()) for table, column in planted} - {("StringIds", "id"), ("StringIds", "value")}
    assert not {(t, c) for t, c in unplanted if not (t.startswith("ENUM_") and c == "id")}, unplanted
    print(f"{len(check_scrub.MASKED)} forms in each of {len(planted)} columns of {len({table for table, _ in planted})} tables: masked, or left out")
    # With samples: each form is a function's name, too, and the path of a module.
    db = sqlite3.connect(folder / "planted.sqlite")
    for i in range(len(check_scrub.MASKED)):
        db.execute("INSERT INTO SAMPLING_CALLCHAINS (id, symbol, module, stackDepth) VALUES (1, ?1, ?1, ?2)", (5000 + i, 100 + i))
    db.commit()
    db.close()
    check_scrub.scrub(gapline, folder / "planted.sqlite", folder / "copy.sqlite", "--keep-stacks")
    check_copy(folder)
    db = sqlite3.connect(folder / "copy.sqlite")
    (kept,) = db.execute("SELECT count(*) FROM SAMPLING_CALLCHAINS WHERE symbol >= 5000 AND module >= 5000").fetchone()
    db.close()
    assert kept == len(check_scrub.MASKED), kept


def check_copy(folder):
    """Nothing of a secret is in the copy's bytes."""
    raw = (folder / "copy.sqlite").read_bytes().lower().replace(b"jdoes", b"")
    original = (folder / "planted.sqlite").read_bytes().lower()
    for secret in check_scrub.SECRETS:
        assert secret.encode() in original or secret == "zebrafish", secret
        found = [trace for trace in check_scrub.traces(secret) if trace in raw]
        assert not found, (secret, found, where(folder / "copy.sqlite", secret))
    for form, masked in check_scrub.MASKED:
        if form != masked:
            assert form.encode().lower() not in raw, (form, where(folder / "copy.sqlite", form))


def check_strings(folder):
    """Names are there, masked."""
    db = sqlite3.connect(folder / "copy.sqlite")
    strings = dict(db.execute("SELECT id, value FROM StringIds"))
    plain = lambda text: re.sub(r"\[(\w+) [A-Z]+\]", r"[\1]", text)  # letters are in the order of the whole file
    for i, (form, masked) in enumerate(check_scrub.MASKED):
        assert plain(strings.get(5000 + i)) == plain(masked), (form, strings.get(5000 + i))
    kept = db.execute("SELECT count(*) FROM NVTX_EVENTS WHERE text IS NOT NULL").fetchone()[0]
    assert kept > len(check_scrub.MASKED), kept
    db.close()


def where(path, secret):
    """Which columns of a copy hold it, for people."""
    db = sqlite3.connect(path)
    found = []
    for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        for _, column, *_ in db.execute(f'PRAGMA table_info("{table}")').fetchall():
            query = f'SELECT "{column}" FROM "{table}" WHERE instr(lower(CAST("{column}" AS TEXT)), ?) LIMIT 1'
            found += [(table, column, value) for (value,) in db.execute(query, (secret.lower(),))]
    db.close()
    return found


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        check_planted(os.path.abspath(sys.argv[1]), pathlib.Path(made))
