#!/usr/bin/env python3
"""Several variants against one baseline: the table, the pairs' own reports beside it, and what is refused.

    check_variants.py GAPLINE

The profiles are of tests/support/tiny_profile.py: a step takes load + 6 us + its kernels. How often a direction is wrong is
simulated in test_variants."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

import jsonschema

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
import tiny_profile as tiny  # noqa: E402

GAPLINE = sys.argv[1]
SCHEMA = jsonschema.Draft202012Validator(json.loads((HERE.parents[1] / "docs/reference/gapline-variants.schema.json").read_text()))
LOADS = {"eager": 400_000, "graph <b>": 200_000, "same": 400_000}


def run(*words, status=0):
    done = subprocess.run([GAPLINE, "report", *map(str, words)], capture_output=True, text=True)
    assert done.returncode == status, (words, done.returncode, done.stderr)
    return done


def make(folder, runs):
    """Runs in turns, forth and back; each variant's step differs by some tenths of a percent from run to run."""
    place, words = 0, []
    for r in range(runs):
        order = list(enumerate(LOADS)) if r % 2 == 0 else list(enumerate(LOADS))[::-1]
        for i, name in order:
            path = folder / f"{i}-{r}.sqlite"
            tiny.write(path, load=LOADS[name] + 1_000 * ((3 * r + i) % 4), seed=10 * r + i + 1, jitter=2_000,
                       started=1_795_000_000_000_000_000 + place * 10_000_000_000)  # fmt: skip
            place += 1
    for i, name in enumerate(LOADS):
        words += ["--variant", f"{name}={folder}/{i}-*.sqlite"]
    return words


def table(folder):
    words = make(folder, 4)
    page, result = folder / "all.html", folder / "all.json"
    said = run(*words, "-o", page, "--json", result).stdout
    doc = json.loads(result.read_text())
    SCHEMA.validate(doc)
    assert doc["baseline"]["name"] == "eager" and len(doc["baseline"]["run_ms"]) == 4
    graph, same = doc["variants"]
    assert graph["name"] == "graph <b>" and graph["result"] == "faster" and graph["report"] == "all-graph__b_.html", graph
    assert same["result"] in ("unchanged", "inconclusive") and same["lo"] <= 1 <= same["hi"], same
    assert abs(graph["speedup"] - 907.5 / 707.5) < 0.005, graph
    text = page.read_text()
    assert "95 % of comparisons all these intervals hold" in text, "what the intervals say"
    assert 'class="small"' in text, "the picture fits a phone"
    assert "<b>" not in text and "graph &lt;b&gt;" in text and 'href="all-graph__b_.html"' in text, "the page's names and links"
    assert len(re.findall("<circle", text)) == 12, "a dot for each run"
    assert "3 variants" not in said and "graph <b>: Faster" in said, said
    for i, v in enumerate(doc["variants"], 1):  # each pair's report says the same, and proves itself
        pair = folder / "pair.json"
        run("--baseline", folder / "0-*.sqlite", "--fixed", folder / f"{i}-*.sqlite", "--json", pair)
        verdict = json.loads(pair.read_text())["verdict"]
        assert verdict["speedup"] == v["speedup"] and verdict["result"] == v["pair_result"], (v, verdict)
        assert v["lo"] <= verdict["ci95"][0] and v["hi"] >= verdict["ci95"][1], "narrower than its pair"
        subprocess.run([GAPLINE, "verify", folder / v["report"]], check=True, capture_output=True)
    before = page.read_bytes()
    run(*words, "-o", page)
    assert page.read_bytes() == before, "other bytes"
    return words


def refused(folder, words):
    for wrong, why in (
        (["--variant", "a=x.sqlite"], "two variants"),
        (["--variant", "a", "--variant", "b=c"], "a name, and what it stands for"),
        ([*words, folder / "0-0.sqlite"], "belongs to no variant"),
        ([*words, "--baseline", folder / "0-0.sqlite"], "takes the place"),
        ([*words, "--min-speedup", "1.1"], "gates are of two sides"),
        ([*words, "--gate", "idle<5%"], "gates are of two sides"),
        ([*words, "--markdown", folder / "x.md"], "only the page"),
        ([w for i in range(9) for w in ("--variant", f"v{i}=x.sqlite")], "at most 8"),
        ([*words, "--variant", f"graph _b>={folder}/2-0.sqlite", "-o", folder / "x.html"], "would be one file"),
        ([*words, "--variant", f"copy={folder}/0-0.sqlite", "-o", folder / "0-0.sqlite"], "would replace an input"),
    ):
        done = run(*wrong, status=2)
        assert why in done.stderr and not (folder / "x.html").exists(), (wrong, done.stderr)
    done = run("--variant", f"a={folder}/0-*.sqlite", "--variant", "b=nothing.sqlite", "-o", folder / "x.html", status=3)
    assert not (folder / "x.html").exists()
    done = run("--variant", f"a={folder}/0-0.sqlite", "--variant", f"b={folder}/1-0.sqlite", "-o", folder / "x.html", "--json", folder / "x-b.html", status=2)
    assert "two of the reports would go to this file" in done.stderr, done.stderr
    # the last one cannot be read: the report of the pair before it is not left alone either
    run(*words[:4], "--variant", "c=nothing.sqlite", "-o", folder / "y.html", status=3)
    assert not list(folder.glob("y*")), list(folder.glob("y*"))
    written = run(*words, "-o", folder / "y.html").stderr
    assert all(f"wrote {folder}/{name}" in written for name in ("y.html", "y-graph__b_.html", "y-same.html")), written


def few(folder):
    words = make(folder, 3)
    run(*words, "--json", folder / "all.json", "-q")
    for v in json.loads((folder / "all.json").read_text())["variants"]:
        assert v["lo"] is None and v["result"] == "inconclusive" and "4 runs of each" in v["why"], v
    said = run(*words, "-o", folder / "all.html")
    assert "CI" not in said.stdout and "hold together" not in (folder / "all.html").read_text(), "no interval, and nothing of any"


def unknown_times(folder):
    """Files that may be ranks or repeats: a note for each variant, once, by its name."""
    for name, seed in ("a1", 1), ("a2", 2), ("b1", 3), ("b2", 4), ("c1", 5):
        tiny.write(folder / f"{name}.sqlite", seed=seed, started=0)
    words = [w for name in "abc" for w in ("--variant", f"{name}={folder}/{name}*.sqlite")]
    notes = [line.split(": ")[1] for line in run(*words, "-o", folder / "all.html").stderr.splitlines() if "careful guess" in line]
    assert notes == ["a", "b"], notes


with tempfile.TemporaryDirectory() as name:
    refused(pathlib.Path(name), table(pathlib.Path(name)))
with tempfile.TemporaryDirectory() as name:
    few(pathlib.Path(name))
with tempfile.TemporaryDirectory() as name:
    unknown_times(pathlib.Path(name))
