#!/usr/bin/env python3
"""Compares the tables of `gapline stats` with those that nsys printed for the same captures, byte for byte.

    check_stats.py GAPLINE [PROFILE ...]

The captures, with nsys's tables beside them, lie in ../shared/captures beside the repository, or where GAPLINE_CAPTURES
says; without them only those of CUDA graphs in recorded/, and sums, are checked. One table differs on purpose where a capture holds several
processes: nsys joins copies to calls by correlation id alone and lists a copy once for every process that happens to use
its id (docs/reference/stats.md); there, nsys's table without the repetitions has to be the beginning of gapline's.

Of profiles that come without nsys's tables (examples/, and those named on the command line: any profile that gapline's
own collector wrote) sums are compared with what a few lines of Python make of the same rows.
"""
import collections
import csv
import gzip
import io
import lzma
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOUBLED_BY_NSYS = {("ddp-2gpu", "cuda_memcpy_async")}


def tables(gapline, profile, reports, format="csv"):
    """What gapline prints, by report; one run."""
    with tempfile.TemporaryDirectory(prefix="gapline-stats-") as folder:
        done = subprocess.run(
            [gapline, "stats", profile, "--quiet", "--format", format, "--output", f"{folder}/t", "--report", ",".join(reports)],
            capture_output=True, timeout=300)
        if done.returncode or done.stderr:
            sys.exit(f"{profile}: status {done.returncode}: {done.stderr.decode()}")
        return {r: (pathlib.Path(folder) / f"t_{r.replace(':', '_')}.{format}").read_bytes() for r in reports}


def report_of(file_name):
    """The report that made a file of nsys's: "baseline.gpu_gaps_gap=1.csv" -> "gpu_gaps:gap=1"."""
    name = re.sub(r"^(baseline\.|fixed\.|big_)", "", file_name)[: -len(".csv")]
    return re.sub(r"_(base|mangled|gap=\d+)$", r":\1", name)


def without_repetitions(text):
    lines = text.splitlines(keepends=True)
    return b"".join(line for i, line in enumerate(lines) if i == 0 or line != lines[i - 1])


# Made of one kind of table: alone, nothing else is read.
NARROW = ["cuda_api_sum", "cuda_gpu_kern_sum", "cuda_gpu_kern_sum:base", "cuda_gpu_kern_sum:mangled", "cuda_gpu_mem_size_sum", "cuda_gpu_mem_time_sum"]


def check_narrow(gapline, profile):
    """Each alone says what it says beside a report that needs all tables, and another kind's rows take no memory."""
    beside = tables(gapline, profile, [*NARROW, "nvtx_sum"])
    for report in NARROW:
        if tables(gapline, profile, [report])[report] != beside[report]:
            sys.exit(f"{profile}: {report} says something else where it is the only report")


def check_calls_are_not_read(gapline, profile, folder):
    """Of 600,000 calls more a summary of kernels takes no notice."""
    many = pathlib.Path(folder) / "many-calls.sqlite"
    shutil.copyfile(profile, many)
    with sqlite3.connect(many) as db:
        columns = [c[1] for c in db.execute("PRAGMA table_info(CUPTI_ACTIVITY_KIND_RUNTIME)")]
        db.execute(f"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME ({', '.join(columns)}) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
                   f"WHERE i < 600000) SELECT {', '.join('r.' + c for c in columns)} FROM n, (SELECT * FROM CUPTI_ACTIVITY_KIND_RUNTIME LIMIT 1) r")
    db.close()
    limit = ["--memory-limit", "12M"]
    for path, report, status in ((profile, "cuda_api_sum", 0), (many, "cuda_gpu_kern_sum", 0), (many, "cuda_api_sum", 2)):
        done = subprocess.run([gapline, "stats", path, "--quiet", "--report", report, *limit], capture_output=True)
        if done.returncode != status:
            sys.exit(f"{path}: {report} within 12 MB: status {done.returncode}, not {status}: {done.stderr.decode()}")


def compare(gapline, name, profile, expected):
    """expected: report -> nsys's file. Returns the number of tables compared and of those that differ."""
    said = tables(gapline, profile, sorted(expected))
    differ = 0
    for report, path in sorted(expected.items()):
        ours, theirs = said[report], path.read_bytes()
        if (name.split("/")[0], report) in DOUBLED_BY_NSYS:
            theirs = without_repetitions(theirs)
            if theirs == path.read_bytes():
                sys.exit(f"{path}: nothing is listed twice: this is no longer a difference")
            lines = theirs.count(b"\n")
            ours = b"".join(tables(gapline, profile, [report + ":rows=-1"])[report + ":rows=-1"]
                            .splitlines(keepends=True)[:lines])
        if ours == theirs:
            continue
        differ += 1
        print(f"{name}: {report} differs")
        pairs = zip(ours.decode().splitlines() + ["(end)"], theirs.decode().splitlines() + ["(end)"])
        for mine, nsys in [p for p in pairs if p[0] != p[1]][:3]:
            print(f"  gapline: {mine[:200]}\n  nsys:    {nsys[:200]}")
    return len(expected), differ


# ---- sums of exports that nsys made no tables of ----

