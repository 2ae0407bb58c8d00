#!/usr/bin/env python3
"""Runs `gapline run` with its stopwatch: recorded runs are played by a stand-in for nsys, the others are real, on the
stand-in for the CUDA driver (tests/inject).

    check_run_stopwatch.py GAPLINE INJECT_TESTS_FOLDER [-k PATTERN]
"""

import json
import math
import os
import pathlib
import re
import signal
import sqlite3
import statistics
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import captured
from captured import Case, WITH_NSYS

INJECT = pathlib.Path(sys.argv.pop(2)).resolve()
# docs/verdict.md, "As many runs as it takes": after 4, 5 … 15 runs of each side
SURE = (4.225, 4.023, 3.690, 3.427, 3.252, 3.125, 3.015, 2.929, 2.850, 2.784, 2.725, 2.674)
SHOWN = (3.479, 3.367, 3.116, 2.926, 2.779, 2.667, 2.570, 2.494, 2.423, 2.357, 2.303, 2.252)
GATE = "gate 'min_speedup'"
STEP_NS = 500_000  # of `stopwatch_target plain`, on a GPU that the host runs ahead of


class Stopwatch(Case):
    def setUp(self):
        super().setUp()
        self.env["LD_LIBRARY_PATH"] = str(INJECT / "fake_driver")

    def program(self, case, steps, profile):
        return f"{INJECT}/stopwatch_target {case} {steps} {profile}"

    def run_pair(self, *options, baseline=None, fixed=None, **how):
        baseline = baseline or self.program("plain", 70, "base-#.sqlite")
        fixed = fixed or self.program("plain", 70, "fixed-#.sqlite")
        return self.gapline("run", *WITH_NSYS, "--baseline", baseline, "--fixed", fixed, "-o", "out", *options, **how)

    def state(self):
        return json.loads((self.folder / "out/run.json").read_text())

    def order(self):
        return " ".join(f"{r['side'][0]}{r['run']}{'s' * (r['kind'] == 'stopwatch')}" for r in self.state()["runs"])

    def timed(self, side="baseline"):
        return [r for r in self.state()["runs"] if r["kind"] == "stopwatch" and r["side"] == side]

    def rows(self, name):
        db = sqlite3.connect(f"file:{self.folder}/out/{name}.sqlite?immutable=1", uri=True)
        try:
            return db.execute("SELECT start, time, steps, process, unused FROM GAPLINE_STOPWATCH").fetchall()
        except sqlite3.OperationalError:
            return None
        finally:
            db.close()

    def test_in_turns(self):
        out, said = self.run_pair("--repeat", "5")
        within = iter(re.findall(r"^within (\d+) (\d+)$", out, re.M))  # one a timed run, in their order
        brackets = {(r["side"], r["run"]): tuple(map(int, next(within)))
                    for r in self.state()["runs"] if r["kind"] == "stopwatch"}
        self.assertEqual(self.order(), "b1 f1 f1s b1s b2s f2s f3s b3s f2 b2 b4s f4s f5s b5s")
        self.assertRegex(said, r"gapline: run 3 of 14: fixed 1, timed; about \d+\.\d s left\n")
        self.assertRegex(said, r"gapline: run 14 of 14: baseline 5, timed: \d\.\d s\n")
        for side in "baseline", "fixed":
            plan = self.state()["stopwatch"][side]
            self.assertEqual((plan["step"], plan["domain"], plan["processes"]), ("step", "", 1))
            self.assertEqual(plan["last"], 60)
            self.assertEqual(plan["steps"], 60 - plan["first"])
            self.assertGreaterEqual(plan["limit_ms"], 10000)
            runs = self.timed(side)
            self.assertEqual(len(runs), 5)
            for run in runs:
                low, high = brackets[side, run["run"]]  # of the same process, so that a busy machine is in both
                self.assertGreaterEqual(low, run["steps"] * STEP_NS)
                self.assertTrue(low <= run["time_ns"] <= high, (low, run["time_ns"], high))
                self.assertIsNone(run["unused"])
                self.assertEqual(run["steps"], plan["steps"])
                self.assertLess(run["time_ns"], run["seconds"] * 1e9)
            self.assertEqual(
                [row[:3] + row[4:] for row in self.rows(f"{side}-1")],
                [(r["start_utc_ns"], r["time_ns"], r["steps"], None) for r in runs],
            )
            self.assertLess(abs(runs[0]["start_utc_ns"] - time.time_ns()), 300e9)
            self.assertIsNone(self.rows(f"{side}-2"))
        self.assertEqual(self.files("out"), sorted([f"{s}-{n}.sqlite" for s in ("baseline", "fixed") for n in (1, 2)]
                                                   + ["report.html", "report.json", "run.json"]))

    def test_verdict(self):
        """What counts is the stopwatch's, also in a report made later of the profiles."""
        self.run_pair("--repeat", "3", "--recorded", "1")
        means = [statistics.mean(r["time_ns"] / r["steps"] for r in self.timed(s)) for s in ("baseline", "fixed")]
        later, _ = self.gapline("report", "out/baseline-1.sqlite", "out/fixed-1.sqlite", "--json", "-")
        for text in (self.folder / "out/report.json").read_text(), later:
            verdict = json.loads(text)["verdict"]
            self.assertEqual(verdict["measured"], "stopwatch")
            self.assertAlmostEqual(verdict["speedup"], means[0] / means[1], places=4)
            self.assertGreater(verdict["recorded"]["speedup"], 1.5)
            steps = [json.loads(text)[side]["steps"] for side in ("baseline", "fixed")]
            for s, mean in zip(steps, means):
                self.assertEqual(s["stopwatch_runs"], 3)
                self.assertAlmostEqual(s["stopwatch_ms"], mean / 1e6, places=6)
                self.assertAlmostEqual(s["stopwatch_ms"], s["period_ms"]["mean"], places=9)
            self.assertAlmostEqual(
                steps[0]["recorded_ms"] / steps[1]["recorded_ms"], verdict["recorded"]["speedup"], places=6)
            parts = json.loads(text)["waterfall"]
            self.assertIn("recording", [p["part"]["kind"] for p in parts])
            self.assertNotIn("unusual_steps", [p["part"]["kind"] for p in parts])
            for side, mean in zip(("baseline", "fixed"), means):
                self.assertAlmostEqual(sum(p[f"{side}_ms"] for p in parts), mean / 1e6, places=6)

    def test_variants(self):
        """Five timed runs of each in balanced turns, whose times are those of the table; the drain is waited for in each."""
        words = [w for name, profile in (("a", "base"), ("b", "fixed"), ("c", "base"))
                 for w in ("--variant", f"{name}={self.program('plain', 70, profile + '-#.sqlite')}")]
        self.gapline("run", *WITH_NSYS, *words, "-o", "out", "--recorded", "1")
        runs = [r for r in self.state()["runs"] if r["kind"] == "stopwatch"]
        self.assertEqual("".join(r["side"][-1] for r in runs), "32e" "e23" "2e3" "3e2" "e32")
        doc = json.loads((self.folder / "out/report.json").read_text())
        for key, v in zip(("baseline", "variant-2", "variant-3"), (doc["baseline"], *doc["variants"])):
            own = [r["time_ns"] / r["steps"] / 1e6 for r in runs if r["side"] == key]
            self.assertEqual(len(own), 5)
            for a, b in zip(own, v["run_ms"]):
                self.assertAlmostEqual(a, b, places=6)
            self.assertGreaterEqual(v["step_ms"], STEP_NS / 1e6)
            self.assertEqual([row[:3] for row in self.rows(f"{key}-1")],
                             [(r["start_utc_ns"], r["time_ns"], r["steps"]) for r in runs if r["side"] == key])

    def test_said_once(self):
        """The stopwatch's number first, the recorded one a second line, how much longer recording made a step once."""
        said, _ = self.run_pair("--repeat", "3", "--recorded", "1")
        verdict = json.loads((self.folder / "out/report.json").read_text())["verdict"]
        ((first, last),) = re.findall(r"^[A-Z]\w+ (\d+\.\d+)\u00d7(?: to (\d+\.\d+)\u00d7)?, 95 % CI", said, re.M)
        # a busy machine makes the interval wide: then its ends stand there
        for text, number in zip([first, last], verdict["ci95"]) if last else [(first, verdict["speedup"])]:
            self.assertAlmostEqual(float(text), number, delta=0.6 * 0.1 ** len(text.partition(".")[2]))
        said = " ".join(said.split())
        self.assertRegex(said, r"profiled 1\.\d+\u00d7 while profiled: a step of the baseline takes [\d.]+ % (more|less) \(.*\), one of the fixed side ")
        page = (self.folder / "out/report.html").read_text()
        self.assertEqual(len(re.findall(r"a step of the baseline takes", page)), 1)
        self.assertEqual(len(re.findall(r"a step of the baseline takes", said)), 1)
        # what is predicted and measured of the recorded step says so
        self.assertRegex(said, r"prediction .* [\d.]+ .s predicted, [\d.]+ .s measured while profiled")
        ceilings = re.findall(r"Best case: [^<]*", page)
        self.assertTrue(all(" while profiled, " in ceiling for ceiling in ceilings), ceilings)

    def unmarked(self, *cases):
        """Programs whose steps no range marks: 60 steps of five launches each were recorded."""
        self.env["GAPLINE_CUPTI"] = f"{INJECT}/fake_cupti/libcupti.so.13"
        names = ("whole-#.sqlite", "whole-fixed-#.sqlite")
        baseline, fixed = (self.program(case, 60, name) for case, name in zip(cases, names))
        out, said = self.run_pair("--repeat", "3", "--recorded", "1", "--annotate", "none", baseline=baseline, fixed=fixed)
        return json.loads((self.folder / "out/report.json").read_text()), " ".join(out.split()), said

    @unittest.skipUnless((INJECT / "fake_cupti").exists(), "CUPTI's headers were not there")
    def test_steps_that_no_range_marks(self):
        """Launches are counted instead, up to the ends that the pattern gave."""
        result, _, said = self.unmarked("launches", "launches")
        self.assertIn("no NVTX range marks the steps, so timed runs count launches", said)
        self.assertEqual(result["verdict"]["measured"], "stopwatch")
        for side in "baseline", "fixed":
            plan = self.state()["stopwatch"][side]
            self.assertEqual((plan["launches"], plan["last"], plan["last"] - plan["first"]), (300, 300, 5 * plan["steps"]))
            steps = result[side]["steps"]
            self.assertEqual((steps["origin"], steps["stopwatch_runs"]), ("pattern", 3))
            for run in self.timed(side):
                self.assertIsNone(run["unused"])
                self.assertGreater(run["time_ns"] / run["steps"] / STEP_NS, 0.99)

    @unittest.skipUnless((INJECT / "fake_cupti").exists(), "CUPTI's headers were not there")
    def test_launches_that_differ_from_run_to_run(self):
        """Then the time is the whole process's: the recorded steps decide, and the process is told beside them."""
        result, text, said = self.unmarked("launches", "more_launches")
        self.assertIn("not used: it made 420 launches, and the recorded run made 300, so that its steps cannot be counted", said)
        self.assertIn("launches of the fixed side's runs differ in number, so a run is timed from the "
                      "program's start to its end", said)
        self.assertEqual(result["verdict"]["measured"], "recorded")
        self.assertRegex(text, r"Timed from start to exit, the programs took [\d.]+ and [\d.]+ ms "
                               r"\(3 and 3 runs\): .* In that, start-up took")
        self.assertEqual([r["steps"] for r in self.timed("fixed")], [0, 0, 0])

    def test_nothing_of_a_profiler(self):
        (self.folder / "target.sh").write_text('env > "env-$$"; exec "$@"\n')
        wrapped = "sh target.sh " + self.program("plain", 70, "base-#.sqlite")
        self.run_pair("--repeat", "1", "--recorded", "1", baseline=wrapped)
        texts = [p.read_text() for p in self.folder.glob("env-*")]
        (free,) = [dict(l.split("=", 1) for l in t.splitlines()) for t in texts if "GAPLINE_STOPWATCH=" in t]
        self.assertNotIn("CUDA_INJECTION64_PATH", free)
        self.assertNotIn("GAPLINE_SPOOL", free)
        self.assertTrue(free["NVTX_INJECTION64_PATH"].endswith("/libgapline-stopwatch.so"))
        self.assertFalse(os.path.exists(free["GAPLINE_STOPWATCH"]))

    def test_numbers_of_runs(self):
        self.run_pair("--repeat", "1", "--recorded", "2", "-q")
        self.assertEqual(self.order(), "b1 f1 f1s b1s f2 b2")
        self.assertIn("fixed-1.stopwatch.log", self.files("out"))
        self.run_pair("--repeat", "2", "--recorded", "2", "-q", "--resume")
        self.assertEqual(self.order(), "b1 f1 f1s b1s f2 b2 b2s f2s")
        self.assertEqual(len(self.rows("baseline-1")), 2)
        self.run_pair("--repeat", "0", "--force")
        self.assertEqual(self.order(), "b1 f1 f2 b2 b3 f3")

    def test_fewer_steps(self):
        short = self.program("plain", 44, "fixed-#.sqlite")
        _, said = self.run_pair(fixed=short)
        why = "the program ended after 44 ranges 'step', and the time is taken at the 60th, which a recorded run made"
        self.assertIn(f"gapline: fixed 1, timed: not used: {why}\n", said)
        self.assertIn("gapline: no more timed runs are made\n", said)
        self.assertEqual(self.order(), "b1 f1 f1s b1s b2s f2s f2 b2 b3 f3")
        self.assertEqual(self.state()["no_stopwatch"], f"on the fixed side, {why}")
        self.assertEqual([row[1:3] + row[4:] for row in self.rows("fixed-1")], [(None, 60 - self.first(), why)] * 2)
        self.run_pair("--recorded", "4", "--resume", fixed=short)
        self.assertEqual(self.order(), "b1 f1 f1s b1s b2s f2s f2 b2 b3 f3 f4 b4")

    def first(self, side="fixed"):
        return self.state()["stopwatch"][side]["first"]

    def test_other_ranges(self):
        _, said = self.run_pair(baseline=self.program("ahead", 70, "base-#.sqlite"))
        self.assertIn("baseline 1, timed: not used: the program made no range 'step'; the recorded one made 60", said)

    def test_work_that_never_ends(self):
        stuck = self.program("stuck", 70, "base-#.sqlite")
        self.run_pair("--repeat", "0", "--recorded", "1", baseline=stuck)
        state = self.folder / "out/run.json"
        text, n = re.subn(r'("step":\s*"step".*?"limit_ms":\s*)\d+', r"\g<1>300", state.read_text(), flags=re.S)
        self.assertEqual(n, 2)
        text, n = re.subn(r'("step":\s*)"step"', r'\g<1>"step #"', text, count=1)  # what the program calls its steps
        state.write_text(text)
        _, said = self.run_pair("--repeat", "1", "--recorded", "1", "--resume", baseline=stuck)
        self.assertIn(
            "baseline 1, timed: not used: after the last step the GPU did not become idle within 0.3 s: a kernel that goes "
            "on, a callback or another process holds it up\n",
            said,
        )
        self.assertIn("went on", (self.run_pair("--repeat", "2", "--recorded", "1", "--resume", baseline=stuck)[0]))

    def test_without_steps(self):
        both = {"baseline": "sh -c 'sleep 0.4; : whole-#.sqlite'", "fixed": "sh -c 'sleep 0.2; : fixed-#.sqlite'"}
        began = time.monotonic()
        _, said = self.run_pair("--repeat", "2", "--recorded", "1", "--step", "none", **both)
        took = time.monotonic() - began
        self.assertIn(
            "gapline: the programs have no steps, so a run is timed from the program's start to its end\n", said)
        self.assertEqual(self.order(), "b1 f1 f1s b1s b2s f2s")
        for side, seconds in ("baseline", 0.4), ("fixed", 0.2):
            for run in self.timed(side):
                self.assertEqual((run["steps"], run["unused"], run["time_ns"]), (0, None, round(run["seconds"] * 1e9)))
                self.assertGreater(run["seconds"], seconds)
        self.assertLess(sum(run["seconds"] for run in self.state()["runs"]), took)

    def test_program_that_fails_only_then(self):
        script = "sh -c 'test -z $GAPLINE_STOPWATCH || exit 5; : fixed-#.sqlite'"
        _, said = self.run_pair(fixed=script, status=3)
        self.assertIn("gapline: fixed side, run 1, timed: 'sh -c", said)
        self.assertIn("failed: exit status 5\n", said)
        self.assertEqual(self.order(), "b1 f1")

    def test_interrupted_and_resumed(self):
        (self.folder / "slow.sh").write_text('test -z "$GAPLINE_STOPWATCH" || { echo $$ > pid; sleep 60; }; exec "$@"\n')
        fixed = "sh slow.sh " + self.program("plain", 70, "fixed-#.sqlite")
        words = ["--baseline", self.program("plain", 70, "base-#.sqlite"), "--fixed", fixed, "-o", "out", "--repeat", "2"]
        process = self.start("run", *WITH_NSYS, *words)
        self.pids("pid")
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
        self.assertEqual(process.returncode, -signal.SIGINT)
        self.assertIn("gapline: fixed side, run 1, timed: interrupted\n", said)
        self.assertIn("2 of 8 runs are done and kept in out", said)
        self.assertEqual(self.files("out"), ["baseline-1.sqlite", "fixed-1.sqlite", "run.json"])
        (self.folder / "slow.sh").write_text('exec "$@"\n')
        self.gapline("run", *WITH_NSYS, *words, "--resume")
        self.assertEqual(self.order(), "b1 f1 f1s b1s f2 b2 b2s f2s")
        self.assertEqual([len(self.rows(f"{s}-1")) for s in ("baseline", "fixed")], [2, 2])

    def test_profile_lost_on_the_way(self):
        """The runs that were timed are noted in the one that takes its place."""
        self.run_pair("--repeat", "2", "--recorded", "1")
        (self.folder / "out/fixed-1.sqlite").unlink()
        self.run_pair("--repeat", "2", "--recorded", "1", "--resume")
        self.assertEqual(self.order(), "b1 f1s b1s b2s f2s f1")
        self.assertEqual(len(self.rows("fixed-1")), 2)

    def test_time_limit(self):
        sides = {s: "sh -c 'sleep 0.3; : whole-#.sqlite'" for s in ("baseline", "fixed")}
        _, said = self.run_pair("--time-limit", "0.1s", **sides)
        self.assertEqual(self.order(), "b1 f1 f1s b1s b2s f2s", "two of each side at least")
        self.assertRegex(said, r"gapline: run 6 of at most 34: fixed 2, timed: \d+\.\d s\n")
        self.run_pair("--time-limit", "6s", "--force", "--repeat", "30", **sides)
        took = [r["seconds"] for r in self.state()["runs"]]
        pairs = [sum(took[i:i + 2]) for i in range(0, len(took), 2)]  # the last one was begun because it had room
        self.assertLess(sum(pairs[:-1]) + min(pairs), 6)
        self.assertTrue(len(self.timed()) >= 3 or sum(took) + max(pairs) > 6, took)
        known = "b1 f1 f1s b1s b2s f2s f3s b3s b4s f4s f2 b2 f5s b5s"
        self.assertEqual(self.order()[:len(known)], known[:len(self.order())])
        self.assertEqual(len(self.timed("fixed")), len(self.timed()))

    # ---- as many runs as it takes: whole processes, whose times are chosen here ----

    def sleeps(self, **seconds):
        """Programs that sleep so long, one run after the other (the first is recorded); the last time goes on."""
        script = ('n=$(cat $1.n 2>/dev/null || echo 0); echo $((n + 1)) > $1.n; shift 2; '
                  'test $n -lt $# || n=$(($# - 1)); shift $n; sleep $1')
        (self.folder / "sleeps.sh").write_text(script)
        profile = {"baseline": "base-#.sqlite", "fixed": "fixed-#.sqlite"}
        return {s: f"sh sleeps.sh {s} {profile[s]} {' '.join(map(str, t))}" for s, t in seconds.items()}

    def looks(self, said):
        return re.findall(r"^gapline: after (\d+) runs of each side: \d\.\d+×, 95 % CI \d\.\d+ to \d\.\d+×, "
                          r"runs differ by [\d.]+ %: (.*)$", said, re.M)

    def looked(self, *options, status=0, **seconds):
        both = self.sleeps(**seconds)
        return self.run_pair("--recorded", "1", "--step", "none", *options, status=status, **both)

    def interval(self, n=None):
        """√(2 m / n) after n runs, worked out from run.json; the larger variance of both sides, relative to their means."""
        times = [[r["time_ns"] for r in self.timed(s)][:n] for s in ("baseline", "fixed")]
        m = max(statistics.variance(t) / statistics.mean(t) ** 2 for t in times)
        speedup = statistics.mean(times[0]) / statistics.mean(times[1])
        return speedup, (2 * m / len(times[0])) ** 0.5

    def direction(self, n):
        speedup, error = self.interval(n)
        return abs(math.log(speedup)) - SURE[n - 4] * error >= math.log(1.005)

    def decided(self, said, gate=None):
        """Checks that runs ended at the first look that decides, which is the first of all where nothing else makes the
        machine busy; how many runs that were."""
        for n in range(4, 16):
            speedup, error = self.interval(n)
            if self.direction(n) and (not gate or abs(math.log(speedup / gate)) > SURE[n - 4] * error):
                break
        looks = self.looks(said)
        self.assertEqual(len(self.timed()), n)
        self.assertEqual([at for at, _ in looks], [str(at) for at in range(4, n + 1)])
        self.assertEqual(looks[-1][1], "this is decided")
        for _, what in looks[:-1]:
            self.assertRegex(what, "^the (result|gate 'min_speedup') is not decided yet, so another pair is run$")
        return n

    def test_found_at_the_first_look(self):
        out, said = self.looked(baseline=[0.4], fixed=[0.2])
        n = self.decided(said)
        pairs = [(f"f{i}s b{i}s", f"b{i}s f{i}s")[i % 2 == 0] for i in range(1, n + 1)]
        self.assertEqual(self.order(), " ".join(["b1 f1", *pairs]))
        self.assertIn("gapline: run 3 of at most 32: fixed 1, timed; at most about ", said)
        state = self.state()
        self.assertEqual((state["repeat"], state["looked"]), (n, True))
        speedup, error = self.interval()
        digests = [f"{s}.digest" for s in ("baseline", "fixed")]
        for s, digest in zip(("baseline", "fixed"), digests):
            self.gapline("digest", f"out/{s}-1.sqlite", "-o", digest)
        later, _ = self.gapline("report", *(f"out/{s}-1.sqlite" for s in ("baseline", "fixed")), "--step", "none", "--json", "-")
        small, _ = self.gapline("report", *digests, "--step", "none", "--json", "-")
        for text in (self.folder / "out/report.json").read_text(), later, small:
            verdict = json.loads(text)["verdict"]
            self.assertEqual(verdict["result"], "faster")
            self.assertAlmostEqual(math.log(verdict["speedup"] / verdict["ci95"][0]), SHOWN[n - 4] * error, places=6)
            self.assertAlmostEqual(math.log(verdict["floor"]), math.log(1.005) + (SURE[n - 4] - SHOWN[n - 4]) * error, places=6)
            self.assertEqual(verdict["at_least"], verdict["ci95"][0] if n < 15 else None)  # found before the last look
        low, high = (f"{end:.2f}" for end in verdict["ci95"])
        if verdict["ci95"][1] > 1.3 * verdict["ci95"][0]:  # a busy machine: the ends stand there anyway
            self.assertIn(f"Faster {low}× to {high}×, 95 % CI", out)
            headline = f"{low}× to {high}× faster"
        else:
            self.assertIn(f"Faster, at least {low}×, measured {verdict['speedup']:.2f}×, 95 % CI {low} to {high}", out)
            headline = f"At least {low}× faster"
        self.assertIn(f'<h3 class="result">{headline}</h3>', (self.folder / "out/report.html").read_text())

    def test_asked_for_a_number_without_looks(self):
        _, said = self.looked("--repeat", "4", baseline=[0.3], fixed=[0.15])
        self.assertEqual(self.looks(said), [])
        _, error = self.interval()
        verdict = json.loads((self.folder / "out/report.json").read_text())["verdict"]
        self.assertIsNone(verdict["at_least"])
        self.assertLess(math.log(verdict["speedup"] / verdict["ci95"][0]), 2.5 * error)  # t with 6 degrees: 2.447
        self.assertIn("run 10 of 10", said)

    def test_goes_on_and_gives_up(self):
        """Runs that differ by a third: six show that 15 would not do, or a few more on a busy machine."""
        swing = [0.2] + [0.2, 0.4] * 8
        out, said = self.looked(baseline=swing, fixed=swing)
        on = "the result is not decided yet, so another pair is run"
        looks = self.looks(said)
        self.assertEqual([n for n, _ in looks], [str(4 + i) for i in range(len(looks))])
        self.assertEqual({what for _, what in looks[:-1]}, {on})
        self.assertEqual(looks[-1][1], "15 would not decide it")
        self.assertEqual(len(self.timed()), int(looks[-1][0]))
        self.assertTrue(6 <= len(self.timed()) < 15, looks)
        self.assertTrue(out.startswith("Inconclusive"), out)

    def test_goes_on_for_a_gate(self):
        """The direction is plain at once, and the gate asks for what the runs swing around."""
        _, said = self.looked("--min-speedup", "1.9", baseline=[0.3] + [0.26, 0.34] * 8, fixed=[0.15], status=4)
        looks = self.looks(said)
        direction = self.direction(4)  # which a busy machine may hide at first
        self.assertEqual(looks[0], ("4", f"the {'result' if not direction else GATE} is not decided yet, so another pair is run"))
        self.assertEqual(looks[-1][1], "15 would not decide a gate")
        verdict = json.loads((self.folder / "out/report.json").read_text())["verdict"]
        self.assertEqual((verdict["result"], verdict["gates"][0]["result"]), ("faster", "inconclusive"))
        # a gate goes by the ends that looks leave, further out than the interval's
        _, error = self.interval()
        n = len(self.timed()) - 4
        gate = verdict["gates"][0]
        self.assertAlmostEqual(math.log(verdict["ci95"][0] / gate["interval"][0]), (SURE[n] - SHOWN[n]) * error, places=6)
        self.assertAlmostEqual(math.log(gate["interval"][1] / verdict["ci95"][1]), (SURE[n] - SHOWN[n]) * error, places=6)
        self.assertIn("wider because looks decided when to stop", gate["text"])

    def test_gate_that_is_decided(self):
        _, said = self.looked("--min-speedup", "1.5", "--max-regression", "3", baseline=[0.4], fixed=[0.2])
        self.decided(said, gate=1.5)

    def test_no_number_where_the_recording_has_none(self):
        sqlite3.connect(self.own("fixed-0.sqlite"), isolation_level=None).execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = start - 1 WHERE rowid % 20 = 0")
        _, said = self.looked(baseline=[0.3], fixed=[0.15])
        self.assertEqual((self.looks(said), "of each side: what was recorded tells no speedup, and more runs would not change that" in said), ([], True), said)

    def test_recorded_runs_are_made_all_the_same(self):
        both = self.sleeps(baseline=[0.3], fixed=[0.15])
        _, said = self.run_pair("--recorded", "5", "--step", "none", **both)
        if self.decided(said) == 4:
            self.assertEqual(self.order(), "b1 f1 f1s b1s f2 b2 b2s f2s b3 f3 f3s b3s f4 b4 b4s f4s b5 f5")
        self.assertEqual(self.order().count("b"), 5 + len(self.timed()))

    def test_looks_end_with_the_time(self):
        swing = [0.1, 0.1, 0.2, 0.1, 0.2]
        _, said = self.looked("--time-limit", "1s", baseline=swing, fixed=swing)
        self.assertLess(len(self.timed()), 6)

    def test_looks_go_on_after_an_interruption(self):
        both = self.sleeps(baseline=[0.3], fixed=[0.15])
        self.run_pair("--recorded", "1", "--step", "none", "--time-limit", "0.1s", **both)
        self.assertEqual(len(self.timed()), 2)
        _, said = self.run_pair("--recorded", "1", "--step", "none", "--resume", **both)
        n = self.decided(said)
        _, said = self.run_pair("--recorded", "1", "--step", "none", "--resume", **both)
        self.assertEqual((len(self.timed()), self.looks(said)), (n, [(str(n), "this is decided")]))
        # more runs by number: that they were looked at stays true
        self.run_pair("--recorded", "1", "--step", "none", "--resume", "--repeat", str(n + 1), **both)
        self.assertEqual((len(self.timed()), self.state()["looked"]), (n + 1, True))

    def test_wrong_numbers_of_runs(self):
        for value, words in ("some", "'some' is neither auto nor a whole number"), ("-1", "'-1' is neither"), ("1001", "out of range"):
            _, said = self.run_pair(f"--repeat={value}", status=2)
            self.assertIn(words, said)

    def test_asked_for_and_impossible(self):
        both = {"baseline": "true base-#.sqlite", "fixed": "true fixed-#.sqlite"}
        part = "with --delay, --duration or --capture-range a part of the program is recorded, and which one that is is not known without recording"
        for part_of_it in ["--duration", "9"], ["--delay", "1"], ["--capture-range", "cudaProfilerApi"]:
            _, said = self.run_pair("--repeat", "3", *part_of_it, status=2, **both)
            self.assertIn(f"--repeat: there are no timed runs: {part}", said)
            _, said = self.run_pair("--time-limit", "5m", *part_of_it, status=2, **both)
            self.assertIn("--time-limit: there are no timed runs: with", said)
        _, said = self.run_pair("--delay", "1", **both)
        self.assertIn(f"gapline: no timed runs are made: {part}\n", said)
        self.assertEqual(self.order(), "b1 f1 f2 b2 b3 f3")

    def test_another_tool(self):
        _, said = self.run_pair("--repeat", "1", env={"NVTX_INJECTION64_PATH": "/opt/tool.so"})
        self.assertIn("gapline: no timed runs are made: another tool is to be told of NVTX ranges here (", said)
        self.assertEqual(self.order(), "b1 f1 f2 b2 b3 f3")

    def test_one_at_a_time(self):
        waits = "sh -c 'touch here; while test ! -e go; do sleep 0.1; done; : base-#.sqlite'"
        words = ["--baseline", waits, "--fixed", "true fixed-#.sqlite", "-o", "out", "--repeat", "0", "--recorded", "1"]
        first = self.start("run", *WITH_NSYS, *words)
        self.wait_for(lambda: (self.folder / "here").exists())
        for more in [], ["--force"], ["--resume"]:
            _, said = self.gapline("run", *WITH_NSYS, *words, *more, status=2)
            self.assertEqual(said, f"gapline: out: another gapline run, process {first.pid}, is writing into it\n")
        (self.folder / "go").touch()
        _, said = first.communicate(timeout=60)
        self.assertEqual(first.returncode, 0, said)
        self.assertEqual(self.order(), "b1 f1")
        self.assertNotIn(".lock", self.files("out"))

    def test_lock_of_a_dead_process(self):
        waits = "sh -c 'echo $$ > pid; while test ! -e go; do sleep 0.1; done; : base-#.sqlite'"
        words = ["--baseline", waits, "--fixed", "true fixed-#.sqlite", "-o", "out", "--repeat", "0", "--recorded", "1"]
        first = self.start("run", *WITH_NSYS, *words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.pids("pid")
        first.kill()
        first.wait(timeout=60)
        self.assertIn(".lock", self.files("out"))
        (self.folder / "go").touch()
        self.gapline("run", *WITH_NSYS, *words, "--resume")
        self.assertEqual(self.order(), "b1 f1")


if __name__ == "__main__":
    captured.main()
