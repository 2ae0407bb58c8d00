#!/usr/bin/env python3
"""How long the whole of `gapline report` takes and how much memory it needs, beside a bare loop over the same rows.

    bench.py BUILD [--rounds N] [--events N[,N ...]] [--folder DIR] [--pair BASELINE FIXED] [--check]

BUILD is a release build. Pairs of synthetic profiles are made in a temporary folder and removed again, one size after the
other; --events names how many events the two files of a pair hold together. --pair measures two profiles that are there
(uncompressed exports). --check also compares what the report says with what is true of the profiles.

The bare loop steps with SQLite over every row of both files, one after the other on one thread, and fetches the columns
that gapline reads: the least that a program must do which does not read in parallel. Both run in turns, first one then the
other; a round before the measured ones brings the files into the page cache. The median over the rounds counts. Where
nsys is installed, `nsys stats` and `nsys analyze` on one of the files stand beside them.
"""

import argparse
import os
import pathlib
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

import truth

# Allowed at the peak: for a GPU op or CUDA call, for an NVTX range, and for the page while it is made, a tree of nodes.
OP_BYTES, RANGE_BYTES, PAGE_BYTES = 64, 48, 3_000_000
RATIO = 1.5  # allowed, of gapline to the bare loop
TABLES = {
    "ops": ["CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET",
            "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "CUPTI_ACTIVITY_KIND_RUNTIME"],
    "ranges": ["NVTX_EVENTS"],
    "os_calls": ["OSRT_API"],
}


class Sample:
    def __init__(self, command, env=None):
        begin = time.monotonic()
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=env)
        _, status, usage = os.wait4(child.pid, 0)
        self.wall = time.monotonic() - begin
        if status:
            sys.exit(f"{' '.join(command)}: status {os.waitstatus_to_exitcode(status)}")
        self.cpu = usage.ru_utime + usage.ru_stime
        self.rss = usage.ru_maxrss * 1024


def median(samples, what):
    return statistics.median(getattr(s, what) for s in samples)


def count_rows(paths):
    rows = dict.fromkeys(TABLES, 0)
    for path in paths:
        db = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
        there = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        for kind, tables in TABLES.items():
            for table in tables:
                if table in there:
                    rows[kind] += db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        db.close()
    return rows


def heap_peak(options, folder, command):
    peak = f"{folder}/peak"
    Sample([f"{options.build}/bench/gapline_heap", *command], {**os.environ, "GAPLINE_HEAP_PEAK": peak})
    return int(pathlib.Path(peak).read_text())


def measure(options, folder, paths, warmup=None):
    """One line of the table. Returns whether the bounds hold."""
    command = ["report", *paths, "-o", f"{folder}/report.html", "--json", f"{folder}/report.json", "-q"]
    command += ["--warmup", str(warmup)] if warmup else []
    bare, gapline = [], []
    for r in range(-1, options.rounds):
        pair = Sample([f"{options.build}/bench/bare_loop", *paths]), Sample([f"{options.build}/gen/gapline", *command])
        if r >= 0:
            bare.append(pair[0])
            gapline.append(pair[1])
    rows = count_rows(paths)
    events = sum(rows.values())
    peak = heap_peak(options, folder, command)
    allowed = OP_BYTES * (rows["ops"] + rows["os_calls"]) + RANGE_BYTES * rows["ranges"] + PAGE_BYTES
    ratio = median(gapline, "wall") / median(bare, "wall")
    size = sum(os.path.getsize(p) for p in paths)
    print(f"{events:10} {size / 1e6:8.0f} {median(bare, 'wall'):8.3f} {median(gapline, 'wall'):8.3f} {ratio:6.2f} "
          f"{median(gapline, 'cpu') / median(bare, 'cpu'):8.2f} {median(gapline, 'wall') / events * 1e9:9.0f} "
          f"{peak / 1e6:8.1f} {peak / events:8.1f} {peak / allowed * 100:8.0f} % {median(gapline, 'rss') / 1e6:8.1f}",
          flush=True)
    return peak <= allowed and ratio <= RATIO


HEAD = (f"{'':10} {'files':>8} {'bare loop':>8} {'gapline':>8} {'':6} {'CPU':>8} {'gapline':>9} {'heap':>8} {'heap B':>8} "
        f"{'of the':>10} {'RSS':>8}\n{'events':>10} {'MB':>8} {'s':>8} {'s':>8} {'ratio':>6} {'ratio':>8} {'ns/event':>9} "
        f"{'MB':>8} {'/event':>8} {'bound':>10} {'MB':>8}")


def generated(options, events):
    """A pair of that size. Returns whether the bounds hold."""
    with tempfile.TemporaryDirectory(prefix="gapline-bench-", dir=options.folder) as folder:
        paths = [f"{folder}/baseline.sqlite", f"{folder}/fixed.sqlite"]
        for path, fixed in zip(paths, "01"):
            subprocess.run([f"{options.build}/bench/generate", "job", path, f"rows={events // 2}", f"fixed={fixed}",
                            f"seed={fixed}"], check=True)
        good = measure(options, folder, paths, 3)
        if options.check:
            n, wrong, _ = truth.compare_files(f"{folder}/report.json", *paths)
            print(f"{'':10} {n} numbers compared with the truth, {len(wrong)} wrong")
            good = good and not wrong
        nsys(options, folder, paths[0])
        return good


def nsys(options, folder, path):
    """The same tables by `nsys stats` or `nsys analyze`, where it is installed, and by `gapline stats`, from one export."""
    if not shutil.which("nsys"):
        return
    tables = (("stats", "--report", "cuda_gpu_kern_sum,cuda_api_sum,nvtx_sum"), ("analyze", "--rule", "gpu_gaps"))
    for verb, option, names in tables:
        ours = [f"{options.build}/gen/gapline", "stats", path, "--report", names, "--format", "csv"]
        theirs = ["nsys", verb, "--quiet", "--force-export=false", "--format=csv", option, names, path]
        took = [median([Sample(words) for _ in range(options.rounds)], "wall") for words in (ours, theirs)]
        print(f"{'':10} {names} of one file: gapline stats {took[0]:.3f} s, nsys {verb} {took[1]:.3f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(formatter_class=argparse.RawDescriptionHelpFormatter, description=__doc__)
    parser.add_argument("build", type=os.path.abspath)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--events", default="100000,1000000,10000000")
    parser.add_argument("--folder")
    parser.add_argument("--pair", nargs=2)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    print(f"{os.cpu_count()} processors, {options.rounds} rounds, medians\n{HEAD}")
    good = True
    if options.pair:
        with tempfile.TemporaryDirectory(prefix="gapline-bench-", dir=options.folder) as folder:
            good = measure(options, folder, options.pair)
    else:
        for events in options.events.split(","):
            good = generated(options, int(events)) and good
    if not shutil.which("nsys"):
        print("nsys is not installed: not measured")
    print(f"bounds: {'met' if good else 'NOT met'} (ratio {RATIO}; {OP_BYTES} bytes a GPU op, CUDA or OS "
          f"call, {RANGE_BYTES} a range, {PAGE_BYTES / 1e6:.0f} MB the page)")
    sys.exit(not good)


if __name__ == "__main__":
    main()
