#!/usr/bin/env python3
"""accuracy.py GAPLINE [--refresh]

What gapline says of known changes, one row each: what was changed, what "why" names, whether that is where the change is,
same work, result. Of faults, from the recorded captures in examples/truth, one run per side; the truth is
workloads/truth.tsv: the accounts on which the injected time lies. Of made changes of a training step from
tests/support/made_work.py, which says what is true of each. docs/method/accuracy.md is the table; the test fails when
gapline says something else, or something untrue of a made change. Of real programs and made whole ones likewise: the
captures of the former are not in the repository, and where they are not at hand their rows are taken as they stand; so is, in
CI (support/amount.py), every second made change and made program.
"""
import gc
import json
import pathlib
import subprocess
import sys
import tempfile

import rows
import truth

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cmd"))
import check_real_pairs as programs  # noqa: E402
import made_work  # noqa: E402
from amount import some  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "method" / "accuracy.md"
HEAD = """# What gapline says of known faults

Each row is a program with one known fault and its fix ([workloads](../../workloads)), recorded on H100s and H200s
([examples/truth](../../examples/truth)). One recorded run per side says *why*. The *result* is that of the timed runs beside it,
in 40 rows; in the 12 of nsys and in no-change, which have none, it is that of the recorded run, so its interval is wider.
*Why* is what the report names. *Explained* is its share of the change: parts are recorded and the change is timed, so the share
is over 100 % where the recorded runs differ by more. *Right* is whether every part that is named is where the fault is known to lie ([truth.md](../../workloads/truth.md)). Phases of the middle sizes have
neutral names (a, b, c). `tests/truth/accuracy.py` makes this page from the captures, and a test compares it; what is
wrong stays listed as wrong.

| program, fault | what was changed | result | why: what changed, ms per step | explained | right | same work |
|---|---|---|---|--:|---|---|
"""


MADE = """
## Changes of a training step

Each row is a change of a made step of a transformer: two matrix products, attention and an activation per layer, which
the backward pass computes again ([made_work.py](../../tests/support/made_work.py)). Several are made to deceive: other
names, other numbers of blocks, less work under the same names. *Right* is for *why* (the part, and the kernel that is
named) and for *same work*; `unknown` is right where no profile tells.

| what was changed | result | why: what changed, ms per step | same work | right |
|---|---|---|---|---|
"""


REAL = """
## Real programs

Fixes of real programs, recorded by nsys, gapline or the PyTorch profiler; from Rodinia on they are strangers', whose
repositories publish both sides. One recorded run per side. *Right* is for *why*: it names nothing but what was changed.

| program | what was changed | result | why: what changed, ms per step | explained | same work | right |
|---|---|---|---|--:|---|---|
"""
CAPTURES = ROOT.parent / "shared" / "captures"
# program, what was changed, the captures, parts that may be named
FIXES = [
    ("PyTorch, a convolutional network", "loading in six processes, pinned, no read-back of each loss", "torch-dataloader/{baseline,fixed}.sqlite.gz", {"idle:host_code"}),
    ("the same, by the PyTorch profiler", "the same", "kineto-dataloader/{baseline,fixed}.json.gz", {"idle:host_code"}),
    ("CUDA C++, matrix products", "pinned memory, two buffers, a thread that produces", "pinned-prefetch/{baseline,fixed}.sqlite.gz", {"idle:host_code", "copy_exposed:h2d"}),
    ("300 kernels of 1 µs", "one CUDA graph, traced whole", "tiny-kernels-graph/{baseline,fixed}.sqlite.gz", {"idle:launch_api", "idle:host_code"}),
    ("PyTorch, GPT-2", "fp32 became bf16, a fused optimizer", "gpt2-mixed-precision/{baseline,fixed}.sqlite.gz", {"compute"}),
    ("PyTorch, two GPUs", "all-reduce after the backward pass became buckets beside it", "ddp-2gpu/{baseline,fixed}.sqlite.gz", {"comm_exposed"}),
    ("PyTorch, 24 blocks", "torch.compile, CUDA graphs", "torch-compile/{baseline,fixed}.sqlite.gz", {"idle:host_code", "idle:launch_api", "compute"}),
    ("PyTorch, text generation", "a cache; tokens are the steps, unmarked", "torch-generation/{no-cache,cache}.sqlite.gz", {"compute", "idle:host_code"}),
    ("Rodinia, Gaussian elimination", "other blocks, faster kernels", "public/kmcho2019-Rodinia_3.1_Gaussian-{report2,report5}.sqlite.gz", {"compute"}),
    ("cutting planes, in CUDA", "no waits after kernels, blocking read-backs instead", "public/cestwc-balinski-and-gomory-cuda-{report11,report16}.sqlite.gz",
     {"idle:host_code", "idle:off_cpu", "idle:sync_return", "compute"}),
    ("pipeline-parallel training, two GPUs", "not said", "public/GindaChen-nsys-ai-mfu_2gpu_{before,after}.sqlite.gz", set()),
    ("PyTorch, ResNet-50", "loading in four processes; five steps", "kineto-public/pair_dataloader_v100/{baseline_nw0,fixed_nw4}_steps16-21.pt.trace.json.gz", {"idle:host_code"}),
]
WHOLE = """
## Changes of whole programs

Each row is a made program in the spirit of a real one and a change of it ([made_real.py](../../tests/support/made_real.py),
[made_fixes.py](../../tests/support/made_fixes.py), [made_moves.py](../../tests/support/made_moves.py),
[made_strange.py](../../tests/support/made_strange.py), [made_unseen.py](../../tests/support/made_unseen.py),
[made_units.py](../../tests/support/made_units.py)): a host that
launches, waits and copies, and its GPU. *True* is the speedup of the same two programs over a long run. *Right* is for everything: the direction, the interval, gates, *same work*
and *why*; where a recording cannot be true, that nothing is decided.

| what was changed | true | result | why: what changed, ms per step | same work | right |
|---|---|---|---|---|---|
"""


