#!/usr/bin/env python3
"""Runs `gapline run` with a stand-in for nsys and shell commands as targets; recorded runs only.

    check_run.py GAPLINE [-k PATTERN]
"""

import json
import os
import pathlib
import pty
import re
import select
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import captured
from captured import Case, GAPLINE, RECORDED_ONLY, is_alive, kernels


class Run(Case):
    BOTH = ["--baseline", "true base-#.sqlite", "--fixed", "true fixed-#.sqlite"]

    def state(self, folder="out"):
        return json.loads((self.folder / folder / "run.json").read_text())

    def order(self, folder="out"):
        return " ".join(f"{r['side'][0]}{r['run']}" for r in self.state(folder)["runs"])

    def test_both_sides(self):
        out, said = self.run_both(*self.BOTH, "-o", "out")
        self.assertRegex(out, r"\AFaster 1\.62×")
        self.assertEqual(
            self.files("out"),
            ["baseline-1.sqlite", "baseline-2.sqlite", "baseline-3.sqlite", "fixed-1.sqlite", "fixed-2.sqlite"]
            + ["fixed-3.sqlite", "report.html", "report.json", "run.json"],
        )
        lines = re.findall(r"^gapline: run (\d) of 6: (\w+ \d): \d+\.\d s$", said, re.M)
        self.assertEqual([n for n, _ in lines], list("123456"))
        self.assertEqual(" ".join(f"{name[0]}{name[-1]}" for _, name in lines), "b1 f1 f2 b2 b3 f3")
        self.assertEqual(self.order(), "b1 f1 f2 b2 b3 f3")
        state = self.state()
        self.assertEqual(state["commands"], {"baseline": ["true", "base-#.sqlite"], "fixed": ["true", "fixed-#.sqlite"]})
        self.assertEqual(state["collector"], {"name": "nsys", "version": "2025.3.2.474-253236389321v0"})
        self.assertEqual((state["repeat"], state["recorded"]), (0, 3))
        self.assertEqual({r["exit_status"] for r in state["runs"]}, {0})
        report = json.loads((self.folder / "out/report.json").read_text())
        self.assertEqual(report["verdict"]["result"], "faster")
        self.assertEqual([s["steps"]["runs"] for s in (report["baseline"], report["fixed"])], [3, 3])

    def test_words_instead_of_a_line(self):
        words = ["--baseline", "--", "sh", "-c", "echo \"$1\"; : base-#.sqlite", "-", "--repeat"]
        out, _ = self.run_both("-o", "out", "--recorded", "1", *words, "--fixed", "--", "true", "-o", "fixed-#.sqlite")
        self.assertTrue(out.startswith("--repeat\n"), out)
        self.assertEqual(self.state()["commands"]["fixed"], ["true", "-o", "fixed-#.sqlite"])
        self.assertEqual(self.order(), "b1 f1")

    def test_quoted_words(self):
        baseline = r"""sh -c 'printf "<%s>" "$@"; echo' a\ b "c d" '' "" x'y'"z" base-#.sqlite"""
        out, _ = self.run_both("--baseline", baseline, "--fixed", "true fixed-#.sqlite", "--recorded", "1", "-o", "out")
        self.assertTrue(out.startswith("<c d><><><xyz><base-#.sqlite>\n"), out)

    def test_what_needs_a_shell(self):
        for command in "a | b", "a && b", "a; b", "echo $HOME", 'echo "$HOME"', "a > b", "ls *.c", "(a)", "`a`", "~/a":
            with self.subTest(command):
                _, said = self.run_both("--baseline", command, "--fixed", "true", "-o", "out", status=2)
                self.assertIn("needs a shell", said)
                self.assertIn("sh -c '...'", said)
        for command, words in (
            ("A=1 b", "write: env A=1 b"),
            ("a 'b", "a quote (') that does not end"),
            ("a b\\", "ends with a backslash"),
            ("  ", "the command is empty"),
        ):
            with self.subTest(command):
                _, said = self.run_both("--baseline", command, "--fixed", "true", "-o", "out", status=2)
                self.assertIn(words, said)
        self.no_files()

    def test_wrong_usage(self):
        for words, arguments in (
            ("a command for the fixed side is needed", ["--baseline", "a", "-o", "out"]),
            ("a folder is needed", ["--baseline", "a", "--fixed", "b"]),
            ("'x' belongs to no side", ["--baseline", "a", "--fixed", "b", "x", "-o", "out"]),
            ("give one of them", [*self.BOTH, "-o", "out", "--resume", "--force"]),
            ("--fixed --: a command is to follow", ["-o", "out", "--baseline", "a", "--fixed", "--"]),
            ("--recorded: 0 is out of range", [*self.BOTH, "-o", "out", "--recorded", "0"]),
            ("--time-limit: '5 minutes' is no time", [*self.BOTH, "-o", "out", "--time-limit", "5 minutes"]),
        ):
            with self.subTest(words):
                self.assertIn(words, self.run_both(*arguments, status=2)[1])
        self.no_files()

    def test_outputs_that_cannot_be_written(self):
        """Said before anything runs, and before older runs are removed."""
        self.run_both(*self.BOTH, "--recorded", "1", "-o", "out", "--json", "x.json", "--svg", "x.svg")
        self.assertGreater(json.loads((self.folder / "x.json").read_text())["verdict"]["speedup"], 1)
        self.assertIn("<svg ", (self.folder / "x.svg").read_text())
        before = self.files("out")
        self.assertNotIn("report.json", before)
        _, said = self.run_both(*self.BOTH, "-o", "out", "--force", "--svg", "nowhere/x.svg", "--json", "x.json", status=2)
        self.assertIn("nowhere/x.svg: its folder does not exist", said)
        self.assertEqual(self.files("out"), before)
        self.assertEqual(json.loads((self.folder / "x.json").read_text())["error"]["id"], "output")

    def variants(self, loads, runs=5):
        """A command for each variant, with profiles of its own."""
        words = []
        for i, (name, load) in enumerate(loads.items()):
            for r in range(runs):  # one more than runs, for what is run again
                captured.tiny_profile.write(self.folder / f"v{i}-{r}.sqlite", load=load + 700 * ((3 * r + i) % 4),
                                            seed=50 + 10 * i + r, started=1_795_000_000_000_000_000 + (4 * i + r) * 10**10)
            words += ["--variant", f"{name}=true v{i}-#.sqlite"]
        return words

    def bars_to_scale(self, page, result):
        """Both ends of each interval stand where its times do, also beyond the longest run."""
        at = [float(x) for x in re.findall(r'<circle cx="([\d.]+)"', page)]
        dots = [ms for v in (result["baseline"], *result["variants"]) for ms in v["run_ms"]]
        px = (at[0] - at[4]) / (dots[0] - dots[4])
        bars = [(float(x), float(w)) for x, w in re.findall(r'<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)" height="8"', page)]
        self.assertEqual(len(bars), 2)
        for (x, width), variant in zip(bars, result["variants"]):
            for end, speedup in ((x, variant["hi"]), (x + width, variant["lo"])):
                self.assertAlmostEqual(end - at[0], px * (result["baseline"]["step_ms"] / speedup - dots[0]), delta=1)

    def test_variants(self):
        words = self.variants({"eager": 400_000, "graph <b>": 200_000, "same": 400_000})
        out, said = self.run_both(*words, "-o", "out", "--title", "All three")
        self.assertEqual([f"{r['side'][-1]}{r['run']}" for r in self.state()["runs"]],
                         ["e1", "21", "31", "32", "22", "e2", "33", "e3", "23", "24", "e4", "34"])
        self.assertEqual(list(self.state()["commands"]), ["baseline", "variant-2", "variant-3"])
        self.assertIn("gapline: run 2 of 12: graph <b> 1: ", said)
        self.assertIn("graph <b>: Faster", out)
        all_three = json.loads((self.folder / "out/report.json").read_text())
        self.assertEqual(all_three["schema"], "gapline-variants/1")
        self.assertIsNone(all_three["parameter"])
        self.assertEqual(len(all_three["baseline"]["run_ms"]), 4)
        graph, same = all_three["variants"]
        self.assertEqual((graph["name"], graph["result"], graph["report"]), ("graph <b>", "faster", "report-graph__b_.html"))
        self.assertLessEqual(same["lo"], 1)
        self.assertGreaterEqual(same["hi"], 1)
        page = (self.folder / "out/report.html").read_text()
        self.assertIn("All three", page)
        self.assertIn('href="report-graph__b_.html"', page)
        self.bars_to_scale(page, all_three)
        subprocess.run([GAPLINE, "verify", self.folder / "out/report-same.html"], check=True, capture_output=True)
        # the same as of the profiles
        files = [w for i, n in enumerate(("eager", "graph <b>", "same"))
                 for w in ("--variant", f"{n}=out/{('baseline', 'variant-2', 'variant-3')[i]}-*.sqlite")]
        self.gapline("report", *files, "--json", "later.json", "-o", "out/later.html", "-q")
        later = json.loads((self.folder / "later.json").read_text())
        for a, b in zip(all_three["variants"], later["variants"]):
            self.assertEqual(a | {"report": None}, b | {"report": None})
        # goes on, also with more runs, and not with other commands
        (self.folder / "out/variant-3-2.sqlite").unlink()
        _, said = self.run_both(*words, "-o", "out", "--resume")
        self.assertEqual(re.findall(r"^gapline: run (\d+) of 12: (.*): \d", said, re.M), [("12", "same 2")])
        for other, why in ((words[2:], "its runs are of 3 commands, and 2 are asked for now"),
                           ([*words[:4], "--variant", "same=false"], "the same command was 'true 'v2-#.sqlite''")):
            self.assertIn(why, self.run_both(*other, "-o", "out", "--resume", status=2)[1])
        self.assertIn("same side, run 1: 'false' failed",
                      self.run_both(*words[:4], "--variant", "same=false", "-o", "out", "--force", status=3)[1])
        self.assertEqual([n for n in self.files("out") if n.startswith("variant-3-")], [])

    def test_two_variants(self):
        words = self.variants({"a": 400_000, "b": 200_000})
        out, _ = self.run_both(*words, "-o", "out", "--json", "x.json")
        self.assertIn("b: Faster", out)
        self.assertEqual(self.order(), "b1 f1 f2 b2 b3 f3 f4 b4")
        self.assertEqual(json.loads((self.folder / "x.json").read_text())["variants"][0]["report"], "report-b.html")

    def test_sweep(self):
        self.variants({"8": 200_000, "16": 400_000, "64": 900_000}, 8)
        for i, batch in enumerate((8, 16, 64)):
            for r in range(8):
                (self.folder / f"v{i}-{r}.sqlite").rename(self.folder / f"of{batch}-{r}.sqlite")
        out, _ = self.run_both("-o", "out", "--variant-list", "batch=8,16,64", "--", "sh", "-c", "true", "-{batch}",
                               "of{batch}-#.sqlite")
        self.assertEqual(self.state()["commands"]["variant-3"], ["sh", "-c", "true", "-64", "of64-#.sqlite"])
        self.assertIn("batch=16: Slower", out)
        result = json.loads((self.folder / "out/report.json").read_text())
        self.assertEqual(result["parameter"], "batch")
        self.assertEqual([v["value"] for v in (result["baseline"], *result["variants"])], ["8", "16", "64"])
        self.assertEqual(result["variants"][1]["report"], "report-batch_64.html")
        page = (self.folder / "out/report.html").read_text()
        self.assertIn("Time per step against batch", page)
        self.assertIn(">batch, logarithmic<", page)
        dots = [tuple(map(float, d)) for d in re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', page)]
        self.assertEqual(len(dots), 12)
        places = sorted({x for x, _ in dots})  # their logarithms: 8 to 16 is a third of 8 to 64
        self.assertAlmostEqual((places[1] - places[0]) / (places[2] - places[0]), 1 / 3, places=2)
        zero = float(re.search(r'<text [^>]*y="([\d.]+)"[^>]*>0 ', page)[1]) - 4
        heights = [zero - sum(y for x, y in dots if x == at) / 4 for at in places]
        steps = [v["step_ms"] for v in (result["baseline"], *result["variants"])]
        for height, step in zip(heights, steps):  # to scale, from 0
            self.assertAlmostEqual(height / heights[0], step / steps[0], places=1)
        self.run_both("-o", "names", "--variant-list", "of=of8,of16", "--", "true", "{of}-#.sqlite")
        page = (self.folder / "names/report.html").read_text()  # no numbers: a row for each
        self.assertIn("of=of16", page)
        dots = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', page)
        self.assertEqual((len(dots), len({y for _, y in dots})), (8, 2))

    def test_variants_that_cannot_be(self):
        a, b = ["--variant", "a=true base-#.sqlite"], ["--variant", "b=true fixed-#.sqlite"]
        for words, arguments in (
            ("two variants are needed", a),
            ("has a command already", [*a, *b, *b]),
            ("at most 8 variants", [w for i in range(9) for w in ("--variant", f"v{i}=true")]),
            ("takes the place of", [*a, *b, "--baseline", "true"]),
            ("takes the place of", [*a, *b, "--variant-list", "n=1,2", "--", "true", "{n}"]),
            ("--repeat 3: variants need at least 4", [*a, *b, "--repeat", "3"]),
            ("--recorded 2: variants need at least 4", [*a, *b, "--recorded", "2", "--repeat", "0"]),
            ("gates are of two sides", [*a, *b, "--min-speedup", "1.1"]),
            ("only the page", [*a, *b, "--markdown", "x.md"]),
            ("b side: ", [*a, "--variant", "b=there-is-no-such-program"]),
            ("'x' belongs to no side", [*a, *b, "x"]),
            ("would be one file", [*a, *b, "--variant", "x y=true", "--variant", "x_y=true"]),
            ("a command is to follow", ["--variant-list", "n=1,2"]),
            ("needs {n} where the value is to stand", ["--variant-list", "n=1,2", "--", "true", "{m}"]),
            ("two values are needed", ["--variant-list", "n=1", "--", "true", "{n}"]),
            ("1 comes twice", ["--variant-list", "n=1,2,1", "--", "true", "{n}"]),
            ("a name and values", ["--variant-list", "1,2", "--", "true", "{n}"]),
            ("at most 8 variants", ["--variant-list", "n=1,2,3,4,5,6,7,8,9", "--", "true", "{n}"]),
        ):
            with self.subTest(words):
                repeat = [] if "--repeat" in arguments else ["--repeat", "0"]
                self.assertIn(words, self.gapline("run", *captured.WITH_NSYS, "-o", "out", *repeat, *arguments, status=2)[1])
        self.assertEqual(self.files("out"), [])

    def test_failing_side(self):
        fixed = "sh -c 'test ! -e out/baseline-3.* || exit 7; : fixed-#.sqlite'"
        _, said = self.run_both("--baseline", "true base-#.sqlite", "--fixed", fixed, "-o", "out", status=3)
        self.assertIn("gapline: fixed side, run 3: 'sh -c", said)
        self.assertIn("failed: exit status 7\n", said)
        self.assertIn("gapline: 5 of 6 runs are done and kept in out; the same command with --resume goes on\n", said)
        self.assertEqual(self.order(), "b1 f1 f2 b2 b3")
        self.assertNotIn("fixed-3.sqlite", self.files("out"))
        self.assertNotIn("report.html", self.files("out"))

    def test_failing_at_once(self):
        _, said = self.run_both("--baseline", "sh -c 'kill -9 $$'", "--fixed", "true", "-o", "out", status=3)
        self.assertIn("gapline: baseline side, run 1: 'sh -c 'kill -9 $$'' failed: killed by SIGKILL (signal 9)\n", said)
        self.assertNotIn("--resume", said)
        self.assertEqual(self.files("out"), ["run.json"])

    def test_quiet_keeps_logs(self):
        script = "sh -c 'echo to the log; echo and this >&2; : {}-#.sqlite'"
        out, said = self.run_both(
            "--baseline", script.format("base"), "--fixed", script.format("fixed"), "-q", "--recorded", "2", "-o", "out"
        )
        self.assertNotIn("log;", out + said)
        self.assertTrue(out.startswith("Faster"), out)
        self.assertEqual((self.folder / "out/fixed-2.log").read_text(), "to the log\nand this\n")
        self.assertEqual(len([n for n in self.files("out") if n.endswith(".log")]), 4)

    def test_quiet_shows_the_end_of_the_log(self):
        _, said = self.run_both(
            "--baseline", "sh -c 'seq 100; printf \"\\0\\033[31mlast\"; exit 1'", "--fixed", "true", "-q", "-o", "out", status=3
        )
        tail = "".join(f"  | {i}\n" for i in range(91, 101))
        self.assertTrue(said.endswith(f"its output is in out/baseline-1.log; the end of it:\n{tail}  | ??[31mlast\n"), said)

    def test_profile_that_holds_nothing(self):
        _, said = self.run_both("--baseline", "true no-gpu.sqlite", "--fixed", "true", "-o", "out", status=3)
        self.assertIn("gapline: baseline side, run 1: out/baseline-1.sqlite: holds no GPU work", said)
        self.assertEqual(self.files("out"), ["run.json"])

    def test_step_that_is_not_there(self):
        _, said = self.run_both(*self.BOTH, "--step", "nothing", "-o", "out", status=3)
        self.assertIn("baseline side, run 1: ", said)
        self.assertIn("nothing", said)

    def test_duration(self):
        both = ["--baseline", "sh -c 'sleep 60; : base-#.sqlite'", "--fixed", "sh -c 'sleep 60; : fixed-#.sqlite'"]
        self.run_both(*both, "--duration", "1", "--recorded", "1", "-o", "out")
        self.assertEqual({r["exit_status"] for r in self.state()["runs"]}, {128 + signal.SIGTERM})

    def test_without_ranges(self):
        both = ["--baseline", "true whole-#.sqlite", "--fixed", "true whole-fixed-#.sqlite"]
        out, said = self.run_both(*both, "-o", "out", "--recorded", "3")
        self.assertEqual(self.order(), "b1 f1 f2 b2 b3 f3")
        for kept, recorded in ("baseline-1", "whole-0"), ("fixed-3", "whole-fixed-2"):
            self.assertEqual(kernels(self.folder / f"out/{kept}.sqlite"), kernels(self.profiles / f"{recorded}.sqlite"))
        report = json.loads((self.folder / "out/report.json").read_text())
        self.assertEqual([s["steps"]["origin"] for s in (report["baseline"], report["fixed"])], ["pattern", "pattern"])
        self.assertEqual([s["steps"]["runs"] for s in (report["baseline"], report["fixed"])], [3, 3])
        self.assertTrue(out)

    def test_resume_after_failure(self):
        (self.folder / "broken").touch()
        fixed = "sh -c 'test ! -e broken || exit 7; : fixed-#.sqlite'"
        both = ["--baseline", "true base-#.sqlite", "--fixed", fixed, "-o", "out"]
        self.run_both(*both, status=3)
        self.assertEqual(self.order(), "b1")
        (self.folder / "broken").unlink()
        before = (self.folder / "out/baseline-1.sqlite").stat().st_mtime_ns
        _, said = self.run_both(*both, status=2)
        self.assertIn("out: holds runs already; --resume goes on from them, --force starts anew", said)
        self.run_both(*both, "--resume")
        self.assertEqual(self.order(), "b1 f1 f2 b2 b3 f3")
        self.assertEqual((self.folder / "out/baseline-1.sqlite").stat().st_mtime_ns, before)
        self.run_both(*both, "--resume", "--recorded", "4", "-q")
        self.assertEqual(self.order(), "b1 f1 f2 b2 b3 f3 f4 b4")
        self.run_both(*both, "--force", "--recorded", "1")
        self.assertEqual(self.order(), "b1 f1")
        self.assertEqual(
            self.files("out"), ["baseline-1.sqlite", "fixed-1.sqlite", "report.html", "report.json", "run.json"]
        )

    def test_resume_takes_a_lost_run_again(self):
        self.run_both(*self.BOTH, "--recorded", "2", "-o", "out")
        (self.folder / "out/fixed-1.sqlite").unlink()
        self.run_both(*self.BOTH, "--recorded", "2", "-o", "out", "--resume")
        self.assertEqual(self.order(), "b1 f2 b2 f1")

    def test_resume_without_anything(self):
        self.run_both(*self.BOTH, "--recorded", "1", "-o", "out", "--resume")
        self.assertEqual(self.order(), "b1 f1")

    def test_resume_refuses_what_differs(self):
        self.run_both(*self.BOTH, "--recorded", "1", "-o", "out")
        baseline, fixed = self.BOTH[:2], self.BOTH[2:]
        for words, arguments in (
            ("the baseline command was 'true 'base-#.sqlite'', and is 'true a' now", ["--baseline", "true a", *fixed]),
            ("the fixed command was", [*baseline, "--fixed", "true a"]),
            ("the options of the capture were '--trace cuda,nvtx --cuda-graph-trace auto'", [*self.BOTH, "--trace", "cuda"]),
            ("the options of the capture were", [*self.BOTH, "--delay", "1"]),
        ):
            with self.subTest(words):
                _, said = self.run_both(*arguments, "-o", "out", "--resume", status=2)
                self.assertIn(words, said)
        state = self.folder / "out/run.json"
        text = state.read_text()
        for damaged, words in (
            (text.replace("gapline-run/2", "gapline-run/1"), "was not written by this version"),
            (text[:100], "is damaged"),
            ("[]", "was not written by"),
            (text.replace('"nsys"', '"cupti"'), "the collector was cupti"),
        ):
            state.write_text(damaged)
            _, said = self.run_both(*self.BOTH, "-o", "out", "--resume", status=2)
            self.assertIn(words, said)
            self.assertEqual(state.read_text(), damaged)

    def test_state_names_only_files_of_its_folder(self):
        self.run_both(*self.BOTH, "--recorded", "1", "-o", "out")
        state = self.folder / "out/run.json"
        state.write_text(state.read_text().replace("fixed-1.sqlite", "../fixed-0.sqlite"))
        self.run_both(*self.BOTH, "--recorded", "1", "-o", "out", "--resume")
        self.assertEqual([r["profile"] for r in self.state()["runs"]], ["baseline-1.sqlite", "fixed-1.sqlite"])

    def test_folder_with_other_things(self):
        (self.folder / "out").mkdir()
        (self.folder / "out/thesis.tex").write_text("years of work")
        (self.folder / "out/fixed-1.sqlite.bak").write_text("a copy")
        _, said = self.run_both(*self.BOTH, "-o", "out", status=2)
        self.assertIn("out: holds other things (", said)
        self.run_both(*self.BOTH, "-o", "out", "--recorded", "1", "--force")
        self.assertEqual((self.folder / "out/thesis.tex").read_text(), "years of work")
        self.assertEqual((self.folder / "out/fixed-1.sqlite.bak").read_text(), "a copy")
        _, said = self.run_both(*self.BOTH, "-o", "no/out", status=2)
        self.assertIn("no/out: No such file or directory; the folder that it is to lie in has to be there", said)
        _, said = self.run_both(*self.BOTH, "-o", "base-0.sqlite", status=2)
        self.assertIn("Not a directory", said)

    def test_profiles_of_the_same_names(self):
        """A folder that no suite began belongs to somebody else, whatever its files are called."""
        (self.folder / "out").mkdir()
        (self.folder / "out/baseline-1.sqlite").write_text("captured by hand")
        _, said = self.run_both(*self.BOTH, "-o", "out", status=2)
        self.assertIn("out: holds other things ('baseline-1.sqlite')", said)
        self.assertEqual((self.folder / "out/baseline-1.sqlite").read_text(), "captured by hand")

    def test_program_that_is_not_there(self):
        """It is found out before the other side has run, and before anything is removed."""
        first = "sh -c 'touch ran; : base-#.sqlite'"
        for side in ["--baseline", "no-such-program", "--fixed", first], ["--baseline", first, "--fixed", "no-such-program"]:
            name = side[side.index("no-such-program") - 1][2:]
            _, said = self.run_both(*side, "-o", "out", status=2)
            self.assertEqual(said, f"gapline: {name} side: no-such-program: there is no such program on PATH\n")
            self.assertFalse((self.folder / "out").exists() or (self.folder / "ran").exists())
        self.run_both(*self.BOTH, "--recorded", "1", "-o", "out")
        before = self.files("out")
        self.run_both("--baseline", first, "--fixed", "no-such-program", "--force", "-o", "out", status=2)
        self.assertEqual(self.files("out"), before)

    def test_again_after_nothing(self):
        """A folder whose first run already failed needs no --force."""
        self.run_both("--baseline", "sh -c 'exit 3'", "--fixed", "true fixed-#.sqlite", "-o", "out", status=3)
        self.run_both(*self.BOTH, "--recorded", "1", "-o", "out")

    def test_percent_in_the_folder(self):
        self.run_both(*self.BOTH, "--recorded", "1", "-o", "100%p")
        self.assertIn("fixed-1.sqlite", self.files("100%p"))

    def test_no_standard_input(self):
        reads, writes = os.pipe()
        both = ["--baseline", "sh -c 'cat; : base-#.sqlite'", "--fixed", "true fixed-#.sqlite"]
        os.write(writes, b"secret\n")
        out, _ = self.run_both(*both, "--recorded", "1", "-o", "out", stdin=reads)
        os.close(reads)
        os.close(writes)
        self.assertNotIn("secret", out)

    def test_closed_descriptors(self):
        """Closed ones are not taken by files of gapline's, and the program has what it is promised."""
        script = "readlink /proc/$$/fd/0; echo error >&2; : base-#.sqlite"
        (self.folder / "script").write_text(script)
        words = ["run", *RECORDED_ONLY, "--baseline", "sh script base-#.sqlite", "--fixed", "sh script fixed-#.sqlite"]
        close = "exec <&- >&- 2>&-; exec \"$0\" \"$@\""
        command = ["sh", "-c", close, GAPLINE, *words, "--recorded", "1", "-q", "-o", "out"]
        process = subprocess.run(command, cwd=self.folder, env=self.env, timeout=60)
        self.assertEqual(process.returncode, 2)  # the verdict could not be printed
        self.assertEqual((self.folder / "out/fixed-1.log").read_text(), "/dev/null\nerror\n")
        self.gapline("show", "out/fixed-1.sqlite", "-q")

    def test_gates(self):
        self.run_both(*self.BOTH, "--min-speedup", "1.5", "-o", "a")
        # the profiles' own times say that one side came after the other, which widens the interval by 7.5 %
        self.run_both(*self.BOTH, "--min-speedup", "2", "-o", "b", status=1)
        self.assertIn("not measured in turns", (self.folder / "b/report.json").read_text())
        self.assertIn("report.html", self.files("b"))

    def interrupted(self, number, fixed, then=None):
        both = ["--baseline", "true base-#.sqlite", "--fixed", fixed, "-o", "out"]
        process = self.start("run", *RECORDED_ONLY, *both)
        pids = self.pids("pid")
        process.send_signal(number)
        if then:
            time.sleep(0.5)
            process.send_signal(then)
        _, said = process.communicate(timeout=60)
        self.assertEqual(process.returncode, -number, said)
        self.assertIn("gapline: fixed side, run 1: interrupted\n", said)
        self.assertIn("1 of 6 runs are done and kept in out; the same command with --resume goes on", said)
        self.assertFalse([pid for pid in pids if is_alive(pid)])
        self.assertEqual(self.files("out"), ["baseline-1.sqlite", "run.json"])
        self.assertEqual(self.order(), "b1")
        return both

    def test_interrupt_and_resume(self):
        fixed = "sh -c 'test -e pid || { echo $$ > pid; sleep 60; }; : fixed-#.sqlite'"
        both = self.interrupted(signal.SIGINT, fixed)
        self.run_both(*both, "--resume")
        self.assertEqual(self.order(), "b1 f1 f2 b2 b3 f3")

    def test_termination(self):
        self.interrupted(signal.SIGTERM, "sh -c 'echo $$ > pid; sleep 60; : fixed-#.sqlite'")

    def test_impatience(self):
        stubborn = "sh -c 'trap \"\" INT TERM; sleep 60 & echo $$ $! > pid; wait; sleep 60; : fixed-#.sqlite'"
        before = time.monotonic()
        self.interrupted(signal.SIGINT, stubborn, then=signal.SIGINT)
        self.assertLess(time.monotonic() - before, 30)

    def on_terminal(self, *arguments):
        master, slave = pty.openpty()
        process = self.start(*arguments, stdin=slave, stdout=slave, stderr=slave)
        os.close(slave)
        said = b""
        while select.select([master], [], [], 60)[0]:
            try:
                said += os.read(master, 65536)
            except OSError:
                break
        os.close(master)
        self.assertEqual(process.wait(timeout=60), 0, said)
        return said.decode()

    def test_bar(self):
        both = ["--baseline", "sh -c 'sleep 0.5; : base-#.sqlite'", "--fixed", "true fixed-#.sqlite"]
        said = self.on_terminal("run", *RECORDED_ONLY, *both, "--recorded", "2", "-o", "out", "-q")
        self.assertIn("\r\x1b[K[------------------------] run 1 of 4, baseline 1: 0.0 s", said)
        self.assertIn("\r\x1b[K[######------------------] run 2 of 4, fixed 1: ", said)
        self.assertRegex(said, r"baseline 1: 0\.[2-9] s")
        self.assertRegex(said, r"\r\x1b\[Kgapline: run 4 of 4: baseline 2: \d+\.\d s\r\n")

    def test_no_bar_among_the_output_of_programs(self):
        said = self.on_terminal("run", *RECORDED_ONLY, *self.BOTH, "--recorded", "1", "-o", "out")
        self.assertNotIn("\x1b[K[", said)
        self.assertRegex(said, r"gapline: run 1 of 2: baseline 1\r\ngapline: run 1 of 2: baseline 1: \d")

    def test_same_warning_once(self):
        _, said = self.run_both(*self.BOTH, "-o", "out", env={"STANDIN_NSYS": "warns"})
        self.assertEqual(said.count("the GPU is tired"), 1)
        self.assertIn("gapline: baseline 1: nsys: WARNING: the GPU is tired.\n", said)


if __name__ == "__main__":
    captured.main()
