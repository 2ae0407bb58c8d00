#!/usr/bin/env python3
"""Whether programs and libraries are built so that a mistake in reading a hostile file is an end and not a way in.

    check_hardening.py GAPLINE [LIBRARY ...]

Read with readelf from each: position independent, all relocations read-only before it runs, no stack that can be executed,
checked stack frames and string functions, and on x86 places that indirect jumps may go to (whether they are held to them is
the kernel's and the C library's); and whether gapline.spdx.json beside the program names all that it is linked with. Status
77 with a sanitizer.
"""

import json
import pathlib
import re
import subprocess
import sys


def read(option, path):
    return subprocess.run(["readelf", "-W", option, path], capture_output=True, text=True, check=True).stdout


def lacks(path, is_program):
    header, segments, dynamic = read("-h", path), read("-l", path), read("-d", path)
    symbols = read("--dyn-syms", path)
    has = {
        "a position of its own": re.search(r"Type:\s+DYN", header) and (not is_program or "Flags: PIE" in re.sub("NOW ", "", dynamic)),
        "relocations that are read-only": "GNU_RELRO" in segments and re.search(r"BIND_NOW|Flags:.*\bNOW\b", dynamic),
        "a stack that is not executed": re.search(r"GNU_STACK.* RW +0x", segments),
        "no segment that is written and executed": not re.search(r"LOAD.* RWE ", segments),
        "checked stack frames": "__stack_chk_fail" in symbols,
        "no path of libraries": not re.search(r"\((RPATH|RUNPATH)\)", dynamic),
    }
    if is_program:
        has["checked string functions"] = re.search(r"__\w+_chk\b", symbols.replace("__stack_chk", ""))
    if "X86-64" in header:
        has["marked targets of jumps"] = open(path, "rb").read().count(b"\xf3\x0f\x1e\xfa") > 5  # endbr64
    return [what for what, there in has.items() if not there]


def main():
    if b"__asan_init" in open(sys.argv[1], "rb").read() or b"__tsan_init" in open(sys.argv[1], "rb").read():
        print("built with a sanitizer")
        sys.exit(77)
    bad = 0
    parts = pathlib.Path(sys.argv[1]).with_name("gapline.spdx.json")
    if parts.exists():
        names = {package["name"] for package in json.loads(parts.read_text())["packages"]}
        needed = re.findall(r"NEEDED.*\[lib(\w+?)[.-]", read("-d", sys.argv[1]))
        bad = sum(not any(library[:4] in name for name in names) for library in needed if library not in ("m", "c"))
        print(f"{parts.name}: {len(names)} packages for {len(needed)} libraries, {bad} missing")
    for i, path in enumerate(sys.argv[1:]):
        lacking = lacks(path, i == 0)
        bad += bool(lacking)
        print(f"{path}: {'has everything' if not lacking else 'lacks ' + ', '.join(lacking)}")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
