#!/usr/bin/env python3
"""What must hold of any two profiles, whatever is true of them.

    check_relations.py GAPLINE [EVERY]

Pairs in the spirit of real programs, pairs made to deceive and the examples; EVERY takes one in so many, besides those
that were once wrong. Swapped sides say the same of each side, and of the change its mirror: the direction, work, reasons
and differences, each part of a step, and what became of each cost. Within a report parts add up, the exit status is the
gates', no output has another direction than the JSON, and none says a caveat twice.
"""
import collections
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]
import check_real_pairs  # noqa: E402
import check_untruths  # noqa: E402
import made_host  # noqa: E402
import made_pairs  # noqa: E402

ONCE_WRONG = {"another node, 3 % apart", "augmentation on the GPU instead of the host", "30 steps against 200", "tables are made before the loop, nothing is marked",
              "tokens go to experts beside the other half of the batch", "two kinds of work that take turns, nothing is marked: nothing",
              "two kinds of work after each other, nothing is marked: nothing"}
MIRROR = {"faster": "slower", "slower": "faster"}
OTHER = {"baseline": "fixed", "fixed": "baseline"}
# what a cost that is said from the other side may have become: that it grew by less than five times is not said
STATUS = {"resolved": {"new"}, "new": {"resolved"}, "reduced": {"remaining"}, "remaining": {"remaining", "reduced"}, "seen": {"seen"}}
GATES = ["--min-speedup", "1.1", "--max-regression", "3", "--require-comparable"]
SIDE = ["budget", "phases", "kernels", "api", "nvtx", "copies", "totals", "startup", "rates", "devices", "memory"]


def near(a, b, share=1e-9, least=2e-6):
    return a is b if a is None or b is None else math.isclose(a, b, rel_tol=share, abs_tol=least)


def report(gapline, folder, sides, *options):
    """Exit status, JSON, and the text of each other output."""
    outputs = {"-o": "r.html", "--json": "r.json", "--markdown": "r.md", "--markdown-short": "short.md", "--junit": "r.xml"}
    words = [str(folder / w) if w in outputs.values() else w for pair in outputs.items() for w in pair]
    words += [w for side in sides for w in side]
    run = subprocess.run([gapline, "report", *words, "--color", "never", *GATES, *options], capture_output=True, text=True)
    texts = {name: (folder / name).read_text() for name in outputs.values()}
    return run.returncode, json.loads(texts.pop("r.json")), {**texts, "terminal": run.stdout}


def swapped(sides):
    return sorted(([f"--{OTHER[option[2:]]}", path] for option, path in sides), key=lambda side: side[0])


def swapped_options(options):
    return [re.sub(r"^(\d+),(\d+) ", r"\2,\1 ", w) for w in options]


# ---- swapped sides ----


def ids(facts, turned):
    return sorted((f["id"], OTHER.get(f["side"], "") if turned else f["side"] or "") for f in facts)


def unmirrored_sides(a, b):
    for side, other in OTHER.items():
        for what in SIDE:
            if a[side][what] != b[other][what]:
                yield f"{what} of the {side}"
        mine, its = a[side]["steps"], b[other]["steps"]
        unnamed = [{k: v for k, v in s.items() if k != "name"} for s in (mine, its)]  # of two names, both sides have the baseline's
        if unnamed[0] != unnamed[1] or a["verdict"]["speedup"] is None and mine["name"] != its["name"]:
            yield f"steps of the {side}: {mine['name']}, swapped {its['name']}"


def mirrored(mine, its):
    return mine == its if mine is None or its is None else near(mine[0], -its[1]) and near(mine[1], -its[0])


