#!/usr/bin/env python3
"""Whether docs/reference/messages.md and the ids in docs/reference/gapline.schema.json are those of the table of facts and the catalogue, and
whether the places in docs that the table names are there.

    check_messages.py MESSAGES [--refresh]

MESSAGES is the program tests/messages; --refresh writes both down.
"""
import json
import pathlib
import re
import subprocess
import sys

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
LIST = re.compile(r'("fact_id": \{\n +"enum": \[\n)(.*?)(\n +\]\n)', re.S)


def ask(*arguments):
    return subprocess.run([sys.argv[1], *arguments], check=True, capture_output=True, text=True, encoding="utf-8").stdout


def anchors(name):
    """The headings of a page as links name them."""
    text = (DOCS / name).read_text(encoding="utf-8")
    return {re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-") for heading in re.findall(r"^#+ (.*)$", text, re.M)}


def main():
    page, schema = DOCS / "reference" / "messages.md", DOCS / "reference" / "gapline.schema.json"
    said, ids = ask(), ask("--ids").split()
    old = schema.read_text(encoding="utf-8")
    new = LIST.sub(lambda m: m[1] + ",\n".join(f'        "{i}"' for i in ids) + m[3], old)
    if "--refresh" in sys.argv:
        page.write_text(said, encoding="utf-8")
        schema.write_text(new, encoding="utf-8")
        return
    problems = [f"{path} is not what ./dev refresh makes" for path, kept, made in
                ((page, page.read_text(encoding="utf-8") if page.exists() else "", said), (schema, old, new)) if kept != made]
    assert json.loads(new)["$defs"]["fact_id"]["enum"] == ids, "no list of ids in the schema"
    links = set(re.findall(r"^[a-z]+, [a-z]+\..* More: \[[^]]*\]\(\.\./([^)]*)\)", said, re.M))
    for link in sorted(links):
        name, _, anchor = link.partition("#")
        if not (DOCS / name).exists() or (anchor and anchor not in anchors(name)):
            problems.append(f"{link}: no such place in docs")
    assert len(links) > 3, links
    for heading in ids:
        if f"### `{heading}`\n" not in said:
            problems.append(f"{heading} is not in docs/reference/messages.md")
    problems += [f"not known, or no number: {line}" for line in said.splitlines() if re.search(r"\bnan\b|\binf\b|\(null\)", line)]
    print("\n".join(problems) or f"check_messages: {len(ids)} messages")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
