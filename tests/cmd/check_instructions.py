#!/usr/bin/env python3
"""Counts the instructions of `gapline report`: per event, of a report besides, and per event where no range marks a step
and nothing repeats, so that steps are looked for in vain; and of `gapline show` per
kilobyte of a PyTorch trace, against the numbers that the repository keeps; of one table of `gapline stats` beside a bare loop over that table's rows; and on profiles with one thing in excess, where they must not grow faster than the profile.

    check_instructions.py event GAPLINE GENERATE [--refresh]
    check_instructions.py growth GAPLINE GENERATE [--half] [SHAPE ...]

--half: of half the sizes (which CI counts, of the shapes that differ most; all of them at full size are in check-all), where what grows with the square has to weigh twice as much to be seen: the shapes that take
longest, and are beyond where lists are cut then, too.

Instructions hardly depend on what else the machine does. They do depend on compiler and libraries, so bench/
instructions.tsv keeps numbers for each set of them; without those for this machine's set, status 77. Status 77 also without
valgrind, and with a sanitizer in the command.
"""

import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tiny_kineto

KEPT = pathlib.Path(__file__).resolve().parents[2] / "bench" / "instructions.tsv"
COUNTED = {f"CUPTI_ACTIVITY_KIND_{kind}" for kind in ("KERNEL", "MEMCPY", "MEMSET", "RUNTIME")} | {"NVTX_EVENTS", "OSRT_API"}
GROWTH = 1.05  # allowed against the kept number
TABLE = 2  # allowed for `gapline stats` of one table, against stepping with SQLite over its rows
SIZES = (20000, 60000)  # events of a pair: the difference leaves out what every run costs
UNMARKED = 300000  # rows of a pair without ranges; a sixth of its instructions is the picture, which larger ones share
MEGABYTES = (1, 3)  # of a PyTorch trace, likewise

# The middle one of three sizes, each four times the one before. Between the larger two, work in proportion to the profile
# grows 4 times as much as between the smaller two, with a sort 4.7 times, in proportion to the square 16 times. What
# every run costs is in none of these. 5.5 is an exponent of 1.23. Sizes are beyond where lists are cut.
MOST = 5.5
SHAPES = {
    "names": 8000,
    "renamed": 8000,
    "nesting": 3000,
    "streams": 2000,
    "one-step": 3000,
    "long-step": 3000,
    "start-end": 3000,
    "threads": 1000,
    "processes": 30,
    "kernels": 8000,
    "os-calls": 500,
    "syncs": 3000,
    "steps": 2000,
    "one-launch": 8000,
    "one-name": 8000,
    "one-time": 8000,
}
HALVED = ("names", "renamed", "one-launch", "one-name", "steps", "processes")
BASELINE = {"renamed": "names"}  # what a shape is compared with, if not with itself


CALLGRIND = "--tool=callgrind", "--callgrind-out-file=/dev/null"  # what the kept numbers are counts of
CACHEGRIND = "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"  # three times as fast


def count(command, tool):
    words = ["valgrind", *tool, *command]
    done = subprocess.run(words, capture_output=True, text=True)
    found = re.search(r"(?:Collected|I +refs) *: +([\d,]+)", done.stderr)
    if done.returncode or not found:
        sys.exit(f"{' '.join(words)}: status {done.returncode}\n{done.stderr[-2000:]}")
    return int(found[1].replace(",", ""))


def report(gapline, folder, baseline, fixed, tool):
    command = [gapline, "report", baseline, fixed, "-o", f"{folder}/report.html", "--json", f"{folder}/report.json", "-q"]
    return count(command, tool)


def tools(gapline):
    """The compiler's major version and SQLite's version: what the number depends on most."""
    notes = subprocess.run(["readelf", "-p", ".comment", gapline], capture_output=True, text=True).stdout
    compiler = re.search(r"GCC: .*? (\d+)\.", notes)
    return f"gcc {compiler[1] if compiler else '?'}, SQLite {sqlite3.sqlite_version}"


def table_alone(gapline, bare_loop, path, folder):
    """Instructions of `gapline stats` of the kernels, and of a bare loop over the same columns of their rows."""
    alone = pathlib.Path(folder) / "alone.sqlite"
    shutil.copy(path, alone)
    db = sqlite3.connect(alone)
    for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'CUPTI_ACTIVITY_KIND_KERNEL'").fetchall():
        db.execute(f'DROP TABLE "{name}"')
    db.commit()
    db.close()
    words = [gapline, "stats", "-q", "--report", "cuda_gpu_kern_sum", path, "--output", f"{folder}/table"]
    return count(words, CACHEGRIND), count([bare_loop, alone], CACHEGRIND)


