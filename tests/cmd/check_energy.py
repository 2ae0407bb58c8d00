#!/usr/bin/env python3
"""Energy of timed runs: what a report makes of it, gates, and what `gapline run` notes.

    check_energy.py GAPLINE TESTS_FOLDER

Profiles are of tests/support/tiny_profile.py, with rows of timed runs as gapline run writes them (capture/annotate.h)."""

import json
import math
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile

import jsonschema

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
import facts  # noqa: E402
import tiny_profile as tiny  # noqa: E402

GAPLINE, TESTS = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
SCHEMA = jsonschema.Draft202012Validator(json.loads((HERE.parents[1] / "docs/reference/gapline.schema.json").read_text()))
SECOND, STEPS, UUID = 10**9, 1000, "GPU-00000000-1111-2222-3333-444444444444"


def side(path, fixed, joules, others=(), seed=1, days=0, looked=0):
    """A recorded run, and timed ones in turns with the other side's, or `days` later: 10 s for 1000 steps, `joules` each."""
    path.unlink(missing_ok=True)
    tiny.write(path, seed=seed, jitter=0, load=400_000 + seed)
    db = sqlite3.connect(path)
    db.execute("ALTER TABLE TARGET_INFO_GPU ADD COLUMN uuid TEXT")
    db.execute("UPDATE TARGET_INFO_GPU SET uuid = ?", (UUID,))
    db.execute("CREATE TABLE GAPLINE_STOPWATCH (start INTEGER, time INTEGER, steps INTEGER, process INTEGER, unused TEXT, step TEXT, launches INTEGER, looked INTEGER)")
    db.execute("CREATE TABLE GAPLINE_ENERGY (start INTEGER, uuid TEXT, mj INTEGER)")
    for i, used in enumerate(joules):
        start = 1_795_000_000 * SECOND + (2 * i + (fixed if i % 2 == 0 else not fixed)) * 60 * SECOND + 300 * SECOND + days * 86400 * SECOND
        db.execute("INSERT INTO GAPLINE_STOPWATCH VALUES (?, ?, ?, ?, NULL, 'step', 0, ?)", (start, 10 * SECOND + i * 10**6, STEPS, 12 * SECOND, looked))
        if used is not None:
            db.execute("INSERT INTO GAPLINE_ENERGY VALUES (?, ?, ?)", (start, UUID, used if used < 0 else round(used * 1000)))
        for uuid, mj in others:
            db.execute("INSERT INTO GAPLINE_ENERGY VALUES (?, ?, ?)", (start, uuid, mj))
    db.commit()
    db.close()


def report(folder, *gates):
    paths = folder / "base.sqlite", folder / "fixed.sqlite"
    outputs = "-o", folder / "out.html", "--json", folder / "out.json"
    done = subprocess.run([GAPLINE, "report", *paths, *outputs, "-q", *(w for g in gates for w in ("--gate", g))], capture_output=True, text=True)
    assert done.returncode in (0, 1, 4), done.stderr
    doc = json.loads((folder / "out.json").read_text())
    SCHEMA.validate(doc)
    doc = json.loads((folder / "out.json").read_text(), object_hook=facts.text)
    subprocess.run([GAPLINE, "verify", folder / "out.html"], check=True, capture_output=True)
    return done.returncode, doc["verdict"], (folder / "out.html").read_text()


def known(folder):
    base, fixed = (1000, 1010, 990, 1000), (900, 909, 891, 900)
    side(folder / "base.sqlite", False, base, others=[("GPU-of-nobody", 5_000_000)])
    side(folder / "fixed.sqlite", True, fixed, seed=2)
    status, verdict, page = report(folder, "energy<=+0%", "energy<=-20%", "energy<=-10%")
    energy = verdict["energy"]
    assert verdict["measured"] == "stopwatch" and energy["unknown"] is None, energy
    assert abs(energy["baseline_j"] - 1) < 1e-9 and abs(energy["fixed_j"] - 0.9) < 1e-9, energy  # 1000 J of 1000 steps; the other GPU's is not ours
    # runs differ by sd 0.8165 %: t(.975, 6) * sd * sqrt(2/4)
    half = 2.446912 * (2 / 3) ** 0.5 / 100 * 0.5**0.5
    for found, right in zip(energy["ci95"], (0.9 * 2.718281828**-half, 0.9 * 2.718281828**half)):
        assert abs(found - right) < 1e-5, (energy, right)
    assert [g["result"] for g in verdict["gates"]] == ["passed", "failed", "inconclusive"] and status == 1, verdict["gates"]
    assert "Energy per step: 1 \u2192 0.9 J, 0.90 times as much (95 % CI 0.89 to 0.91)" in page, page[page.find("Energy") :][:200]
    packed = folder / "base.digest"
    subprocess.run([GAPLINE, "digest", folder / "base.sqlite", "-o", packed, "-q"], check=True)
    packed.rename(folder / "base.sqlite")
    assert report(folder)[1]["energy"] == energy, "a digest says something else"


def widened(folder):
    """Looks at the runs widen the interval of energy as that of time, and so do sides of two days."""
    sd = (2 / 3) ** 0.5 / 100  # as above; four runs at the first look: 3.479 standard errors; another day: 0.075 in quadrature
    plain, error = 2.446912 * sd * 0.5**0.5, sd * 0.5**0.5
    for days, looked, half in ((0, 1, 3.479 * error), (2, 0, (plain**2 + 0.075**2) ** 0.5)):
        side(folder / "base.sqlite", False, (1000, 1010, 990, 1000), looked=looked)
        side(folder / "fixed.sqlite", True, (900, 909, 891, 900), seed=2, looked=looked, days=days)
        found = report(folder)[1]["energy"]["ci95"]
        assert all(abs(math.log(end / 0.9) - sign * half) < 1e-4 for end, sign in zip(found, (-1, 1))), (days, looked, found)


