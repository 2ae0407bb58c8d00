"""A report as a reader sees it, for check_numbers.py: its tables, the words of its pictures, its sentences, and the data
that its script draws; and whether a number shown is a value rounded."""

import base64
import html.parser
import json
import re
import zlib

MS = {"ns": 1e-6, "µs": 1e-3, "ms": 1.0, "s": 1e3}
BYTES = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}


class Page(html.parser.HTMLParser):
    """Tables as lists of rows of (text, whole name), by section; the words of pictures, as (element, text); the text of
    everything outside of both; and the packed data."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.section, self.tables, self.texts, self.words = "", {}, {}, {}
        self.places = [] # of the sections, parts of sections and other boxes that are open
        self.cell = self.title = self.word = None
        self.data, self.quiet, self.picture, self.packed = "", 0, 0, False
        self.options = None # inside an option of a command line, which goes on with its sentence; False: right behind

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.options = True if attributes.get("class") == "option" else False if tag == "wbr" else None
        if tag in ("section", "div"):
            self.places.append(self.section)
            part = tag == "section" or attributes.get("class") == "part"
            self.section = attributes.get("id", self.section) if part else self.section
        if tag == "table":
            self.tables.setdefault(self.section, []).append({"caption": "", "rows": []})
        elif tag == "tr":
            self.tables[self.section][-1]["rows"].append({"class": attributes.get("class", ""), "cells": []})
        elif tag in ("td", "th", "caption"):
            self.cell, self.title = [], None
        elif tag in ("script", "style"):
            self.quiet += 1
            self.packed = attributes.get("id") == "data"
        elif tag == "svg":
            self.picture += 1
        elif self.picture and tag in ("text", "title", "desc"):
            self.word = []
        if self.cell is not None and "title" in attributes:
            self.title = attributes["title"]

    def handle_endtag(self, tag):
        self.options = False if self.options else None
        if tag in ("td", "th"):
            text = re.sub(r"\s+", " ", "".join(self.cell)).strip()
            self.tables[self.section][-1]["rows"][-1]["cells"].append((text, self.title or text))
            self.cell = None
        elif tag == "caption":
            self.tables[self.section][-1]["caption"] = "".join(self.cell)
            self.cell = None
        elif tag in ("script", "style"):
            self.quiet -= 1
            self.packed = False
        elif tag == "svg":
            self.picture -= 1
        elif self.word is not None and tag in ("text", "title", "desc"):
            self.words.setdefault(self.section, []).append((tag, "".join(self.word).strip()))
            self.word = None
        elif tag in ("section", "div"):
            self.section = self.places.pop()

    def handle_data(self, data):
        if self.packed:
            self.data += data
        if self.word is not None:
            self.word.append(data)
        elif self.quiet or self.picture:
            return
        elif self.cell is not None:
            self.cell.append(data)
        elif self.options is not None:
            self.texts[self.section][-1] += data
        else:
            self.texts.setdefault(self.section, []).append(data)


def shows(text, value, unit=1.0):
    """Whether a cell is the rounded value, both in the JSON's unit."""
    text = text.replace("\u2212", "-").replace("+", "")
    if text in ("", "\u2013"):
        return value == 0
    if text == "~0":
        return abs(value) < 0.5 * unit
    less = re.fullmatch(r"<(0\.\d+|1)", text)
    if less:
        return 0 < value <= float(less[1]) * unit
    found = re.fullmatch(r"(-?\d+)(?:\.(\d+))?( [kMGT]?B)?", text)
    if not found:
        return False
    scale = BYTES[found[3].strip()] if found[3] else unit
    half = 0.5 * 10 ** -len(found[2] or "") * scale
    return abs(float(text.split(" ")[0]) * scale - value) <= half * (1 + 1e-6) + 1e-9 * abs(value)


def drawn(page):
    """What the page's script draws (gen/render/pictures.h): for each side, its lanes with `ends` worked out."""
    data = json.loads(zlib.decompress(base64.b64decode(page.data)))
    names = {0: "", **dict(enumerate(data["names"], 1))}
    for side in data["sides"]:
        for lane in side["lanes"]:
            n = max([len(v) for v in lane.values() if isinstance(v, list)], default=1)
            for key in ("start", "length", "which", "name", "phase", "group", "call"):
                value = lane.get(key, 0)
                lane[key] = value if isinstance(value, list) else [value] * n
            lane["names"] = [names[i] for i in lane["name"]]
            lane["phases"] = [names[i] for i in lane["phase"]]
    return data


def check_quantile(check, cells, unit):
    """ "12.30 [12.10, 12.50]" a side, where there is an interval, and "-0.40 (-4.1 to -2.3 %)"."""
    name = cells[0][0]
    if not re.fullmatch(r"p\d\d", name):
        return False
    p, where = int(name[1:]) / 100, f"steps, {name}"
    sides = [next((q for q in side["steps"]["quantiles"] if q["p"] == p), None) for side in check.sides]
    change = next((q for q in check.result["verdict"]["quantiles"] if q["p"] == p), None)
    for (text, *_), q in zip(cells[1:3], sides):
        found = re.fullmatch(r"(\S+)(?: \[(\S+), (\S+)\])?", text)
        assert bool(found) == bool(q), f"{check.name}: {where}: {text}"
        if q:
            assert bool(found[2]) == (q["lo_ms"] is not None), f"{check.name}: {where}: {text}"
            for shown, key in zip(found.groups(), ("ms", "lo_ms", "hi_ms")):
                shown and check.expect(shown, q[key], unit, where)
    found = re.fullmatch(r"(\S*)(?: \((\S+) to (\S+) %\))?", cells[3][0])
    assert found and bool(found[1]) == bool(change), f"{check.name}: {where}: {cells[3][0]}"
    if change:
        check.expect(found[1], sides[1]["ms"] - sides[0]["ms"], unit, where)
        assert bool(found[2]) == bool(change["ci95"]), f"{check.name}: {where}: {cells[3][0]}"
        for shown, end in zip(found.groups()[1:], change["ci95"] or ()):
            check.expect(shown, 100 * (end - 1), 1, where)
    return True


def check_few_slowest(check, text):
    """Where there are too few slowest steps to say where they wait, it is one in a hundred, and fewer than five: the rest of `text`."""
    pattern = r"slowest 1 % of (\d+) (?:steps|requests) is (\d+): too few to say where they wait \(5 are needed\)"
    measured = [side["steps"]["measured"] for side in check.sides]
    for of, few in ((int(a), int(b)) for a, b in re.findall(pattern, text)):
        check.claim(of in measured and few == -(-of // 100) < 5, "slowest steps", text)
    return re.sub(pattern, "", text)
