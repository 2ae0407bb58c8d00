#!/usr/bin/env python3
"""Names with characters that show as nothing: every output shows their escapes, and none of them holds the characters.

    check_invisible.py GAPLINE

Which characters those are is asked of Python's own tables: what is of the category Cf, Zl or Zp.
"""

import contextlib
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import unicodedata

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tiny_profile  # noqa: E402

GAPLINE = pathlib.Path(sys.argv[1]).resolve()
HIDDEN = "load\u200b\u2060\ufeff\u2028\u2029\u00ad\U000e0041\U000e007f"
SHOWN = r"load\u200B\u2060\uFEFF\u2028\u2029\u00AD\U000E0041\U000E007F"
SEEN = ("ARABIC", "SYRIAC", "KAITHI", "EGYPTIAN")  # signs of these scripts that number or join what follows can be seen


def is_invisible(c):
    is_mark = c == "\u061c" or unicodedata.name(c, "").split(" ")[0] not in SEEN
    return unicodedata.category(c) in ("Cf", "Zl", "Zp") and is_mark


def invisible(text):
    return sorted({f"U+{ord(c):04X}" for c in text if is_invisible(c)})


def name_it(path, name):
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE NVTX_EVENTS SET text = ? WHERE text = 'data_load'", (name,))
        db.execute("UPDATE StringIds SET value = ? WHERE value LIKE 'gemm%'", (name + "_kernel",))
        db.commit()


def check(folder, hidden, shown):
    sides = [folder / "a.sqlite", folder / "b.sqlite"]
    for seed, path in enumerate(sides):
        path.unlink(missing_ok=True)
        tiny_profile.write(path, seed=seed + 1, load=400_000 - 200_000 * seed)
        name_it(path, hidden)
    outputs = [folder / f"out.{end}" for end in ("html", "json", "md", "xml", "svg")]
    options = [w for o, path in zip(("-o", "--json", "--markdown", "--junit", "--svg"), outputs) for w in (o, path)]
    done = subprocess.run([GAPLINE, "report", *sides, "--step", "step", "--title", hidden, "--baseline-name", hidden, *options],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    texts = {path.name: path.read_text() for path in outputs} | {"terminal": done.stdout}
    wrong = {kind: found for kind, text in texts.items() if (found := invisible(text))}
    assert not wrong, wrong
    for kind in texts.keys() - {"out.xml", "out.svg"}:  # these name neither ranges nor kernels; Markdown escapes backslashes
        assert shown.replace("\\", "") in texts[kind].replace("\\", ""), f"{kind} lacks {shown}"
    return len(texts)


def main():
    every = "".join(chr(c) for c in range(0x110000) if invisible(chr(c)))
    with tempfile.TemporaryDirectory(prefix="gapline-invisible-") as name:
        n = check(pathlib.Path(name), HIDDEN, SHOWN)
        check(pathlib.Path(name), every, r"\u200B")
    print(f"{n} outputs, {len(every)} characters: all of them escapes, or U+FFFD")
    return 0


sys.exit(main())
