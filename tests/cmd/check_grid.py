#!/usr/bin/env python3
"""Jobs that are divided in several ways at once: tensor, pipeline and data parallel groups, each a communicator.

    check_grid.py GAPLINE

What every rank computes, waits, moves and idles is what was played (tests/support/grid_job.py): on one host to the ns, on
two whose clocks are 3 ms and 20 ppm apart within what is stated of them, of files as of digests. The rank that computes
longer is named although who comes last in most collectives is one that waited for it. A pipeline whose stages have as
much to do has no straggler, though the first one always ends last. Ranks without marked steps are told as such. Without NCCL's payloads nothing that is wrong is said.
"""
import json
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "support")]
import grid_job
import tiny_job

GAPLINE, STEPS, WARM = sys.argv[1], 12, 3


def report(folder, files):
    sides = [word for side in ("--baseline", "--fixed") for f in files for word in (side, f)]
    subprocess.run([GAPLINE, "report", *sides, "--json", folder / "out.json", "--all-ranks", "-o", folder / "out.html", "-q", "--warmup", str(WARM)], check=True)
    return json.loads((folder / "out.json").read_text())["baseline"]


def rank_of(side, device):
    return side["devices"][device]["rank"]


def named(side):
    late = side["ranks"]["straggler"]
    return late["kind"], rank_of(side, late["device"]) if late["kind"] == "persistent" else None


def check_truth(what, side, truth, within):
    """`within`: ms."""
    for rank in side["ranks"]["list"]:
        expected = truth[rank_of(side, rank["device"])]
        said = {"compute": side["devices"][rank["device"]]["per_step"]["compute"],
                **{key: rank[f"{key}_ms_per_step"] for key in ("waiting", "bubble", "moving")}}
        for key, value in said.items():
            assert abs(value - expected[key] / 1e6) <= within, (what, key, rank, expected)
        assert rank["unmatched_ms_per_step"] == 0, (what, rank)
    ranks = side["ranks"]["list"]
    waited = sum(rank["waiting_ms_per_step"] for rank in ranks)
    assert abs(sum(rank["waited_for_ms_per_step"] for rank in ranks) * (len(ranks) - 1) - waited) < 1e-6, what


