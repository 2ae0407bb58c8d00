#!/usr/bin/env python3
"""gapline verify: reports and their JSON agree with the evidence that they carry; every edit of a number is found, on the
page, in the JSON and in the evidence; what is damaged, hostile or of other rules ends with a sentence. And what is built on
evidence: reports as inputs, histories of reports, claims.

    check_verify.py GAPLINE

Edits are the same on every machine. What is covered is read off the template here, not asked of gapline."""

import base64
import json
import pathlib
import random
import re
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zlib

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
import tiny_job
import tiny_profile

GAPLINE = sys.argv.pop(1)
# What the page says of itself that it does not cover: the title, pictures of rows, and the script's data for them.
HOLES = re.compile(
    rb'<title>.*?</title>|<h1>.*?</h1>|<div [^>]*data-carried="picture">.*?</div>|<script id="data" type="text/plain">.*?</script>', re.S)
EVIDENCE = re.compile(rb'(<script id="evidence" type="text/plain">)(.*?)(</script>)', re.S)


def gapline(*args):
    return subprocess.run([GAPLINE, *map(str, args)], capture_output=True, text=True)


def packed(page):
    return base64.b64decode(EVIDENCE.search(page).group(2))


def with_evidence(page, data):
    return EVIDENCE.sub(lambda m: m.group(1) + base64.b64encode(data) + m.group(3), page)


def repacked(raw, line=None):
    line = line or b"gapline table 1 %s %d %08x\n" % (VERSION.encode(), len(raw), zlib.crc32(raw))
    return line + zlib.compress(raw)


def of_version(page, version, rules=1):
    """The report as another version of gapline would have made it."""
    line, table = packed(page).split(b"\n", 1)
    words = line.split()
    words[2:4] = [b"%d" % rules, version.encode()]
    page = page.replace(f"Made by gapline {VERSION}".encode(), f"Made by gapline {version}".encode())
    return with_evidence(page, b" ".join(words) + b"\n" + table)


VERSION = gapline("--version").stdout.split()[1]


