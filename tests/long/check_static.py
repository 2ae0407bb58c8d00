#!/usr/bin/env python3
"""Runs a static analyser over the sources in gen/.

    check_static.py gcc|clang-tidy|cppcheck BUILD_DIR

BUILD_DIR holds compile_commands.json. Status 77 where the analyser is not installed.
"""

import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parents[2]
GCC = ["-fanalyzer", "-Werror"]
# Where gcc 12 is wrong: it takes memory of an arena, which is never NULL, for NULL, what is kept in a table for lost, a
# struct that a function returns for one that it only began, and an array that a loop filled for one that is still empty.
GCC_WRONG = {
    "-Wno-analyzer-null-dereference": ["same/possible.c", "steps/steps.c", "side/ranks.c", "capture/suite_state.c",
                                       "read/nsys_info.c", "stats/devices.c", "trace/columns.c"],
    "-Wno-analyzer-use-of-uninitialized-value": ["steps/pattern_calls.c", "charge/rank_steps.c", "side/timeline.c",
                                                 "capture/command_names.c", "render/json.c"],
    "-Wno-analyzer-malloc-leak": ["capture/spool_read.c", "inject/cupti_records.c"],
}
# Where cppcheck 2.10 is wrong: it sees neither how many items qsort takes nor what is set where a pointer was NULL, and
# takes two ends that begin at one place for a mistake; and it looks at what is compiled for processors that nobody has.
WRONG = ["--suppress=preprocessorErrorDirective:*/inject/native_ask.c", "--suppress=uninitvar:*/run/pattern.c", "--suppress=uninitvar:*/run/pattern_cuts.c",
         "--suppress=nullPointerRedundantCheck:*/inject/spool_events.c",
         "--suppress=duplicateAssignExpression:*/run/activity.c", "--suppress=duplicateAssignExpression:*/read/scrub_text.c"]
CPPCHECK = ["--enable=warning,portability", *WRONG, "--inline-suppr", "--quiet", "--error-exitcode=1", "--file-filter=*/gen/*"]


def all_of(commands):
    """Runs them, as many at once as there are processors; what those say that fail."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        done = pool.map(lambda c: subprocess.run(c[0], cwd=c[1], capture_output=True, text=True), commands)
        return [d.stdout + d.stderr for d in done if d.returncode]


def main():
    analyser, build = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    if not shutil.which(analyser):
        print(f"{analyser} is not installed: it looks at nothing")
        sys.exit(77)
    database = json.loads((build / "compile_commands.json").read_text())
    entries = [entry for entry in database if str(ROOT / "gen") in entry["file"]]
    if analyser == "cppcheck":
        found = all_of([(["cppcheck", f"--project={build}/compile_commands.json", "-j", "2", *CPPCHECK], build)])
    elif analyser == "clang-tidy":
        found = all_of([(["clang-tidy", "-p", str(build), "--quiet", entry["file"]], ROOT) for entry in entries])
    else:
        commands = []
        for entry in entries:
            words = [word for word in shlex.split(entry["command"]) if word != "ccache"]
            words[0], words[words.index("-o") + 1] = "gcc", "/dev/null"
            wrong = [flag for flag, files in GCC_WRONG.items() if any(entry["file"].endswith(f"/gen/{f}") for f in files)]
            commands.append((words + GCC + wrong, entry["directory"]))
        found = all_of(commands)
    print("\n".join(found))
    print(f"{analyser}: {len(entries)} sources, complaints about {len(found)}")
    sys.exit(bool(found) or not entries)


if __name__ == "__main__":
    main()
