#!/usr/bin/env python3
"""Whether docs/reference/messages.md and the ids in docs/reference/gapline.schema.json are those of the table of facts and the catalogue, and
whether the places in docs that the table names are there.

    check_messages.py MESSAGES [--refresh]

MESSAGES is the program tests/messages; --refresh writes both down.
"""
import html
import json
import pathlib
import re
import subprocess
import sys

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
SAY = DOCS.parent / "gen" / "say"
LIST = re.compile(r'("fact_id": \{\n +"enum": \[\n)(.*?)(\n +\]\n)', re.S)


def ask(*arguments):
    return subprocess.run([sys.argv[1], *arguments], check=True, capture_output=True, text=True, encoding="utf-8").stdout


WRONG = re.compile(r"(?<!of )(?<!of the )\b1 (steps|runs|records|samples|phases|numbers|operations|hosts|collectives|ranks) |, \.|\S  \S")
# how many are needed or listed, which is never one; one that is said of two counts, of which this is neither
NEVER_ONE = {"nothing_measured", "too_few_steps", "too_few_spans", "no_rhythm_yet", "runs_as_long", "could_have_shown", "measure_in_turns",
             "more_steps", "more_runs", "rare_steps_unseen", "rows_added_up",
             "process_lacks"}
MOST_WORDS = 20  # of a sentence
UNITS = {"ns", "\u00b5s", "ms", "MB", "GB", "kB", "MHz"}


def long_sentences(text):
    """Sentences with more words than a reader takes in at once. A number with its unit, an option, a name in quotes and what
    stands in parentheses are no words; a semicolon ends a sentence, too."""
    for sentence in re.split(r"(?<=[.!?;])\s+", text):
        plain = re.sub(r"\u2039[^\u203a]*\u203a|`[^`]*`|'[^']{20,}'|\([^()]*(?:\)|$)", "", sentence)
        words = [w for w in plain.split() if re.search("[A-Za-z]{2}|^[aA]$", w) and w.strip(".,;:") not in UNITS and not w.startswith("--")]
        if len(words) > MOST_WORDS:
            yield f"{len(words)} words: {sentence}"


def prose(readme):
    """The README's paragraphs and list items, without code, tables and the addresses of links."""
    for line in re.sub(r"```.*?```", "", readme, flags=re.S).splitlines():
        if not line.startswith(("|", "#", "<", "!")):
            yield re.sub(r"\*\*|^([-*]|\d+\.) ", "", re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", line))


def help_texts():
    """What help says of commands and options; the lines of an exit status stay lines, and examples and usage are none."""
    kept = re.sub(r"\n  +", " ", (SAY / "help.txt").read_text(encoding="utf-8"))
    return re.findall(r"^(?:about|does|--[\w-]+): (.*)$", kept, re.M)


def page_texts():
    """The sentences of the page's template."""
    page = re.sub(r"<(script|style|pre).*?</\1>", "", (DOCS.parent / "templates" / "report.html").read_text(encoding="utf-8"), flags=re.S)
    for text in re.split(r"</?(?:p|li|t[dh]|summary|figcaption|h\d|div|section|d[td]|caption|label|button)\b[^>]*>", page):
        yield re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", "", text))).strip()


def anchors(name):
    """The headings of a page as links name them."""
    text = (DOCS / name).read_text(encoding="utf-8")
    return {re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-") for heading in re.findall(r"^#+ (.*)$", text, re.M)}


def main():
    page, schema = DOCS / "reference" / "messages.md", DOCS / "reference" / "gapline.schema.json"
    said, ends, ids = ask(), ask("--ends"), ask("--ids").split()
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
    for id, *lines in (part.splitlines() for part in ends.split("\n### ")[1:]):
        problems += [f"{id}: a plural beside 1, or a piece that is missing: {line}" for line in lines
                     if line.startswith("- ") and WRONG.search(line[2:]) and id.strip("`") not in NEVER_ONE]
    for heading in ids:
        if f"### `{heading}`\n" not in said:
            problems.append(f"{heading} is not in docs/reference/messages.md")
    problems += [f"not known, or no number: {line}" for line in (said + ends).splitlines() if re.search(r"\bnan\b|\binf\b|\(null\)", line)]
    assert list(long_sentences("a " * 21)) and not list(long_sentences("a " * 20 + "(b c) `d` 3 ms; " + "e " * 20))
    readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    for line in [line[2:] for line in (said + ends).splitlines() if line.startswith("- ")] + [*prose(readme), *help_texts(), *page_texts()]:
        problems += long_sentences(line)
    print("\n".join(problems) or f"check_messages: {len(ids)} messages")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
