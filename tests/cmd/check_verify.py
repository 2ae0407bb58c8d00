#!/usr/bin/env python3
"""gapline verify: reports and their JSON agree with the evidence that they carry; every edit of a number is found, on the
page, in the JSON and in the evidence; evidence of other rules ends with a sentence.

    check_verify.py GAPLINE

Edits are the same on every machine; in CI (support/amount.py) a third of the recorded pairs, and half of the edits. What is covered is read off the template here, not asked of gapline."""

import base64
import functools
import json
import lzma
import pathlib
import random
import re
import sys
import tarfile
import unittest
import zlib

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
import tiny_job
import tiny_kineto
import tiny_profile
from amount import ALL, some
from evidence import EVIDENCE, HOLES, KEPT, MARKUP, VERSION, Reports, gapline, of_version, packed, repacked, with_evidence


class Verify(Reports):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.make_other_kinds(ROOT / "examples/training-step")
        for archive in some(sorted((ROOT / "examples/truth").glob("*/captures.tar.xz")), 3):
            into = cls.folder / archive.parent.name
            with tarfile.open(archive) as tar:
                tar.extractall(into)
            files = sorted(into.rglob("*.sqlite*"))
            cls.make(archive.parent.name, *([f for f in files if side in f.name] for side in ("baseline", "fixed")))
        for captures in some(sorted((ROOT / "../shared/captures").glob("*/baseline.*")), 3):
            fixed = sorted(captures.parent.glob("fixed.*"))
            if fixed:
                cls.make(captures.parent.name, [captures], [fixed[0]])
        for case in some(sorted((ROOT / "../shared/cases").glob("*/")), 3):
            sides = [sorted(case.glob(f"{side}*.gz")) for side in ("base", "fixed")]
            if all(sides):
                cls.make(f"case-{case.name}", *sides)

    @classmethod
    def make_other_kinds(cls, example):
        """Several runs, ranks, more than are drawn and listed, PyTorch traces, digests, Nsight Compute beside it, two collectors."""
        cls.make("three-runs", *(sorted((example / "runs").glob(f"{side}-*")) for side in ("baseline", "fixed")))
        for side, slow, load in (("baseline", 3, 5000), ("fixed", None, 2000)):
            tiny_job.write(cls.folder / f"job-{side}", ranks=4, slow=slow)
            tiny_job.write(cls.folder / f"ranks-{side}", ranks=18, slow=slow)
            tiny_kineto.write(cls.folder / f"pytorch-{side}.json", steps=30, load_us=load)
            gapline("digest", cls.folder / f"tiny-{side}.sqlite", "-o", cls.folder / f"digests-{side}.digest")
        for name, ending in (("job", ""), ("pytorch", ".json"), ("digests", ".digest")):
            cls.make(name, *([cls.folder / f"{name}-{side}{ending}"] for side in ("baseline", "fixed")))
        ranks = [[cls.folder / f"ranks-{side}"] for side in ("baseline", "fixed")]
        cls.make("ranks", *ranks)
        cls.make("all-ranks", *ranks, "--all-ranks")
        for packed in (ROOT / "tests/cmd/recorded").glob("*.xz"):
            (cls.folder / packed.stem).write_bytes(lzma.decompress(packed.read_bytes()))
        bound = [cls.folder / f"kernel-bound-{side}" for side in ("baseline", "fixed")]
        cls.make("inside", *([f"{b}.sqlite"] for b in bound), "--baseline-ncu", f"{bound[0]}.raw.csv", "--fixed-ncu", f"{bound[1]}.raw.csv")
        cls.make("collectors", [cls.folder / "loader-pytorch.json"], [cls.folder / "loader-gapline.sqlite"])

    def covered(self, page):
        """Places of the page that nothing excuses."""
        holes = [m.span() for m in HOLES.finditer(page)] + [EVIDENCE.search(page).span(2)]
        return lambda at: not any(start <= at < end for start, end in holes)

    def numbers(self, page):
        """Those in the text of the page that nothing excuses, in pictures that are covered, too."""
        text, covered = re.sub(rb"<(style|script)\b.*?</\1>|<[^>]*>", lambda m: b" " * len(m.group()), page, flags=re.S), self.covered(page)
        return [m for m in re.finditer(rb"\d+(?:\.\d+)?", text) if covered(m.start())]

    def edits(self, pages, seed, least=200 if ALL else 100):
        """At least `least` of them, of every page some."""
        choose, names = random.Random(seed), sorted(pages)
        for i in range(max(least, len(names))):
            yield choose, names[i % len(names)]

    def test_all_agree(self):
        """60 reports of the repository alone (in CI 30), and what lies beside it."""
        beside = [name for name in self.pages if name.startswith("case-") or (ROOT / "../shared/captures" / name).exists()]
        self.assertGreaterEqual(len(self.pages) - len(beside), 60 if ALL else 25)
        for page in KEPT:
            self.verify(page.read_bytes(), 0, "agrees with its evidence")
        for name, page in self.pages.items():
            with self.subTest(name):
                self.verify(page, 0, "agrees with its evidence")
                self.verify(self.results[name], 0, "agrees with its evidence")
                self.assertEqual(json.loads(self.results[name])["evidence"].encode(), EVIDENCE.search(page).group(2))
                self.assertLess(len(page), 1_500_000)
                self.assertLess(len(EVIDENCE.search(page).group(2)), 100_000)

    def test_others_beside_each_other(self):
        """Traces and profiles of many programs, in pairs: what no test was written for."""
        beside = ROOT / "../shared/captures"
        files = [f for folder in ("kineto-public", "runs-h200", "public") for f in sorted((beside / folder).rglob("*.gz")) if f.stat().st_size < 9_000_000]
        for baseline, fixed in some(zip(files[::2], files[1::2]), 3):
            page, result = self.folder / "beside.html", self.folder / "beside.json"
            if gapline("report", baseline, fixed, "-q", "-o", page, "--json", result, "--evidence").returncode in (0, 1, 4):
                with self.subTest(baseline.name, beside=fixed.name):
                    self.verify(page.read_bytes(), 0)
                    self.verify(result.read_bytes(), 0)

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

        def places(value, path=()):
            for key, part in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
                yield (*path, key), part
                yield from places(part, (*path, key))

        for choose, name in self.edits(self.results, 42):
            edited = json.loads(self.results[name])
            path, value = choose.choice([(path, v) for path, v in places(edited) if path[0] not in ("gapline", "title", "evidence")])
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
        self.verify(json.dumps({**whole, "schema": "gapline/2"}).encode(), 3, "a result of the form 'gapline/2'", "make the report again")
        self.assertEqual(gapline("report", "a.sqlite", "b.sqlite", "--evidence").returncode, 2)

    def test_other_versions(self):
        """By the same rules: words, styles and scripts are the other version's own, and every number is held."""
        page = of_version(self.pages["training-step"], "0.2.9").replace(b"<h2>Phases", b"<h2>The phases")
        self.verify(page, 0, "agrees with its evidence", "gapline 0.2.9 made it, by the same rules")
        numbers = [m for m in self.numbers(page) if m.group() != b"0.2.9"]
        for m in random.Random(43).sample(numbers, 25):
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
        """Numbers of the text, one digit each, and 20 digits that stand anywhere, in attributes or styles."""
        numbers = functools.cache(lambda name: self.numbers(self.pages[name]))
        for choose, name in self.edits(self.pages, 39):
            self.edit_digit(name, choose, choose.choice(numbers(name)).span())
        covered = self.covered(self.pages["training-step"])
        digits = [m.span() for m in re.finditer(rb"[0-9]", self.pages["training-step"]) if covered(m.start())]
        for _ in range(20):
            self.edit_digit("training-step", choose, choose.choice(digits))

    def edit_digit(self, name, choose, span):
        page = self.pages[name]
        at = choose.choice([i for i in range(*span) if page[i : i + 1].isdigit()])
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
        """Of each page's numbers that stand outside of pictures."""
        numbers = lambda html: len(re.findall(rb"\d+(?:\.\d+)?", MARKUP.sub(b" ", html)))
        for name, page in self.pages.items():
            with self.subTest(name):
                self.assertGreaterEqual(numbers(HOLES.sub(b"", page)) / numbers(page), 0.9)

    def unpacks_alike(self, page, edited):
        """A repetition may be packed as one of another place that is the same: then the edited evidence is the evidence."""
        try:
            return packed(edited).split(b"\n", 1)[0] == packed(page).split(b"\n", 1)[0] and zlib.decompress(packed(edited).split(b"\n", 1)[1]) == zlib.decompress(packed(page).split(b"\n", 1)[1])
        except (zlib.error, ValueError, IndexError):
            return False

    def test_edited_evidence(self):
        """Characters of the base64."""
        for choose, name in self.edits(self.pages, 40):
            edited = bytearray(self.pages[name])
            start, end = EVIDENCE.search(edited).span(2)
            at = choose.randrange(start, end - 4)
            edited[at] = choose.choice([c for c in b"ABCabc0189+/" if c != edited[at]])
            if self.unpacks_alike(self.pages[name], bytes(edited)):
                continue
            with self.subTest(name, at=at):
                self.verify(bytes(edited), 3, "page.html: the evidence is damaged", "; copy the report again")

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
            found[status := gapline("verify", path).returncode] += 1
            result["evidence"] = EVIDENCE.search(path.read_bytes()).group(2).decode()
            path = self.folder / "page.json"
            path.write_text(json.dumps(result))
            of_result[status if status == 3 else gapline("verify", path).returncode] += 1  # no such table, then
        self.assertGreater(found[1] + found[3], 120, found)
        self.assertGreater(of_result[1] + of_result[3], 155, of_result)

    def test_other_rules(self):
        page = self.pages["tiny"]
        raw = zlib.decompress(packed(page).split(b"\n", 1)[1])
        for line, words in ((b"gapline table 999 9.9.9 10 00000000\n", "made by gapline 9.9.9, whose rules are newer; use it with 9.9.x"),
                            (b"gapline table 1 0.2.0 999999999 00000000\n", "at most 4194304"), (b"gapline digest 1\n", "does not begin")):
            self.verify(with_evidence(page, repacked(raw, line)), 3, "page.html: ", words)


if __name__ == "__main__":
    unittest.main()
