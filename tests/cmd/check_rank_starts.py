#!/usr/bin/env python3
"""Ranks that were started again, jobs on GPUs of several kinds, and of unequal size.

    check_rank_starts.py GAPLINE

Makes jobs of four ranks, rank 1 of which computes longer. Where one rank's file holds two processes, one after the other,
or two files are of one rank, what is said has to be what is said of the job in which the process that counts was the
only one; the same where all ranks were started again, as torchrun does when one of them fails. Of files as of digests,
with ranges and without. Each time it is said what was left out. Of a job of eight ranks beside one of four, and of one
whose files are not all there, no work is called left out.
"""
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]
import facts
import json

import tiny_job

GAPLINE, RANKS, STEPS = sys.argv[1], 4, 40


def report(folder, files, fixed=None):
    sides = [str(word) for side, of in (("--baseline", files), ("--fixed", fixed or files)) for f in of for word in (side, f)]
    subprocess.run([GAPLINE, "report", *sides, "--json", folder / "out.json", "-q"], check=True)
    return json.loads((folder / "out.json").read_text(), object_hook=facts.text)


def digests(files):
    for f in files:
        subprocess.run([GAPLINE, "digest", f, "-o", f.with_suffix(".digest"), "-q", "--force"], check=True)
    return [f.with_suffix(".digest") for f in files]


def make(folder, name, recorded, seed=7, marked=True):
    files = tiny_job.write(folder / name, ranks=RANKS, steps=STEPS, slow=1, jitter=20_000, seed=seed, recorded=recorded)
    for f in files if not marked else ():
        with sqlite3.connect(f) as db:
            db.execute("DELETE FROM NVTX_EVENTS")
        db.close()
    return files


def said(result):
    """What is said of the steps, of ranks and of the same work."""
    side = result["baseline"]
    ranks = {k: v for k, v in side["ranks"].items() if k != "list"}
    rows = [{k: v for k, v in r.items() if k != "device"} for r in side["ranks"]["list"]]
    devices = [{k: v for k, v in d.items() if k not in ("latency_limit_ms", "process")} for d in side["devices"]]
    return {"ranks": ranks, "rows": rows, "devices": devices, "period": side["steps"]["period_ms"],
            "measured": side["steps"]["measured"], "kernels": side["kernels"], "work": result["verdict"]["same_work"]}


def same(what, one, other, exact=True):
    """`exact`: to the digit; else what the steps of the measured time say alone."""
    for key in one if exact else ("period", "measured", "kernels", "work"):
        assert one[key] == other[key], (what, key, str(one[key])[:600], str(other[key])[:600])


def check_one_rank(folder, marked):
    """Rank 2 ran 8 steps, and was started again at the 13th."""
    what = "one rank, " + ("ranges" if marked else "no ranges")
    before = make(folder, "before", {2: (0, 8)}, marked=marked)
    with sqlite3.connect(before[2]) as db:  # it was killed in a step, which ends with the capture
        db.execute('UPDATE NVTX_EVENTS SET "end" = NULL WHERE start = (SELECT max(start) FROM NVTX_EVENTS WHERE text = \'step\')')
    db.close()
    alone = make(folder, "alone", {2: (12, STEPS)}, marked=marked)
    result = report(folder, alone)
    expected, notes = said(result), " ".join(result["baseline"]["data"]["notes"])
    # where nobody marked a step, that one was not recorded is not known
    lacking = "Not every rank recorded every step" if marked else "Not every rank has the same repetitions"
    assert f"{lacking}: rank 2 lacks the first " in notes, (what, notes)
    files = make(folder, "again", {2: (12, STEPS)}, marked=marked)
    tiny_job.add_start(files[2], before[2], 2, 5002)
    two = [*alone, folder / "rank-2.0.sqlite"]
    shutil.copy(before[2], two[-1])
    for name, job in ("one file", files), ("digests", digests(files)), ("a file a start", two), ("their digests", digests(two)):
        result = report(folder, job)
        same((what, name), said(result), expected, exact=False)
        notes = " ".join(result["baseline"]["data"]["notes"])
        assert "rank 2 was started more than once" in notes and "8 steps of the other process are left out" in notes, (what, name, notes)
        late = result["baseline"]["ranks"]["straggler"]
        assert result["baseline"]["devices"][late["device"]]["rank"] == 1, (what, name, late)
        assert [d["rank"] for d in result["baseline"]["devices"]] == list(range(RANKS)), (what, name)
        assert all(abs(a[k] - b[k]) < 1e-9 for a, b in zip(said(result)["rows"], expected["rows"])
                   for k in ("own_ms_per_step", "waiting_ms_per_step")), (what, name)


