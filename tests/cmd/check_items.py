#!/usr/bin/env python3
"""Sides are compared by the item where it is told what a step works on.

    check_items.py GAPLINE

The profiles are of tests/support/tiny_profile.py without jitter, so every number is worked out here by hand: a step
takes load + 6 us + its kernels, 906 us in the baseline.
"""
import contextlib
import itertools
import pathlib
import random
import re
import sqlite3
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
import by_hand  # noqa: E402
import made_program  # noqa: E402
import made_work  # noqa: E402
import tiny_profile as tiny  # noqa: E402
from by_hand import GAPLINE, check, near, report  # noqa: E402


def twice(path):
    """Every second range of a step goes on to the end of the next one."""
    db = sqlite3.connect(path)
    rows = db.execute("SELECT rowid, end FROM NVTX_EVENTS WHERE text = 'step' ORDER BY start").fetchall()
    for (first, _), (second, end) in zip(rows[::2], rows[1::2]):
        db.execute("UPDATE NVTX_EVENTS SET end = ? WHERE rowid = ?", (end, first))
        db.execute("DELETE FROM NVTX_EVENTS WHERE rowid = ?", (second,))
    db.commit()
    db.close()


def copy_input(path, size):
    """A copy of `size` bytes to the device before the first kernel of each step, 10 us long."""
    db = sqlite3.connect(path)
    db.execute(
        "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL,"
        " streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL, srcKind INTEGER, dstKind INTEGER)"
    )
    db.execute("INSERT INTO StringIds VALUES (70, 'cudaMemcpyAsync_v3020')")
    for i, (at,) in enumerate(db.execute("SELECT start FROM NVTX_EVENTS WHERE text = 'data_load' ORDER BY start").fetchall()):
        db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, 0, ?, ?, 70, 0)", (at + 1_000, at + 2_000, tiny.GLOBAL_PID | tiny.TID, 90_000 + i))
        db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (?, ?, 0, 1, 7, ?, ?, ?, 1, 0, 2)", (at + 3_000, at + 13_000, 90_000 + i, tiny.GLOBAL_PID, size))
    db.commit()
    db.close()


def parts(doc, key):
    """Sums of the waterfall's parts by kind."""
    sums = {}
    for part in doc["waterfall"]:
        sums[part["part"]["kind"]] = sums.get(part["part"]["kind"], 0) + part[key]
    return sums


def may_be_batches(doc):
    """Of each sentence on copies to the device, whether it names --items-per-step."""
    return ["--items-per-step" in d for d in doc["verdict"]["differences"] if "copies less to the device" in d]


def batch_doubled(folder):
    """Kernels take twice as long for twice the rows; what is loaded takes as long: 90.6 -> 70.3 us a row."""
    tiny.write(folder / "base.sqlite", jitter=0)
    tiny.write(folder / "fixed.sqlite", jitter=0, kernel=200_000, seed=2)
    copy_input(folder / "base.sqlite", 40_000)
    copy_input(folder / "fixed.sqlite", 80_000)
    done, doc, text, markdown, page = report(folder)
    check(doc["verdict"]["per"] == "step", "nothing was told")
    near(doc["verdict"]["speedup"], 906 / 1406, "the speedup of a step")
    check(may_be_batches(doc) == [True] and "next        If a step does more on one side" in text, "the option is named", text)
    done, doc, text, markdown, page = report(folder, "--items-per-step", "10,20 rows", "--min-speedup", "1.1", "--gate", "step<=+0%")
    verdict = doc["verdict"]
    check(verdict["per"] == "item" and verdict["result"] == "faster", verdict["per"], verdict["result"])
    check(True not in may_be_batches(doc), "what was told is not asked for", verdict["differences"])
    near(verdict["speedup"], 90.6 / 70.3, "the speedup of a row")
    near(verdict["typical"]["speedup"], 90.6 / 70.3, "the typical speedup of a row")
    check(done.returncode == 0 and all(g["result"] == "passed" for g in verdict["gates"]), "gates", verdict["gates"])
    # 10 us of the 406 us that are not kernels are the copy's
    for side, kernels, copies, idle in ("baseline", 0.05, 0.001, 0.0396), ("fixed", 0.05, 0.0005, 0.0198):
        sums = parts(doc, f"{side}_ms")
        near(sums.get("compute"), kernels, f"kernels a row, {side}")
        near(sums.get("copy_exposed", sums.get("copy")), copies, f"copies a row, {side}")
        near(sums.get("idle"), idle, f"idle time a row, {side}")
    near(doc["baseline"]["steps"]["period_ms"]["mean"], 0.906, "a step stays a step")
    near(doc["fixed"]["rates"]["items_per_step"], 20, "rows of a step of the fixed side")
    near(doc["fixed"]["rates"]["items_per_second"], 20 / 1406e-6, "rows a second")
    why = verdict["why"]["parts"]
    check(len(why) == 1 and why[0]["kind"] == "idle", "why", why)
    near(why[0]["fixed_ms"], why[0]["baseline_ms"] / 2, "why a row takes less")
    check(0.019 < why[0]["fixed_ms"] <= 0.0198, "why a row takes less", why[0])
    check(verdict["same_work"] == "same_job", "work:", verdict["same_work"])
    check(any("1 kernel runs as often per step" in d and "2 times as many items" in d for d in verdict["differences"]), "differences", verdict["differences"])
    for name, output in ("terminal", text), ("Markdown", markdown), ("page", page):
        check("90.60 \u2192 70.30 \u00b5s per row" in output or ("per row" in output and "90.60" in output), f"{name}: not per row")


