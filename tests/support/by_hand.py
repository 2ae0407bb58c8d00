"""Reports of base.sqlite and fixed.sqlite in a folder, held to numbers that were worked out by hand. argv: GAPLINE"""
import json
import pathlib
import subprocess
import sys
import tempfile

import facts

GAPLINE = sys.argv[1]
failures = []


def check(ok, *what):
    if not ok:
        failures.append(" ".join(str(w) for w in what))


def near(found, right, what):
    check(found is not None and abs(found - right) <= 1e-6 * abs(right) + 1e-12, f"{what}: {found}, not {right}")


def report(folder, *options):
    """Exit status, the JSON, the terminal, Markdown and page as text."""
    names = {kind: folder / f"out.{kind}" for kind in ("html", "json", "md")}
    done = subprocess.run(
        [GAPLINE, "report", folder / "base.sqlite", folder / "fixed.sqlite", "-o", names["html"], "--json", names["json"], "--markdown", names["md"], "--color", "never", *options],
        capture_output=True, text=True,
    )
    doc = json.load(open(names["json"]), object_hook=facts.text)
    return done, doc, done.stdout, names["md"].read_text(), names["html"].read_text()


def run(cases):
    """Each in a folder of its own; ends the program."""
    for case in cases:
        with tempfile.TemporaryDirectory() as name:
            case(pathlib.Path(name))
    for failure in failures:
        print(failure)
    print(f"{len(cases)} cases, {len(failures)} failures")
    sys.exit(bool(failures))
