#!/usr/bin/env python3
"""Sentences that were once false, said by the real command of profiles whose truth is worked out here.

    check_sentences.py GAPLINE
"""
import html
import json
import pathlib
import random
import re
import sqlite3
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
import made_program  # noqa: E402
import made_real_pairs  # noqa: E402
import made_units  # noqa: E402
import tiny_kineto as kineto  # noqa: E402
import tiny_ncu  # noqa: E402
import tiny_profile as tiny  # noqa: E402
import tiny_ranks as ranks  # noqa: E402

MS = 1_000_000
STEPS = 60


def periods(path):
    """From one step's end to the next, ns."""
    with sqlite3.connect(path) as db:
        ends = [end for (end,) in db.execute("SELECT end FROM NVTX_EVENTS WHERE text = 'step' ORDER BY end")]
    return [b - a for a, b in zip(ends, ends[1:])]


def pause(path, step, ns):
    """So much longer does the host take within one step, before it launches anything."""
    with sqlite3.connect(path) as db:
        (at,) = db.execute("SELECT end FROM NVTX_EVENTS WHERE text = 'data_load' ORDER BY start LIMIT 1 OFFSET ?", (step,)).fetchone()
        for table in "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS":
            db.execute(f"UPDATE {table} SET start = start + ? WHERE start >= ?", (ns, at))
            db.execute(f"UPDATE {table} SET end = end + ? WHERE end >= ?", (ns, at))