def check_all_ranks(folder, first, second):
    """All ranks ran `first` steps, one of them one less; and the others from `second` on."""
    before = make(folder, "before", {r: (0, first - (r == 3)) for r in range(RANKS)})
    late = {r: (second, STEPS) for r in range(RANKS)}
    counts = late if STEPS - second >= first else {r: (0, first - (r == 3)) for r in range(RANKS)}
    expected = said(report(folder, make(folder, "alone", counts)))
    files = make(folder, "again", late)
    for r, f in enumerate(files):
        tiny_job.add_start(f, before[r], r, 5000 + r)
    for job in files, digests(files):
        result = report(folder, job)
        same((first, second), said(result), expected, exact=False)
        notes = " ".join(result["baseline"]["data"]["notes"])
        assert "4 ranks were started more than once" in notes and "of the 4 other processes are left out" in notes, notes


def check_kinds(folder):
    files = make(folder, "kinds", None)
    plain = report(folder, files)
    assert not any("different GPUs" in n for n in plain["baseline"]["data"]["notes"])
    with sqlite3.connect(files[3]) as db:
        db.execute("UPDATE TARGET_INFO_GPU SET name = 'Other GPU'")
    db.close()
    for job in files, digests(files):
        notes = report(folder, job)["baseline"]["data"]["notes"]
        assert any("The job has different GPUs: rank 3 on Other GPU; 3 on Test GPU." in n for n in notes), notes