SUMS = {  # report: the rows as (name, duration), in SQL over tables that may be missing
    "cuda_gpu_kern_sum:base":
        'SELECT value, "end" - start FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON id = shortName',
    "cuda_api_sum":
        'SELECT value, "end" - start FROM CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds ON id = nameId '
        "WHERE eventClass <> 67",
    "cuda_gpu_mem_time_sum": "SELECT copyKind, \"end\" - start FROM CUPTI_ACTIVITY_KIND_MEMCPY",
    "osrt_sum": 'SELECT value, "end" - start FROM OSRT_API JOIN StringIds ON id = nameId WHERE eventClass = 27',
    "nvtx_sum":
        'SELECT coalesce(text, (SELECT value FROM StringIds WHERE id = textId)), "end" - start FROM NVTX_EVENTS '
        'WHERE eventType IN (59, 60) AND "end" IS NOT NULL',
}


def sums(profile, report):
    """Total, count, least, most by name, most time first; None where the table is missing."""
    db = sqlite3.connect(f"file:{profile}?mode=ro&immutable=1", uri=True)
    db.text_factory = lambda b: b.decode("utf-8", "replace")
    found = collections.defaultdict(list)
    try:
        for name, ns in db.execute(SUMS[report]):
            if report == "cuda_api_sum":
                name = re.sub(r"_v\d{4}$", "", name)
            found[name].append(ns)
    except sqlite3.OperationalError:
        return None
    return sorted((sum(v), len(v), min(v), max(v)) for v in found.values())


def check_sums(gapline, profile):
    """Returns the number of tables compared and of those that differ."""
    compared = differ = 0
    wanted = {r: sums(profile, r) for r in SUMS}
    wanted = {r: rows for r, rows in wanted.items() if rows is not None}
    for report, text in tables(gapline, profile, sorted(wanted)).items():
        rows = list(csv.DictReader(io.StringIO(text.decode())))
        if report == "cuda_gpu_mem_time_sum":
            rows = [row for row in rows if row["Operation"] != "[CUDA memset]"]
        count = next((k for k in ("Instances", "Num Calls", "Count") if rows and k in rows[0]), None)
        found = sorted((int(r["Total Time (ns)"]), int(r[count]), int(r["Min (ns)"]), int(r["Max (ns)"])) for r in rows)
        compared += 1
        if found != wanted[report]:
            differ += 1
            print(f"{profile.name}: {report} differs: {found[-3:]} {wanted[report][-3:]}")
    return compared, differ


def unpacked(folder, packed):
    """A profile as a plain file: itself, or unpacked into the folder."""
    if packed.suffix not in (".gz", ".xz"):
        return packed
    plain = pathlib.Path(folder) / f"{packed.parent.name}-{packed.stem}"
    with (gzip if packed.suffix == ".gz" else lzma).open(packed) as source, open(plain, "wb") as target:
        shutil.copyfileobj(source, target)
    return plain


def main():
    gapline = os.path.abspath(sys.argv[1])
    captures = pathlib.Path(os.environ.get("GAPLINE_CAPTURES", ROOT.parent / "shared" / "captures"))
    compared = differ = 0
    with tempfile.TemporaryDirectory(prefix="gapline-stats-") as folder:
        for stats in sorted(captures.glob("*/nsys-stats")):
            for side in ("baseline", "fixed"):
                expected = {report_of(f.name): f for f in stats.glob(f"{side}.*.csv")}
                n, bad = compare(gapline, f"{stats.parent.name}/{side}", stats.parent / f"{side}.sqlite.gz", expected)
                compared, differ = compared + n, differ + bad
        here = ROOT / "tests" / "stats" / "recorded"
        for packed in sorted(here.glob("*.sqlite.xz")):
            name = packed.name.removesuffix(".sqlite.xz")
            expected = {f.name.split(".")[1]: f for f in here.glob(f"{name}.*.csv")}
            n, bad = compare(gapline, name, unpacked(folder, packed), expected)
            compared, differ = compared + n, differ + bad
        large = captures / "large-900k-kernels.sqlite.xz"
        if large.is_file():
            expected = {report_of(f.name): f for f in (captures / "nsys-stats-large").glob("*.csv")}
            n, bad = compare(gapline, "large", unpacked(folder, large), expected)
            compared, differ = compared + n, differ + bad
        print(f"{compared} tables of nsys, {differ} differ")
        others = 0
        profiles = sorted(captures.glob("public/*.gz")) + sorted(ROOT.glob("examples/**/*.sqlite.gz"))
        for packed in profiles + [pathlib.Path(p).resolve() for p in sys.argv[2:]]:
            n, bad = check_sums(gapline, unpacked(folder, packed))
            others, differ = others + n, differ + bad
        print(f"{others} sums of other profiles")
        pair = unpacked(folder, ROOT / "examples/training-step/baseline.sqlite.gz")
        for profile in (pair, *(unpacked(folder, p) for p in sorted(here.glob("*.sqlite.xz")))):
            check_narrow(gapline, profile)
        check_calls_are_not_read(gapline, pair, folder)
    if not others or compared < (7 if captures.is_dir() else 6):
        sys.exit("nothing was compared")
    sys.exit(differ > 0)


if __name__ == "__main__":
    main()
