#!/usr/bin/env python3
"""Runs the command under valgrind, and the unit tests too: no leak, no invalid or undefined byte, on good input and on
bad.

    check_memory.py GAPLINE            the command, once of each kind
    check_memory.py GAPLINE TESTS      … more often, and every unit test in the folder TESTS

Status 77 when valgrind is not installed or the command is built with a sanitizer, which does the same in its own way.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

import check_cli

VALGRIND = ["valgrind", "-q", "--leak-check=full", "--show-leak-kinds=all", "--errors-for-leak-kinds=all"]
VALGRIND += ["--error-exitcode=99"]
# Programs that keep a library loaded until they end, as the driver's is not made to be unloaded: what is still
# reachable then is no leak.
KEEP_LIBRARIES = ("doctor",)
LOST_ONLY = ["--errors-for-leak-kinds=definite,indirect,possible", "--show-leak-kinds=definite,indirect,possible"]
# Statistics that are wrong with few draws and take a minute with all; the other build's sanitizers look at it.
SLOW = ("simulation",)

COMMANDS = [  # arguments, exit status
    ("report base.sqlite fixed.sqlite -o report.html --json out.json", 0),
    ("report --baseline runs/base-* --fixed fixed-runs --json out.json", 0),
    ("report no-steps.sqlite no-steps.sqlite -o report.html", 0),
    ("report base.sqlite damaged.sqlite", 3),
    ("report base.sqlite fixed.sqlite -o - --json -", 2),
    ("show base.sqlite --color always", 0),
]
MORE = [
    ("report base.sqlite.gz other-work.sqlite --min-speedup 1.2 --require-comparable --json -", 1),
    ("report base.sqlite short.sqlite --min-speedup 1.05", 4),
    ("report base.sqlite fixed.sqlite --step nothing", 2),
    ("report cut.sqlite base.sqlite", 3),
    ("report base.sqlite notes.txt", 3),
    ("report base.sqlite no-gpu.sqlite", 3),
    ("report base.sqlite --min-sped 2", 2),
    ("show no-steps.sqlite", 0),
    ("help report", 0),
]


def run(command, status, folder):
    """Whether it ended as it should, without a complaint."""
    folder.mkdir(exist_ok=True)
    began = time.monotonic()
    kinds = LOST_ONLY if command[0].endswith(KEEP_LIBRARIES) else []
    done = subprocess.run(VALGRIND + kinds + command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                          env={**os.environ, "GAPLINE_FEW_DRAWS": "1"})
    seconds = time.monotonic() - began
    if seconds > 60:
        print(f"{' '.join(command)}: {seconds:.0f} s")
    sound = done.returncode in ((status, 77) if not status else (status,))
    if not sound:
        print(f"{' '.join(command)}: status {done.returncode}, expected {status}")
        print(done.stderr.decode("utf-8", "replace")[-4000:])
    return sound


def main():
    gapline, folders = pathlib.Path(sys.argv[1]).resolve(), [pathlib.Path(word).resolve() for word in sys.argv[2:]]
    tests = sorted(t for folder in folders for t in folder.glob("test_*") if t.is_file() and not t.name.endswith(SLOW))
    if not shutil.which("valgrind"):
        print("valgrind is not installed: memory is not checked")
        sys.exit(77)
    if b"__asan_init" in gapline.read_bytes():
        print("built with a sanitizer: valgrind is for the other build")
        sys.exit(77)
    runs = [([str(gapline), *words.split()], status) for words, status in COMMANDS + (MORE if folders else [])]
    with tempfile.TemporaryDirectory(prefix="gapline-memory-") as made:
        folder = pathlib.Path(made)
        check_cli.make_profiles(folder)
        failed = sum(not run(command, status, folder) for command, status in runs)
        with ThreadPoolExecutor(os.cpu_count()) as pool:  # each has a folder of its own
            failed += sum(not sound for sound in pool.map(lambda test: run([str(test)], 0, folder / test.name), tests))
    print(f"{len(runs) + len(tests)} programs under valgrind, {failed} with errors")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