def unmirrored_parts(a, b):
    def parts(doc):
        return {json.dumps({**p["part"], "phase": 0 if p["part"]["renamed"] else p["part"]["phase"], "renamed": 0}) + str(p["baseline_ms"] + p["fixed_ms"]): p
                for p in doc["waterfall"]}
    mine, its = parts(a), parts(b)
    if mine.keys() != its.keys():
        yield f"parts of a step: {sorted(mine.keys() ^ its.keys())[:2]}"
    for k in mine.keys() & its.keys():
        if not near(mine[k]["delta_ms"], -its[k]["delta_ms"]) or not mirrored(mine[k]["delta_ms_ci95"], its[k]["delta_ms_ci95"]):
            yield f"{mine[k]}, swapped {its[k]}"
    why = [sorted(s * p["delta_ms"] for p in doc["verdict"]["why"]["parts"]) for doc, s in ((a, 1), (b, -1))]
    if len(why[0]) != len(why[1]) or not all(map(near, *why)):
        yield f"why: {why}"


def unmirrored_findings(a, b):
    mine, its = ({f["id"]: f for f in doc["findings"]} for doc in (a, b))
    for k in mine.keys() & its.keys():
        if its[k]["status"] not in STATUS[mine[k]["status"]]:
            yield f"{k} is {mine[k]['status']}, {mine[k]['cost_ms_per_step']}, swapped {its[k]['status']}"
    for k in mine.keys() ^ its.keys():  # one cost that ends with another call on each side has the baseline's name
        f = mine.get(k) or its[k]
        if f["status"] in ("seen", "resolved", "new"):
            yield f"{k} is {f['status']}, and not there where the sides are swapped"


def unmirrored(a, b):
    v, w = a["verdict"], b["verdict"]
    yield from check_untruths.unmirrored(v, w)
    for k in "same_work", "comparable", "more_steps", "more_runs", "one_run", "short_capture", "order", "steps_set_aside", "measured":
        if v[k] != w[k]:
            yield f"{k}: {v[k]}, swapped {w[k]}"
    if not near(v["floor"], w["floor"], 1e-14, 0):  # the logarithms of a / b and b / a are rounded each
        yield f"floor: {v['floor']}, swapped {w['floor']}"
    for k in "differences", "notes", "reasons":
        if sorted(i for i, _ in ids(v[k], False)) != sorted(i for i, _ in ids(w[k], False)):
            yield f"{k}: {ids(v[k], False)}, swapped {ids(w[k], True)}"
    yield from unmirrored_sides(a, b)
    yield from unmirrored_parts(a, b)
    yield from unmirrored_findings(a, b)


# ---- one report ----


def uneven(doc):
    """What does not add up."""
    for side in OTHER:
        for budget in [doc[side]["budget"], *doc[side]["devices"]]:
            part = budget["per_step"]
            if not near(part["period"], sum(v for k, v in part.items() if k != "period")):
                yield f"{side}: {part}"
            if not near(part["idle"], sum(i["ms_per_step"] for i in budget["idle"])):
                yield f"{side}: causes of idle time do not add up"
        if sum(p["cost_ms_per_step"] for p in doc[side]["phases"]) > doc[side]["budget"]["per_step"]["period"] + 1e-6:
            yield f"{side}: phases cost more than a step"
        items = doc[side]["rates"]["items_per_step"] or 1
        if doc["waterfall"] and not near(sum(p[f"{side}_ms"] for p in doc["waterfall"]) * items, (doc[side]["steps"]["period_ms"] or doc[side]["steps"]["span_ms"])["mean"], 1e-6):
            yield f"{side}: parts of a step do not add up"
    v = doc["verdict"]
    low, high = v["ci95"] or (0, math.inf)
    if v["speedup"] and not low <= v["speedup"] <= high or v["result"] == "faster" and low <= 1 or v["result"] == "slower" and high >= 1:
        yield f"{v['result']} {v['speedup']} {v['ci95']}"
    signs = {p["delta_ms"] > 0 for p in v["why"]["parts"]}
    if signs and signs != {v["result"] == "slower"} or signs and v["result"] not in MIRROR:
        yield f"{v['result']}, and its reasons are {v['why']['parts']}"


