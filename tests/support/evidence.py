"""Reports and their evidence, for tests: made, taken apart, put together in another way."""

import base64
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import zlib

import tiny_profile

ROOT = pathlib.Path(__file__).resolve().parents[2]
GAPLINE = sys.argv.pop(1)
HOLES = re.compile(
    rb'<title>.*?</title>|<h1>.*?</h1>|<div [^>]*data-carried="picture">.*?</div>|<script id="data" type="text/plain">.*?</script>', re.S)
EVIDENCE = re.compile(rb'(<script id="evidence" type="text/plain">)(.*?)(</script>)', re.S)


# What of a page is no text of its own.
MARKUP = re.compile(rb"<(style|script|title|h1|svg)\b.*?</\1>|<[^>]*>", re.S)
KEPT = [f for f in sorted((ROOT / "examples").rglob("*.html")) if EVIDENCE.search(f.read_bytes())]  # finished reports


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


class Reports(unittest.TestCase):
    """Pages and JSON results by name."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.pages, cls.results = {}, {}
        example = ROOT / "examples/training-step"
        cls.make("training-step", [example / "baseline.sqlite.gz"], [example / "fixed.sqlite.gz"], "--title", "A <b> & \"c\"",
                 "--min-speedup", "1.1", "--gate", "idle<5%", "--gate", "kernels_per_step<=+0%", "--items", "4096 tokens", "--warmup", "3",
                 "--baseline-name", "before", "--fixed-name", "<after>")
        for name, options in (("tiny", {}), ("stepless", {"nvtx": False, "steps": 3})):
            for side, load in (("baseline", 400_000), ("fixed", 200_000)):
                tiny_profile.write(cls.folder / f"{name}-{side}.sqlite", load=load, seed=load, **options)
            cls.make(name, [cls.folder / f"{name}-baseline.sqlite"], [cls.folder / f"{name}-fixed.sqlite"])

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