def kilobyte_of_pytorch(gapline, folder):
    """Instructions of `gapline show` for each kilobyte of a trace of the PyTorch profiler."""
    counts, sizes = [], []
    for megabytes in MEGABYTES:
        trace = pathlib.Path(folder) / "trace.json"
        tiny_kineto.write(trace, megabytes=megabytes)
        sizes.append(trace.stat().st_size)
        counts.append(count([gapline, "show", "-q", trace], CACHEGRIND))
    return (counts[1] - counts[0]) / (sizes[1] - sizes[0]) * 1000


def events_of(path):
    db = sqlite3.connect(path)
    tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'") if name in COUNTED]
    n = sum(db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables)
    db.close()
    return n


def made_pair(generate, folder, rows):
    paths = [f"{folder}/baseline.sqlite", f"{folder}/fixed.sqlite"]
    for path, fixed in zip(paths, "01"):
        subprocess.run([generate, "job", path, f"rows={rows // 2}", f"fixed={fixed}", f"seed={fixed}"], check=True)
    return paths


def event_without_ranges(gapline, generate, folder):
    paths = made_pair(generate, folder, UNMARKED)
    for path in paths:
        with sqlite3.connect(path) as db:
            db.execute("DROP TABLE NVTX_EVENTS")
        db.close()
    return report(gapline, folder, *paths, CACHEGRIND) / sum(map(events_of, paths))


def check_event(gapline, generate, refresh):
    counts, events, alone = [], [], []
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # threads that wait for each other count, and never alike
    with tempfile.TemporaryDirectory(prefix="gapline-instructions-") as folder:
        for size in SIZES:
            paths = made_pair(generate, folder, size)
            events.append(sum(map(events_of, paths)))
            counts.append(report(gapline, folder, *paths, CALLGRIND))
            alone.append(table_alone(gapline, pathlib.Path(generate).with_name("bare_loop"), paths[0], folder))
        pytorch = kilobyte_of_pytorch(gapline, folder)
        unmarked = event_without_ranges(gapline, generate, folder)
    each = (counts[1] - counts[0]) / (events[1] - events[0])
    found = {"an event": each, "a report beside that": counts[0] - each * events[0], "a kilobyte of a PyTorch trace": pytorch,
             "an event without ranges": unmarked}
    lines = KEPT.read_text().splitlines()
    kept = {words[0]: words[1:] for words in (line.split("\t") for line in lines if not line.startswith("#"))}
    mine = tools(gapline)
    if refresh:
        kept[mine] = [f"{number:.0f}" for number in found.values()]
        head = [line for line in lines if line.startswith("#")]
        KEPT.write_text("\n".join(head + ["\t".join([k, *v]) for k, v in sorted(kept.items())]) + "\n")
        return 0
    ours, bare = (alone[1][i] - alone[0][i] for i in (0, 1))
    print(f"cuda_gpu_kern_sum: {ours / bare:.2f} times the instructions of stepping over its rows; {TABLE} are allowed")
    failed = ours > TABLE * bare
    for i, (what, number) in enumerate(found.items()):
        bound = kept.get(mine, [None] * len(found))[i]
        print(f"{number:.0f} instructions {what} ({mine}); kept: {bound}; at most {GROWTH} times as many are allowed")
        failed = failed or bool(bound) and number > GROWTH * float(bound)
    if mine not in kept:
        print(f"{KEPT.name} keeps no numbers for {mine}: not checked; --refresh writes them")
        return 77
    return failed


def check_growth(gapline, generate, part, shapes):
    failed = 0
    with tempfile.TemporaryDirectory(prefix="gapline-growth-") as folder:
        for shape in shapes or SHAPES:
            counts = []
            n = SHAPES[shape] // (part if shape in HALVED else 1)
            for size in (n // 4, n, 4 * n):
                paths = []
                for side in BASELINE.get(shape, shape), shape:
                    paths.append(f"{folder}/{side}.sqlite")
                    subprocess.run([generate, side, paths[-1], str(size)], check=True)
                counts.append(report(gapline, folder, *paths, CACHEGRIND))
            grown = (counts[2] - counts[1]) / (counts[1] - counts[0])
            print(f"{shape:10} {n:6} to {4 * n:6}: {grown:5.2f} times the instructions more, {(counts[2] - counts[1]) / 3 / n:8.0f} each",
                  flush=True)
            if grown > MOST:
                failed += 1
                print(f"{shape}: grows faster than the profile")
    return bool(failed)


def main():
    what, gapline, generate = sys.argv[1:4]
    if not shutil.which("valgrind"):
        print("valgrind is not installed: instructions are not counted")
        sys.exit(77)
    if b"__asan_init" in pathlib.Path(gapline).read_bytes():
        print("built with a sanitizer: instructions mean nothing")
        sys.exit(77)
    if what == "event":
        sys.exit(check_event(gapline, generate, "--refresh" in sys.argv))
    sys.exit(check_growth(gapline, generate, 2 if "--half" in sys.argv else 1, [word for word in sys.argv[4:] if word != "--half"]))


if __name__ == "__main__":
    main()
