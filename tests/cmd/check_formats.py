#!/usr/bin/env python3
"""docs/reference/formats.md says the versions that the program writes, and the changelog begins with this release.

    check_formats.py GAPLINE
"""

import json
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAIR = [ROOT / f"examples/training-step/{side}.sqlite.gz" for side in ("baseline", "fixed")]


def constant(file, pattern):
    return re.search(pattern, (ROOT / file).read_text(encoding="utf-8"))[1]


def written(gapline, folder):
    """What the command itself writes; of what only a capture writes, the constant it is written with."""

    def run(*words):
        subprocess.run([gapline, *words], cwd=folder, check=True, capture_output=True)

    run("demo", "-q", "-o", "demo.html", "--json", "demo.json")
    run("digest", PAIR[0], "-o", "one.digest")
    run("save", "main", PAIR[0], "--json", "saved.json")
    for side, profile in enumerate(PAIR):
        run("history", "add", "--commit", f"{side}abc", "--time", str(side), "--db", "history.db", profile)
    run("report", *(f"--variant={name}={PAIR[0]}" for name in "ab"), "--json", "variants.json")
    run("history", "report", "--db", "history.db", "-o", "trend.html", "--json", "trend.json")
    run("export", PAIR[0], "-o", "results.sqlite")
    with sqlite3.connect(folder / "results.sqlite") as exported:
        (schema,) = exported.execute("SELECT value FROM export WHERE key = 'schema'").fetchone()
    with sqlite3.connect(folder / "gapline.db") as store:
        (version,) = store.execute("PRAGMA user_version").fetchone()
    packed = subprocess.run(["gzip", "-dc"], input=(folder / "one.digest").read_bytes(), capture_output=True, check=True).stdout
    return {
        "result, JSON": json.loads((folder / "demo.json").read_text())["schema"],
        "history, JSON": json.loads((folder / "trend.json").read_text())["schema"],
        "variants, JSON": json.loads((folder / "variants.json").read_text())["schema"],
        "results of the other commands, JSON": json.loads((folder / "saved.json").read_text())["schema"],
        "export": schema,
        "help, JSON": json.loads(subprocess.run([gapline, "help", "--json"], check=True, capture_output=True).stdout)["schema"],
        "digest": packed.split(b"\n")[0].decode().split(" ")[-1][-1:],
        "store": str(version),
        "state of a suite": constant("gen/capture/suite_state.c", r'#define SCHEMA "(.*)"'),
        "state of a capture": constant("gen/capture/recover.c", r'#define SCHEMA "(.*)"'),
        "spool": constant("gen/capture/spool.h", r"SPOOL_VERSION = (\d+)"),
    }


def main():
    gapline = str(pathlib.Path(sys.argv[1]).resolve())
    page = (ROOT / "docs/reference/formats.md").read_text(encoding="utf-8")
    said = dict(re.findall(r"^\| ([^|]+) \| `([^`|]+)` \|", page, re.MULTILINE))
    with tempfile.TemporaryDirectory(prefix="gapline-formats-") as folder:
        found = written(gapline, pathlib.Path(folder))
    for name, version in found.items():
        assert said.get(name) == version, f"{name}: {version} is written, {said.get(name)} said"
    version = subprocess.run([gapline, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    changes = re.search(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)[1]
    assert changes == version, f"the changelog begins with {changes}, and this is {version}"
    print(f"{len(found)} formats; the changelog begins with {version}")


if __name__ == "__main__":
    main()
