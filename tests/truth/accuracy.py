#!/usr/bin/env python3
"""accuracy.py GAPLINE [--refresh]

What gapline says of known changes, one row each: what was changed, what "why" names, whether that is where the change is,
same work, result. Of faults, from the recorded captures in examples/truth, one run per side; the truth is
workloads/truth.tsv: the accounts on which the injected time lies. Of made changes of a training step from
tests/support/made_work.py, which says what is true of each. docs/method/accuracy.md is the table; the test fails when
gapline says something else, or something untrue of a made change.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import rows
import truth

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import made_work  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "method" / "accuracy.md"
HEAD = """# What gapline says of known faults

Each row is a program with one known fault and its fix ([workloads](../../workloads)), recorded on H100s and H200s
([examples/truth](../../examples/truth)). One recorded run a side is analysed here, so intervals are wider than in a report
with timed runs. *Why* is what the report names, *explained* its share of the change, *right* whether every part that
is named is where the fault is known to lie ([truth.md](../../workloads/truth.md)). Phases of the middle sizes have
neutral names (a, b, c). `tests/truth/accuracy.py` makes this page from the captures, and a test compares it; what is
wrong stays listed as wrong.

| program, fault | what was changed | result | why: what changed, ms a step | explained | right | same work |
|---|---|---|---|--:|---|---|
"""


MADE = """
## Changes of a training step

Each row is a change of a made step of a transformer: two matrix products, attention and an activation per layer, which
the backward pass computes again ([made_work.py](../../tests/support/made_work.py)). Several are made to deceive: other
names, other numbers of blocks, less work under the same names. *Right* is for *why* (the part, and the kernel that is
named) and for *same work*; `unknown` is right where no profile tells.

| what was changed | result | why: what changed, ms a step | same work | right |
|---|---|---|---|---|
"""


def account_of(part):
    """A named part as truth.tsv calls it, without the phase, whose name may be neutral."""
    return f"idle:{part['cause']}" if part["kind"] == "idle" else part["kind"]


def expected(pair):
    return {"comm_exposed" if a == "waiting" else ":".join(a.split(":")[:2]) for a in pair.accounts}


def words(part):
    where = f"idle, {part['cause'] or 'every cause'} in {part['phase'] or 'all phases'}" if part["kind"] == "idle" else part["kind"]
    where += f" ({part['direction'].replace('_', ' ')})" if part["direction"] else ""
    half = "" if part["delta_half_width_ms"] is None else f" ± {part['delta_half_width_ms']:.2f}"
    return f"{where.replace('_', ' ')} {part['delta_ms']:+.2f}{half}".replace("-", "\u2212")


def row(gapline, folder, pair, size, collector, fault):
    result, problem = rows.report(gapline, folder, [["baseline-1.sqlite"], ["fixed-1.sqlite"]])
    name = f"[{pair.name}](../../workloads/{pair.program}), {size} ms" + (" (nsys)" if collector == "nsys" else "")
    if result is None:
        sys.exit(f"{name}: {problem}")
    verdict = result["verdict"]
    parts, right = verdict["why"]["parts"], "\u2013"
    if parts:
        right = "yes" if {account_of(p) for p in parts} <= expected(pair) else "**no**"
    elif verdict["result"] in ("faster", "slower"):
        right = "nothing named"
    explained = f"{100 * verdict['why']['explained']:.0f} %" if parts else ""
    cells = [name, fault, f"{verdict['result']} {verdict['speedup']:.3f}×", "; ".join(map(words, parts)), explained, right,
             verdict["same_work"].replace("_", " ")]
    return right, "| " + " | ".join(cells) + " |"


def said_of(gapline, change, scratch):
    """What gapline says of a made change, as the JSON's verdict."""
    paths = [str(pathlib.Path(scratch) / f"{side}.sqlite") for side in ("baseline", "fixed")]
    for seed, (path, step, phases) in enumerate(zip(paths, change[1:3], change.phases)):
        pathlib.Path(path).unlink(missing_ok=True)
        made_work.make(path, step, phases, seed=seed)
    run = subprocess.run([gapline, "report", "--baseline", paths[0], "--fixed", paths[1], "-q", "--json", "-"], capture_output=True, text=True)
    return json.loads(run.stdout)["verdict"]


def made_row(gapline, change, scratch):
    verdict = said_of(gapline, change, scratch)
    parts = verdict["why"]["parts"]
    right = {account_of(p) for p in parts} <= change.why and verdict["same_work"] in change.work
    right = right and (bool(parts) or not change.why or verdict["result"] not in ("faster", "slower"))
    right = right and all(not p["kernel"] or change.kernels is None or p["kernel"] in change.kernels for p in parts)
    why = "; ".join(words(p) + (f" (`{p['kernel'].split('(')[0]}`)" if p["kernel"] else "") for p in parts)
    cells = [change.what, f"{verdict['result']} {verdict['speedup']:.3f}×", why, verdict["same_work"].replace("_", " "), "yes" if right else "**no**"]
    return right, "| " + " | ".join(cells) + " |"


def main():
    gapline, refresh = sys.argv[1], "--refresh" in sys.argv
    examples = ROOT / "examples" / "truth"
    faults = rows.faults(ROOT / "workloads" / "README.md")
    lines, rights = [], []
    with tempfile.TemporaryDirectory(prefix="gapline-accuracy-") as scratch:
        for pair in rows.read_pairs(ROOT / "workloads" / "truth.tsv"):
            for size in pair.sizes:
                for collector, ending in (("cupti", ""), ("nsys", "-nsys")):
                    kept = examples / f"{pair.name}-{size}{ending}"
                    if not (kept / "captures.tar.xz").exists():
                        continue
                    folder = truth.unpack(str(kept), scratch)
                    right, line = row(gapline, folder, pair, size, collector, faults.get(pair.program, ""))
                    lines.append(line)
                    rights.append(right)
        made = [made_row(gapline, change, scratch) for change in made_work.CHANGES]
    decided = [r for r in rights if r != "\u2013"]
    foot = (f"\n{len(lines)} rows, {len(decided)} with a direction: {rights.count('yes')} name only what is true, "
            f"{rights.count('**no**')} name something else, too, {rights.count('nothing named')} name nothing.\n")
    wrong = [line for right, line in made if not right]
    made_foot = f"\n{len(made)} changes: {len(made) - len(wrong)} right, {len(wrong)} wrong.\n"
    text = HEAD + "\n".join(lines) + "\n" + foot + MADE + "\n".join(line for _, line in made) + "\n" + made_foot
    print(foot.strip() + made_foot, *wrong, sep="\n")
    if refresh:
        PAGE.write_text(text, encoding="utf-8")
        return int(bool(wrong))
    if not lines:
        sys.exit("no captures in examples/truth")
    kept = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    for said, line in zip(text.splitlines(), kept.splitlines()):
        if said != line:
            sys.exit(f"docs/method/accuracy.md has\n  {line}\nand gapline says\n  {said}\n(--refresh writes it down)")
    return int(text != kept or bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
