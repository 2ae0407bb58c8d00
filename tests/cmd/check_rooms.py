#!/usr/bin/env python3
"""Whether data flows one way: a file of gen/ includes headers of its own room and of rooms that stand before it in the
map of CONTRIBUTING.md, and a function that a room's header declares is defined in that room, so that no arrow of the
linker's runs another way. Prints every arrow, the room and those that it uses, with how many includes each is.
"""

import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
GEN = ROOT / "gen"
DECLARED = re.compile(r"^(?!static|#|typedef)[A-Za-z_][\w *]*?[ *](\w+)\([^;{]*?\)[^;{]*;", re.M)
DEFINED = re.compile(r"^(?!static)[A-Za-z_][\w *]*?[ *](\w+)\([^;{]*?\)\n\{", re.M)


def order():
    """The rooms as the map has them."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    return re.findall(r"^\*\*`gen/(\w+)`\*\*: ", text, re.M)


def without_comments(path):
    return re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.S)


def main():
    rooms = order()
    at = {room: i for i, room in enumerate(rooms)}
    files = {p: p.relative_to(GEN).parts[0] for p in sorted(GEN.glob("*/*.[ch]"))}
    problems = [f"gen/{room} is not in the map" for room in sorted(set(files.values()) - set(rooms))]
    defined, arrows = {}, collections.Counter()
    for path, room in files.items():
        if path.suffix == ".c":
            defined.update((name, room) for name in DEFINED.findall(path.read_text(encoding="utf-8")))
    for path, room in files.items():
        text = without_comments(path)
        for other in re.findall(r'#include "(\w+)/\w+\.h"', text):
            if other in at and other != room:
                arrows[room, other] += 1
                if at[other] > at[room]:
                    problems.append(f"{path.relative_to(ROOT)} includes a header of {other}, which comes after {room}")
        if path.suffix != ".h":
            continue
        problems += [f"{path.relative_to(ROOT)} declares {name}, which is defined in {defined[name]}"
                     for name in DECLARED.findall(text) if defined.get(name, room) != room]
    for room in rooms:
        used = [f"{other} {arrows[room, other]}" for other in rooms if arrows[room, other]]
        print(f"{room} -> {', '.join(used) or 'nothing'}")
    print("\n".join(problems))
    sys.exit(bool(problems) or len(files) < 300)


main()
