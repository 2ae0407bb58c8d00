#!/usr/bin/env python3
"""--compare-output: what programs print, held against each other, from files and from real runs with a stand-in for nsys.
A training loop in Python prints its losses; a deliberate bug in one side has to be caught.

    check_printed.py GAPLINE [-k PATTERN]
"""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import captured
import tiny_profile
from captured import Case

# Gradient descent on a line through points: the loss of every step. Its words: what the step is divided by, and what
# every point is off by; and the profile that the stand-in for nsys hands out.
TRAINS = """import random, sys
rate, off, noise = float(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
random.seed(7)
points = [(x / 20, 3 * x / 20 + random.random()) for x in range(20)]
wobble = random.Random().random
a = b = 0.0
for step in range(30):
    errors = [a * x + b - y + off + noise * wobble() for x, y in points]
    print(f"step {step}: loss={sum(e * e for e in errors) / 20:.6f}", flush=True)
    a -= rate * sum(e * x for e, (x, _) in zip(errors, points)) / 20
    b -= rate * sum(errors) / 20
print("done in 1.5 s", file=sys.stderr)
"""

LOSSES = [2.5 * 0.9**i + 0.1 for i in range(20)]


def lines(numbers, form="step {i}: loss={x:.6f}\n"):
    return "".join(form.format(i=i, x=x) for i, x in enumerate(numbers))


