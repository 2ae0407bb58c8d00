#!/usr/bin/env python3
"""Captures in a row, with every window and signal, and reports of one profile, in one process and eight at once: nothing
is left behind, no file stays open, and the bytes are the same.

    check_soak.py GAPLINE REPORT_TIMES TIMES [SEED]

The program that is recorded plays CUPTI (tiny_spool.py writes what it would have written). Status 77 with a sanitizer.
"""

import hashlib
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
import tiny_profile
import tiny_spool

REPORT_TIMES = pathlib.Path(sys.argv[2]).resolve()
TIMES = int(sys.argv[3])
SEED = int(sys.argv[4]) if len(sys.argv) > 4 else 19
OPEN = set()
WINDOWS = [[], ["--delay", "0.01"], ["--duration", "0.1"], ["--delay", "0.01", "--duration", "0.1"],
           ["--capture-range", "cudaProfilerApi"], ["--cuda-graph-trace", "node"], ["--duration", "0.1", "--kill", "none"]]
SIGNALS = [None, None, signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
# A line of the file "open" for each: what it has open itself (3 is the folder that is read), and how much gapline has:
# its own three, and the folder that it holds.
PROGRAM = """exec 2>/dev/null
python3 -IS tiny_spool.py "$GAPLINE_SPOOL/1-cuda-0.spool"
for fd in /proc/self/fd/*; do own="$own ${fd##*/}"; done
for again in 1 2 3 4 5 6 7 8 9; do # on a busy machine it may not yet have closed what it started us with
  all=0; for fd in /proc/$PPID/fd/*; do all=$((all + 1)); done
  test $all -gt 4 || break
  sleep 0.1
done
echo "own$own, gapline $all" >> "$PLACE"/open
sleep 0.0$1 & sleep 0.0$1"""


def install(folder):
    (folder / "bin").mkdir()
    (folder / "lib/gapline").mkdir(parents=True)
    (folder / "cupti").mkdir()
    shutil.copy(sys.argv[1], folder / "bin/gapline")
    (folder / "lib/gapline/libgapline-cupti.so").touch()
    (folder / "cupti/libcupti.so.13").touch()
    shutil.copy(tiny_spool.__file__, folder)
    (folder / "out").mkdir()


def running(mark):
    """Processes of these captures, by a word of their environment."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark in path.read_bytes() and b") Z " not in path.with_name("stat").read_bytes():
                found.append(int(path.parent.name))
        except OSError:
            pass
    return found


def check_open(folder, what):
    """What the program had open: its own three, no more; and as many of gapline's own in every capture."""
    path = folder / "open"
    seen = set(path.read_text().splitlines()) if path.exists() else set()
    OPEN.update(seen)
    assert len(OPEN) <= 1, (what, sorted(OPEN))
    path.unlink(missing_ok=True)


def check_suite(folder, mark):
    """One process that makes many captures has no more open in the last than in the first."""
    command = 'sh -c \'until test -e pid; do sleep 0.01; done; ls /proc/$(cat pid)/fd | wc -l >> counted; : {}.sqlite\''
    env = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "GAPLINE_NSYS": str(HERE.parent / "support/standin_nsys.py"), "SOAK": mark.decode()}
    process = subprocess.Popen(
        [folder / "bin/gapline", "run", "--collector", "nsys", "-q", "--repeat", "0", "--recorded", str(TIMES // 2), "-o", "suite",
         "--baseline", command.format("a"), "--fixed", command.format("b")],
        cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    (folder / "pid.new").write_text(str(process.pid))
    (folder / "pid.new").rename(folder / "pid")
    _, said = process.communicate()
    assert process.returncode == 0, said[-2000:]
    counted = [int(n) for n in (folder / "counted").read_text().split()]
    half = TIMES // 2  # what it starts a program with may not be closed yet, on a busy machine; what leaks never is
    assert len(counted) == 2 * half and min(counted[:half]) == min(counted[half:]), counted
    left = [name for name in os.listdir(folder / "suite") if name.startswith(".") and name != ".lock"]
    assert not left, left
    return f"{len(counted)} captures in one process, {min(counted)} files open in the first and in the last"


def capture(folder, chance, mark):
    window, number = chance.choice(WINDOWS), chance.choice(SIGNALS)
    env = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "LD_LIBRARY_PATH": str(folder / "cupti"), "SOAK": mark.decode(), "PLACE": str(folder)}
    process = subprocess.Popen(
        [folder / "bin/gapline", "capture", "--collector", "cupti", "-q", "--force", *window, "-o", "out/c.sqlite", "--", "sh",
         "-c", PROGRAM, "sh", str(chance.randrange(1, 9))],
        cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if number:
        time.sleep(chance.random() * 0.15)
        process.send_signal(number)
    _, said = process.communicate(timeout=60)
    allowed = (0, 2, 3) if not number else (0, 2, 3, 128 + number, -number)
    assert process.returncode in allowed, (window, number, process.returncode, said)
    assert all(line.startswith("gapline: ") for line in said.splitlines()), said
    check_open(folder, (window, number))
    left = [name for name in os.listdir(folder / "out") if name != "c.sqlite"]
    assert not left, (window, number, left)
    return process.returncode == 0


def report(folder, number):
    outputs = [folder / f"r{number}.html", folder / f"r{number}.json"]
    subprocess.run([folder / "bin/gapline", "report", "a.sqlite", "b.sqlite", "-q", "-o", outputs[0], "--json", outputs[1]], cwd=folder,
                   check=True, capture_output=True)
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in outputs)).hexdigest()
    for path in outputs:
        path.unlink()
    return digest


def main():
    if b"__asan_init" in pathlib.Path(sys.argv[1]).read_bytes():
        print("built with a sanitizer: it is the other build that is worn")
        sys.exit(77)
    chance = random.Random(SEED)
    with tempfile.TemporaryDirectory(prefix="gapline-soak-") as name:
        folder = pathlib.Path(name)
        mark = f"soak-{os.getpid()}-{time.monotonic_ns()}".encode()
        install(folder)
        done = sum(capture(folder, chance, mark) for _ in range(TIMES))
        until = time.monotonic() + 5
        while running(mark) and time.monotonic() < until:
            time.sleep(0.1)
        assert not running(mark), running(mark)
        assert len(OPEN) == 1, OPEN
        assert done >= TIMES // 5, f"only {done} of {TIMES} captures were whole"
        tiny_profile.write(folder / "a.sqlite")
        tiny_profile.write(folder / "b.sqlite", load=50_000, seed=2)
        print(check_suite(folder, mark), flush=True)
        most = max(TIMES // 2, 60)
        print(subprocess.run([REPORT_TIMES, folder / "a.sqlite", folder / "b.sqlite", str(most)], check=True, capture_output=True,
                             text=True).stdout, end="", flush=True)
        with ThreadPoolExecutor(8) as pool:
            digests = set(pool.map(lambda number: report(folder, number), range(TIMES)))
        assert len(digests) == 1, digests
        print(f"{TIMES} captures, {done} whole, nothing left, {OPEN} open in each; {TIMES} reports, eight at once: the same bytes")


if __name__ == "__main__":
    main()