def check_sizes(folder):
    """Four ranks and eight, of which each does as much; three of four; and one that leaves a kernel out."""
    four, eight = make(folder, "four", None), tiny_job.write(folder / "eight", ranks=8, steps=STEPS, slow=1, jitter=20_000, seed=8)
    verdict = report(folder, four, eight)["verdict"]
    assert verdict["same_work"] == "different" and len(verdict["differences"]) == 1, verdict
    assert "4 in the baseline, 8 in the fixed side. The speedup is per step of the job" in verdict["differences"][0], verdict
    assert "a step on 8 GPUs does 2 times the work of one on 4." in verdict["differences"][0], verdict
    other = make(folder, "other", None, seed=9)
    for job in other[:3], digests(other[:3]):
        result = report(folder, four, job)
        assert result["verdict"]["same_work"] == "unknown" and len(result["verdict"]["differences"]) == 1, result["verdict"]
        assert "Both jobs have 4 ranks, but some of their files are missing" in result["verdict"]["differences"][0], result["verdict"]
        assert any("rank 3 of 4 is not among the files" in n for n in result["fixed"]["data"]["notes"])
    # the one that all wait for is missing, and nothing else has changed
    slow = [tiny_job.write(folder / name, ranks=4, steps=STEPS, slow=2, seed=seed) for name, seed in (("slow", 1), ("slow_too", 5))]
    finding = {f["id"]: f for f in report(folder, slow[0], slow[1])["findings"]}["straggler"]
    assert finding["status"] == "remaining" and "is unknown" not in finding["text"], finding
    for job in [f for i, f in enumerate(slow[1]) if i != 2], digests([f for i, f in enumerate(slow[1]) if i != 2]):
        result = report(folder, slow[0], job)
        finding = {f["id"]: f for f in result["findings"]}["straggler"]
        assert finding["status"] == "seen" and "Files of ranks are missing" in finding["text"], finding
    # two processes that share one GPU, beside one that has it for itself
    alone, shared = (tiny_job.write(folder / f"on-one-{n}", ranks=n, steps=STEPS, jitter=20_000, seed=11) for n in (1, 2))
    with sqlite3.connect(shared[0]) as db:
        db.execute("ATTACH ? AS other", (str(shared[1]),))
        for table in "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS":
            db.execute(f"INSERT INTO {table} SELECT * FROM other.{table}")
        db.execute("DELETE FROM TARGET_INFO_SYSTEM_ENV WHERE value LIKE 'RANK=%' OR value LIKE 'WORLD_SIZE=%'")
    db.close()
    verdict = report(folder, alone, shared[:1])["verdict"]
    said = " ".join(verdict["differences"])
    assert "a step of 2 ranks does 2 times the work of one of 1. Work is compared per rank." in said, said
    assert "ranks of one job" not in said, said  # they have collectives in common
    # without those, nothing says that they are one job: no verdict on steps that wait for both, and no gate passes
    for f in alone[0], shared[0]:
        with sqlite3.connect(f) as db:
            db.execute("DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE demangledName = 3")
            db.execute("DELETE FROM TARGET_INFO_SYSTEM_ENV WHERE value LIKE 'RANK=%' OR value LIKE 'WORLD_SIZE=%'")
        db.close()
    result = report(folder, alone, shared[:1])
    verdict, one, two = result["verdict"], *(result[side]["steps"]["period_ms"]["mean"] for side in ("baseline", "fixed"))
    said = " ".join(verdict["differences"])
    assert verdict["result"] == "inconclusive" and "Nothing shows that they are ranks of one job" in said, verdict
    words = f"a step took {one:.3g} ms in the baseline, {two / 2:.3g} ms in the fixed side: {one / (two / 2):.3g}"
    assert words in said, (words, said)
    for f in eight:
        with sqlite3.connect(f) as db:  # a program without adam: its launches are gone too, or kernels were lost
            of_adam = "(SELECT correlationId FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE demangledName = 4)"
            db.execute(f"DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE correlationId IN {of_adam}")
            db.execute("DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE demangledName = 4")
        db.close()
    said = " ".join(report(folder, four, eight)["verdict"]["differences"])
    assert "Only the baseline runs adam, once per step and GPU." in said, said


def check_other_steps(folder):
    """Steps that are marked on one side, while what repeats on the other is none of them: nobody marked too little."""
    marked = tiny_job.write(folder / "marked", ranks=2, steps=STEPS, layers=5, jitter=20_000)
    other = tiny_job.write(folder / "few", ranks=2, steps=7, layers=5, jitter=20_000, seed=2, recorded={1: (0, 3)})
    for f in other:
        with sqlite3.connect(f) as db:
            db.execute("DELETE FROM NVTX_EVENTS")
        db.close()
    side = report(folder, marked, other)["baseline"]
    notes = " ".join(side["data"]["notes"])
    assert not side["steps"]["found"], side["steps"]
    assert "The steps of this run are not steps in the others" in notes and "No NVTX range is a step" not in notes, notes


def main():
    with tempfile.TemporaryDirectory(prefix="gapline-rank-starts-") as name:
        folder = pathlib.Path(name)
        for marked in True, False:
            check_one_rank(folder, marked)
        print("one rank that was started again: as if the start that counts were the only one")
        check_all_ranks(folder, 10, 14)
        check_all_ranks(folder, 24, 27)
        print("all ranks: the start with most steps counts")
        check_kinds(folder)
        print("GPUs of several kinds are named")
        check_sizes(folder)
        check_other_steps(folder)
        print("jobs of unequal size: work by the GPU, and what the speedup is of")


main()
