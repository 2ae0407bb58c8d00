"""check_numbers.py GAPLINE BUILD_TESTS_DIR

Every number on the page is found in the JSON: tables cell by cell, with what they leave out, and the sentences. Reports
are those of fabricated analyses, of the example, and of the captures beside the repository where there are any."""

import html.parser
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CAPTURES = pathlib.Path(os.environ.get("GAPLINE_CAPTURES", ROOT.parent / "shared" / "captures"))
FIXTURES = ["pair", "devices", "no-steps", "inconclusive", "self", "large"]
PAIRS = ["torch-dataloader", "tiny-kernels-graph", "pinned-prefetch", "gpt2-mixed-precision", "ddp-2gpu"]
MS = {"ns": 1e-6, "µs": 1e-3, "ms": 1.0, "s": 1e3}
BYTES = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}


class Page(html.parser.HTMLParser):
    """Tables as lists of rows of (text, whole name), by section; and the text of everything outside tables."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.section, self.tables, self.texts = "", {}, {}
        self.cell = self.title = None
        self.quiet = 0

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "section":
            self.section = attributes["id"]
        elif tag == "table":
            self.tables.setdefault(self.section, []).append({"caption": "", "rows": []})
        elif tag == "tr":
            self.tables[self.section][-1]["rows"].append({"class": attributes.get("class", ""), "cells": []})
        elif tag in ("td", "th", "caption"):
            self.cell, self.title = [], None
        elif tag in ("script", "style", "svg"):
            self.quiet += 1
        if self.cell is not None and "title" in attributes:
            self.title = attributes["title"]

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            text = re.sub(r"\s+", " ", "".join(self.cell)).strip()
            self.tables[self.section][-1]["rows"][-1]["cells"].append((text, self.title or text))
            self.cell = None
        elif tag == "caption":
            self.tables[self.section][-1]["caption"] = "".join(self.cell)
            self.cell = None
        elif tag in ("script", "style", "svg"):
            self.quiet -= 1

    def handle_data(self, data):
        if self.quiet:
            return
        if self.cell is not None:
            self.cell.append(data)
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


def both(text):
    before, _, after = text.partition(" \u2192 ")
    return before, after or before


def whole_name(shown, names):
    """Even what the page calls a whole name is bounded, at 1000 characters."""
    if shown in names:
        return shown
    pattern = re.compile(".*".join(map(re.escape, shown.split("\u2026"))), re.DOTALL)
    fits = [name for name in names if pattern.fullmatch(name)]
    return fits[0] if len(fits) == 1 else shown


class Check:
    def __init__(self, name, page, result):
        self.name, self.page, self.result = name, page, result
        self.sides = [result["baseline"], result["fixed"]]
        self.cells = 0

    def expect(self, text, value, unit, where):
        self.cells += 1
        assert shows(text, value, unit), f"{self.name}: {where}: the page says {text!r}, the JSON {value!r}"

    def table(self, section, contains=""):
        found = [t for t in self.page.tables.get(section, []) if contains in t["caption"]]
        return found[0] if found else None

    def unit(self, table):
        return MS[re.search(r"(ns|µs|ms|s)(?: a (?:step|run)\b|;|$)", table["caption"])[1]]

    def compare(self, section, key_of, value_of, items, extra=lambda cells, key, unit: None):
        """Rows keyed by their header; two sides; the row `more` is what is left over, so that the sums are right."""
        table = self.table(section)
        if not table:
            assert not any(items[0]) and not any(items[1]), f"{self.name}: no table of {section}"
            return
        unit = self.unit(table)
        keyed = [{}, {}]
        for side in range(2):
            for item in items[side]:
                keyed[side][key_of(item)] = keyed[side].get(key_of(item), 0) + value_of(item)
        left = [dict(k) for k in keyed]
        for row in table["rows"][1:]:
            cells = row["cells"]
            if row["class"] == "more":
                values = [sum(side.values()) for side in left]
                n = len({k for side in left for k in side})
                assert cells[0][0] == f"and {n} more", f"{self.name}: {section}: {cells[0][0]}, not {n}"
            elif cells[0][0].startswith("All "):
                values = [sum(side.values()) for side in keyed]
            else:
                key = whole_name(cells[0][1], {k for side in left for k in side})
                assert key in keyed[0] or key in keyed[1], f"{self.name}: {section}: nobody knows {key!r}"
                values = [side.pop(key, 0) for side in left]
                extra(cells, key, unit)
            at = {"phases": 3, "idle": 3, "kernels": 2, "api": 2, "copies": 2, "waterfall": 2}[section]
            for i, value in enumerate((*values, values[1] - values[0])):
                self.expect(cells[at + i][0], value, unit, f"{section}, {cells[0][0]}")

    # ---- the tables ----

    def phases(self):
        table = self.table("phases")
        if not table:
            return
        of = [{p["name"]: p for p in side["phases"]} for side in self.sides]

        def extra(cells, key, unit):
            for at, field in ((6, "idle_ms_per_step"), (7, "gpu_ms_per_step"), (8, "host_ms_per_step")):
                for text, side in zip(both(cells[at][0]), of):
                    self.expect(text, side.get(key, {}).get(field, 0), unit, f"{field} of {key}")
            for text, side in zip(both(cells[1][0]), of):
                rank = side.get(key, {}).get("rank")
                assert text == ("\u2013" if rank is None else str(rank)), f"{self.name}: rank of {key}: {text}"

        self.compare("phases", lambda p: p["name"], lambda p: p["cost_ms_per_step"], [s["phases"] for s in self.sides], extra)

    def kernels(self):
        counts = [{}, {}]
        for side in range(2):
            for kernel in self.sides[side]["kernels"]:
                counts[side][kernel["name"]] = counts[side].get(kernel["name"], 0) + kernel["instances_per_step"]

        def extra(cells, key, unit):
            for text, side in zip(both(cells[5][0]), counts):
                self.expect(text, side.get(key, 0), 1, f"launches of {key}")

        self.compare("kernels", lambda k: k["name"], lambda k: k["ms_per_step"], [s["kernels"] for s in self.sides], extra)

    def api(self):
        self.compare("api", lambda c: c["name"], lambda c: c["ms_per_step"], [s["api"] for s in self.sides])

    def copies(self):
        table = self.table("copies")
        if not table:
            return
        unit, totals = self.unit(table), [0, 0, 0, 0]
        for row in table["rows"][1:]:
            cells = row["cells"]
            name = re.sub(", pageable memory$", "", cells[0][0])
            pageable = name != cells[0][0]
            words = {"host to device": "h2d", "device to host": "d2h", "device to device": "d2d", "memset": "memset"}
            for side in range(2):
                found = [c for c in self.sides[side]["copies"] if c["kind"] == words.get(name, c["kind"]) and c["pageable"] == pageable]
                if name not in words:
                    continue
                time = sum(c["ms_per_step"] for c in found)
                self.expect(cells[2 + side][0], time, unit, f"copies, {cells[0][0]}")
                self.expect(both(cells[5][0])[side], sum(c["instances_per_step"] for c in found), 1, f"copies, {cells[0][0]}")
                self.expect(both(cells[6][0])[side], sum(c["bytes_per_step"] for c in found), 1, f"bytes, {cells[0][0]}")

    def idle(self):
        """Causes have other words on the page: rows are matched by phase and by being the longest left."""
        table = self.table("idle")
        unit, left = self.unit(table), [list(s["budget"]["idle"]) for s in self.sides]
        rows = [{}, {}]
        for side in range(2):
            for row in left[side]:
                key = (row["cause"], row["phase"])
                rows[side][key] = rows[side].get(key, 0) + row["ms_per_step"]
        words = {}
        for row in table["rows"][1:]:
            cells = row["cells"]
            if row["class"] == "more":
                values = [sum(side.values()) for side in rows]
            elif cells[0][0].startswith("All "):
                values = [side["budget"]["per_step"]["idle"] for side in self.sides]
            else:
                head, cut, tail = cells[1][1].partition("\u2026")
                is_phase = lambda name: name.startswith(head) and name.endswith(tail) if cut else name == head
                keys = {k for side in rows for k in side if head == "\u2013" or is_phase(k[1] or "(between phases)")}
                label = cells[0][0].split(":")[0]
                fits = [k for k in keys if all(shows(cells[3 + i][0], rows[i].get(k, 0), unit) for i in range(2))]
                fits = [k for k in fits if words.get(label, k[0]) == k[0]]
                assert fits, f"{self.name}: idle: {cells}"
                key = max(fits, key=lambda k: max(side.get(k, 0) for side in rows))
                words[label] = key[0]
                values = [side.pop(key, 0) for side in rows]
            for i, value in enumerate((*values, values[1] - values[0])):
                self.expect(cells[3 + i][0], value, unit, f"idle, {cells[0][0]}")
        assert len(set(words.values())) == len(words), f"{self.name}: {words}"

    def waterfall(self):
        parts = self.result["waterfall"]
        table = self.table("waterfall", "each column adds up")
        if not parts:
            return
        unit, shown = self.unit(table), [0.0, 0.0]
        order = sorted(parts, key=lambda p: -max(p["baseline_ms"], p["fixed_ms"]))
        for row, part in zip(table["rows"][1:], order):
            cells = row["cells"]
            if row["class"] == "more":
                break
            for i, key in enumerate(("baseline_ms", "fixed_ms", "delta_ms")):
                self.expect(cells[2 + i][0], part[key], unit, f"waterfall, {cells[0][0]}")
        total = table["rows"][-1]["cells"]
        for i, side in enumerate(self.sides):
            headline = side["steps"]["period_ms"]["trimmed_mean"]
            self.expect(total[2 + i][0], headline, unit, "waterfall, a step")
            added = sum(p[("baseline_ms", "fixed_ms")[i]] for p in parts)
            assert abs(added - headline) < 1e-6 * headline, f"{self.name}: the waterfall's parts add up to {added}"

    def budget(self):
        table = self.table("waterfall", "The budget of each GPU")
        unit, rows = self.unit(table), table["rows"][1:]
        for side, label in zip(self.sides, ("baseline", "fixed")):
            devices = [d["per_step"] for d in side["devices"]]
            mine = [r["cells"] for r in rows if r["cells"][0][0] == label]
            for cells, device in zip(mine, [*devices[:16], side["budget"]["per_step"]]):
                for text, key in zip(cells[2:], ("compute", "comm_exposed", "copy_exposed", "idle", "period")):
                    self.expect(text[0], device[key], unit, f"budget, {label}")

    def steps(self):
        table = self.table("steps", "Measured periods")
        unit = self.unit(table)
        keys = {"trimmed mean": "trimmed_mean", "median": "median", "mean": "mean", "shortest": "min", "longest": "max"}
        for row in table["rows"][1:]:
            cells = row["cells"]
            values = [side["steps"]["period_ms"][keys[cells[0][0]]] for side in self.sides]
            for i, value in enumerate((*values, values[1] - values[0])):
                self.expect(cells[1 + i][0], value, unit, f"steps, {cells[0][0]}")

    # ---- sentences ----

    def numbers_of(self, value):
        if isinstance(value, bool) or value is None:
            return
        if isinstance(value, (int, float)):
            yield float(value)
        elif isinstance(value, str):
            yield from (float(n) for n in re.findall(r"\d+(?:\.\d+)?", value))
        else:
            for item in value.values() if isinstance(value, dict) else value:
                yield from self.numbers_of(item)

    def sentences(self):
        """Numbers in the verdict, the findings and their like: found in the same part of the JSON, as rounded there."""
        result, allowed = self.result, [95, 100, 0, 1, 2]
        parts = [result["verdict"], result["findings"], result["diagnosis"], result["waterfall"]]
        for side in self.sides:
            parts += [side["steps"], side["budget"], side["phases"], side["source"], side["data"], side["totals"], side["runs"]]
        known = sorted({*allowed, *(n for part in parts for n in self.numbers_of(part))})
        known += [n * 1e3 for n in known] + [n / 1e3 for n in known] + [n * 100 for n in known]
        for section in ("verdict", "findings"):
            for text in self.page.texts.get(section, []):
                for token in re.findall(r"(?<![\w.#-])\d+(?:\.\d+)?(?![\w.]*\w)", text.replace("\u00d7", " ")):
                    half = 0.5 * 10 ** -len(token.partition(".")[2])
                    self.cells += 1
                    assert any(abs(float(token) - n) <= half * 1.0001 for n in known), f"{self.name}: {section}: {token} in {text!r}"

    def run(self):
        for part in ("phases", "kernels", "api", "copies", "idle", "waterfall", "budget", "steps", "sentences"):
            getattr(self, part)()
        return self.cells


def reports(gapline, tests, folder):
    for fixture in FIXTURES:
        out = [subprocess.run([tests / "print_fixture", fixture, kind], capture_output=True, check=True).stdout for kind in ("html", "json")]
        yield fixture, *out
    pairs = {"example": ROOT / "examples" / "training-step"}
    pairs |= {name: CAPTURES / name for name in PAIRS if (CAPTURES / name).is_dir()}
    for name, pair in pairs.items():
        page, result = folder / "page.html", folder / "result.json"
        sides = [next(pair.glob(f"{side}.sqlite*")) for side in ("baseline", "fixed")]
        subprocess.run([gapline, "report", *sides, "-o", page, "--json", result, "--quiet"], check=True)
        yield name, page.read_bytes(), result.read_bytes()


def main():
    gapline, tests = (pathlib.Path(a).resolve() for a in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as folder:
        for name, page_bytes, json_bytes in reports(gapline, tests, pathlib.Path(folder)):
            page = Page()
            page.feed(page_bytes.decode())
            n = Check(name, page, json.loads(json_bytes)).run()
            assert n > 60, f"{name}: only {n} numbers compared"
            print(f"{name}: {n} numbers")


if __name__ == "__main__":
    main()
