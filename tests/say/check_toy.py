#!/usr/bin/env python3
"""Whether the words of what is converted come from the catalogue alone.

    check_toy.py GAPLINE_TOY

GAPLINE_TOY is the command with a catalogue in which every text is ⟦id and its parameters⟧. What it says of facts has no
other word in any output. Files in DONE hold no sentence; of the others it is said how many there are.
"""
import html
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "training-step"
FOLDERS = ("trace", "read", "verdict", "result", "steps", "run", "charge", "side", "same", "find", "gate", "analyse", "trend", "render", "cmd")
# One file a line: those that hold no sentence any more.
DONE = """
gen/same/amounts.c
gen/same/compare.c
gen/same/compare_kernels.c
gen/same/conditions.c
gen/verdict/exchange.c
gen/find/findings.c
gen/find/functions_words.c
gen/gate/gate_metric.c
gen/gate/gates.c
gen/verdict/measured.c
gen/find/ncu_evidence.c
gen/same/nothing.c
gen/verdict/plan.c
gen/same/possible.c
gen/verdict/reasons.c
gen/find/rules.c
gen/find/rules_gpu.c
gen/find/rules_host.c
gen/find/rules_idle.c
gen/same/same_result.c
gen/verdict/shape.c
gen/verdict/stopwatch.c
gen/verdict/verdict.c
gen/side/clocks.c
gen/side/quality.c
gen/side/recording.c
gen/side/recording_pair.c
gen/side/side.c
gen/result/words.c
gen/render/clocks.c
gen/render/dots.c
gen/render/evidence.c
gen/render/files.c
gen/render/functions.c
gen/render/glance.c
gen/render/icicle.c
gen/render/inside.c
gen/render/json_facts.c
gen/render/lane.c
gen/render/lanes.c
gen/render/markdown.c
gen/render/overview.c
gen/render/palette.c
gen/render/perfetto.c
gen/render/ranks.c
gen/render/slices.c
gen/render/slopes.c
gen/render/step_times.c
gen/render/steps.c
gen/render/terminal.c
gen/render/timeline.c
gen/render/trend_picture.c
gen/render/trend_words.c
gen/render/view.c
gen/render/words.c
gen/render/words_card.c
gen/trace/ranks.c
""".split()
TOY = re.compile(r"⟦[a-z_0-9]+( [a-z_0-9]+=.*)?⟧")
ERROR = re.compile(r"\b(page_attribute|err_set|compare_error|opt_error|die|assert|add_name|json_\w+)\(")


def sentences(path):
    """String literals of two words or more, but for attributes, and errors, whose text stays where the cause is known."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", (ROOT / path).read_text(encoding="utf-8"), flags=re.S)
    found = []
    for statement in re.split(r"[;{}]\n", text):
        if not ERROR.search(statement):
            joined = re.sub(r'"\s*"', "", re.sub(r"#include.*", "", statement))
            found += [s for s in re.findall(r'"((?:[^"\\\n]|\\.)*)"', joined) if re.search(r"[A-Za-z]{2,}[,:;]? [A-Za-z%{]", s)]
    return found


def facts_in(value):
    if isinstance(value, dict) and {"id", "severity", "side", "params", "text"} == value.keys():
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from facts_in(inner)


def report(gapline, *profiles):
    with tempfile.TemporaryDirectory() as folder:
        page, result = pathlib.Path(folder, "r.html"), pathlib.Path(folder, "r.json")
        run = subprocess.run([gapline, "report", *profiles, "-o", page, "--json", result, "--color", "never"], check=True,
                             capture_output=True, text=True, encoding="utf-8", cwd=EXAMPLE)
        return json.loads(result.read_text(encoding="utf-8")), html.unescape(page.read_text(encoding="utf-8")), run.stdout


def check_outputs(gapline):
    """How many facts there were; everything that they say is in the toy's words, in every output."""
    n = 0
    for profiles in (("baseline.sqlite.gz", "fixed.sqlite.gz"), ("fixed.sqlite.gz", "baseline.sqlite.gz"),
                     ("--baseline", "runs/baseline-*.sqlite.gz", "--fixed", "runs/fixed-*.sqlite.gz")):
        result, page, terminal = report(gapline, *profiles)
        flat = re.sub(r"\s+", " ", terminal)
        for fact in facts_in(result):
            assert TOY.fullmatch(fact["text"]) and fact["text"].startswith(f"⟦{fact['id']}"), fact
        for fact in result["verdict"]["reasons"]:
            n += 1
            assert fact["text"] in page, fact
            assert re.sub(r"\s+", " ", fact["text"]) in flat, fact
        typical = [f for f in result["verdict"]["reasons"] if f["id"] == "typical_step"]
        assert "A typical step" not in page + terminal, typical
    return n


def check_help(gapline):
    """Help has no words but the catalogue's: options' names, usage and examples are no sentences."""
    word = re.compile(r"⟦[a-z*]+\.[a-z-]+⟧")
    text = subprocess.run([gapline, "help", "--json"], check=True, capture_output=True, text=True, encoding="utf-8").stdout
    commands = json.loads(text)["commands"]
    for command in commands:
        said = [command["summary"], command["about"], *(status["means"] for status in command["statuses"])]
        for words in said + [option["help"] for option in command["options"]]:
            assert all(word.fullmatch(one) for one in words.split()), (command["name"], words)
    assert len(commands) >= 17, commands


def main():
    n = check_outputs(pathlib.Path(sys.argv[1]).resolve())
    check_help(pathlib.Path(sys.argv[1]).resolve())
    assert n >= 8, n
    problems = [f"{path}: {text}" for path in DONE for text in sentences(path)]
    left = {str(p.relative_to(ROOT)): sentences(p) for f in FOLDERS for p in sorted((ROOT / "gen" / f).rglob("*.c"))}
    left = {path: found for path, found in left.items() if found and path not in DONE}
    if "-v" in sys.argv:
        print("\n".join(f"{len(found):4} {path}" for path, found in left.items()))
    print(f"check_toy: {n} facts in three reports; {sum(map(len, left.values()))} sentences in {len(left)} files are left")
    print("\n".join(problems))
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
