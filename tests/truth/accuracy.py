#!/usr/bin/env python3
"""accuracy.py GAPLINE [--refresh]

What gapline says of known faults, one row each: what was changed, what "why" names, whether that is where the fault is,
same work, result. From the recorded captures in examples/truth, one run per side; docs/method/accuracy.md is the table, and the
test fails when it says something else. The truth is workloads/truth.tsv: the accounts on which the injected time lies.
"""
import pathlib
import sys
import tempfile

import rows
import truth

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


def account_of(part):
    """A named part as truth.tsv calls it, without the phase, whose name may be neutral."""
    return f"idle:{part['cause']}" if part["kind"] == "idle" else part["kind"]


def expected(pair):
    return {"comm_exposed" if a == "waiting" else ":".join(a.split(":")[:2]) for a in pair.accounts}


def words(part):
    where = f"idle, {part['cause'] or 'every cause'} in {part['phase'] or 'all phases'}" if part["kind"] == "idle" else part["kind"]
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
    decided = [r for r in rights if r != "\u2013"]
    foot = (f"\n{len(lines)} rows, {len(decided)} with a direction: {rights.count('yes')} name only what is true, "
            f"{rights.count('**no**')} name something else, too, {rights.count('nothing named')} name nothing.\n")
    text = HEAD + "\n".join(lines) + "\n" + foot
    print(foot.strip())
    if refresh:
        PAGE.write_text(text, encoding="utf-8")
        return 0
    if not lines:
        sys.exit("no captures in examples/truth")
    kept = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    for said, line in zip(text.splitlines(), kept.splitlines()):
        if said != line:
            sys.exit(f"docs/method/accuracy.md has\n  {line}\nand gapline says\n  {said}\n(--refresh writes it down)")
    return int(text != kept)


if __name__ == "__main__":
    sys.exit(main())
