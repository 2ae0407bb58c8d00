#!/usr/bin/env python3
"""Files made to take all of a disk, of the memory, of the stack or of an afternoon: an answer or a sentence, soon.

    check_bounds.py GAPLINE
"""

import contextlib
import gzip
import json
import os
import pathlib
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
import tiny_profile

GAPLINE = pathlib.Path(sys.argv[1]).resolve()
SANITIZED = b"__asan_init" in GAPLINE.read_bytes()
SOON = 60 if SANITIZED else 10  # seconds; what was slow took 42
FAILED = []


def expect(truth, what, found=None):
    if not truth:
        FAILED.append(what)
        print(f"not so: {what}: {found}")


def gapline(folder, *arguments):
    began = time.monotonic()
    env = os.environ | {"GAPLINE_NSYS": str(HERE.parent / "support/standin_nsys.py"), "TMPDIR": str(folder)}
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (200 << 20, 200 << 20))
    done = subprocess.run([GAPLINE, *arguments], cwd=folder, env=env, capture_output=True, text=True, check=False,
                          preexec_fn=limit)
    expect(time.monotonic() - began < SOON, f"soon: {arguments}", time.monotonic() - began)
    expect(len(done.stdout) + len(done.stderr) < 50_000, f"few words: {arguments}", len(done.stdout))
    return done


def profile(folder, name, *statements):
    tiny_profile.write(folder / name, steps=12)
    with contextlib.closing(sqlite3.connect(folder / name)) as db:
        db.execute("BEGIN")
        for statement in statements:
            db.execute(*statement)
        db.commit()
    return (folder / name).read_bytes()


def check_tables(folder):
    whole = bytearray(profile(folder, "many.sqlite"))  # CREATE TABLE reads all the tables before it: these are written by hand
    at, size = len(whole) // 4096, 4096
    assert whole[16:18] == size.to_bytes(2, "big")
    whole += (bytes((13, 0, 0, 0, 0, 16, 0, 0)) + bytes(size - 8)) * 10_000  # leaves without a row
    whole[28:32] = (at + 10_000).to_bytes(4, "big")
    (folder / "many.sqlite").write_bytes(whole)
    with contextlib.closing(sqlite3.connect(folder / "many.sqlite")) as db:
        db.execute("PRAGMA writable_schema = ON")
        db.executemany("INSERT INTO sqlite_master VALUES ('table', ?1, ?1, ?2, 'CREATE TABLE ' || ?1 || ' (a INTEGER)')",
                       [(f"t{i}", at + 1 + i) for i in range(10_000)])
        db.commit()
    done = gapline(folder, "scrub", "many.sqlite", "-o", "copy.sqlite")
    expect(done.returncode == 0 and " 10000 tables (t0, " in done.stdout and "and 9900 more)" in done.stdout,
           "10,000 tables are left out", done)
    expect(gapline(folder, "show", "-q", "many.sqlite").returncode == 0, "10,000 tables are passed over")


def check_names(folder):
    texts = [("INSERT INTO StringIds VALUES (?, ?)", (5000 + i, f"/home/bob{i}/x a=/mnt/y ~z/ " * 50_000)) for i in range(20)]
    profile(folder, "long.sqlite", *texts, ("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET demangledName = 5000 + rowid % 20",),
            (f'CREATE TABLE "{"n" * 1_000_000}" (a)',), ("UPDATE NVTX_EVENTS SET text = ? WHERE text = 'step'", ("s" * 3_000_000,)))
    done = gapline(folder, "scrub", "long.sqlite", "-o", "short.sqlite")
    expect(done.returncode == 0 and b"/home/bob" not in (folder / "short.sqlite").read_bytes(), "megabytes are masked", done)
    expect(gapline(folder, "show", "-q", "long.sqlite").returncode == 0, "names of megabytes are shown")


def check_bombs(folder):
    whole = profile(folder, "tiny.sqlite")
    says_much = bytearray(whole)
    says_much[28:32] = (800_000).to_bytes(4, "big")  # pages: 3.3 GB
    says_nothing = bytearray(whole)
    says_nothing[92:96] = bytes(4)
    zeros = gzip.compress(bytes(1 << 26), 9) * 4  # members are one file: 256 MB
    for name, start in ("honest", whole), ("says-much", says_much), ("says-nothing", says_nothing):
        (folder / f"{name}.sqlite.gz").write_bytes(gzip.compress(start, 9) + zeros)
        done = gapline(folder, "show", "-q", f"{name}.sqlite.gz")
        expect(done.returncode == 3 and "holds more than it says" in done.stderr, f"{name}: 256 MB are not unpacked", done)
    (folder / "tiny.sqlite.gz").write_bytes(gzip.compress(whole, 9))
    expect(gapline(folder, "show", "-q", "tiny.sqlite.gz").returncode == 0, "what is no bomb is unpacked")


