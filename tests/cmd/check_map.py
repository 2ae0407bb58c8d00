#!/usr/bin/env python3
"""Whether the map in CONTRIBUTING.md is complete: every file of gen/ is named in its folder's row, and every name there
is that of a file. And whether a header says where its functions are: those of NAME.h, where there is a NAME.c, are
defined in there or in a part of it (NAME_*.c).

A row's names are the words in `backticks` of its last column: a file without its ending, or a pattern (`nsys*`) that
stands for those which no other name of the row fits.
"""

import fnmatch
import pathlib
import re
import sys

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


def main():
    rows = {}
    for line in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").splitlines():
        row = re.fullmatch(r"\| `(gen/[\w/]+)` \|.*\| (.*) \|", line)
        if row:
            rows[row[1]] = [re.sub(r"\.[ch]$", "", name) for name in re.findall(r"`([\w*.]+)`", row[2])]
    problems = []
    files = {}
    for path in sorted((ROOT / "gen").glob("*/**/*.[ch]")):
        files.setdefault(str(path.parent.relative_to(ROOT)), set()).add(path.stem)
    for folder, stems in files.items():
        names = rows.get(folder, [])
        if not names:
            problems.append(f"{folder} has no row")
        for stem in sorted(stems):
            if names and not any(fnmatch.fnmatch(stem, name) for name in names):
                problems.append(f"{folder}/{stem} is not named in the row of {folder}: say in a few words what it does")
        for name in names:
            if not fnmatch.filter(stems, name):
                problems.append(f"the row of {folder} names `{name}`, which is no file there")
    for folder in rows:
        if folder not in files:
            problems.append(f"the map has a row for {folder}, which is no folder with sources")
    problems += misplaced()
    print("\n".join(problems) or f"the map names all of {sum(map(len, files.values()))} files in {len(files)} folders")
    sys.exit(bool(problems) or not rows)


if __name__ == "__main__":
    main()
