#!/usr/bin/env python3
"""Which functions of gapline a corpus reaches, by file, from what libFuzzer says of it.

    build/fuzz/tests/fuzz_reader -runs=0 -print_coverage=1 CORPUS 2>&1 | tests/fuzz/reached.py [-v] [FOLDER or FILE of gen/ ...]

-v names the functions that are not reached.
"""

import collections
import re
import sys

LINE = re.compile(r"(UN)?COVERED_FUNC: hits: \d+ edges: \d+/\d+ (\S+) .*/gen/(\S+):\d+$")


def main():
    verbose = "-v" in sys.argv
    wanted = [word.removeprefix("gen/") for word in sys.argv[1:] if word != "-v"]
    reached, missed = collections.Counter(), collections.defaultdict(list)
    for line in sys.stdin:
        found = LINE.match(line.rstrip())
        if not found or (wanted and not found.group(3).startswith(tuple(wanted))):
            continue
        if found.group(1):
            missed[found.group(3)].append(found.group(2))
        else:
            reached[found.group(3)] += 1
    for path in sorted(reached.keys() | missed.keys()):
        print(f"{path}: {reached[path]} of {reached[path] + len(missed[path])} functions")
        if verbose and missed[path]:
            print("    not:", ", ".join(missed[path]))
    all_missed = sum(map(len, missed.values()))
    print(f"{sum(reached.values())} of {sum(reached.values()) + all_missed} functions")


if __name__ == "__main__":
    main()