class Verify(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder_of_all = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.folder_of_all.name)
        cls.pages, cls.results = {}, {}
        for archive in sorted((ROOT / "examples/truth").glob("*/captures.tar.xz")):
            into = cls.folder / archive.parent.name
            with tarfile.open(archive) as tar:
                tar.extractall(into)
            files = sorted(into.rglob("*.sqlite*"))
            sides = [[f for f in files if side in f.name] for side in ("baseline", "fixed")]
            if all(sides):
                cls.make(archive.parent.name, *sides)
        example = ROOT / "examples/training-step"
        cls.make("training-step", [example / "baseline.sqlite.gz"], [example / "fixed.sqlite.gz"], "--title", "A <b> & \"c\"",
                 "--min-speedup", "1.1", "--gate", "idle<5%", "--gate", "kernels_per_step<=+0%", "--items", "4096 tokens", "--warmup", "3",
                 "--baseline-name", "before", "--fixed-name", "<after>")
        for captures in sorted((ROOT / "../shared/captures").glob("*/baseline.*")):
            fixed = sorted(captures.parent.glob("fixed.*"))
            if fixed:
                cls.make(captures.parent.name, [captures], [fixed[0]])
        for name, options in (("tiny", {}), ("stepless", {"nvtx": False, "steps": 3})):
            for side, load in (("baseline", 400_000), ("fixed", 200_000)):
                tiny_profile.write(cls.folder / f"{name}-{side}.sqlite", load=load, seed=load, **options)
            cls.make(name, [cls.folder / f"{name}-baseline.sqlite"], [cls.folder / f"{name}-fixed.sqlite"])

    @classmethod
    def tearDownClass(cls):
        cls.folder_of_all.cleanup()

    @classmethod
    def make(cls, name, baseline, fixed, *options):
        page = cls.folder / f"{name}.html"
        args = [arg for side, files in (("--baseline", baseline), ("--fixed", fixed)) for file in files for arg in (side, file)]
        result = cls.folder / f"{name}.json"
        made = gapline("report", *args, *options, "-q", "-o", page, "--json", result, "--evidence")
        assert made.returncode in (0, 1, 4), made.stderr
        cls.pages[name], cls.results[name] = page.read_bytes(), result.read_bytes()

    def verify(self, page, status, *said):
        path = self.folder / ("page.json" if page[:1] == b"{" else "page.html")
        path.write_bytes(page)
        found = gapline("verify", path)
        self.assertEqual(found.returncode, status, found.stdout + found.stderr)
        for words in said:
            self.assertIn(words, found.stdout + found.stderr)
        return found

    def covered(self, page):
        """Places of the page that nothing excuses."""
        holes = [m.span() for m in HOLES.finditer(page)] + [EVIDENCE.search(page).span(2)]
        return lambda at: not any(start <= at < end for start, end in holes)

    def test_all_agree(self):
        self.assertGreaterEqual(len(self.pages), 55)
        for name, page in self.pages.items():
            with self.subTest(name):
                self.verify(page, 0, "agrees with its evidence")
                self.verify(self.results[name], 0, "agrees with its evidence")
                self.assertEqual(json.loads(self.results[name])["evidence"].encode(), EVIDENCE.search(page).group(2))
                self.assertLess(len(page), 1_500_000)
                self.assertLess(len(EVIDENCE.search(page).group(2)), 100_000)

    def test_another_zlib(self):
        """Packs the same table to other bytes."""
        page = self.pages["training-step"]
        line, table = packed(page).split(b"\n", 1)
        other = with_evidence(page, line + b"\n" + zlib.compress(zlib.decompress(table), 1))
        self.assertNotEqual(other, page)
        self.verify(other, 0, "agrees with its evidence")

    def test_eight_gpus(self):
        """A report grows by at most 300 kB, 8 GPUs and several runs included, and stays below 1.5 MB."""
        sides = []
        for side, slow in (("baseline", 3), ("fixed", None)):
            sides.append([])
            for run in range(3):
                folder = self.folder / f"eight-{side}-{run}"
                tiny_job.write(folder, ranks=8, steps=300, layers=8, slow=slow, jitter=20_000, seed=run + 10 * len(sides))
                sides[-1].append(folder)
        self.make("eight", *sides)
        page = self.pages.pop("eight")
        self.verify(page, 0, "agrees with its evidence")
        self.assertLess(len(page), 1_500_000)
        self.assertLess(len(EVIDENCE.search(page).group(2)), 300_000)
        found = json.loads(self.results.pop("eight"))
        self.assertEqual([(len(found[s]["devices"]), found[s]["steps"]["runs"]) for s in ("baseline", "fixed")], [(8, 3), (8, 3)])

    def test_edited_results(self):
        """Each value of the JSON: numbers, words, sentences, members that are gone or more."""
        jsonschema.Draft202012Validator(json.loads((ROOT / "docs/reference/gapline.schema.json").read_text())).validate(json.loads(self.results["tiny"]))
        choose = random.Random(42)

        def places(value, path=()):
            for key, part in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
                yield (*path, key), part
                yield from places(part, (*path, key))

        for name in ("training-step", "tiny", "stepless", *sorted(self.results)[:5]):
            found = [(path, v) for path, v in places(json.loads(self.results[name])) if path[0] not in ("gapline", "title", "evidence")]
            for path, value in choose.sample(found, 25):
                edited = json.loads(self.results[name])
                within = edited
                for key in path[:-1]:
                    within = within[key]
                if isinstance(value, bool) or value is None:
                    within[path[-1]] = 7
                elif isinstance(value, (int, float)):
                    within[path[-1]] = value * 1.0001 + 1e-9
                elif isinstance(value, str):
                    within[path[-1]] = value + "s"
                elif isinstance(within, dict):
                    within["another"] = within.pop(path[-1])
                else:
                    within.append(value)
                with self.subTest(name, path=path):
                    self.verify(json.dumps(edited).encode(), 1, "disagrees with its evidence in 1 section" if len(path) > 1 else "disagrees")
        whole = json.loads(self.results["training-step"])
        self.verify(json.dumps(whole, sort_keys=True).encode(), 0)  # in another order, with other blanks
        whole["verdict"]["speedup"] = 9.5
        self.verify(json.dumps(whole).encode(), 1, 'verdict.speedup: the report has "9.5", the evidence gives "')
        twice = self.results["training-step"].rstrip()[:-1] + b', "verdict": {"speedup": 9.5}}'
        self.verify(twice, 1, "disagrees")
        self.verify(json.dumps({k: v for k, v in whole.items() if k != "evidence"}).encode(), 3, "page.json: carries no evidence", "--evidence")
        self.verify(self.results["tiny"][:-9], 3, "page.json: is no JSON")
        self.assertEqual(gapline("report", "a.sqlite", "b.sqlite", "--evidence").returncode, 2)

    def test_other_versions(self):
        """By the same rules: words, styles and scripts are the other version's own, and every number is held."""
        page = of_version(self.pages["training-step"], "0.2.9").replace(b"<h2>Phases", b"<h2>The phases")
        self.verify(page, 0, "agrees with its evidence", "gapline 0.2.9 made it, by the same rules")
        text, covered, choose = re.sub(rb"<(style|script|title|h1)\b.*?</\1>|<[^>]*>", lambda m: b" " * len(m.group()), page, flags=re.S), self.covered(page), random.Random(43)
        numbers = [m for m in re.finditer(rb"\d+(?:\.\d+)?", text) if covered(m.start()) and m.group() != b"0.2.9"]
        for m in choose.sample(numbers, 25):
            edited = page[: m.start()] + b"98765.4" + page[m.end() :]
            with self.subTest(number=m.group(), at=m.start()):
                self.verify(edited, 1, "disagrees with its evidence in 1 section", '98765.4')
        result = json.loads(self.results["training-step"])
        result["evidence"] = base64.b64encode(packed(page)).decode()
        result["gapline"] = "0.2.9"
        result["findings"][0]["text"] = "In other words."
        self.verify(json.dumps(result).encode(), 0, "by the same rules")
        result["verdict"]["result"] = "slower"
        self.verify(json.dumps(result).encode(), 1, 'verdict.result: the report has "slower"')

    def test_edited_numbers(self):
        choose = random.Random(39)
        for name in ("training-step", "tiny", "stepless", *sorted(self.pages)[:5]):
            page, covered = self.pages[name], self.covered(self.pages[name])
            digits = [m.start() for m in re.finditer(rb"[0-9]", page) if covered(m.start())]
            for _ in range(25):
                at = choose.choice(digits)
                edited = bytearray(page)
                edited[at] = choose.choice([c for c in b"0123456789" if c != page[at]])
                with self.subTest(name, at=at):
                    self.verify(bytes(edited), 1, "disagrees with its evidence in 1 section")

    def test_edited_words(self):
        page = self.pages["training-step"]
        for old, new in ((b"<h2>Verdict</h2>", b"<h2>Truth</h2>"), (b"<section id=\"findings\">", b""), (b"<footer>", b"<b>2 x faster</b><footer>"),
                         (b"</html>", b"</html>more"), (b"</style>", b"b{}</style>"), (b"data-carried=\"picture\">", b"title=\"4\">"),
                         (b"</svg></div>", b"</svg></div><p>5.0 ms</p>")):
            self.assertTrue(old in page, old)
            self.verify(page.replace(old, new, 1), 1, "disagrees")

    def test_says_where(self):
        page = self.pages["training-step"]
        at = page.index(b"</caption>", page.index(b'<section id="phases">'))
        at = re.compile(rb">(\d+\.\d+)<").search(page, at)
        edited = page[: at.start(1)] + b"123.45" + page[at.end(1) :]
        self.verify(edited, 1, f'phases: the report has "123.45", the evidence gives "{at.group(1).decode()}"')

    def test_covered_share(self):
        """Of the numbers that stand outside of pictures; in pictures those count that no hole holds."""
        page = self.pages["training-step"]
        text = lambda html: re.sub(rb"<(style|script|svg)\b.*?</\1>|<[^>]*>", b" ", html, flags=re.S)
        numbers = lambda html: len(re.findall(rb"\d+(?:\.\d+)?", text(html)))
        self.assertGreater(numbers(HOLES.sub(b"", page)) / numbers(page), 0.9)

    def test_edited_evidence(self):
        choose = random.Random(40)
        page = self.pages["training-step"]
        start, end = EVIDENCE.search(page).span(2)
        for _ in range(40):
            edited, at = bytearray(page), choose.randrange(start, end - 4)
            edited[at] = choose.choice([c for c in b"ABCabc0189+/" if c != page[at]])
            self.verify(bytes(edited), 3, "page.html: ")

    def test_forged_evidence(self):
        """With a checksum that fits, packed as gapline does: the page is another one, or no analysis can have made it.
        What goes unnoticed changes no digit that is shown: the last bits of a number, of which the JSON shows all."""
        choose = random.Random(41)
        page, result = self.pages["training-step"], json.loads(self.results["training-step"])
        raw = zlib.decompress(packed(page).split(b"\n", 1)[1])
        found, of_result = {0: 0, 1: 0, 3: 0}, {0: 0, 1: 0, 3: 0}
        for _ in range(200):
            edited = bytearray(raw)
            edited[choose.randrange(len(raw))] ^= 1 << choose.randrange(8)
            path = self.folder / "page.html"
            path.write_bytes(with_evidence(page, repacked(bytes(edited))))
            found[gapline("verify", path).returncode] += 1
            result["evidence"] = EVIDENCE.search(path.read_bytes()).group(2).decode()
            path = self.folder / "page.json"
            path.write_text(json.dumps(result))
            of_result[gapline("verify", path).returncode] += 1
        self.assertGreater(found[1] + found[3], 120, found)
        self.assertGreater(of_result[1] + of_result[3], 155, of_result)

    def test_other_rules(self):
        page = self.pages["tiny"]
        raw = zlib.decompress(packed(page).split(b"\n", 1)[1])
        for line, words in ((b"gapline table 999 9.9.9 10 00000000\n", "made by gapline 9.9.9, whose rules are newer: use it with 9.9.x"),
                            (b"gapline table 1 0.2.0 999999999 00000000\n", "at most 4194304"), (b"gapline digest 1\n", "does not begin")):
            self.verify(with_evidence(page, repacked(raw, line)), 3, "page.html: ", words)

    def claim(self, name="training-step"):
        page, claim = self.folder / "claimed.html", self.folder / "claim.json"
        page.write_bytes(self.pages[name])
        made = gapline("claim", page, "-o", claim, "-q", "--force")
        self.assertEqual((made.returncode, made.stderr), (0, ""))
        return page, claim, json.loads(claim.read_text())

    def check(self, page, claim, value, status, *said):
        claim.write_text(value if isinstance(value, str) else json.dumps(value))
        found = gapline("check", claim, page)
        self.assertEqual(found.returncode, status, found.stdout + found.stderr)
        for words in said:
            self.assertIn(words, found.stdout + found.stderr)

    def test_claims_of_reports_hold(self):
        """A claim says what the JSON of its report says, and holds; of another report it does not."""
        page, claim, value = self.claim()
        example = ROOT / "examples/training-step"
        gapline("report", example / "baseline.sqlite.gz", example / "fixed.sqlite.gz", "--warmup", 3, "-q", "--json", self.folder / "r.json")
        verdict = json.loads((self.folder / "r.json").read_text())["verdict"]
        self.assertEqual((value["result"], value["speedup"], value["ci95"]), (verdict["result"], verdict["speedup"], verdict["ci95"]))
        self.check(page, claim, value, 0, "The claim holds.")
        again = gapline("claim", page, "-o", claim)
        self.assertEqual(again.returncode, 2)
        self.assertIn("claim.json: exists already; --force replaces it", again.stderr)
        result = self.folder / "claimed.json"  # the JSON carries the same evidence
        result.write_bytes(self.results["training-step"])
        self.check(result, claim, value, 0, "The claim holds.")
        other, _, _ = self.claim("tiny")
        self.check(other, claim, value, 1, "The claim fails.", "evidence")

    def test_edited_claims(self):
        page, claim, value = self.claim()
        for change in ({"result": "slower"}, {"speedup": 1.02 * value["speedup"]}, {"ci95": [value["ci95"][0] * 0.9, value["ci95"][1]]},
                       {"same_work": "different"}, {"measured": "recorded"}, {"same_session": not value["same_session"]},
                       {"resolved": value["resolved"] + ["straggler"]}, {"evidence": "crc32:00000000"}, {"gates": ["speedup>=50"]},
                       {"sessions": value["sessions"][:1]}, {"sessions": [dict(value["sessions"][0], day="B"), *value["sessions"][1:]]},
                       {"conditions": {"fixed": {"driver": "1.2"}}}, {"conditions": {"fixed": {"weather": "fine"}}}, {"same_conditions": False}):
            self.check(page, claim, {**value, **change}, 1, "The claim fails.", "fails: " if "gates" not in change else "failed")
        self.check(page, claim, {**value, "speedup": round(value["speedup"], 3)}, 0)

    def test_claims_by_hand(self):
        page, claim, value = self.claim()
        least, most = value["ci95"]
        schema = {"schema": "gapline-claim/1"}
        self.check(page, claim, {**schema, "gates": [f"speedup>={least - 0.01:.3f}", "idle:host_code<50%"]}, 0, "passed")
        self.check(page, claim, {**schema, "gates": [f"speedup>={(least + most) / 2:.3f}"]}, 4, "open")
        self.check(page, claim, {**schema, "gates": [f"speedup>={least - 0.01:.3f}", "idle:host_code<50%"], "resolved": ["input_starvation"],
                                 "conditions": {"fixed": {"driver": value["conditions"]["fixed"]["driver"]}}}, 0, "holds: resolved", "holds: conditions.fixed.driver")
        for bad, words in (("{}", "is no claim"), ("[1", "is no claim"), (schema, "claims nothing"), ({**schema, "gates": ["faster!"]}, "faster!"),
                           ({**schema, "gates": [1]}, "no text"), ("", "is no claim"),
                           ({**schema, "speedup_min": 1.2}, "claims 'speedup_min', which nothing can show")):
            self.check(page, claim, bad, 3, "claim.json: ", words)
        edited = self.pages["training-step"].replace(b"<h2>Verdict</h2>", b"<h2>Truth</h2>")
        page.write_bytes(edited)
        self.check(page, claim, value, 3, "disagrees with its evidence")

    def test_sessions_of_claims(self):
        """Days, hosts and GPUs as letters, in the order in which they come up: what the profiles say, without saying it."""
        day = 86_400_000_000_000
        for side, started in (("baseline", 1_795_000_000_000_000_000), ("fixed", 1_795_000_000_000_000_000 + 3 * day)):
            tiny_profile.write(self.folder / f"day-{side}.sqlite", load=400_000 if side == "baseline" else 200_000, seed=7, started=started)
        self.make("days", [self.folder / "day-baseline.sqlite"], [self.folder / "day-fixed.sqlite"])
        page, claim, value = self.claim("days")
        self.pages.pop("days"), self.results.pop("days")
        self.assertEqual([(s["side"], s["day"], s["recorded_runs"], s["timed_runs"]) for s in value["sessions"]], [("baseline", "A", 1, 0), ("fixed", "B", 1, 0)])
        self.assertIs(value["same_session"], False)
        self.check(page, claim, value, 0)
        self.check(page, claim, {**value, "sessions": [dict(s, day="A") for s in value["sessions"]]}, 1, "fails: sessions[1].day is claimed to be A, the evidence shows B")

    def report(self, *args, status=0, said=()):
        page, result = self.folder / "made.html", self.folder / "made.json"
        made = gapline("report", *args, "-q", "-o", page, "--json", result)
        self.assertEqual(made.returncode, status, made.stderr)
        for words in said:
            self.assertIn(words, made.stderr)
        if status in (0, 1, 4):
            self.assertEqual(gapline("verify", page).returncode, 0)
            return json.loads(result.read_text())

    def without_rows(self, result):
        """What a side without rows cannot have, and what says so."""
        result.pop("kernels_inside", None)
        result["verdict"]["reasons"] = [n for n in result["verdict"]["reasons"] if n["id"] != "steps_from_report"]
        for side in ("baseline", "fixed"):
            result[side]["data"]["notes"] = [n for n in result[side]["data"]["notes"] if n["id"] != "from_report"]
        return result

    def test_reports_as_inputs(self):
        """Of a side of a report, beside another or beside profiles, what is said is what is said of its profiles."""
        captures = ROOT / "../shared/captures"
        pairs = [[self.folder / f"{name}-{side}.sqlite" for side in ("baseline", "fixed")] for name in ("tiny", "stepless")]
        pairs += [[next((captures / name).glob(f"{side}.*")) for side in ("baseline", "fixed")]
                  for name in ("torch-dataloader", "ddp-2gpu") if (captures / name).exists()]
        for baseline, fixed in pairs:
            with self.subTest(str(baseline)):
                page = self.folder / "both.html"
                gates = ["--gate", "idle<5%", "--min-speedup", "1.2"]
                result = self.folder / "both.json"
                plain = gapline("report", baseline, fixed, *gates, "-q", "-o", page, "--json", result, "--evidence")
                expected = self.without_rows(json.loads(result.read_text()))
                expected.pop("evidence")
                for inputs in ((f"{page}:baseline", fixed), (baseline, f"{page}:fixed"), (f"{page}:baseline", f"{page}:fixed"),
                               (f"{result}:baseline", f"{page}:fixed")):
                    found = self.report(*inputs, *gates, status=plain.returncode)
                    apart = [n["side"] for n in found["verdict"]["reasons"] if n["id"] == "steps_from_report"]
                    found_in_work = expected["baseline"]["steps"]["origin"] == "pattern" and inputs[2:] != inputs[:2] and not all(":" in str(i) and page.name in str(i) for i in inputs)
                    self.assertEqual(apart, [s for s, given in zip(("baseline", "fixed"), inputs) if found_in_work and ":" in str(given)])
                    for side, given in zip(("baseline", "fixed"), inputs):
                        self.assertEqual("from_report" in [n["id"] for n in found[side]["data"]["notes"]], ":" in str(given))
                    self.assertEqual(self.without_rows(found), expected)
                same = self.report(f"{page}:fixed", fixed)
                self.assertEqual((same["verdict"]["result"], same["verdict"]["speedup"]), ("inconclusive", None))

    def test_histories_of_reports(self):
        """A side of a report is a commit's run: what its profile says, kept as its step tables."""
        db, page, trend = self.folder / "history.db", self.folder / "kept.html", self.folder / "trend.json"
        for name, note in (("tiny", "A side of a report."), ("stepless", "found beside the other side")):
            db.unlink(missing_ok=True)
            page.write_bytes(self.pages[name])
            profile = self.folder / f"{name}-fixed.sqlite"
            add = lambda commit, *what: gapline("history", "add", "--db", db, "--commit", commit, *what)
            self.assertEqual(add("profile", profile).returncode, 0)
            for commit, side in (("report", f"{page}:fixed"), ("report", f"{page}:fixed"), ("other", f"{page}:baseline")):
                made = add(commit, side)
                self.assertEqual(made.returncode, 0, made.stderr)
            said = gapline("history", "report", "--db", db, "--json", trend, "-o", self.folder / "trend.html")
            self.assertEqual(said.returncode, 0, said.stderr)
            self.assertIn(note, said.stdout)
            self.assertIn(note, (self.folder / "trend.html").read_text())
            commits = {c["commit"]: c for c in json.loads(trend.read_text())["commits"]}
            self.assertIn(note, commits["report"].pop("note"))
            self.assertIsNone(commits["profile"].pop("note"))
            self.assertEqual({**commits["report"], "commit": "profile"}, commits["profile"])
            both = self.report("@commit:other", "@commit:report", "--db", db)
            plain = self.report(self.folder / f"{name}-baseline.sqlite", profile)
            self.assertEqual(both["verdict"]["speedup"], plain["verdict"]["speedup"])
            self.report("@commit:other", "@commit:report", "--db", db, "--loop", "x", status=2, said=["--loop needs the profiles"])
            for what, words in (([f"{page}:baseline"], "stands alone"), ([profile], "stands alone"), ([f"{page}:fixed", profile], "whole side"), ([page], "name one, ")):
                made = add("report", *what)
                self.assertEqual(made.returncode, 2, made.stderr)
                self.assertIn(words, made.stderr)
            self.assertEqual(add("report", "--force", f"{page}:baseline").returncode, 0)
            if name == "tiny":
                self.assertIn("commit other is not used: --step needs the profiles", gapline("history", "report", "--db", db, "--step", "step", "-q").stderr)
            self.assertIn("gapline save keeps profiles", gapline("save", "--db", db, "main", f"{page}:fixed").stderr)
            page.write_bytes(self.pages[name].replace(b"<h2>Verdict</h2>", b"<h2>Truth</h2>"))
            made = add("edited", f"{page}:fixed")
            self.assertEqual((made.returncode, "disagrees with its evidence" in made.stderr), (3, True))

    def test_reports_that_are_no_inputs(self):
        page, other = self.folder / "in.html", self.folder / "tiny-fixed.sqlite"
        page.write_bytes(self.pages["tiny"])
        self.report(page, other, status=2, said=[f"name one, {page}:baseline or {page}:fixed"])
        self.report(f"{page}:baseline", other, "--warmup", 3, status=2, said=["--warmup needs the profiles"])
        self.report(f"{page}:baseline", other, "--step", "step", status=2, said=["--step needs the profiles"])
        self.report("--baseline", f"{page}:baseline", "--baseline", other, "--fixed", other, status=2, said=["whole side"])
        self.report(f"{page}:middle", other, status=3, said=["in.html:middle"])
        page.write_bytes(self.pages["tiny"].replace(b"<h2>Verdict</h2>", b"<h2>Truth</h2>"))
        self.report(f"{page}:baseline", other, status=3, said=["disagrees with its evidence"])
        page.write_bytes(self.pages["tiny"][:9000])
        self.report(f"{page}:baseline", other, status=3, said=["carries no evidence"])
        whole = self.folder / "in.html:fixed"  # a file of the whole name wins
        whole.write_bytes((self.folder / "tiny-fixed.sqlite").read_bytes())
        found = self.report(self.folder / "tiny-baseline.sqlite", whole)
        self.assertEqual(found["fixed"]["data"]["notes"], [])
        whole.unlink()

    def test_hostile_files(self):
        page = self.pages["tiny"]
        for data, words in ((b"", "is empty"), (page[:5000], "carries no evidence"), (b"\0" + page, "is no page"),
                            (EVIDENCE.sub(b"", page), "carries no evidence"), (with_evidence(page, b""), "damaged"),
                            (with_evidence(page, repacked(bytes(4 << 20))), "damaged"),
                            (with_evidence(page, packed(page)[:-50]), "checksum"), (b"SQLite format 3\0", "is no page")):
            self.verify(data, 3, "page.html: ", words)
        large, claim = self.folder / "large.html", self.folder / "claim.json"
        head = self.pages["tiny"][:600]
        claim.write_text('{"schema": "gapline-claim/1", "result": "faster"}')
        for data in (b"", head, b'{"schema": "gapline/3", "evidence": "'):
            with large.open("wb") as file:
                file.write(data)
                file.truncate(1 << 30)
            for args, begin in ((("verify", large), large), (("claim", large, "-o", "-"), large), (("check", claim, large), large),
                                (("report", f"{large}:fixed", large), large) if data else (("verify", large), large)):
                found = gapline(*args)
                self.assertEqual(found.returncode, 2 if "names one" in found.stderr or "name one" in found.stderr else 3, found.stderr)
                self.assertIn(str(begin), found.stderr)
        self.assertIn("more than 4 MB", gapline("verify", large).stderr)
        with claim.open("wb") as file:
            file.truncate(1 << 30)
        page_of_tiny = self.folder / "small.html"
        page_of_tiny.write_bytes(page)
        found = gapline("check", claim, page_of_tiny)
        self.assertEqual((found.returncode, "claim.json: " in found.stderr), (3, True))
        for path, status in ((self.folder / "missing.html", 3), (self.folder, 3)):
            found = gapline("verify", path)
            self.assertEqual(found.returncode, status, found.stderr)
            self.assertIn(str(path), found.stderr)
        self.assertEqual(gapline("verify").returncode, 2)


if __name__ == "__main__":
    unittest.main()