def as_told(folder, text, truth):
    """What a report names to compare by is what the command takes."""
    told = re.search(r"--items-per-step '(.*?)'", " ".join(text.split()))
    near(report(folder, "--items-per-step", told[1])[1]["verdict"]["speedup"], truth, told[0])


def swap(folder):
    (folder / "base.sqlite").rename(folder / "was"), (folder / "fixed.sqlite").rename(folder / "base.sqlite"), (folder / "was").rename(folder / "fixed.sqlite")


def larger_batches(folder):
    """Twice the rows, and half as many steps, in kernels of twice the blocks: 0.83 times by the step, 1.67 by the row. With as
    many steps it is other work."""
    def made(name, rows, steps, ns):
        (folder / f"{name}.sqlite").unlink(missing_ok=True)
        made_work.make(folder / f"{name}.sqlite", [("load", "input", "", made_work.BATCH, rows * 4096, 1), ("forward", "kernel", made_work.SGEMM, rows * ns, rows * 16, 4),
                                                   ("forward", "kernel", "softmax(float*)", 20_000, 40, 1), ("loss", "output", "", 0, 64, 1)], steps=steps)

    for more, few in (64, 32), (80, 32):
        made("base", few, 40 * more // few, 4000)
        made("fixed", more, 40, 2400)
        for swapped in False, True:
            if swapped:
                swap(folder)
            done, doc, text, *_ = report(folder, "--max-regression", "3")
            check(done.returncode == 4 and doc["verdict"]["result"] == "inconclusive" and "steps of different size" in text, "other batches:", text)
            check(re.search(f"holds {more / few:.3g}0? times the other side's work", text) and "blocks instead of" in text, "what a step holds:", text)
            mean = [doc[side]["steps"]["period_ms"]["mean"] for side in ("baseline", "fixed")]
            as_told(folder, text, mean[0] / mean[1] * (few / more if swapped else more / few))
    made("base", 64, 40, 2400)
    made("fixed", 32, 40, 4000)
    check("different size" not in report(folder)[2], "as many steps of other work are no other unit")


def steps_hold_two_faster(folder):
    """Without input, kernels that take 0.6 of the time and run twice as often, in as many blocks, are two steps of the other."""
    def made(name, times, ns, blocks):
        (folder / f"{name}.sqlite").unlink(missing_ok=True)
        made_work.make(folder / f"{name}.sqlite", [("sweep", "host", "", 50_000 * times, 0, 1), ("sweep", "kernel", made_work.SGEMM, ns, blocks, 6 * times), ("sweep", "kernel", "norm(float*)", ns // 4, 64, times)])

    made("base", 1, 100_000, 512)
    for blocks, unit in (512, True), (256, False):
        made("fixed", 2, 60_000, blocks)
        done, doc, text, *_ = report(folder, "--max-regression", "3")
        check(("steps of different size" in text) == unit and (doc["verdict"]["result"] == "inconclusive") >= unit, f"{blocks} blocks:", text)


def other_iterations(folder):
    """Half as many unmarked steps of the same work: what is compared is the time per step, or, where items are told, per item."""
    for name, steps in ("base", 80), ("fixed", 40):
        tiny.write(folder / f"{name}.sqlite", jitter=0, steps=steps, nvtx=False)
    for options, by_step in ((), True), (("--items-per-step", "10 rows"), False):
        text = " ".join(report(folder, *options)[2].split())
        check("Iteration counts differ (80, 40)" in text and ("the time per step is compared" in text) == by_step, "iterations:", text)


def write_ranges(path, program, spans):
    path.unlink(missing_ok=True)
    made_program.write(path, [program])
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER)")
        db.executemany("INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, ?, ?)", spans)
        db.commit()


def frames(path, looks, length=100_000, skipped=230_000, name="frame"):
    """A frame after the other, marked by `name` if it is one; in those of `looks` that are true a detector runs, ten kernels, and nothing does in the others."""
    program, spans = made_program.Program(random.Random(length)), []
    for look in looks:
        begin = program.now
        program.host(200_000 if look else skipped)
        if look:
            program.copy(1, 400_000)
            for _ in range(10):
                program.kernel("detect", 7, length)
            program.copy(2, 4000)
            program.wait()
        spans.append((begin, program.now, name, made_program.PID + 77))
    write_ranges(path, program, spans if name else [])
    return (spans[-1][1] - spans[0][0]) / len(spans)


def frames_that_look(folder):
    """Where fewer frames run the detector, a look takes longer and a frame less: which of them is the unit nobody said. Nor did
    anybody where as many more may be chance, and all of them say the opposite of a look."""
    by_chance = [[draw.random() >= share for _ in range(200)] for draw, share in ((random.Random(1), 0.3), (random.Random(2), 0.4))]
    each, tenth, third = [True] * 200, [i % 10 == 0 for i in range(200)], [i % 3 == 0 for i in range(200)]
    for name, looks, skipped in ("each, every tenth", (each, tenth), 230_000), ("every third, every tenth", (third, tenth), 230_000), ("by chance", by_chance, 400_000):
        for sides in looks, looks[::-1]:
            frame = [frames(folder / f"{side}.sqlite", of, skipped=skipped) for side, of in zip(("base", "fixed"), sides)]
            done, doc, text, *_ = report(folder, "--max-regression", "3", "--require-comparable")
            told = " ".join(text.split())
            check(doc["verdict"]["result"] == "inconclusive" and done.returncode == 4 and doc["verdict"]["same_work"] == "unknown", f"{name}:", text)
            check(any(r.startswith("Per step there are") and "'frame' ranges" in r for r in doc["verdict"]["reasons"]), f"{name}:", doc["verdict"]["reasons"])
            check("steps of different size" in told, f"{name}:", told)
    for name in "image", None:
        for few, many in itertools.permutations(("base", "fixed")):
            frames(folder / f"{few}.sqlite", third if name else each, name=name), frames(folder / f"{many}.sqlite", tenth)
            _, doc, text, *_ = report(folder)
            check(doc["verdict"]["result"] == "inconclusive" and "'frame' ranges" in text and "steps of different size" in text, f"frames beside {name}:", text)
            frames(folder / f"{few}.sqlite", third, name=name), frames(folder / f"{many}.sqlite", third, 150_000)
            _, doc, text, *_ = report(folder)
            check(doc["verdict"]["result"] != "inconclusive" and "'frame' ranges" not in text, f"as many frames beside {name}:", text)
    frame = [frames(folder / "base.sqlite", each), frames(folder / "fixed.sqlite", tenth)]
    _, doc, *_ = report(folder, "--items-per-step", "1,10 frames")
    found = doc["verdict"]["speedup"]
    check(doc["verdict"]["result"] == "faster" and abs(found / (frame[0] / frame[1]) - 1) < 0.03, "per frame:", found, frame)
    fifth = [i % 5 == 0 for i in range(200)]
    frames(folder / "base.sqlite", third), frames(folder / "fixed.sqlite", fifth, 20_000)
    _, doc, text, *_ = report(folder)
    check(doc["verdict"]["result"] == "inconclusive" and "'frame' ranges" in text, "faster looks, and fewer:", text)
    frames(folder / "base.sqlite", third), frames(folder / "fixed.sqlite", third, 70_000)
    _, doc, text, *_ = report(folder)
    check(doc["verdict"]["result"] == "faster" and "'frame' ranges" not in text, "as many frames to a look:", text)
    for sides in by_chance, by_chance[::-1]:
        for side, looks in zip(("base", "fixed"), sides):
            frames(folder / f"{side}.sqlite", looks, skipped=15_000)
        _, doc, text, *_ = report(folder)
        check(doc["verdict"]["same_work"] == "same" and "'frame' ranges" not in text, "frames that take little:", text)


def threads_that_answer(folder):
    """Of three threads' requests all count, also where a cache answers a little more than half of two threads': a thread that
    watches launches far less often than the others."""
    for side, of_ten in ("base", (10, 10, 10)), ("fixed", (5, 4, 4)):
        program, spans = made_program.Program(random.Random(side)), []
        for i in range(240):
            begin, at = program.now, len(program.calls)
            program.host(60_000)
            if i // 3 % 10 < of_ten[i % 3]:
                program.copy(1, 100_000)
                for _ in range(6):
                    program.kernel("answer", 7, 50_000)
                program.wait()
            tid = made_program.PID + 77 + i % 3
            program.calls[at:] = [(*c[:3], tid, *c[4:]) for c in program.calls[at:]]
            spans.append((begin, program.now, "request", tid))
        write_ranges(folder / f"{side}.sqlite", program, spans)
    _, doc, text, *_ = report(folder)
    measured = [doc[side]["steps"]["measured"] for side in ("baseline", "fixed")]
    check(min(measured) > 220 and doc["verdict"]["result"] == "inconclusive" and "times the other side's work" in " ".join(text.split()), "threads:", measured, text)


def parts_of_requests(folder):
    """What a marked step consists of is no unit: tokens of a request on its thread, or on the threads of two workers."""
    for threads in 1, 2:
        for side, tokens in ("base", 8), ("fixed", 6):
            program, spans = made_program.Program(random.Random(tokens)), []
            for _ in range(60):
                begin, part = program.now, []
                for token in range(tokens):
                    start, at = program.now, len(program.calls)
                    program.host(20_000)
                    program.kernel("decode", 7, 150_000)
                    program.wait()
                    tid = made_program.PID + 77 + (threads > 1) * (1 + token % threads)
                    program.calls[at:] = [(*c[:3], tid, *c[4:]) for c in program.calls[at:]]
                    part.append((start, program.now, tid))
                for worker in range(threads):  # each is open until the last of them has ended
                    spans += [(start, end if threads == 1 else min(program.now, end + end - start), "token", tid) for start, end, tid in part[worker::threads]]
                program.copy(2, 4)
                program.wait()
                spans.append((begin, program.now, "request", made_program.PID + 77))
            write_ranges(folder / f"{side}.sqlite", program, spans)
        _, doc, text, *_ = report(folder)
        check(doc["verdict"]["result"] == "faster" and "ranges in the baseline" not in text, threads, text)


def ranges_beside_steps(folder):
    """Epochs of steps that nobody marked, and checks that take little, are no unit either, however many there are."""
    for side, per_epoch, per_check, length in ("base", 30, 2, 100_000), ("fixed", 40, 1, 80_000):
        program, spans = made_program.Program(random.Random(length)), []
        for i in range(4 * per_epoch):
            epoch = program.now if i % per_epoch == 0 else epoch
            program.host(50_000)
            for _ in range(10):
                program.kernel("train", 7, length)
            for k in range(2):
                check_start = program.now if k % per_check == 0 else check_start
                program.kernel("check", 7, 2_000)
                if k % per_check == per_check - 1:
                    spans.append((check_start, program.now, "check", made_program.PID + 77))
            program.copy(2, 4000)
            program.wait()
            if i % per_epoch == per_epoch - 1:
                spans.append((epoch, program.now, "epoch", made_program.PID + 77))
        write_ranges(folder / f"{side}.sqlite", program, spans)
    _, doc, text, *_ = report(folder)
    check(doc["verdict"]["result"] == "faster" and "ranges in the baseline" not in text, text)


def answers_are_longer(folder):
    """One copy of a step is none more of it where the other side's step works on three times as much: whichever side that is,
    what only one of them runs is as little the host's."""
    for name, draft in ("base", 0), ("fixed", 8):
        parts = [("step", "kernel", made_work.SGEMM, 20_000, 512, 16), ("step", "kernel", "guess(float*)", 8_000, 64, draft), ("step", "output", "", 0, 64, 1)]
        made_work.make(folder / f"{name}.sqlite", [p for p in parts if p[5]])
    works = [report(folder, "--items-per-step", "1,3 tokens")[1]["verdict"]["same_work"]]
    swap(folder)
    _, doc, text, *_ = report(folder, "--items-per-step", "3,1 tokens")
    works.append(doc["verdict"]["same_work"])
    check(works[0] == works[1] and "The host may do its work" not in text, "answers:", works, text)


def batch_takes_less_than_twice(folder):
    """Twice the rows in 1.9 times the time of each kernel is no clock, whichever side comes first."""
    for name, times in ("base", 1), ("fixed", 1.9):
        made_work.make(folder / f"{name}.sqlite", [("load", "input", "", made_work.BATCH, 40_960, 1), ("forward", "kernel", made_work.SGEMM, int(150_000 * times), 1024, 8),
                                                   ("forward", "kernel", "gelu(float*)", int(30_000 * times), 512, 8), ("optimizer", "kernel", "adam(float*)", 25_000, 320, 10)])
    one = report(folder, "--items-per-step", "1,2 rows")[1]["verdict"]
    swap(folder)
    other = report(folder, "--items-per-step", "2,1 rows")[1]["verdict"]
    check(one["same_work"] == other["same_work"], "nearly twice:", one["same_work"], other["same_work"])
    check(not any("as with a lower clock" in s for v in (one, other) for s in v["notes"]), "nearly twice:", one["notes"], other["notes"])


def steps_hold_two(folder, copies):
    """A step of the fixed side holds two of the baseline's: no direction, until it is told how much each works on."""
    for name, seed in ("base", 1), ("fixed", 2):
        tiny.write(folder / f"{name}.sqlite", jitter=0, load=400_000 + seed, seed=seed)
        if copies:
            copy_input(folder / f"{name}.sqlite", 40_000)
    twice(folder / "fixed.sqlite")
    _, _, text, markdown, page = report(folder)
    for name, output in ("terminal", text.split("caveats")[0]), ("Markdown", markdown.split("|")[0]), ("page", page.split("Before and after")[0]):
        check("steps of different size" in output, f"{name}: what it is")
        check(not re.search(r"\d\.\d+\s*×|\d %\s*(less|more)|[+−]\d+ %", output), f"{name}: a step's speedup is no result:", re.findall(r".{40}×.{10}", output))
    check("--items-per-step '1,2 items'." in " ".join(text.split()) and "--items-per-step '1,2 items'." in markdown, "what to give", text)
    as_told(folder, text, 906_001 / 906_002)
    done, doc, *_ = report(folder, "--max-regression", "3")
    verdict = doc["verdict"]
    check(verdict["result"] == "inconclusive" and verdict["gates"][0]["result"] == "inconclusive" and done.returncode == 4, "two of them:", verdict["result"])
    check(any("holds 2 times the other side" in r for r in verdict["reasons"]), "two of them:", verdict["reasons"])
    for told in "1,2 rows", "512,1024 rows":
        done, doc, *_ = report(folder, "--items-per-step", told, "--max-regression", "3")
        verdict = doc["verdict"]
        near(verdict["speedup"], 906_001 / 906_002, told)
        check(verdict["same_work"] == "same", told, verdict["same_work"])
        check(done.returncode == 0 and verdict["result"] in ("unchanged", "inconclusive") and not any("times the other side" in r for r in verdict["reasons"]), told, verdict["result"], verdict["reasons"])


def optimizer(folder):
    """Eight small kernels once a step, whatever its batch: twice the batch is not half of the optimizer left out."""
    tiny.write(folder / "base.sqlite", jitter=0, more_kernels=8)
    tiny.write(folder / "fixed.sqlite", jitter=0, kernel=200_000, seed=2)
    db = sqlite3.connect(folder / "fixed.sqlite")  # the small ones take as long as in the baseline
    db.close()
    tiny.write(folder / "fixed.sqlite.whole", jitter=0, kernel=200_000, more_kernels=8, seed=2)
    db = sqlite3.connect(folder / "fixed.sqlite.whole")
    db.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = start + 10000 WHERE demangledName = 5")
    db.commit()
    db.close()
    (folder / "fixed.sqlite.whole").rename(folder / "fixed.sqlite")
    copy_input(folder / "base.sqlite", 40_000)
    copy_input(folder / "fixed.sqlite", 80_000)
    done, doc, *_ = report(folder, "--items-per-step", "10,20 rows", "--require-comparable")
    check(done.returncode == 0 and doc["verdict"]["same_work"] == "same_job", "optimizer:", doc["verdict"]["same_work"], doc["verdict"]["differences"])
    # and where the batch is told wrongly, no kernel does more
    tiny.write(folder / "fixed.sqlite.half", jitter=0, seed=2, more_kernels=8)
    (folder / "fixed.sqlite.half").rename(folder / "fixed.sqlite")
    copy_input(folder / "fixed.sqlite", 40_000)
    done, doc, *_ = report(folder, "--items-per-step", "10,20 rows", "--require-comparable")
    check(done.returncode == 4 and doc["verdict"]["same_work"] == "unknown" and any("No kernel does more" in d for d in doc["verdict"]["differences"]), "half of the work:", doc["verdict"]["same_work"], doc["verdict"]["differences"])


def same_on_both(folder):
    """One number for both sides: the same speedup, said by the item; and the option's former name."""
    tiny.write(folder / "base.sqlite", jitter=0)
    tiny.write(folder / "fixed.sqlite", jitter=0, load=100_000, seed=2)
    by_step = report(folder)[1]["verdict"]
    for option in "--items-per-step", "--items":
        done, doc, text, *_ = report(folder, option, "100 batches")
        check(doc["verdict"]["ci95"] == by_step["ci95"] and doc["verdict"]["result"] == by_step["result"], option, "another interval")
        check("per batch" in text and "9.060 \u2192 6.060 \u00b5s" in text, option, text)
    near(doc["fixed"]["steps"]["period_ms"]["mean"], 0.606, "a step stays a step")


def wrong(folder):
    tiny.write(folder / "base.sqlite")
    tiny.write(folder / "fixed.sqlite", seed=2)
    for given in "0 tokens", "-1 tokens", "x tokens", "4096", "4096,0 tokens", "4096,-2 tokens", "4096, tokens", "1,2,3 tokens", "3 samples,1", "inf tokens", "nan tokens", "1e999 tokens", ",5 tokens", " ":
        done = subprocess.run([GAPLINE, "report", folder / "base.sqlite", folder / "fixed.sqlite", "-o", folder / "no.html", "--items-per-step", given], capture_output=True, text=True)
        check(done.returncode == 2 and "--items-per-step" in done.stderr and not (folder / "no.html").exists(), f"{given!r}: exit {done.returncode}: {done.stderr}")


def no_batches(folder):
    """Half as many bytes again are no number of batches."""
    tiny.write(folder / "base.sqlite", jitter=0)
    tiny.write(folder / "fixed.sqlite", jitter=0, seed=2)
    copy_input(folder / "base.sqlite", 40_000)
    copy_input(folder / "fixed.sqlite", 60_000)
    check(may_be_batches(report(folder)[1]) == [False], "no whole number of batches")


def no_steps(folder):
    tiny.write(folder / "base.sqlite", jitter=0, nvtx=False, steps=3, kernels=1)
    tiny.write(folder / "fixed.sqlite", jitter=0, nvtx=False, steps=3, kernels=1, load=100_000, seed=2)
    done, doc, text, *_ = report(folder, "--items-per-step", "10,20 rows")
    check(doc["verdict"]["per"] == "step" and any("Items are not compared" in d for d in doc["verdict"]["differences"]), "no steps:", doc["verdict"]["differences"])


def work_of(folder, baseline, fixed):
    for name, step in ("base", baseline), ("fixed", fixed):
        (folder / f"{name}.sqlite").unlink(missing_ok=True)
        made_work.make(str(folder / f"{name}.sqlite"), step)
    _, doc, text, *_ = report(folder)
    return doc["verdict"]["same_work"], " ".join(text.split())


def parts_of_a_batch(folder):
    """A batch in 2 parts instead of 8: a loss of one block runs as seldom, and leaves nothing out."""
    def step(parts, loss=None):
        return [("load", "input", "", made_work.BATCH, made_work.INPUT, 1), ("forward", "kernel", "gelu(float*)", 400_000 // parts, 4096 // parts, parts),
                ("forward", "kernel", "nll_loss(float*)", 50_000, 1, loss or parts), ("update", "kernel", "adam(float*)", 30_000, 256, 4),
                ("loss", "output", "", 0, 4096, 1)]

    work, text = work_of(folder, step(8), step(2))
    check(work in ("same_job", "unknown") and "Nothing runs" not in text, work, text)
    work, text = work_of(folder, step(8), step(8, 2))
    check(work == "different" and "Nothing runs in its place" in text, "six of eight losses are gone:", text)


def items_in_one_launch(folder):
    """Four items a launch, of four times the blocks, in less than four times the time: no block has other threads."""
    def step(items, ns):
        return [("load", "input", "", made_work.BATCH, made_work.INPUT * items, 1), ("forward", "kernel", made_work.SGEMM, ns, 1024 * items, 6)]

    for name, items, ns in ("base", 1, 200_000), ("fixed", 4, 560_000):
        made_work.make(str(folder / f"{name}.sqlite"), step(items, ns))
    _, doc, text, *_ = report(folder, "--items-per-step", "1,4 rows")
    check("threads per block" not in text and doc["verdict"]["result"] == "faster", text)


def half_of_a_batch(folder):
    """Half of the blocks and of the time: a kernel that has another name for the smaller batch does not do the rest."""
    def with_tiles(step, n, ns, name):
        return [*step[:2], ("forward", "kernel", name, ns, 512, n), *step[2:]]

    whole = with_tiles(made_work.BASE, 1, 300_000, "tile_large(float*)")
    half = with_tiles([(p, k, n, ns, a * 2 if k == "input" else a, c) for p, k, n, ns, a, c in made_work.half(made_work.BASE)], 1, 200_000, "tile_small(float*)")
    work, text = work_of(folder, whole, half)
    check(work == "different" and "with other work" in text, "as much is copied:", text)
    some = [(p, k, n, ns, a, 1 if n == made_work.SGEMM and i > 3 else c) for i, (p, k, n, ns, a, c) in enumerate(made_work.half(made_work.BASE))]
    work, text = work_of(folder, made_work.BASE, with_tiles(some, 7, 100_000, "tile_small(float*)"))
    check(work == "different" and "0.5 times as much" in text, "half is copied:", text)


def other_layers(folder):
    """Half of the launches of three kernels became a tenth as long, under another name: in half precision, perhaps."""
    def step(halves):
        own = 12 if halves else 24
        return [("load", "input", "", made_work.BATCH, made_work.INPUT, 1), ("forward", "kernel", made_work.SGEMM, 200_000, 1024, own),
                ("forward", "kernel", "attention(float*)", 150_000, 512, own), ("forward", "kernel", "flash(half*)", 40_000, 512, 24 - own), ("loss", "output", "", 0, 4096, 1)]

    work, text = work_of(folder, step(False), step(True))
    check(work != "different", "a faster kernel in their place:", text)


by_hand.run([frames_that_look, threads_that_answer, ranges_beside_steps, parts_of_requests, batch_takes_less_than_twice, answers_are_longer, larger_batches, other_iterations, steps_hold_two_faster, other_layers, parts_of_a_batch, items_in_one_launch, half_of_a_batch, batch_doubled, lambda f: steps_hold_two(f, True), lambda f: steps_hold_two(f, False), optimizer, same_on_both, wrong, no_batches, no_steps])
