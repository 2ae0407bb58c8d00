#!/usr/bin/env python3
"""The numbers of the search for steps: at most 30, all in gen/steps/step_rules.h, each with its reason beside it
and used; no literal or enum elsewhere in the search is one.

    check_step_rules.py

Literals that no data is held against are told by what they do: 0 and 1, halving and pairs (but not a share: `n * 2 >=
all` is one), shifts and multipliers of hashes, bits of a set of flags, lengths of a string that is compared. Which loops
of two sides are the same one (pattern_match, pattern_steps), and their names, are no part of the search. Checks itself
first. Prints what is wrong.
"""
import glob
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
GEN = os.path.join(HERE, "..", "..", "gen")
MOST = 30
OTHER = ("pattern_match", "pattern_steps", "pattern_names")  # not the search
RULE = re.compile(r"^\s*(?:#define (RULE_\w+) |(RULE_\w+) = )(?:[^/\n]*)(/\*.+\*/)?$", re.M)
LITERAL = re.compile(r"(?<![\w.])(?:0[xX][\da-fA-F]+|\d[\d.]*(?:[eE][-+]?\d+)?)[uUlLfF]*")
HARMLESS = (
    re.compile(r"(?<=, )\d+(?=\) == 0)"),
    re.compile(r"(?<![\w.])[01][uU]?(?![\w.])"),
    re.compile(r"(?<![\w.])1\. /"),  # a division of what is no floating-point number
    re.compile(r"0x[\dA-F]{16}u|0xff\b|\* 31;|(?:<<|>>) (?:29|32)\b"),
    re.compile(r"^\s*PATTERN_(?:WORK|HOST|INPUT|UPDATE|LOOKUP|CAPTURE|BREAK) = \d+,?\s*$"),
    re.compile(r"\bAT_ONCE = 32\b"),  # what the compiler compares side by side
)
SHARE = re.compile(r"\* *(?:\(\w+\))?2 *[<>]|[<>]=? *[^;?&|()]*/ 2\b|[<>]=? *2 \*")
PAIR = re.compile(r"(?<![\w.])2(?![\w.])")


def code_of(text):
    text = re.sub(r"/\*.*?\*/", lambda m: "\n" * m[0].count("\n"), text, flags=re.S)
    text = re.sub(r'"(?:\\.|[^"\\\n])*"', '""', text)
    return re.sub(r"^\s*#include.*$", "", text, flags=re.M)


def hidden(line):
    """Numbers of a line of code that data is held against."""
    line = line.replace("->", ".")
    for harmless in HARMLESS:
        line = harmless.sub(" ", line)
    if not SHARE.search(line):
        line = PAIR.sub(" ", line)
    return LITERAL.findall(line)


def check_itself():
    bad = ("if (n * 10 < of * 9)", "return x >= 0.95;", "enum { FEW = 3 };", "#define LEAST 0.75", "if (n * 2 >= all)",
           "\tif (n * (uint64_t)2 <= all)", "if (ops < s->n / 2)", "\tLONG = 4,", "x > 1e6", "n > 64")
    good = ("size_t *cut = ARENA_NEW(arena, n + 2, size_t);", "int64_t median = n ? of[n / 2] : 0;", "step *= 2)",
            "h ^= h >> 29;", "\tPATTERN_INPUT = 8,", 'strncmp(name, "", 20) == 0', "i + 1 < n && x > 0")
    return [f"not seen: {line}" for line in bad if not hidden(line)] + [f"{hidden(line)} in {line}" for line in good if hidden(line)]


def main():
    wrong = check_itself()
    with open(os.path.join(GEN, "steps", "step_rules.h")) as f:
        text = f.read()
    rules = [(a or b, why) for a, b, why in RULE.findall(text)]
    numbers = LITERAL.findall(re.sub(r"1 << ", "", code_of(text)))
    if len(numbers) != len(rules) or len(rules) > MOST:
        wrong.append(f"{len(numbers)} numbers in {len(rules)} rules, of which {MOST} at most are wanted")
    wrong += [f"{name}: no reason beside it" for name, why in rules if not why]
    source = ""
    for path in sorted(glob.glob(os.path.join(GEN, "*", "pattern*.[ch]"))):
        if os.path.basename(path).startswith(OTHER):
            continue
        with open(path) as f:
            code = code_of(f.read())
        source += code
        wrong += [f"{os.path.basename(path)}:{n}: {', '.join(hidden(line))} is no rule: {line.strip()}"
                  for n, line in enumerate(code.splitlines(), 1) if hidden(line)]
    wrong += [f"{name}: nothing asks for it" for name, _ in rules if not re.search(rf"\b{name}\b", source)]
    print(f"{len(rules)} rules")
    for line in wrong:
        print("FAILED", line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