class Printed(Case):
    def setUp(self):
        super().setUp()
        (self.folder / "train.py").write_text(TRAINS)

    def report(self, baseline, fixed, *options, status=0, pattern="loss=", profiles=("base-0.sqlite", "base-1.sqlite")):
        """`baseline`, `fixed`: what a run each printed. The verdict of the report, as JSON."""
        words = []
        for side, texts in ("baseline", baseline), ("fixed", fixed):
            for i, text in enumerate(texts):
                (self.folder / f"{side}-{i}.log").write_bytes(text if isinstance(text, bytes) else text.encode())
                words += [f"--{side}-output", f"{side}-{i}.log"]
        out, said = self.gapline(
            "report", *profiles, "--json", "r.json", "--compare-output", pattern, *words, *options, status=status
        )
        self.said = out + said
        return json.loads((self.folder / "r.json").read_text())["verdict"]

    def judged(self, baseline, fixed, *options, **how):
        verdict = self.report(baseline, fixed, *options, **how)
        return verdict["same_work"], verdict["same_result"]

    def test_agree(self):
        work, result = self.judged([lines(LOSSES)], [lines([x * 1.0005 for x in LOSSES])])
        self.assertEqual((work, result["found"], result["numbers"]), ("same", "same", 20))
        self.assertAlmostEqual(result["largest_difference"], 0.0005, delta=1e-5)
        self.assertEqual(result["text"], "Same result: 20 numbers of 'loss=' agree within 0.1 % in all 2 runs.")
        self.assertIn(result["text"], self.said)

    def test_makes_same_job(self):
        """One side runs a kernel more: other work by the profile, and what the programs print says more than that."""
        tiny_profile.write(self.folder / "more.sqlite", seed=50, more_kernels=5)
        profiles = ("base-0.sqlite", "more.sqlite")
        without = json.loads(self.gapline("report", *profiles, "--json", "-", "-q")[0])["verdict"]
        self.assertEqual((without["same_work"], without["same_result"]), ("different", None))
        good, bad = [lines(LOSSES)], [lines([2 * x for x in LOSSES])]
        verdict = self.report(good, good, "--require-comparable", profiles=profiles)
        self.assertEqual((verdict["same_work"], verdict["comparable"]), ("same_job", True))
        self.assertEqual(verdict["differences"], without["differences"])
        self.assertEqual(self.judged(good, bad, profiles=profiles)[0], "different")
        self.assertEqual(self.judged(good, ["nothing"], profiles=profiles)[0], "different")
        text = self.gapline("report", *profiles, "--markdown", "-", "-q", "--compare-output", "loss=", "--baseline-output", "baseline-0.log", "--fixed-output", "baseline-0.log")[0]
        self.assertIn("Same result: 20 numbers of", text)

    def test_disagree(self):
        off = list(LOSSES)
        off[6] *= 1.01
        off[9] *= 1.02
        work, result = self.judged([lines(LOSSES)], [lines(off)])
        self.assertEqual((work, result["found"], result["first_different"]), ("different", "different", 7))
        self.assertAlmostEqual(result["baseline_number"], LOSSES[6], delta=1e-6)
        self.assertAlmostEqual(result["fixed_number"], off[6], delta=1e-6)
        self.assertIn("Different result, beyond 0.1 %: the 7th number of 'loss=' is", self.said)
        self.report([lines(LOSSES)], [lines(off)], "--require-comparable", status=1)
        work, result = self.judged([lines(LOSSES)], [lines(off)], "--tolerance", "2e-2")
        self.assertEqual((work, result["found"]), ("same", "same"))

    def test_every_run_counts(self):
        last = LOSSES[:-1] + [LOSSES[-1] * 1.1]
        good, bad = lines(LOSSES), lines(last)
        self.assertEqual(self.judged([good, good], [good, bad])[1]["first_different"], 20)
        work, result = self.judged([good, bad], [good, good])
        self.assertEqual((work, result["found"]), ("unknown", "unknown"))
        self.assertIn("Runs of the baseline differ by more than 0.1 %", result["text"])

    def test_what_proves_nothing(self):
        good = lines(LOSSES)
        count, few = lines(range(1, 21)), lines(LOSSES[:9])
        epochs = lines([e for _ in range(3) for e in range(20)])
        nan = lines(LOSSES[:7] + [float("nan")] + LOSSES[8:])
        for baseline, fixed, words in (
            (good, lines(LOSSES[:-1]), "matches 20 numbers in baseline-0.log and 19 in fixed-0.log"),
            (good, "nothing\n", "matches no number in fixed-0.log"),
            ("", good, "matches no number in baseline-0.log"),
            (few, few, "matches 9 different numbers in baseline-0.log; 10 are needed"),
            (lines([1.5, 2.5] * 20), lines([1.5, 2.5] * 20), "matches 2 different numbers"),
            (count, count, "only count up, or stay the same"),
            (epochs, epochs, "only count up, or stay the same"),
            (lines([1.5] * 20), lines([1.5] * 20), "only count up, or stay the same"),
            (nan, nan, "The 8th number of 'loss=' is not a number (NaN) in baseline-0.log"),
            (good, lines(LOSSES[:2] + [float("inf")] + LOSSES[3:]), "The 3rd number of 'loss=' is infinite in fixed-0.log"),
        ):
            with self.subTest(words):
                work, result = self.judged([baseline], [fixed])
                self.assertEqual((work, result["found"]), ("unknown", "unknown"))
                self.assertIn(words, result["text"])
                self.report([baseline], [fixed], "--require-comparable", status=4)

    def test_few_that_differ_are_different(self):
        """Ten are needed to say that results agree; one that differs is enough."""
        for baseline, fixed in (([3.25], [9.99]), (LOSSES[:9], LOSSES[:8] + [9.99])):
            work, result = self.judged([lines(baseline)], [lines(fixed)])
            self.assertEqual((work, result["found"]), ("different", "different"), result["text"])
        falling = lines([0.951 - 0.1 * i for i in range(9)])
        self.assertIn("matches 9 different numbers", self.judged([falling], [falling])[1]["text"])

    def test_where_the_number_is(self):
        """By a group, or the first number behind the match that is no part of a word."""
        shapes = [
            ("loss=", "step {i}: loss={x:.6f}\n"),
            ("loss", "step {i}: l2_loss for x1 (0x1f) is tensor({x:.6f}, 3)\n"),
            ("([-+0-9.e]+) loss", "step {i}: {x:.5e} loss, 7 left\n"),
            ("loss", "\x1b[1mloss\x1b[0m {x:e}\x00\n"),
            ("loss", "\rloss {x:.6f}"),
            ("^loss", "loss loss\nloss {x:+.6f} loss 3\n"),
        ]
        for pattern, form in shapes:
            with self.subTest(form):
                off = LOSSES[:12] + [LOSSES[12] * 1.1] + LOSSES[13:]
                _, result = self.judged([lines(LOSSES, form)], [lines(off, form)], pattern=pattern)
                self.assertEqual(result["first_different"], 13, result["text"])
                self.assertAlmostEqual(result["fixed_number"], off[12], delta=1e-5)

    def test_how_numbers_are_written(self):
        """What reads the first digits alone, or the number of another name, takes different results for the same."""
        spellings = [
            ("thousands", lambda x: f"loss={1e5 * x:,.2f}, lr 3"),
            ("thousands of others", lambda x: f"loss: {1e6 * x:,.0f}".replace(",", "'")),
            ("a comma", lambda x: f"loss = {10 * x:.4f}".replace(".", ",")),
            ("Fortran", lambda x: f"loss {x / 1e3:.6E} 5".replace("E", "D")),
            ("colours", lambda x: f"\x1b[1mloss=\x1b[32m{x:.6f}\x1b[0m lr={0.1 * LOSSES[3]}"),
            ("colours in the middle", lambda x: f"loss\x1b[38;5;214m={x:.6f}\x1b[0m"),
            ("a progress bar", lambda x: f"\r 50%|#####     | 5/10 [00:01<00:01, 4.9it/s, loss={x:.6f}]"),
        ]
        off = LOSSES[:12] + [LOSSES[12] * 1.002] + LOSSES[13:]
        for name, spell in spellings:
            with self.subTest(name):
                good, bad = ("".join(spell(x) + "\n" for x in numbers) for numbers in (LOSSES, off))
                self.assertEqual(self.judged([good], [good], pattern="loss")[1]["numbers"], 20)
                _, result = self.judged([good], [bad], pattern="loss ?[=:]?")
                self.assertEqual(result["first_different"], 13, result["text"])
        lists = "".join(f"loss={x:.5f},{i},3\n" for i, x in enumerate(LOSSES))
        self.assertEqual(self.judged([lists], [lines(LOSSES, "loss={x:.5f},7\n")])[1]["found"], "same")

    def test_a_name_without_a_number(self):
        """The number of the next name is not this one's."""
        missing = lines(LOSSES, "loss=None lr={x:.6f}\n")
        work, result = self.judged([missing], [missing])
        self.assertEqual((work, result["found"]), ("unknown", "unknown"))
        self.assertIn("matches no number", result["text"])

    def test_usage(self):
        logs = ["--baseline-output", "a", "--fixed-output", "b"]
        both = ["report", "base-0.sqlite", "base-1.sqlite"]
        for words, arguments in (
            ("'loss=(' is no regular expression", ["--compare-output", "loss=(", *logs]),
            ("'x*' matches an empty line", ["--compare-output", "x*", *logs]),
            ("needs what both programs printed", ["--compare-output", "loss="]),
            ("needs what both programs printed", ["--compare-output", "loss=", *logs[:2]]),
            ("--fixed-output needs --compare-output", logs[2:]),
            ("--tolerance needs --compare-output", ["--tolerance", "0.1"]),
            ("--tolerance: 2 is out of range", ["--compare-output", "l", *logs, "--tolerance", "2"]),
        ):
            with self.subTest(words):
                self.assertIn(words, self.gapline(*both, *arguments, status=2)[1])
        self.assertIn("a: no such file; check its name", self.gapline(*both, "--compare-output", "l", *logs, status=3)[1])
        (self.folder / "a").write_text(lines(LOSSES))
        (self.folder / "b").write_text(lines(LOSSES))
        said = self.gapline(*both, "--compare-output", "loss=", *logs, "--json", "b", status=2)[1]
        self.assertIn("b: this output would replace an input", said)
        self.assertEqual((self.folder / "b").read_text(), lines(LOSSES))

    # ---- programs that really run ----

    def train(self, fixed, *options, status=0, baseline="1 0 0"):
        commands = [f"{sys.executable} train.py {words}" for words in (f"{baseline} base-#.sqlite", f"{fixed} fixed-#.sqlite")]
        out, said = self.run_gapline(*commands, "--compare-output", "loss=", *options, status=status)
        return json.loads((self.folder / "out/report.json").read_text())["verdict"], out, said

    def run_gapline(self, baseline, fixed, *options, **how):
        return self.run_both("--baseline", baseline, "--fixed", fixed, "--recorded", "2", "-o", "out", *options, **how)

    def test_training(self):
        verdict, out, said = self.train("1 0 0", "--require-comparable")
        self.assertEqual(verdict["same_result"]["found"], "same")
        self.assertEqual((verdict["same_result"]["baseline_runs"], verdict["same_result"]["fixed_runs"]), (2, 2))
        self.assertEqual(verdict["same_result"]["largest_difference"], 0)
        self.assertIn(verdict["same_work"], ("same", "same_job"))
        page = (self.folder / "out/report.html").read_text()
        self.assertIn("Same result: 30 numbers of 'loss=' agree within 0.1 % in all 4 runs.", page)
        # Everything that the programs print is passed through, once, and kept.
        self.assertEqual(out.count("step 29: loss="), 4)
        self.assertEqual((out + said).count("done in 1.5 s"), 4)
        log = (self.folder / "out/fixed-2.log").read_text()
        self.assertEqual((log.count("loss="), log.count("done in 1.5 s")), (30, 1))
        # Going on needs what the runs printed.
        self.train("1 0 0", "--resume")
        quiet = self.train("1 0 0", "--force", "-q")
        self.assertNotIn("loss=0", quiet[1] + quiet[2])
        self.assertEqual(quiet[0]["same_result"]["found"], "same")

    def test_deliberate_bug(self):
        for name, words in ("the learning rate is a tenth", "0.1 0 0"), ("targets are off", "1 0.1 0"):
            with self.subTest(name):
                verdict, _, _ = self.train(words, "--require-comparable", "--force", status=1)
                self.assertEqual((verdict["same_work"], verdict["same_result"]["found"]), ("different", "different"))
        self.assertEqual(verdict["same_result"]["first_different"], 1)

    def test_random_programs(self):
        verdict, _, _ = self.train("1 0 0.1", baseline="1 0 0.1")
        self.assertEqual((verdict["same_work"], verdict["same_result"]["found"]), ("unknown", "unknown"))

    def test_runs_without_logs(self):
        commands = ["true base-#.sqlite", "true fixed-#.sqlite"]
        self.run_gapline(*commands)
        _, said = self.run_gapline(*commands, "--resume", "--compare-output", "loss", status=2)
        self.assertIn("what its runs printed was not kept, which --compare-output needs", said)
        self.run_gapline(*commands, "--force", "--compare-output", "(", status=2)
        self.assertIn("fixed-2.sqlite", self.files("out"))


if __name__ == "__main__":
    captured.main()
