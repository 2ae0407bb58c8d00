#!/usr/bin/env python3
"""Whether a function of gen/ is too long or too winding to be read at once.

    check_functions.py [NUMBER]

Lines are counted from its name to its last brace. Complexity is T. J. McCabe's (A complexity measure, 1976) with each part
of a condition: 1, and 1 for each `if`, `for`, `while`, `switch`, `&&`, `||` and `?`; a switch's cases are one decision, as
rows of a table are. With a number, lists that many of the most complex ones, and judges nothing. Checks itself first.
"""

import pathlib
import re
import sys

MOST_LINES, MOST_COMPLEXITY = 80, 20
ROOT = pathlib.Path(__file__).resolve().parents[2]
DECISION = re.compile(r"\b(?:if|for|while|switch)\b|&&|\|\||\?")


def code_of(text):
    """Without comments, what preprocessors do, and what stands in quotes; lines stay."""
    blank = lambda m: "\n" * m[0].count("\n")
    text = re.sub(r"/\*.*?\*/|//[^\n]*", blank, text, flags=re.S)
    text = re.sub(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', "0", text)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", blank, text, flags=re.M)


def functions(text):
    """Complexity, lines and name of each. Its braces stand in the first column, and an empty line or a brace before it."""
    lines, head, begin = code_of(text).split("\n"), 0, None
    for i, line in enumerate(lines):
        if begin is not None and line.startswith("}"):
            body = "\n".join(lines[begin + 1 : i])
            yield 1 + len(DECISION.findall(body)), i - head + 1, name[1]
            begin = None
        elif begin is None and line == "{":
            name = re.search(r"(\w+)\(", "\n".join(lines[head:i]))
            begin = i if name else None
        if begin is None and (not line.strip() or line[0] in "};"):
            head = i + 1


def check_itself():
    made = 'static int f(int a,\n             int b)\n{\n\tif (a && "?") /* if */\n\t\treturn b ? 1 : 2;\n#if X\n#endif\n\treturn 0;\n}\n'
    assert list(functions(made)) == [(4, 9, "f")], list(functions(made))


def main():
    check_itself()
    found = [(*function, path.relative_to(ROOT)) for path in sorted((ROOT / "gen").rglob("*.[ch]"))
             for function in functions(path.read_text(encoding="utf-8"))]
    assert len(found) > 1000, len(found)
    if len(sys.argv) > 1:
        for complexity, lines, name, path in sorted(found, key=lambda f: f[:2], reverse=True)[: int(sys.argv[1])]:
            print(complexity, lines, name, path)
        return 0
    bad = [f"{path}: {name} has {lines} lines" for _, lines, name, path in found if lines > MOST_LINES]
    bad += [f"{path}: {name} has a complexity of {of}" for of, _, name, path in found if of > MOST_COMPLEXITY]
    print("\n".join(bad) or f"{len(found)} functions")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