def check_limit(folder):
    if SANITIZED:  # its shadow takes terabytes
        return
    for size in "100K", "2M", "1048576":
        done = gapline(folder, "show", "-q", "--memory-limit", size, "long.sqlite")
        expect((done.returncode, done.stdout, done.stderr) == (2, "", "gapline: out of memory; --memory-limit has to be higher\n"), f"{size} are too little", done)
    for command in ["show", "long.sqlite"], ["report", "long.sqlite", "long.sqlite", "--junit", "x.xml"]:
        (folder / "x.json").write_text("of an earlier job")
        done = gapline(folder, *command, "-q", "--memory-limit", "2M", "--json", "x.json", "--markdown", "x.md")
        said = json.loads((folder / "x.json").read_text())["error"]
        expect(done.returncode == 2 and said == {"id": "memory", "file": None, "text": "out of memory", "next": "--memory-limit has to be higher"}, "the JSON says so", said)
        expect("out of memory" in (folder / "x.md").read_text(), "and the Markdown")
    expect('type="memory"' in (folder / "x.xml").read_text(), "and the JUnit file")
    expect(gapline(folder, "show", "-q", "--memory-limit", "1G", "long.sqlite").returncode == 0, "1 GB is enough")
    for size in "", "G", "1T", "1GB", "-1", "1.5G", "1 G", "99999999999999999999":
        done = gapline(folder, "show", "-q", "--memory-limit", size, "long.sqlite")
        expect(done.returncode == 2 and "memory-limit" in done.stderr, f"{size!r} is no size", done)


def check_limit_of_recordings(folder):
    """gapline's own memory is limited, not that of the programs."""
    if SANITIZED:
        return
    (folder / "eats.py").write_text("import os, resource, shutil, sys\n"
                                    "print(resource.getrlimit(resource.RLIMIT_DATA)[0] == resource.RLIM_INFINITY)\n"
                                    "block = bytearray(300 << 20)\n")
    program = [sys.executable, "-IS", "eats.py", "tiny.sqlite"]
    done = gapline(folder, "capture", "--collector", "nsys", "-q", "--memory-limit", "100M", "-o", "eaten.sqlite", "--", *program)
    expect((done.returncode, done.stdout) == (0, "True\n"), "a program takes more than gapline may", done)
    done = gapline(folder, "capture", "--collector", "nsys", "-q", "--memory-limit", "500K", "-o", "none.sqlite", "--", *program)
    expect((done.returncode, done.stderr) == (2, "gapline: out of memory; --memory-limit has to be higher\n"), "500 KB are too little to capture", done)
    expect(not [path for path in folder.iterdir() if "none.sqlite" in path.name], "and nothing is left", os.listdir(folder))
    both = ["--baseline", " ".join(program), "--fixed", " ".join(program)]
    begun = ["run", "--collector", "nsys", "-q", "--repeat", "0", "--recorded", "1", *both]
    done = gapline(folder, *begun, "--memory-limit", "200M", "-o", "limited")
    expect(done.returncode == 0 and (folder / "limited/report.html").exists(), "a suite in 200 MB", done)
    done = gapline(folder, *begun, "--memory-limit", "2M", "-o", "tight")
    expect(done.returncode == 2 and done.stderr.endswith("gapline: out of memory; --memory-limit has to be higher\n"), "2 MB are too little for a suite", done)
    left = sorted(path.name for path in (folder / "tight").iterdir()) if (folder / "tight").exists() else []
    expect(not [name for name in left if name.startswith(".") and name != ".lock"], "no folder is left", left)


def check_state(folder):
    command = ["run", "--collector", "nsys", "--repeat", "0", "--recorded", "1", "--baseline", "true tiny.sqlite",
               "--fixed", "true tiny.sqlite", "-o", "suite"]
    expect(gapline(folder, *command).returncode == 0, "a suite is recorded")
    state = folder / "suite/run.json"
    sound = state.read_text()
    for what in "[" * 5_000_000, '{"schema":' * 1_000_000, sound[:-3] + ', "x": ' + "[" * 1_000_000, "", "{}", sound[:-9], sound * 2:
        state.write_text(what)
        done = gapline(folder, *command, "--resume")
        expect(done.returncode == 2 and "--force starts anew" in done.stderr, f"{what[:20]!r} is refused", done)
    (folder / "precious.log").write_text("precious")
    for name in "../precious.log", "/etc/passwd", "..", "", "no-such-file":
        for key in "log", "profile":
            made = json.loads(sound)
            for run in made["runs"]:
                run[key] = name
            state.write_text(json.dumps(made))
            done = gapline(folder, *command, "--resume")
            expect(done.returncode == 0, f"{key} {name!r}", done)
            again = "run 1 of" in done.stderr
            expect(again == (key == "profile"), f"{key} {name!r}: recorded again, or not", done.stderr)
    expect((folder / "precious.log").read_text() == "precious", "what lies elsewhere stays")


def main():
    with tempfile.TemporaryDirectory(prefix="gapline-bounds-") as name:
        folder = pathlib.Path(name)
        for check in check_tables, check_names, check_bombs, check_limit, check_limit_of_recordings, check_state:
            began = time.monotonic()
            check(folder)
            print(f"{check.__name__}: {time.monotonic() - began:.1f} s", flush=True)
    sys.exit(bool(FAILED))


if __name__ == "__main__":
    main()