def check(folder, tensor, pipeline, data, slow, expected):
    grid = grid_job.Grid(tensor, pipeline, data, steps=STEPS, slow=slow, jitter=20_000, skew=5_000)
    truth, what = grid.truth(WARM, STEPS), (tensor, pipeline, data, slow)
    files = grid.write(folder / "one")
    side = report(folder, files)
    assert side["steps"]["measured"] == STEPS - WARM and side["ranks"]["matched"], (what, side["steps"])
    check_truth(what, side, truth, 1e-6)
    late = side["ranks"]["straggler"]
    assert named(side) == expected, (what, late)
    if late["kind"] == "persistent":
        more = truth[expected[1]]["compute"] - sum(t["compute"] for r, t in enumerate(truth) if r != expected[1]) / (grid.n - 1)
        assert late["longer"]["part"] == "compute" and abs(late["longer"]["ms_per_step"] - more / 1e6) < 1e-6, (what, late, more)
    digests = [f.with_suffix(".digest") for f in files]
    for f, digest in zip(files, digests):
        subprocess.run([GAPLINE, "digest", f, "-o", digest, "-q", "--force"], check=True)
    packed = report(folder, digests)
    assert packed["ranks"] == side["ranks"] and packed["devices"] == side["devices"], what
    half = grid.n // 2
    apart = report(folder, grid.write(folder / "two", host_of=lambda r: r // half, clock=lambda h, at: at + h * (3_000_000 + 20e-6 * at)))
    clock = apart["ranks"]["clocks"][1]
    middle = sum((max(r.ends[k] for r in grid.ranks) for k in (0, STEPS - 1))) / 2e6
    assert clock["known"] and abs(clock["offset_ms"] + 3 + 20e-6 * middle) <= clock["within_ms"], (what, clock)
    assert abs(clock["offset_ms"] + 3 + 20e-6 * middle) < 0.02, (what, clock)
    transfers = 4 * grid.microbatches * (pipeline > 1)
    check_truth(what, apart, truth, clock["within_ms"] * (2 + transfers))
    assert named(apart) == expected, (what, "two hosts", apart["ranks"]["straggler"])
    bare = report(folder, grid.write(folder / "bare", payloads=False))
    assert not bare["ranks"]["matched"] and bare["ranks"]["straggler"] is None, (what, bare["ranks"]["straggler"])
    assert all(rank["waiting_ms_per_step"] <= truth[rank_of(bare, rank["device"])]["waiting"] / 1e6 + 0.006
               for rank in bare["ranks"]["list"]), (what, bare["ranks"]["list"])
    print(f"{tensor} x {pipeline} x {data}: as played; {expected[0]}, rank {expected[1]}")


def check_unmarked(folder):
    """Ranks of which nobody marked the steps: nothing is said of their steps, nor of what they wait for each other."""
    for bare in (2,), (0, 3):
        files = sorted(tiny_job.write(folder / f"bare-{len(bare)}", ranks=4, slow=1))
        for rank in bare:
            with sqlite3.connect(files[rank]) as db:
                db.execute("DELETE FROM NVTX_EVENTS")
            db.close()
        side = report(folder, files)
        assert not side["ranks"]["matched"] and side["ranks"]["straggler"] is None, side["ranks"]
        for rank in side["ranks"]["list"]:
            nothing = rank_of(side, rank["device"]) in bare
            assert (rank["own_ms_per_step"] is None) == nothing, rank
            assert not nothing or rank["waiting_ms_per_step"] == 0 < rank["unmatched_ms_per_step"], rank
        low = side["ranks"]["map"]["low_ms"]
        assert low > 0.8, low  # cells of others would be 0
        page = (folder / "out.html").read_text()
        assert "If they take part in the same collectives, which is unknown, they wait for it." in page
    print("ranks without marked steps: nothing is said of them")


def check_hosts_apart(folder):
    """Where clocks are too far apart to tell for whom is waited in the end, nobody is said to have as much to do."""
    grid = grid_job.Grid(1, 3, 1, steps=STEPS, slow={1: 1.3}, jitter=20_000, skew=5_000)
    files = grid.write(folder / "three", host_of=lambda r: r, clock=lambda h, at: at + h * (3_000_000 + 20e-6 * at))
    side = report(folder, files)
    assert not side["ranks"]["one_clock"] and side["ranks"]["straggler"] is None, side["ranks"]["straggler"]
    print("three hosts: not known")


def check_broken(folder):
    """All files that cannot be read are named at once, and why; what is not there is to be looked for."""
    files = sorted(grid_job.Grid(4, steps=6).write(folder / "broken"))

    def said(*paths):
        done = subprocess.run([GAPLINE, "report", *paths, "-q"], capture_output=True, text=True)
        assert done.returncode == 3, done
        return done.stderr

    sides = "--baseline", folder / "broken", "--fixed", files[0]
    for f in files[1:]:
        f.write_bytes(f.read_bytes()[:20_000])
    cut = said(*sides)
    assert "rank-1.sqlite: is cut off" in cut, cut
    assert cut.endswith(" (2 more of the files cannot be read, for the same reason: rank-2.sqlite, rank-3.sqlite)\n"), cut
    files[3].write_bytes(b"")
    cut = said(*sides)
    assert re.search(r" \(2 more of the files cannot be read: rank-2.sqlite: is cut off: 20000 of \d+ bytes are there, rank-3.sqlite: is empty\)\n$", cut), cut
    assert said(folder / "nowhere.sqlite", files[0]).endswith("nowhere.sqlite: no such file; check its name, and the folder that it is looked for in\n")
    print("files that cannot be read are named")


def main():
    with tempfile.TemporaryDirectory(prefix="gapline-grid-") as name:
        folder = pathlib.Path(name)
        check_broken(folder)
        check(folder, 2, 1, 2, {1: 1.2}, ("persistent", 1))
        check(folder, 1, 2, 2, {1: 1.2}, ("persistent", 1))
        check(folder, 4, 1, 2, {6: 1.3}, ("persistent", 6))
        check(folder, 1, 4, 1, {1: 1.2}, ("persistent", 1))
        check(folder, 1, 4, 1, {3: 1.3}, ("persistent", 3))
        check(folder, 1, 4, 1, {}, ("schedule", None))
        check_hosts_apart(folder)
        check_unmarked(folder)
        check(folder, 2, 2, 2, {3: 1.5}, ("persistent", 3))


main()
