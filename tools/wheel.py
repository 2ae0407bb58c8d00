#!/usr/bin/env python3
"""A wheel of an installed tree, for `pip install`: the program, its libraries, manual pages and completions.

    wheel.py TREE VERSION PLATFORM FOLDER

TREE is what `cmake --install` made (bin, lib, share). It goes into the package `gapline` as it is, so that the program finds
its libraries beside itself; the command `gapline` starts it. Manual pages and completions go where the environment has
them. The same tree gives the same bytes; the clock is SOURCE_DATE_EPOCH.
"""

import base64
import hashlib
import os
import pathlib
import sys
import time
import zipfile

STARTER = '''"""Gapline: see `gapline help`. The program lies beside this file."""

import os
import sys


def main():
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "gapline")
    os.execv(program, ["gapline", *sys.argv[1:]])


if __name__ == "__main__":
    main()
'''


def files_of(tree, version, platform):
    """Names in the wheel, their bytes, and whether they are programs; without RECORD."""
    info = f"gapline-{version}.dist-info"
    yield "gapline/__init__.py", b"", False
    yield "gapline/__main__.py", STARTER.encode(), False
    for file in sorted(path for path in tree.rglob("*") if path.is_file()):
        name = file.relative_to(tree)
        if name.parts[0] in ("bin", "lib"):
            yield f"gapline/{name}", file.read_bytes(), name.parts[0] == "bin" or file.suffix == ".so"
        elif name.parts[1] == "doc":
            if name.name in ("copyright", "gapline.spdx.json"):
                yield f"{info}/licenses/{name.name}", file.read_bytes(), False
        else:
            yield f"gapline-{version}.data/data/{name}", file.read_bytes(), False
    readme = (tree / "share/doc/gapline/README.md").read_text(encoding="utf-8")
    metadata = (
        "Metadata-Version: 2.1\nName: gapline\n"
        f"Version: {version}\n"
        "Summary: Where a fix of a CUDA program saved time, and how sure that is\n"
        "License: MIT\nRequires-Python: >=3.6\n"
        "Classifier: License :: OSI Approved :: MIT License\n"
        "Classifier: Operating System :: POSIX :: Linux\n"
        "Classifier: Environment :: GPU :: NVIDIA CUDA\n"
        "Description-Content-Type: text/markdown\n\n"
    )
    yield f"{info}/METADATA", (metadata + readme).encode(), False
    wheel = f"Wheel-Version: 1.0\nGenerator: gapline tools/wheel.py\nRoot-Is-Purelib: false\nTag: py3-none-{platform}\n"
    yield f"{info}/WHEEL", wheel.encode(), False
    yield f"{info}/entry_points.txt", b"[console_scripts]\ngapline = gapline.__main__:main\n", False


def main():
    tree, version, platform, folder = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3].replace(".", "_"), pathlib.Path(sys.argv[4])
    clock = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), 315532800))[:6]  # a zip begins in 1980
    target = folder / f"gapline-{version}-py3-none-{platform}.whl"
    record = []
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:

        def add(name, data, is_program):
            entry = zipfile.ZipInfo(name, clock)
            entry.external_attr = (0o100755 if is_program else 0o100644) << 16
            entry.create_system = 3
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED, 9)

        for name, data, is_program in files_of(tree, version, platform):
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(data)}")
            add(name, data, is_program)
        name = f"gapline-{version}.dist-info/RECORD"
        add(name, ("\n".join(record + [f"{name},,"]) + "\n").encode(), False)


if __name__ == "__main__":
    main()