def account_of(part):
    """A named part as truth.tsv calls it, without the phase, whose name may be neutral."""
    return f"idle:{part['cause']}" if part["kind"] == "idle" else part["kind"]


def expected(pair):
    return {"comm_exposed" if a == "waiting" else ":".join(a.split(":")[:2]) for a in pair.accounts}


def words(part):
    """"idle, host code in load −2.95 ± 0.78"."""
    cause = (part["cause"] or "every cause").replace("_", " ")
    where = f"idle, {cause} in {part['phase'] or 'all phases'}" if part["kind"] == "idle" else part["kind"].replace("_", " ")
    where += f" ({part['direction']})" if part["direction"] else ""
    ends = part["delta_ms_ci95"]
    half = "" if ends is None else f" ± {(ends[1] - ends[0]) / 2:.2f}".replace("-", "\u2212")
    return f"{where} " + f"{part['delta_ms']:+.2f}".replace("-", "\u2212") + half


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
    cells = [change.what, speed(verdict), why_of(verdict), verdict["same_work"].replace("_", " "), "yes" if right else "**no**"]
    return right, "| " + " | ".join(cells) + " |"


def why_of(verdict):
    return "; ".join(words(p) + (f" (`{p['kernel'].split('(')[0]}`)" if p["kernel"] else "") for p in verdict["why"]["parts"])


def speed(verdict):
    return f"{verdict['result']} {verdict['speedup']:.3f}×" if verdict["speedup"] else verdict["result"]


def files_of(pattern):
    before, rest = pattern.split("{")
    names, after = rest.split("}")
    return [CAPTURES / f"{before}{name}{after}" for name in names.split(",")]


def real_row(gapline, fix, page):
    program, what, pattern, may = fix
    files = files_of(pattern)
    if not all(file.exists() for file in files):
        kept = [line for line in page.splitlines() if line.startswith(f"| {program} | {what} |")]
        return kept[0].endswith("| yes |") if kept else True, kept[0] if kept else ""
    verdict = programs.judge(gapline, files)["verdict"]
    right = all(programs.account_of(p) in may for p in verdict["why"]["parts"])
    explained = f"{100 * verdict['why']['explained']:.0f} %" if verdict["why"]["parts"] else ""
    cells = [program, what, speed(verdict), why_of(verdict), explained, verdict["same_work"].replace("_", " "), "yes" if right else "**no**"]
    return right, "| " + " | ".join(cells) + " |"


def whole_row(gapline, pair, scratch):
    doc = programs.judge(gapline, programs.made.write(pair, pathlib.Path(scratch)) + list(pair.options) + programs.GATES)
    wrong = list(programs.wrong_of(pair, doc))
    print(*(f"{pair.what}: {what}" for what in wrong), sep="\n", end="\n" if wrong else "")
    verdict = doc["verdict"]
    true = "–" if pair.doubt else f"{programs.made.truth_of(pair):.3f}×"
    cells = [pair.what, true, speed(verdict), why_of(verdict), verdict["same_work"].replace("_", " "), "**no**" if wrong else "yes"]
    return not wrong, "| " + " | ".join(cells) + " |"


def anew(things, make, page, refresh):
    """Their rows; of what is not tried the page's own."""
    tried = range(len(things)) if refresh else some(range(len(things)), 2)
    return [make(thing) if i in tried else as_kept(page, thing.what) for i, thing in enumerate(things)]


def as_kept(page, what):
    found = [line for line in page.splitlines() if line.startswith(f"| {what} |")]
    return (found[0].endswith("| yes |"), found[0]) if len(found) == 1 else (False, f"| {what} | has {len(found)} rows on the page |")


def section(head, made):
    wrong = sum(not right for right, _ in made)
    return head + "\n".join(line for _, line in made) + f"\n\n{len(made)} changes: {len(made) - wrong} right, {wrong} wrong.\n"


def main():
    gc.disable()  # many rows, and no circles
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
        kept = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
        made = anew(made_work.CHANGES, lambda change: made_row(gapline, change, scratch), kept, refresh)
        real = [real_row(gapline, fix, kept) for fix in FIXES]
        whole = anew(programs.PAIRS, lambda pair: whole_row(gapline, pair, scratch), kept, refresh)
    decided = [r for r in rights if r != "\u2013"]
    foot = (f"\n{len(lines)} rows, {len(decided)} with a direction: {rights.count('yes')} name only what is true, "
            f"{rights.count('**no**')} name something else, too, {rights.count('nothing named')} name nothing.\n")
    wrong = [line for right, line in made + real + whole if not right]
    text = HEAD + "\n".join(lines) + "\n" + foot + section(MADE, made) + section(REAL, real) + section(WHOLE, whole)
    print(foot.strip(), *wrong, sep="\n")
    if refresh:
        PAGE.write_text(text, encoding="utf-8")
        return int(bool(wrong))
    if not lines:
        sys.exit("no captures in examples/truth")
    for said, line in zip(text.splitlines(), kept.splitlines()):
        if said != line:
            sys.exit(f"docs/method/accuracy.md has\n  {line}\nand gapline says\n  {said}\n(--refresh writes it down)")
    return int(text != kept or bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