def trend(folder):
    """Sixty commits, of which the last twenty use 5 % more; one says nothing, for one of its runs is too short."""
    db = folder / "h.db"
    for i in range(60):
        joules = [1000 * (1.05 if i >= 40 else 1) + (i * 7 + r) % 5 for r in range(3)]
        side(folder / "commit.sqlite", False, joules if i != 10 else [1000, -2, 1000], seed=10 + i)
        subprocess.run([GAPLINE, "history", "add", "--commit", f"c{i}", "--time", str(1_790_000_000 + 3600 * i), "--db", db, "-q", folder / "commit.sqlite"], check=True)
    command = [GAPLINE, "history", "report", "--db", db, "--json", folder / "trend.json", "-o", folder / "trend.html"]
    said = subprocess.run(command, check=True, capture_output=True, text=True)
    doc = json.loads((folder / "trend.json").read_text())
    jsonschema.Draft202012Validator(json.loads((HERE.parents[1] / "docs/reference/gapline-history.schema.json").read_text())).validate(doc)
    right = [None if i == 10 else sum(1000 * (1.05 if i >= 40 else 1) + (i * 7 + r) % 5 for r in range(3)) / 3 / STEPS for i in range(60)]
    found = [c["energy_j"] for c in doc["commits"]]
    assert [f is None for f in found] == [r is None for r in right], found
    assert all(r is None or abs(f - r) < 1e-9 for f, r in zip(found, right)), (found, right)
    (series,) = doc["series"]
    (change,) = series["energy"]["changes"]
    assert series["energy"]["commits"] == 59 and change["commit"] == "c40" and abs(change["change"] - 0.05) < 0.002, change
    assert change["ci95"][0] < 0.05 < change["ci95"][1] and abs(series["energy"]["level_j"] - 1.052) < 0.002, series["energy"]
    page = (folder / "trend.html").read_text()
    for text in said.stdout + said.stderr, page:
        assert "J per step at the last of 59 commits that say it, median 1.05 J; +5.0 %" in text and "since c40" in text, text[:3000]
    assert "Energy, J" in page


def unknown(folder):
    for flaw, why in ((None, "no_counter"), (-1, "no_counter"), (-2, "short"), (-3, "shared"), (-4, "mig"), (-99, "no_counter")):
        side(folder / "base.sqlite", False, (1000, 1010, 990, 1000))
        side(folder / "fixed.sqlite", True, (900, 909, flaw, 900), seed=2)
        status, verdict, page = report(folder, "energy<=+0%")
        assert verdict["energy"]["unknown"] == why and verdict["energy"]["ratio"] is None and status == 4, (flaw, verdict["energy"])
        assert verdict["gates"][0]["result"] == "inconclusive" and "on the fixed side" in verdict["gates"][0]["text"], verdict["gates"]
        assert "Energy per step is unknown" in page, flaw
    side(folder / "base.sqlite", False, (1000, 1010))
    side(folder / "fixed.sqlite", True, (900, 909), seed=2)
    status, verdict, _ = report(folder, "energy<=+0%")
    assert verdict["energy"]["ci95"] is None and status == 4 and "three timed runs" in verdict["gates"][0]["text"], verdict
    for name, seed in ("base", 1), ("fixed", 2):
        (folder / f"{name}.sqlite").unlink()
        tiny.write(folder / f"{name}.sqlite", seed=seed, load=400_000 + seed)
    status, verdict, page = report(folder, "energy<=+0%")
    assert verdict["energy"]["unknown"] == "not_asked" and status == 4 and "Energy" not in page


def noted(folder):
    """`gapline run` with the stand-ins: its runs are too short, and it says so; of what is not to be asked, too."""
    inject, libraries = TESTS / "inject", folder / "lib"
    libraries.mkdir()
    shutil.copy(TESTS / "libstandin_nvml_new.so", libraries / "libnvidia-ml.so.1")
    environment = os.environ | {"LD_LIBRARY_PATH": f"{libraries}:{inject}/fake_driver:{inject}/fake_cupti", "FAKE_EXACT": "1",
                                "GAPLINE_CUPTI": f"{inject}/fake_cupti/libcupti.so.13"}  # fmt: skip
    for mode, flaws in ("", [-2, -1]), ("shared", [-3, -1]), ("mig", [-4, -1]):
        command = f"{inject}/cuda_target steps"
        subprocess.run([GAPLINE, "run", "--force", "-q", "--repeat", "2", "--recorded", "1", "-o", folder / "run", "--baseline", command, "--fixed", command],
                       env=environment | {"STANDIN_NVML": mode}, check=True, capture_output=True)  # fmt: skip
        runs = [run for run in json.loads((folder / "run/run.json").read_text())["runs"] if run["kind"] == "stopwatch"]
        for run in runs:
            assert [int(one.split("=")[1]) for one in run["energy_mj"].split()] == flaws, (mode, run)
        with sqlite3.connect(folder / "run/baseline-1.sqlite") as db:
            assert sorted({mj for (mj,) in db.execute("SELECT mj FROM GAPLINE_ENERGY")}) == sorted(flaws), mode
    subprocess.run([GAPLINE, "scrub", folder / "run/run.json", "-o", folder / "copy.json", "-q"], check=True)
    assert "GPU-0000000" not in (folder / "copy.json").read_text()


for case in known, widened, trend, unknown, noted:
    with tempfile.TemporaryDirectory() as name:
        case(pathlib.Path(name))