def timed(path, steps, step, runs=3):
    """Timed runs of so many steps, which took `step` ns each."""
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE GAPLINE_STOPWATCH (start INTEGER NOT NULL, time INTEGER, steps INTEGER NOT NULL, process INTEGER NOT NULL, launches INTEGER, step TEXT, unused TEXT)")
        for run in range(runs):
            time = round(steps * step * (1 + (run - runs // 2) * 1e-4))
            db.execute("INSERT INTO GAPLINE_STOPWATCH VALUES (?, ?, ?, ?, NULL, 'step', NULL)", (1_795_000_000_000_000_000 + run, time, steps, 2 * time))


def second_thread(path, late):
    """A second thread that does the same in a stream of its own, late(k) ns later in step k."""
    first = tiny.GLOBAL_PID | tiny.TID
    with sqlite3.connect(path) as db:
        for k, (start, end) in enumerate(db.execute("SELECT start, end FROM NVTX_EVENTS WHERE text = 'step' ORDER BY start").fetchall()):
            at = f"start + {late(k)}, end + {late(k)}"
            within = f"start >= {start} AND start < {end}"
            db.execute(f"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT {at}, deviceId, contextId, 8, correlationId + 100000, globalPid, demangledName, shortName, graphNodeId FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE streamId = 7 AND {within}")
            db.execute(f"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT {at}, eventClass, globalTid + 1, correlationId + 100000, nameId, returnValue FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE globalTid = {first} AND {within}")
            db.execute(f"INSERT INTO NVTX_EVENTS SELECT {at}, eventType, rangeId, text, globalTid + 1, endGlobalTid, textId, domainId FROM NVTX_EVENTS WHERE globalTid = {first} AND {within}")


class Sentences(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)
        self.programs = {}  # when each began, and what it did

    def said(self, *words):
        """What the terminal says, in one line, and the JSON."""
        done = subprocess.run([GAPLINE, "report", *words, "--json", self.folder / "r.json", "-o", self.folder / "r.html"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return " ".join(done.stdout.split()), json.loads((self.folder / "r.json").read_text())

    def pair(self, **fixed):
        paths = [self.folder / "base.sqlite", self.folder / "fixed.sqlite"]
        tiny.write(paths[0], steps=STEPS, seed=1)
        tiny.write(paths[1], steps=STEPS, seed=2, **(fixed or {"load": 50_000}))
        return paths

    def test_recorded_steps_are_the_timed_ones(self):
        """A step that is set aside was timed too: recording, which adds 2 %, does not make a step shorter by it. Where
        only the last 40 steps were timed, it is those that were recorded."""
        for steps, slow in ((STEPS - 1, 30), (40, 30), (40, 10)):
            with self.subTest(steps=steps, slow=slow):
                for path in self.folder.iterdir():
                    path.unlink()
                pair, added = self.pair(), (1.02, 1.04)
                pause(pair[0], slow, 12 * MS)
                recorded = [sum(periods(path)[-steps:]) / steps for path in pair]
                for path, mean, more in zip(pair, recorded, added):
                    timed(path, steps, mean / more)
                text, result = self.said(*pair)
                self.assertEqual(result["verdict"]["measured"], "stopwatch")
                self.assertEqual(result["verdict"]["steps_set_aside"], 0)
                said = re.search(r"profiled ([\d.]+)\u00d7 while profiled: a step of the baseline takes ([\d.]+) % (more|less) \(.*?\), one of the fixed side ([\d.]+) % (more|less) ", text)
                self.assertTrue(said, text)
                self.assertEqual((said[3], said[5]), ("more", "more"), said[0])
                self.assertAlmostEqual(float(said[1]), recorded[0] / recorded[1], delta=0.006)
                self.assertAlmostEqual(float(said[2]), 2, delta=0.06)
                self.assertAlmostEqual(float(said[4]), 4, delta=0.06)
                for side, mean in zip(("baseline", "fixed"), recorded):
                    self.assertAlmostEqual(result[side]["steps"]["recorded_timed_ms"], mean / MS, places=6)


    def test_ranks_that_wait_are_not_busy(self):
        """A kernel of NCCL runs until the last rank has come: its GPU computes nothing meanwhile."""
        sides = []
        for side, more in (("baseline", 900_000), ("fixed", 100_000)):
            for rank in range(4):
                path = self.folder / f"{side}-{rank}.sqlite"
                ranks.write(path, rank, more=more)
                sides += [f"--{side}", path]
        text, result = self.said(*sides)
        said = re.search(r"GPU computing or copying ([\d.]+) % \u2192 ([\d.]+) %, only communicating or waiting for it ([\d.]+) % \u2192 ([\d.]+) %\.", text)
        self.assertTrue(said, text)
        self.assertNotIn("GPU busy", text)
        for i, more in enumerate((900_000, 100_000)):
            step = ranks.LOAD + 5_000 + ranks.COMPUTE + more + ranks.MOVE + ranks.RETURN
            computing, waiting = (ranks.COMPUTE + more / 4) / step, (ranks.MOVE + more * 3 / 4) / step
            self.assertAlmostEqual(float(said[1 + i]), 100 * computing, delta=0.1)
            self.assertAlmostEqual(float(said[3 + i]), 100 * waiting, delta=0.1)
        for side in "baseline", "fixed":
            rows = result[side]["ranks"]["communication"]
            self.assertEqual([(row["bytes"], row["bus_bandwidth_gb_per_s"]) for row in rows], [(None, None)])  # NCCL said nothing of it

    def test_advice_fits_the_file(self):
        """How to mark steps: as the program would, whose profile it is."""
        ways = {"prof.step()": "profiler", "torch.cuda.nvtx": "torch", "nvtxRangePush": "plain"}
        for kind in ways.values():
            with self.subTest(kind=kind):
                pair = [self.folder / f"{kind}-{side}.{'json' if kind == 'profiler' else 'sqlite'}" for side in (0, 1)]
                for seed, path in enumerate(pair, 1):
                    if kind == "profiler":
                        kineto.write(path, steps=1, kernels=3)
                        text = path.read_text()
                        path.write_text(re.sub(r"ProfilerStep#\d+", "some_range", text))
                        continue
                    tiny.write(path, steps=1, kernels=1, seed=seed, nvtx=False)
                    with sqlite3.connect(path) as db:
                        db.execute("UPDATE StringIds SET value = ? WHERE id = 1", ("void at::native::gemm<float>(float *)" if kind == "torch" else "gemm(float *)",))
                self.said(*pair)
                page = (self.folder / "r.html").read_text()
                self.assertIn("No steps were found", page)
                self.assertEqual([way for name, way in ways.items() if name in page], [kind])

    def unmarked(self, name, steps, step):
        """A program without ranges: `step` does what one step does."""
        program = made_program.Program(random.Random(name))
        self.programs[name] = program.now, program
        for _ in range(steps):
            step(program)
            program.wait()
        made_program.write(self.folder / name, [program])
        return self.folder / name

    def test_what_is_not_compared_is_not_said_to_be(self):
        """A solver that looks at its residual in every iteration, or in every 25th: two things repeat, not as often."""
        def iterations(n):
            def step(program):
                for _ in range(n):
                    program.kernel("jacobi", length=3000)
                program.kernel("residual", length=9000)
                program.copy(2, 4)
            return step

        pair = [self.unmarked("each", 500, iterations(1)), self.unmarked("some", 20, iterations(25))]
        text, result = self.said(*pair)
        self.assertIsNone(result["verdict"]["speedup"], text)
        self.assertEqual(result["verdict"]["same_work"], "unknown")
        self.assertIn("Mark the steps of both programs, or compare whole runs (--step none)", text)
        self.assertNotIn("is compared", text)
        own = [(done.now - began) for began, done in (self.programs["each"], self.programs["some"])]
        text, result = self.said(*pair, "--step", "none")
        self.assertAlmostEqual(result["verdict"]["speedup"], own[0] / own[1], delta=0.02 * own[0] / own[1])

        text, result = self.said(self.unmarked("more", 90, iterations(1)), self.unmarked("less", 60, iterations(1)))
        self.assertIn("Iteration counts differ (90, 60); the time per step is compared.", text)

    def test_kernels_that_take_longer_are_no_others(self):
        """Threads with a stream each: the kernels run in parallel, and one of them longer."""
        def step(length):
            def of(program):
                program.copy(1, 400_000)
                program.kernel("lookup", length=40_000)
                program.kernel("rank_items", length=length)
                program.copy(2, 4000)
            return of

        text, result = self.said(self.unmarked("base", 80, step(20_000)), self.unmarked("fixed", 80, step(28_000)))
        self.assertEqual(result["verdict"]["same_work"], "same_job", text)
        self.assertIn("Same work, other kernel times", text)
        self.assertNotIn("different kernels", text + (self.folder / "r.html").read_text())

    def test_what_stands_where_another_kernel_did(self):
        """A kernel 70 times as fast in another one's place is there; and one long launch does more than each of 20."""
        def step(name, length, times=1):
            return lambda program: [program.copy(1, 400_000), *(program.kernel(name, length=length) for _ in range(times)), program.copy(2, 4000)]

        text, _ = self.said(self.unmarked("hist", 80, step("hist", 2_000_000)), self.unmarked("shared", 80, step("hist_shared", 30_000)))
        self.assertIn("What may run in its place takes hardly any time.", text)
        text, _ = self.said(self.unmarked("many", 80, step("trace", 20_000, 20)), self.unmarked("once", 80, step("trace", 120_000)))
        self.assertIn("Its launches do more there, on average.", text)

    def test_captures_that_were_both_broken_off(self):
        paths = self.pair()
        for path in paths:
            with sqlite3.connect(path) as db:
                db.executescript("CREATE TABLE GAPLINE_CAPTURE (name, value); INSERT INTO GAPLINE_CAPTURE VALUES ('complete', 'the program was killed')")
        text, _ = self.said(*paths)
        self.assertIn("Both captures are incomplete (the program was killed), so their ends are missing.", text)

    def test_few_of_either_size_have_their_digits(self):
        """31.25 and 1183 ms were 31 and 1183; 0.096 of 16 ms was 0.10."""
        text, _ = self.said(*self.pair(load=40_000_000))
        self.assertRegex(text, r"per step [\d.]{5} \u2192 4\d\.\d+ ms")

    def test_launches_that_are_captured_do_not_bound_what_recording_costs(self):
        """A program that captures a graph anew in every step: a launch into it takes 1 us, one of the graph 20."""
        def step(program):
            for _ in range(30):
                program.called("cudaLaunchKernel_v7000", 1000)
            program.graph(1, 30_000)
            program.called("cudaGraphDestroy_v10000", 11_000)

        text, _ = self.said(self.unmarked("base", 80, step), self.unmarked("fixed", 80, step))
        said = re.search(r"The interval allows for up to ([\d.]+) \u00b5s each", text)
        self.assertTrue(said, text)
        self.assertGreater(float(said[1]), 6)

    def test_what_no_profile_times_is_said(self):
        """Migrations of managed memory that the collector does not record, and functions of the host in streams."""
        words = {"migrations": "The program uses managed memory", "functions": "The program queues functions of the host"}
        calls = {"none": None, "migrations": "cudaMallocManaged_v6000", "functions": "cudaLaunchHostFunc_v10000"}

        def step(call):
            def of(program):
                if call:
                    program.called(call, 2000)
                program.kernel("blur", length=30_000)
            return of

        for kind, call in calls.items():
            text, _ = self.said(self.unmarked(f"base-{kind}", 60, step(None)), self.unmarked(f"fixed-{kind}", 60, step(call)))
            page = (self.folder / "r.html").read_text()
            self.assertEqual([name for name, said in words.items() if said in text], [kind] if call else [], kind)
            self.assertEqual([name for name, said in words.items() if said in page], [kind] if call else [], kind)

    def test_a_typical_step_beside_a_mean_of_pauses(self):
        """One pause makes the mean, and no step is as long as that."""
        usual, paused = self.pair()
        pause(paused, 30, 200 * MS)
        for path, said in (usual, False), (paused, True):
            shown = subprocess.run([GAPLINE, "show", path], capture_output=True, text=True, check=True).stdout
            self.assertEqual("; a typical step takes" in " ".join(shown.split()), said, shown)

    def test_steps_that_spread_to_either_side_of_their_mean(self):
        """Three of five steps take 5.9 ms, the others 0.9: most are longer than the mean. Of steps that take 0.6 to 1 ms,
        the longer the fewer, most are shorter."""
        draw, pair = random.Random(5), self.pair()
        for load, most in ((lambda r: 5_400_000 if r < 0.6 else 400_000, "longer than the mean, some much shorter"), (lambda r: int(20_000 + 430_000 * r**2), "shorter than the mean, some much longer")):
            pair[0].unlink()
            tiny.write(pair[0], steps=STEPS, seed=1, loads=[load(draw.random()) for _ in range(STEPS)])
            text, _ = self.said(*pair)
            self.assertIn(f": most are {most}.", text)

    def test_one_size_that_a_change_must_have(self):
        """Where the state of the machine is not seen, less than it may make does not count."""
        pair = self.pair(load=20_000)
        with sqlite3.connect(pair[1]) as db:
            db.execute("UPDATE StringIds SET value = 'other_' || value WHERE value LIKE 'gemm%'")
        text, result = self.said(*pair)
        self.assertEqual(result["verdict"]["result"], "faster")
        floor, unseen = (float(re.search(words + r" ([\d.]+) %", text)[1]) for words in ("only a change above", "interval allows"))
        self.assertAlmostEqual(floor, unseen, delta=1)

    def test_what_is_no_unit_asks_for_marks(self):
        """Repetitions of two programs are no step of both, and of substeps the step is to be marked."""
        (pair,) = (p for p in made_units.UNITS if p.what.startswith("3 substeps"))
        text, _ = self.said(*made_real_pairs.write(pair, self.folder))
        self.assertIn("next Mark the step on both sides", text)
        files = [self.folder / f"{name}.sqlite" for name in ("one", "other")]
        for side, path in enumerate(files):
            made_real_pairs.write_unrelated(sorted(made_real_pairs.UNRELATED)[side], path, side)
        text, result = self.said(*files)
        self.assertIsNone(result["verdict"]["speedup"])
        self.assertIn(" per repetition, of different work ", text)
        self.assertIn(" Same work: unknown ", text)
        self.assertNotIn("other conditions", text)
        self.assertFalse(result["verdict"]["comparable"])

    def test_more_steps_of_less_work_ask_for_items(self):
        """A micro-batch of eight became one of 32: a quarter of the steps, each of four times the blocks. As many steps,
        or the same work in each, ask for more of them."""
        for steps, more, asked in ((40, 2, True), (150, 2, False), (40, 0, False)):
            pair = [self.folder / f"{name}.sqlite" for name in ("base", "fixed")]
            for path in self.folder.iterdir():
                path.unlink()
            tiny.write(pair[0], steps=160, seed=1, jitter=3_000_000)
            tiny.write(pair[1], steps=steps, seed=2, jitter=3_000_000, kernel=130_000 if more else 100_000, kernels=5 + more)
            text, result = self.said(*pair)
            self.assertEqual(result["verdict"]["result"], "inconclusive")
            self.assertEqual("next If a step does more on one side (a larger batch), compare by item" in text, asked, text)

    def test_more_steps_that_make_the_whole_slower(self):
        """A step is faster, and all of them take longer together. Captures of one duration hold more of faster steps."""
        for longer in True, False:
            pair = self.pair()
            usual = [sum(periods(path)) / len(periods(path)) for path in pair]
            steps = round(STEPS * usual[0] / usual[1] * (1.5 if longer else 1))
            pair[1].unlink()
            tiny.write(pair[1], steps=steps, seed=2, load=50_000)
            text, result = self.said(*pair, "--markdown", self.folder / "r.md")
            self.assertEqual(result["verdict"]["result"], "faster")
            said = re.search(r"Faster [\d.]+\u00d7 per step, .*?; all (\d+) and (\d+) steps: ([\d.]+)\u00d7, slower", text)
            self.assertEqual(bool(said), longer, text)
            self.assertEqual("; all " in (self.folder / "r.md").read_text(), longer)
            self.assertEqual("faster per step; all " in html.unescape((self.folder / "r.html").read_text()), longer)
            if said:
                self.assertEqual(abs(int(said[1]) - STEPS) <= 1 and abs(int(said[2]) - steps) <= 1, True, said[0])
                self.assertAlmostEqual(float(said[3]), 1 / 1.5, delta=0.03)
                self.assertRegex(self.said(*pair[::-1])[0], r"^Slower .*?; all \d+ and \d+ steps: 1\.[45]\d?\u00d7 faster")
            for path in pair:
                path.unlink()

    def test_steps_of_threads_that_end_together(self):
        """Each thread marks its own steps. Two that end at the same time are no step whose mark was lost."""
        files = [self.folder / f"{name}.sqlite" for name in ("apart", "together")]
        for path, first in zip(files, (450_000, 0)):
            tiny.write(path, steps=STEPS, seed=1, jitter=3_000)
            second_thread(path, lambda k: 450_000 if k else first)
        text, result = self.said(*files)
        self.assertNotIn("Marks of steps were lost", text)
        self.assertEqual(result["verdict"]["result"], "unchanged", text)

    def test_a_program_that_failed_did_not_run_on_the_cpu(self):
        path, (other, _) = self.folder / "failed.sqlite", self.pair()
        tiny.write(path, steps=STEPS, seed=1)
        with sqlite3.connect(path) as db:
            db.executescript("""DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL; UPDATE StringIds SET value = 'cudaGetDevice' WHERE value LIKE 'cudaLaunch%';
                CREATE TABLE GAPLINE_CAPTURE (name TEXT NOT NULL, value TEXT NOT NULL);
                INSERT INTO GAPLINE_CAPTURE VALUES ('collector', 'gapline capture'), ('complete', 'the program ended with exit status 1');""")
        done = subprocess.run([GAPLINE, "report", other, path, "-o", self.folder / "r.html"], capture_output=True, text=True)
        self.assertIn("0 rows dropped; the program ended with exit status 1; capture again with: ", done.stderr)

    def test_each_side_has_its_own_step(self):
        """The fixed side names its step otherwise, and runs other kernels on half as much input: no number of items makes
        these one step."""
        pair = self.pair()
        for side, path in enumerate(pair):
            with sqlite3.connect(path) as db:
                db.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY AS SELECT start - 500 AS start, start AS end, deviceId, contextId, streamId, correlationId, globalPid, ? AS bytes, 1 AS copyKind, 1 AS srcKind, 2 AS dstKind FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE correlationId % 5 = 1", (8_000_000 >> side,))
        text, _ = self.said(*pair)
        self.assertIn(" steps the range step: 100.0 % of the baseline's GPU work, 100.0 % of the fixed side's ", text)
        self.assertNotIn("compare by item", text)  # every kernel does the same
        for path, blocks in zip(pair, (128, 64)):
            with sqlite3.connect(path) as db:
                for column, value in (("gridX", blocks), ("gridY", 1), ("gridZ", 1), ("blockX", 256), ("blockY", 1), ("blockZ", 1)):
                    db.execute(f"ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN {column} INTEGER NOT NULL DEFAULT {value}")
        text, _ = self.said(*pair)
        self.assertIn(" next If a step does more on one side (a larger batch), compare by item", text)
        with sqlite3.connect(pair[1]) as db:
            db.execute("UPDATE NVTX_EVENTS SET text = 'iteration' WHERE text = 'step'")
            db.execute("UPDATE StringIds SET value = 'other_' || value WHERE value LIKE 'gemm%'")
        for order, names in ((pair, ("step", "iteration")), (pair[::-1], ("iteration", "step"))):
            text, _ = self.said(*order)
            self.assertIn(" steps baseline: the range {}: 100.0 % of the GPU's work fixed: the range {}: 100.0 % of the GPU's work ".format(*names), text)
            self.assertIn(" next Mark the step on both sides", text)

    def test_what_two_tools_recorded_asks_for_one_tool(self):
        """The same program, by nsys and by the PyTorch profiler."""
        nsys, other = self.folder / "a.sqlite", self.folder / "b.json"
        tiny.write(nsys, steps=STEPS, seed=1)
        kineto.write(other, steps=STEPS)
        text, result = self.said(nsys, other)
        self.assertEqual(result["verdict"]["result"], "inconclusive")
        self.assertIn(" Capture all with one tool. ", text)
        self.assertIn(" next Capture both sides in the same way: one tool, the same options. ", text)

    def test_what_got_longer_is_named(self):
        """Of three kernels that take 1.5 times as long none is most of the change: then it is their phase."""
        pair = self.pair(load=5_000, kernel=150_000)
        pair[0].unlink()
        tiny.write(pair[0], steps=STEPS, seed=1, load=5_000)
        text, result = self.said(*pair)
        self.assertEqual(result["verdict"]["result"], "slower")
        self.assertRegex(text, r" next Start with what got longer most: GPU compute, mostly gemm, 0\.5\d* → 0\.75\d* ms per step\. ")
        for path in pair:
            with sqlite3.connect(path) as db:
                db.executemany("INSERT INTO StringIds VALUES (?, ?)", [(10 + k, f"third_{k}") for k in range(3)])
                db.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET demangledName = 10 + correlationId % 3, shortName = 10 + correlationId % 3")
        text, _ = self.said(*pair)
        self.assertRegex(text, r" next Start with what got longer most: GPU compute, most of it in compute, 0\.5\d* → 0\.75\d* ms per step\. ")

    def test_advice_is_for_kernels_that_weigh(self):
        """`relu` takes a thousandth of the time: no word of it. `gemm`, which grew, was measured at one size, then at
        another than that of the steps."""
        pair, measured = [self.folder / "light.sqlite", self.folder / "heavy.sqlite"], self.folder / "measured.csv"
        for side, path in enumerate(pair):
            tiny.write(path, steps=30, load=1_000, jitter=100, seed=side + 1, kernel=100_000 + side * 50_000, more_kernels=2)
            with sqlite3.connect(path) as db:
                for column in "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ":
                    db.execute(f"ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN {column} INTEGER DEFAULT 8")
                db.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = start + 200 WHERE demangledName = 5")
        launch = {"name": "gemm(float *)", "grid": (8, 8, 8), "block": (8, 8, 8), "duration": 100_250, "sm": 91.25, "memory": 40.5, "dram": 12.125, "rate": 402_653_184_000, "occupancy": 24.75, "most": 25, "registers": 202, "waves": 1234.5, "by_registers": 2, "by_shared": 3, "by_warps": 16, "by_blocks": 32, "stalls": {"wait": 3.5}}
        for grid in (8, 8, 8), (9, 8, 8):
            tiny_ncu.write(measured, [launch | {"grid": grid}, launch | {"name": "relu(float *)"}])
            text, result = self.said(*pair, "--baseline-ncu", measured, "--fixed-ncu", measured)
            page = (self.folder / "r.html").read_text()
            self.assertIn("relu(float *)", [kernel["fixed"]["name"] for kernel in result["kernels_inside"]["kernels"]])
            self.assertNotIn(" relu: Baseline", text)
            self.assertNotIn(". relu", page)
            self.assertEqual(" gemm: Baseline" in text, grid[0] == 8)
            for shown in text, page:
                self.assertEqual("gemm explains most of the change. Nsight Compute did not measure it" in shown, grid[0] != 8)

    def test_what_makes_a_rank_late_takes_the_waiting_along(self):
        """One of four ranks loads longer, and all wait for it: on time, a step is as much shorter, not by a quarter of that.
        So it is where they still wait for the rank, which computes longer, too."""
        def compared(late, more):
            sides = []
            for side in "baseline", "fixed":
                folder = self.folder / f"{side}{more}"
                folder.mkdir()
                for rank in range(4):
                    fixed = side == "fixed"
                    ranks.write(folder / f"rank{rank}.sqlite", rank, more=more, late=0 if fixed else late, started=1_795_000_000_000_000_000 + fixed * 60_000_000_000)
                sides += [f"--{side}", folder]
            return self.said(*sides)

        text, result = compared(6 * MS, 1_800_000)
        self.assertEqual({f["id"]: f["status"] for f in result["findings"] if f["ceiling"]}["straggler"], "reduced")
        self.assertIn(" prediction Right causes, but less gained than predicted: 1.665 ms predicted, 3.315 ms measured.", text)
        self.assertAlmostEqual(result["diagnosis"]["explained_share"], 1, delta=0.02)
        text, result = compared(2 * MS, 1_000)
        self.assertIn(" prediction Prediction met: ", text)
        self.assertAlmostEqual(result["diagnosis"]["explained_share"], 1, delta=0.02)
        of = {f["id"]: f for f in result["findings"] if f["side"] != "fixed"}
        self.assertAlmostEqual(of["straggler"]["ceiling"]["step_ms"], result["fixed"]["steps"]["period_ms"]["mean"], delta=0.05)
        # its input and the others', of 0.3 ms each
        self.assertAlmostEqual(of["host_after_sync"]["ceiling"]["step_ms"], result["fixed"]["steps"]["period_ms"]["mean"] - 0.3, delta=0.05)
        self.assertIn("Other devices wait 1.5 ms per step for it, on average.", of["host_after_sync"]["text"])

    def test_a_pause_is_no_cost_that_remains(self):
        """The host's work fell from 0.4 to 0.2 ms a step; a pause of 300 ms, once, is none of it."""
        pair = self.pair(load=200_000)
        pause(pair[1], 30, 300 * MS)
        _, result = self.said(*pair)
        (found,) = (f for f in result["findings"] if f["id"] == "host_after_sync")
        self.assertEqual(found["status"], "reduced")
        self.assertIn("Fixed side: 0.201 ms per step", found["text"])

    def test_what_happened_once_on_both_sides_is_said_whole(self):
        """Beside kernels of long names, which are cut each by itself."""
        pair = self.pair()
        for path in pair:
            pause(path, 20, 200 * MS)
            pause(path, 40, 600 * MS)
            with sqlite3.connect(path) as db:
                db.execute("UPDATE StringIds SET value = 'void at::native::vectorized_elementwise_kernel<4, at::native::GeluBackwardCUDAKernelImpl>(int)' WHERE value LIKE 'gemm(%'")
        _, result = self.said(*pair)
        (said,) = (f["text"] for f in result["findings"] if f["id"] == "one_off_gaps")
        self.assertGreater(len(said), 600)
        page = html.unescape(re.sub("<[^>]*>", "", (self.folder / "r.html").read_text()))
        self.assertIn(" ".join(said.split()), " ".join(page.split()))

    def test_a_wide_interval_is_said_as_a_range(self):
        """Neither heading says a number in its middle."""
        pair = self.pair(load=20_000, jitter=900_000)
        with sqlite3.connect(pair[0]) as db:
            (until,) = db.execute("SELECT start FROM NVTX_EVENTS WHERE text = 'step' LIMIT 1 OFFSET 12").fetchone()
            for table in "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS":
                db.execute(f"DELETE FROM {table} WHERE start > ?", (until,))
        outputs = {kind: self.folder / kind for kind in ("markdown", "markdown-short", "junit")}
        text, result = self.said(*pair, *(word for kind, path in outputs.items() for word in (f"--{kind}", path)))
        verdict = result["verdict"]
        low, high = verdict["ci95"]
        self.assertGreater(high / low, 1.3)
        page = (self.folder / "r.html").read_text()
        spoken = [text[: text.index(" per step ")], re.search('<h3 class="result[^>]*>(.*?)</h3>', page, re.S)[1]]
        spoken += [path.read_text() for path in outputs.values()]
        for words in spoken:
            ends = re.search(r"([\d.]+)\u00d7 to ([\d.]+)\u00d7", words)
            self.assertTrue(ends, words)
            for end, value in zip(ends.groups(), (low, high)):
                self.assertAlmostEqual(float(end), value, delta=0.006 * value)
            middle = [number for number in re.findall(r"([\d.]+)\u00d7", words) if abs(float(number) / verdict["speedup"] - 1) < 0.006]
            self.assertEqual(middle, [], words)


if __name__ == "__main__":
    GAPLINE = sys.argv.pop(1)
    unittest.main()
