#!/usr/bin/env python3
"""Jobs of very many ranks: what a report of them costs, and that it still names the slow one.

    check_many_ranks.py GAPLINE growth     instructions of 100, 200 and 400 ranks a side
    check_many_ranks.py GAPLINE whole      1000 ranks of 40 kernels, and 10,000 of 8: memory and bytes of JSON

A job of 100 ranks is played (tiny_job) and made digests; the others are copies of them under ranks and hosts of their
own, so that every collective still ends when its last rank has entered. One rank of the first hundred is slow.
"""

import json
import multiprocessing
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve()
sys.path.insert(0, str(HERE.parents[1] / "support"))
import digest_file
import tiny_job
from digest_file import number, signed

PLAYED, SLOW, STEPS = 100, 37, 100
# Of both sides together: bytes resident, bytes of JSON. What is aimed at is 10 s of processor time of the first, and 2 s of
# the second, which is not reached: seconds are said and not held, since they depend on the machine.
BOUNDS = {(10_000, 3): (300_000_000, 5_000_000), (1000, 19): (65 << 20, 5_000_000)}
GROWTH, LINEAR = (100, 200, 400), 2.1  # instructions of twice the ranks


def facts(section):
    taken, found = digest_file.Bytes(section), {}
    while taken.more():
        key = taken.text()
        found[key] = taken.text()
    return found


def copies(digest, rank, ranks):
    """The digest of a played rank as that of another."""
    found = digest_file.sections(digest_file.unpack(digest))
    said = facts(found["source"]) | {"rank": str(rank), "ranks": str(ranks), "host": f"{1000 + rank // 8:x}"}
    word = lambda text: number(len(text.encode())) + text.encode()
    taken = digest_file.Bytes(found["processes"])
    taken.signed()
    name = taken.number()
    host = 1000 + rank // 8
    found["source"] = b"".join(word(key) + word(value) for key, value in said.items())
    taken = digest_file.Bytes(found["ops.length"])
    later = taken.signed() + 2 * (rank // PLAYED) + (rank % PLAYED == SLOW)  # ns, of all its work: no two captures are alike
    found["ops.length"] = signed(later) + taken.data[taken.at :]
    found["processes"] = signed(1000 + rank) + number(name) + signed(rank) + number(host)
    return digest_file.gzip.compress(digest_file.write(found), 1)


def play(gapline, folder, layers, steps=STEPS):
    """The digests of the ranks that are played, by side."""
    played = {}
    for side, seed, slow in ("baseline", 1, SLOW), ("fixed", 2, None):
        files = tiny_job.write(folder / f"{side}-played", ranks=PLAYED, steps=steps, layers=layers, slow=slow, seed=seed)
        played[side] = []
        for file in files:
            subprocess.run([gapline, "digest", "-q", file, "-o", file.with_suffix(".digest")], check=True)
            played[side].append(file.with_suffix(".digest").read_bytes())
            file.unlink()
    return played


def write(played, folder, ranks):
    for side, digests in played.items():
        (folder / side).mkdir()
        for rank in range(ranks):
            of = rank % PLAYED
            of = of if of != SLOW or rank < PLAYED else of + 1
            (folder / side / f"rank-{rank:05}.digest").write_bytes(copies(digests[of], rank, ranks))


def make(gapline, folder, ranks, layers):
    write(play(gapline, folder, layers), folder, ranks)


def command(gapline, folder, ranks):
    words = [gapline, "report", "-q", "-o", folder / "report.html", "--json", folder / "report.json"]
    for side in "baseline", "fixed":
        words += [f"--{side}", folder / side]
    return words


def measure(gapline, folder, ranks):
    child = subprocess.Popen(command(gapline, folder, ranks))
    _, status, usage = os.wait4(child.pid, 0)
    assert status == 0, status
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, (folder / "report.json").stat().st_size


def check_named(folder, ranks):
    """The slow rank is waited for, it is the most unusual one, and the JSON lists ten."""
    side = json.loads((folder / "report.json").read_text())["baseline"]
    assert side["folded"]["devices"] == ranks and len(side["devices"]) == len(side["files"]) == 10, side["folded"]
    assert side["ranks"]["straggler"]["device"] == side["folded"]["unusual"][0]["device"] == SLOW, side["ranks"]["straggler"]


def check_growth(gapline, folder):
    counts, sizes = [], []
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # threads that wait for each other count
    played = play(gapline, folder, 1, steps=12)
    for ranks in GROWTH:
        inside = folder / str(ranks)
        inside.mkdir()
        write(played, inside, ranks)
        counts.append(count(command(gapline, inside, ranks)))
        sizes.append((inside / "report.json").stat().st_size)
        check_named(inside, ranks)
    grows = (counts[2] - counts[1]) / (counts[1] - counts[0])
    print(f"{GROWTH} ranks per side: {[f'{c / 1e6:.0f}' for c in counts]} million instructions, JSON {sizes} bytes")
    if grows > LINEAR:
        sys.exit(f"twice the ranks take {grows:.2f} times the instructions, allowed are {LINEAR}")
    assert sizes[2] < sizes[0] * 1.2, sizes


def count(words):
    done = subprocess.run(["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", *words],
                          capture_output=True, text=True)
    found = re.search(r"I +refs: +([\d,]+)", done.stderr)
    assert done.returncode == 0 and found, done.stderr
    return int(found[1].replace(",", ""))


def check_whole(gapline, folder):
    failed = []
    for (ranks, layers), bounds in BOUNDS.items():
        inside = folder / str(ranks)
        inside.mkdir()
        maker = multiprocessing.Process(target=make, args=(gapline, inside, ranks, layers))
        maker.start()  # a child's peak is not below what its parent had when it was started
        maker.join()
        assert maker.exitcode == 0, maker
        found = min(measure(gapline, inside, ranks) for _ in range(3))
        check_named(inside, ranks)
        print(f"{ranks} ranks per side, {2 * layers + 2} kernels a step: {found[0]:.1f} s of processor time, "
              f"{found[1] / 1e6:.0f} MB, JSON {found[2]} bytes")
        failed += [f"{ranks} ranks: {is_} is more than {most}" for is_, most in zip(found[1:], bounds) if is_ > most]
        shutil.rmtree(inside)
    sys.exit("\n".join(failed) or 0)


def main():
    gapline = pathlib.Path(sys.argv[1]).resolve()
    if b"__asan_init" in gapline.read_bytes() or (sys.argv[2] == "growth" and not shutil.which("valgrind")):
        print("not counted: no valgrind, or a sanitizer in the command")
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="gapline-many-ranks-") as name:
        {"growth": check_growth, "whole": check_whole}[sys.argv[2]](gapline, pathlib.Path(name))


if __name__ == "__main__":
    main()
