#!/usr/bin/env python3
"""gapline verify: reports agree with the evidence that they carry; every edit of a number is found, on the page and in
the evidence; what is damaged, hostile or of other rules ends with a sentence.

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
    return line + zlib.compress(raw, 9)


VERSION = gapline("--version").stdout.split()[1]


class Verify(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder_of_all = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.folder_of_all.name)
        cls.pages = {}
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
        made = gapline("report", *args, *options, "-q", "-o", page)
        assert made.returncode in (0, 1, 4), made.stderr
        cls.pages[name] = page.read_bytes()

    def verify(self, page, status, *said):
        path = self.folder / "page.html"
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
                self.assertLess(len(page), 1_500_000)
                self.assertLess(len(EVIDENCE.search(page).group(2)), 100_000)

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
        self.verify(edited, 1, f'phases: the page has "123.45", the evidence gives "{at.group(1).decode()}"')

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
        """With a checksum that fits: the page is another one, or no analysis can have made it, or what was edited is said
        nowhere on the page: the last bits of a number, a digest of a host."""
        choose = random.Random(41)
        page = self.pages["training-step"]
        raw = zlib.decompress(packed(page).split(b"\n", 1)[1])
        found = {0: 0, 1: 0, 3: 0}
        for _ in range(80):
            edited = bytearray(raw)
            edited[choose.randrange(len(raw))] ^= 1 << choose.randrange(8)
            path = self.folder / "page.html"
            path.write_bytes(with_evidence(page, repacked(bytes(edited))))
            found[gapline("verify", path).returncode] += 1
        self.assertGreater(found[1] + found[3], 40, found)
        self.assertGreater(found[1], 10, found)

    def test_other_rules(self):
        page = self.pages["tiny"]
        raw = zlib.decompress(packed(page).split(b"\n", 1)[1])
        for line, words in ((b"gapline table 999 9.9.9 10 00000000\n", "made by gapline 9.9.9, whose rules are version 999"),
                            (b"gapline table 1 0.1.9 %d %08x\n" % (len(raw), zlib.crc32(raw)), "use it with 0.1.9"),
                            (b"gapline table 1 0.2.0 999999999 00000000\n", "at most 4194304"), (b"gapline digest 1\n", "does not begin")):
            self.verify(with_evidence(page, repacked(raw, line)), 3, "page.html: ", words)

    def claim(self, name="training-step"):
        page, claim = self.folder / "claimed.html", self.folder / "claim.json"
        page.write_bytes(self.pages[name])
        made = gapline("claim", page, "-o", claim)
        self.assertEqual(made.returncode, 0, made.stderr)
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
        other, _, _ = self.claim("tiny")
        self.check(other, claim, value, 1, "The claim fails.", "evidence")

    def test_edited_claims(self):
        page, claim, value = self.claim()
        for change in ({"result": "slower"}, {"speedup": 1.02 * value["speedup"]}, {"ci95": [value["ci95"][0] * 0.9, value["ci95"][1]]},
                       {"same_work": "different"}, {"measured": "recorded"}, {"same_session": not value["same_session"]},
                       {"resolved": value["resolved"] + ["straggler"]}, {"evidence": "crc32:00000000"}, {"gates": ["speedup>=50"]}):
            self.check(page, claim, {**value, **change}, 1, "The claim fails.", "fails: " if "gates" not in change else "failed")
        self.check(page, claim, {**value, "speedup": round(value["speedup"], 3)}, 0)

    def test_claims_by_hand(self):
        page, claim, value = self.claim()
        least, most = value["ci95"]
        schema = {"schema": "gapline-claim/1"}
        self.check(page, claim, {**schema, "gates": [f"speedup>={least - 0.01:.3f}", "idle:host_code<50%"]}, 0, "passed")
        self.check(page, claim, {**schema, "gates": [f"speedup>={(least + most) / 2:.3f}"]}, 4, "open")
        for bad, words in (("{}", "is no claim"), ("[1", "is no claim"), (schema, "claims nothing"), ({**schema, "gates": ["faster!"]}, "faster!"),
                           ({**schema, "gates": [1]}, "no text"), ("", "is no claim")):
            self.check(page, claim, bad, 3, "claim.json: ", words)
        edited = self.pages["training-step"].replace(b"<h2>Verdict</h2>", b"<h2>Truth</h2>")
        page.write_bytes(edited)
        self.check(page, claim, value, 3, "disagrees with its evidence")

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
                plain = gapline("report", baseline, fixed, *gates, "-q", "-o", page, "--json", self.folder / "both.json")
                expected = self.without_rows(json.loads((self.folder / "both.json").read_text()))
                for inputs in ((f"{page}:baseline", fixed), (baseline, f"{page}:fixed"), (f"{page}:baseline", f"{page}:fixed")):
                    found = self.report(*inputs, *gates, status=plain.returncode)
                    for side, given in zip(("baseline", "fixed"), inputs):
                        self.assertEqual("from_report" in [n["id"] for n in found[side]["data"]["notes"]], ":" in str(given))
                    self.assertEqual(self.without_rows(found), expected)
                same = self.report(f"{page}:fixed", fixed)
                self.assertEqual((same["verdict"]["result"], same["verdict"]["speedup"]), ("inconclusive", None))

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
        large = self.folder / "large.html"
        with large.open("wb") as file:
            file.truncate(1 << 30)
        found = gapline("verify", large)
        self.assertEqual(found.returncode, 3)
        self.assertIn("more than 4 MB", found.stderr)
        for path, status in ((self.folder / "missing.html", 3), (self.folder, 3)):
            found = gapline("verify", path)
            self.assertEqual(found.returncode, status, found.stderr)
            self.assertIn(str(path), found.stderr)
        self.assertEqual(gapline("verify").returncode, 2)


if __name__ == "__main__":
    unittest.main()
