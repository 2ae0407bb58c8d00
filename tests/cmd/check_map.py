#!/usr/bin/env python3
"""Whether the map in CONTRIBUTING.md is complete: every file of gen/ is named in its folder's list, and every name there
is that of a file. And whether a header says where its functions are: those of NAME.h, where there is a NAME.c, are
defined in there or in a part of it (NAME_*.c).

A list's names are the words in `backticks` of its lines: a file without its ending, or a pattern (`nsys*`) that stands
for those which no other name of the list fits.

And whether a hand-written file has more than 500 lines: there is more than one topic in it.
"""

import fnmatch
import pathlib
import re
import sys

HAND_WRITTEN = (".c", ".h", ".cu", ".py", ".mjs", ".js", ".css", ".sh")
MOST_LINES = 500
ROOT = pathlib.Path(__file__).resolve().parents[2]


def misplaced():
    """Functions that a header declares and another file than its own defines."""
    declared = re.compile(r"^(?!static|#|typedef)[A-Za-z_][\w *]*?[ *](\w+)\([^;{]*?\)[^;{]*;", re.M)
    defined = re.compile(r"^(?!static)[A-Za-z_][\w *]*?[ *](\w+)\([^;{]*?\)\n\{", re.M)
    where = {}
    for path in (ROOT / "gen").glob("*/**/*.c"):
        where.update((name, path) for name in defined.findall(path.read_text(encoding="utf-8")))
    for path in sorted((ROOT / "gen").glob("*/**/*.h")):
        if not path.with_suffix(".c").exists():
            continue
        text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.S)
        for name in declared.findall(text):
            of = where.get(name, path)
            if of.parent != path.parent or not re.fullmatch(rf"{path.stem}(_\w+)?", of.stem):
                yield f"{path.relative_to(ROOT)} declares {name}, which {of.relative_to(ROOT)} defines: give it a header"


def too_long():
    """Hand-written files of more lines than one topic takes."""
    for folder in ("gen", "tests", "tools", "assets", "workloads", "examples", "docs"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in HAND_WRITTEN and path.is_file() and "node_modules" not in path.parts:
                lines = path.read_bytes().count(b"\n")
                if lines > MOST_LINES:
                    yield f"{path.relative_to(ROOT)} has {lines} lines: make files of its topics"


def main():
    rows, names = {}, None
    for line in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").splitlines():
        folder = re.match(r"\*\*`(gen/[\w/]+)`\*\*: ", line)
        if folder:
            names = rows.setdefault(folder[1], [])
        elif line.startswith("- ") and names is not None:
            names += [re.sub(r"\.([ch]|def)$", "", name) for name in re.findall(r"`([\w*.]+)`", line)]
        elif line:
            names = None
    problems = []
    files = {}
    for path in sorted(p for kind in ("*.[ch]", "*.def") for p in (ROOT / "gen").glob(f"*/**/{kind}")):
        files.setdefault(str(path.parent.relative_to(ROOT)), set()).add(path.stem)
    for folder, stems in files.items():
        names = rows.get(folder, [])
        if not names:
            problems.append(f"{folder} has no list")
        for stem in sorted(stems):
            if names and not any(fnmatch.fnmatch(stem, name) for name in names):
                problems.append(f"{folder}/{stem} is not named in the list of {folder}: say in a few words what it does")
        for name in names:
            if not fnmatch.filter(stems, name):
                problems.append(f"the list of {folder} names `{name}`, which is no file there")
    for folder in rows:
        if folder not in files:
            problems.append(f"the map has a list for {folder}, which is no folder with sources")
    problems += [*misplaced(), *too_long()]
    print("\n".join(problems) or f"the map names all of {sum(map(len, files.values()))} files in {len(files)} folders")
    sys.exit(bool(problems) or not rows)


if __name__ == "__main__":
    main()
