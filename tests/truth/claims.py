#!/usr/bin/env python3
"""claims.py GAPLINE [--refresh]: examples/truth/claims, made from the recorded captures of examples/truth.

gapline.json is what reports say; two naive methods look at the same profiles. host-averages.json: the mean length of the
range that is open longest, as the host sees it. kernel-sums.json: all kernels' time added up, and what ran how often.
Without --refresh the kept files are compared, and scored: examples/truth/README.md shows the scores.
"""

import collections
import json
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

import accuracy
import rows
import truth

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples/truth"
CLAIMS = EXAMPLES / "claims"


def short(number):
    return round(number, 4)


def of_gapline(gapline, folder):
    result, problem = rows.report(gapline, folder, [["baseline-1.sqlite"], ["fixed-1.sqlite"]])
    if result is None:
        sys.exit(f"{folder}: {problem}")
    verdict = result["verdict"]
    decided = verdict["result"] != "inconclusive"
    return {
        "direction": verdict["result"] if decided else "unknown",
        "speedup": short(verdict["speedup"]),
        "interval": verdict["ci95"] and [short(end) for end in verdict["ci95"]],
        "cause": sorted({accuracy.account_of(part) for part in verdict["why"]["parts"]}) if decided else None,
        "same_work": {"same_job": "same"}.get(verdict["same_work"], verdict["same_work"]),
    }


def query(path, sql):
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        return db.execute(sql).fetchall()
    except sqlite3.OperationalError as problem:  # nothing of that kind was recorded
        if "no such table" not in str(problem):
            raise
        return []
    finally:
        db.close()


def of_host_averages(_, folder):
    means = []
    for side in ("baseline", "fixed"):
        ranges = query(f"{folder}/{side}-1.sqlite", "SELECT avg(end - start), sum(end - start) FROM NVTX_EVENTS LEFT JOIN StringIds ON id = textId "
                       "WHERE end IS NOT NULL GROUP BY coalesce(text, value) HAVING count(*) >= 10 ORDER BY 2 DESC LIMIT 1")  # fmt: skip
        means += [mean for mean, _ in ranges]
    return {"speedup": short(means[0] / means[1]) if len(means) == 2 else None}


def of_kernel_sums(_, folder):
    sums, ran = [], []
    for side in ("baseline", "fixed"):
        kernels = query(f"{folder}/{side}-1.sqlite", "SELECT value, count(*), sum(end - start) FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds "
                        "ON id = demangledName GROUP BY 1")  # fmt: skip
        sums.append(sum(ns for _, _, ns in kernels))
        ran.append(collections.Counter({name: n for name, n, _ in kernels}))
    speedup = sums[0] / sums[1] if all(sums) else None
    changed = speedup and not 1 / 1.02 <= speedup <= 1.02
    return {"speedup": speedup and short(speedup), "cause": ["compute"] if changed else [], "same_work": "same" if ran[0] == ran[1] else "different"}


METHODS = {"gapline": of_gapline, "host-averages": of_host_averages, "kernel-sums": of_kernel_sums}


def make(gapline):
    claims = {name: [] for name in METHODS}
    with tempfile.TemporaryDirectory(prefix="gapline-claims-") as scratch:
        for pair in rows.read_pairs(ROOT / "workloads/truth.tsv"):
            for name in [f"{pair.name}-{size}{ending}" for size in pair.sizes for ending in ("", "-nsys")]:
                if not (EXAMPLES / name / "captures.tar.xz").exists():
                    continue
                folder = truth.unpack(str(EXAMPLES / name), scratch)
                for method, ask in METHODS.items():
                    claims[method].append({"pair": name, **ask(gapline, folder)})
    return {m: json.dumps({"schema": "gapline-claims/1", "tool": m, "claims": c}, indent=1) + "\n" for m, c in claims.items()}


def main():
    gapline, refresh = sys.argv[1], "--refresh" in sys.argv
    made = make(gapline)
    for name, text in made.items():
        path = CLAIMS / f"{name}.json"
        if refresh:
            CLAIMS.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        elif path.read_text(encoding="utf-8") != text:
            kept = json.loads(path.read_text(encoding="utf-8"))["claims"]
            differ = [n["pair"] for o, n in zip(kept, json.loads(text)["claims"]) if o != n]
            sys.exit(f"{path} says something else of {', '.join(differ[:5]) or 'other pairs'}; tests/truth/claims.py GAPLINE --refresh writes it anew")
    said = subprocess.run([EXAMPLES / "score", *(CLAIMS / f"{name}.json" for name in METHODS)], capture_output=True, text=True, check=True).stdout
    print(said, end="")
    readme = EXAMPLES / "README.md"
    head, rest = readme.read_text(encoding="utf-8").split("<!-- scores -->\n", 1)
    kept, foot = rest.split("<!-- end -->\n", 1)
    mine, *others = said.split("\n\n")
    naive = ["\n".join(part.splitlines()[:7]) for part in others]  # what they miss is a long list
    shown = "".join(f"    {line}".rstrip() + "\n" for line in "\n\n".join([mine, *naive]).splitlines())
    if refresh:
        readme.write_text(f"{head}<!-- scores -->\n\n{shown}\n<!-- end -->\n{foot}", encoding="utf-8")
    elif kept != f"\n{shown}\n":
        sys.exit("examples/truth/README.md shows other scores")


if __name__ == "__main__":
    main()
