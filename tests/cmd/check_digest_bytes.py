#!/usr/bin/env python3
"""Reports of digests, byte for byte those of the files.

    check_digest_bytes.py GAPLINE

Jobs of several ranks, made ones and recorded ones, are reported from their files, from their digests, and from some of
both; a digest gets its file's name, which a report says. The page, JSON, Markdown, JUnit and the drawing have to be the
same, with gates and steps that are found, named, or not there: bytes, not numbers.
"""
import gzip
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "support"), str(HERE)]
import tiny_job

GAPLINE = sys.argv[1]
sys.argv[1:] = ["none"]  # check_ranks is for its functions alone
OUTPUTS = {"-o": "page.html", "--json": "result.json", "--markdown": "result.md", "--junit": "result.xml", "--svg": "gaps.svg"}
ALWAYS = [
    [],
    ["--warmup", "3"],
    ["--min-speedup", "1.01", "--max-regression", "2", "--require-comparable"],
    ["--gate", "step_ms<=1000", "--gate", "comm_exposed<=0.001ms"],
    ["--files-are", "ranks", "--title", "A job"],
]


def say(folder, sides, options):
    """What is written, what is said, and how it ended."""
    for name in OUTPUTS.values():
        (folder / name).unlink(missing_ok=True)
    words = [str(word) for side, files in zip(("--baseline", "--fixed"), sides) for f in files for word in (side, f)]
    outputs = [str(word) for option, name in OUTPUTS.items() for word in (option, folder / name)]
    done = subprocess.run([GAPLINE, "report", *words, *outputs, *options], capture_output=True, text=True)
    said = {name: (folder / name).read_bytes() if (folder / name).exists() else None for name in OUTPUTS.values()}
    return {"status": done.returncode, "terminal": done.stdout, **said, "errors": done.stderr}


def digests(folder, files):
    """Under the names of their files."""
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for f in files:
        made.append(folder / f.name)
        subprocess.run([GAPLINE, "digest", f, "-o", made[-1], "-q", "--force"], check=True)
    return made


def first_difference(a, b):
    if isinstance(a, int) or a is None or b is None:
        return f"{a} / {b}"
    at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    return f"at {at}: {a[max(0, at - 80) : at + 80]!r} / {b[max(0, at - 80) : at + 80]!r}"


def compare(folder, what, sides, *options):
    small = [digests(folder / f"small-{i}", files) for i, files in enumerate(sides)]
    mixed = [[s if k % 2 else f for k, (f, s) in enumerate(zip(files, less))] for files, less in zip(sides, small)]
    for words in [*ALWAYS, *options]:
        whole = say(folder, sides, words)
        assert whole["status"] in (0, 1, 4), (what, words, whole["errors"])
        for name, other in ("digests", small), ("some of both", mixed):
            said = say(folder, other, words)
            for output, expected in whole.items():
                expected = expected.replace(str(folder), "") if isinstance(expected, str) else expected
                got = said[output].replace(str(folder), "").replace("small-0/", "").replace("small-1/", "") if isinstance(said[output], str) else said[output]
                if got != expected and output != "errors":
                    sys.exit(f"{what}, {' '.join(words)}: {output} of {name} is another one, {first_difference(expected, got)}")
    print(f"{what}: the same bytes with {len(ALWAYS) + len(options)} sets of options, of digests and of some of both")


def unmarked(files):
    for f in files:
        with sqlite3.connect(f) as db:
            db.execute("DELETE FROM NVTX_EVENTS")
        db.close()
    return files


def recorded(folder):
    """The capture of two ranks beside the readers' tests, as a file each; one side moved by a few steps' worth."""
    import check_ranks

    whole, files = check_ranks.split(HERE.parent / "read" / "profiles" / "nccl_two_ranks.sqlite.gz", folder, 1000)
    return whole, files


def main():
    with tempfile.TemporaryDirectory(prefix="gapline-digest-bytes-") as name:
        folder = pathlib.Path(name)
        marked = ["--step", "step"], ["--step", "forward"], ["--step", "none"]
        for what, make in (("one host", {"per_host": 4}), ("two hosts", {"per_host": 2, "ahead": 3_000_000}),
                           ("one begins late", {"recorded": {2: (5, 30)}})):
            sides = [tiny_job.write(folder / f"job-{s}", ranks=4, steps=30, slow=1, more=1.48 - 0.3 * s, jitter=20_000, seed=3 + s, **make)
                     for s in range(2)]
            compare(folder, what, sides, *(marked if what == "one host" else ()))
            compare(folder, f"{what}, not marked", [unmarked(files) for files in sides], *([["--loop", "gemm"]] if what == "one host" else ()))
        for s in range(2):
            (folder / f"split-{s}").mkdir()
        first, second = recorded(folder / "split-0")[1], recorded(folder / "split-1")[1]
        for f in second:  # else it is the same capture
            with sqlite3.connect(f) as db:
                db.execute('DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE start = (SELECT min(start) FROM CUPTI_ACTIVITY_KIND_KERNEL)')
            db.close()
        compare(folder, "two recorded ranks", [first, second], ["--step", "step"])


main()
