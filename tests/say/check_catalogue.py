#!/usr/bin/env python3
"""Whether the build fails where the catalogue and the table of facts do not agree.

    check_catalogue.py CATALOGUE

CATALOGUE is the program that turns the catalogue into C (tools/catalogue.c).
"""
import pathlib
import re
import subprocess
import sys
import tempfile

SAY = pathlib.Path(__file__).resolve().parents[2] / "gen" / "say"
BROKEN = (  # what is changed, into what, and what is said of it
    ("FACT(steps_vary,", "FACT(steps_wary,", "not in the table"),
    ("FACT(step_by_step, INFO, REASON, \"method/verdict.md#interval\")\ntext: ", "FACT(step_by_step, INFO, REASON, \"method/verdict.md#interval\")\nmeans: ", "step_by_step:0: no words for"),
    ("{speedup:speedup}", "{speed:speedup}", "no such parameter: speed"),
    ("about {apart:0}\n  count", "some\n  count", "a parameter that no form uses: apart"),
    ("{margin:g}", "{margin:ms}", "a style that does not fit: margin:ms"),
    ("{slow?1=One|*=", "{slow?1=One|2=", "a choice by number without \\*"),
    ("{why?found= ", "{why?lost= ", "not a key: lost"),
    ("|asked=, as --warmup asks}: first", "}: first", "a choice without words for: asked"),
    ("{least..most:1}", "{least..slow:1}", "a range of two kinds"),
    ("\\[{low}", "[{low}", "not closed"),
    ("twice: twice", "two: twice", "not a key of the list: two"),
    ("once: once\n", "", "no word for: once"),
    ("FACT(work_moved, DOUBT, REASON, \"method/verdict.md#interval\")\ntext:", "FACT(work_moved, DOUBT, REASON, \"method/verdict.md#interval\")\ntext: a\ntext:", "there are words for this already"),
    ("FACT(work_moved, DOUBT, REASON, \"method/verdict.md#interval\")\ntext:", "FACT(work_moved, DOUBT, REASON, \"method/verdict.md#interval\")\nshout: a\ntext:", "neither text, short, title, advice nor means: shout"),
    ("[help save]\ndoes:", "[help save]\ndo:", "neither does, usage, about, example, status nor --option"),
    ("[help save]\ndoes: keeps", "[help save]\n--keeps: keeps", "save:0: no words for: does"),
    ("FACT(could_have_shown,", "stray: words\nFACT(could_have_shown,", "not a key|neither text"),
)


def make(program, texts, folder):
    files = []
    for name, text in texts.items():
        files.append(folder / name)
        files[-1].write_text(text, encoding="utf-8")
    out = folder / "catalogue.c"
    out.unlink(missing_ok=True)
    run = subprocess.run([program, out, *files], capture_output=True, text=True, encoding="utf-8", check=False)
    assert (run.returncode == 0) == out.exists(), run
    return run


def main():
    program, texts = sys.argv[1], {path.name: path.read_text(encoding="utf-8") for path in sorted(SAY.glob("*.txt"))}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        good = make(program, texts, folder)
        assert good.returncode == 0 and not good.stderr, good.stderr
        for old, new, said in BROKEN:
            broken = {name: text.replace(old, new) for name, text in texts.items()}
            assert broken != texts, old
            run = make(program, broken, folder)
            assert run.returncode == 1 and re.search(said, run.stderr), (old, new, run.returncode, run.stderr)
    print(f"check_catalogue: {len(BROKEN)} mistakes end the build")


if __name__ == "__main__":
    main()