def contradicted(status, doc, texts):
    gates = [g["result"] for g in doc["verdict"]["gates"]]
    if status != (1 if "failed" in gates else 4 if "inconclusive" in gates else 0):
        yield f"exit {status}, gates {gates}"
    result = doc["verdict"]["result"]
    for name, text in texts.items():
        text = re.sub(r"<(script|style|title).*?</\1>|<[^>]+>", " ", text, flags=re.DOTALL)
        said = re.search(r"\b(faster|slower|unchanged|inconclusive|no clear winner)\b", text, re.IGNORECASE)
        said = said and said[1].lower()
        if said != result if result != "inconclusive" else said in ("faster", "slower", "unchanged"):
            yield f"{name}: {said}, the JSON: {result}"


def repeated(texts):
    """Caveats that begin alike, and those of the Markdown that its headline has."""
    page = texts["r.html"].partition('id="findings"')[0]
    for name, items in ("r.html", re.findall(r"<li>(.*?)</li>", page, re.DOTALL)), ("short.md", re.findall(r"^- (.*)$", texts["short.md"], re.MULTILINE)):
        begin = collections.Counter(re.split(r"[:;.]\s|\.$", item)[0] for item in items)
        yield from (f"{name}: {n} times: {words}" for words, n in begin.items() if n > 1)
        headline = texts["short.md"].partition("\n\n")[2].partition("\n\n")[0]
        yield from (f"{name}: in the headline, too: {item}" for item in items if name == "short.md" and item in headline)


# ---- pairs ----


def even_runs(folder):
    """Launches of four kernels, of which three take longer on a side and one takes less time: the quartiles lie
    between two of them."""
    sides = []
    for side, times in ("baseline", (1, 1, 1, 1)), ("fixed", (1.6, 1.4, 1.2, 0.9)):
        for run in range(3):
            host = made_host.Host(10 * run + len(side))
            for _ in range(40):
                host.begin("step")
                for name, longer in zip("abcd", times):
                    host.pace = longer
                    host.kernel(f"{name}(float*)", 2_000)
                    host.pace = 1
                host.sync()
                host.finish(4)
            started = made_host.STARTED + (2 * run + (side == "fixed") ^ run % 2) * 60 * 10**9
            host.write(folder / f"even-{side}-{run}.sqlite", started)
            sides.append([f"--{side}", str(folder / f"even-{side}-{run}.sqlite")])
    return sides


def pairs(every, folder):
    """Of each: its name, sides, options."""
    for i, pair in enumerate(check_real_pairs.PAIRS):
        if i % every == 0 or pair.what in ONCE_WRONG:
            words = check_real_pairs.made.write(pair, folder)
            yield pair.what, [list(side) for side in zip(words[::2], words[1::2])], list(pair.options)
    for kind in list(made_pairs.KINDS)[::every]:
        yield kind, [[str(w) for w in side] for side in made_pairs.pair(kind, 0).write(folder)], []
    yield "four kernels, each launched as often, three runs", even_runs(folder), []
    runs = ROOT / "examples/training-step/runs"
    for n in 1, 3:
        yield f"the example, {n} runs", [[f"--{side}", str(runs / f"{side}-{k}.sqlite.gz")] for side in OTHER for k in range(1, n + 1)], []


def main():
    gapline, every = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1
    results, bad = collections.Counter(), 0
    with tempfile.TemporaryDirectory() as d:
        folder = pathlib.Path(d)
        for name, sides, options in pairs(every, folder):
            status, doc, texts = report(gapline, folder, sides, *options)
            _, other, _ = report(gapline, folder, swapped(sides), *swapped_options(options))
            results[doc["verdict"]["result"]] += 1
            for wrong in [*unmirrored(doc, other), *uneven(doc), *contradicted(status, doc, texts), *repeated(texts)]:
                print(f"{name}: {wrong}", flush=True)
                bad += 1
    print(f"{sum(results.values())} pairs, {dict(results)}: {bad} contradictions")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
