"""check_numbers.py GAPLINE BUILD_TESTS_DIR

Every number on the page is found in the JSON: the main tables here, cell by cell, with what they leave out, and all the
rest in check_numbers_words.py, which lists what is not in the JSON and why. Reports are those of fabricated analyses, of
the examples, and of the captures beside the repository where there are any."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import facts
import tiny_profile
import tiny_samples
from check_numbers_words import TIME, Words, is_time
from page_numbers import MS, Page, check_quantile, shows

ROOT = pathlib.Path(__file__).resolve().parents[2]
CAPTURES = pathlib.Path(os.environ.get("GAPLINE_CAPTURES", ROOT.parent / "shared" / "captures"))
FIXTURES = ["pair", "devices", "no-steps", "inconclusive", "self", "stopwatch", "large"]
PAIRS = ["torch-dataloader", "tiny-kernels-graph", "pinned-prefetch", "gpt2-mixed-precision", "ddp-2gpu"]
COPIES = {
    "memset": "memset",
    "unknown direction": "unknown",
    "within the device": "d2d",
    "device to device": "p2p",
    "unified memory, to device": "um_h2d",
    "unified memory, to host": "um_d2h",
    "unified memory, between devices": "um_d2d",
}
COPIES |= {f"{a} to {b}": f"{a[0]}2{b[0]}" for a in ("host", "device", "array") for b in ("host", "device", "array") if {a, b} != {"device"}}


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


class Check(Words):
    def __init__(self, name, page, result):
        self.name, self.page, self.result, self.fabricated = name, page, result, name in FIXTURES
        self.sides = [result["baseline"], result["fixed"]]
        for steps in (side["steps"] for side in self.sides):
            steps["period_ms"] = steps["period_ms"] or steps["span_ms"]  # the page has both in one place
        self.cells = 0

    def expect(self, text, value, unit, where):
        self.cells += 1
        assert shows(text, value, unit), f"{self.name}: {where}: the page says {text!r}, the JSON {value!r}"

    def half_width(self, part):
        low, high = part["delta_ms_ci95"] or (0, 0)
        return (high - low) / 2

    def table(self, section, contains=""):
        found = [t for t in self.page.tables.get(section, []) if contains in t["caption"]]
        return found[0] if found else None

    def unit(self, table):
        return MS[re.search(r"(ns|µs|ms|s)(?: (?:a|per) (?:step|run)\b|;|$)", table["caption"])[1]]

    def compare(self, section, key_of, value_of, items, extra=lambda cells, key, unit: None, contains=""):
        """Rows keyed by their header; two sides; the row `more` is what is left over, so that the sums are right."""
        table = self.table(section, contains)
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
            if "more" in row["class"].split():
                values = [sum(side.values()) for side in left]
                n = len({k for side in left for k in side})
                assert cells[0][0] == f"and {n} more", f"{self.name}: {section}: {cells[0][0]}, not {n}"
            elif cells[0][0].startswith("All "):
                values = [sum(side.values()) for side in keyed]
            else:
                key = whole_name(cells[0][1], {k for side in left for k in side})
                assert key in keyed[0] or key in keyed[1], f"{self.name}: {section}: nobody knows {key!r}"
                parts = map(re.escape, cells[0][0].split("\u2026"))
                assert re.search(".*".join(parts), re.sub(r"\s+", " ", key)), f"{self.name}: {section}: {cells[0][0]!r} is not {key!r}"
                values = [side.pop(key, 0) for side in left]
                extra(cells, key, unit)
            at = {"phases": 3, "idle": 3, "kernels": 2, "api": 2, "nvtx": 2, "copies": 2}[section]
            for i, value in enumerate((*values, values[1] - values[0])):
                self.expect(cells[at + i][0], value, unit, f"{section}, {cells[0][0]}")

    # ---- the tables ----

    def phases(self):
        table = self.table("phases", "Phases")
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

        self.compare("phases", lambda p: p["name"], lambda p: p["cost_ms_per_step"], [s["phases"] for s in self.sides], extra, "Phases")

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
        calls = [{}, {}]
        for side in range(2):
            for call in self.sides[side]["api"]:
                calls[side].setdefault(call["name"], []).append(call["calls_per_step"])

        def extra(cells, key, unit):
            for text, side in zip(both(cells[5][0]), calls):
                self.expect(text, sum(side.get(key, [0])), 1, f"calls of {key}")

        self.compare("api", lambda c: c["name"], lambda c: c["ms_per_step"], [s["api"] for s in self.sides], extra)

    def nvtx(self):
        label = lambda r: f"{r['domain']}: {r['name']}" if r["domain"] is not None else r["name"]
        of = [{label(r): r for r in side["nvtx"]} for side in self.sides]

        def extra(cells, key, unit):
            for at, field, scale in ((5, "instances_per_step", 1), (6, "gpu_ms", unit)):
                for text, side in zip(both(cells[at][0]), of):
                    self.expect(text, side.get(key, {}).get(field, 0), scale, f"{field} of {key}")

        self.compare("nvtx", label, lambda r: r["host_ms"], [s["nvtx"] for s in self.sides], extra)

    def copies(self):
        table = self.table("copies")
        if not table:
            return
        unit = self.unit(table)
        for row in table["rows"][1:]:
            cells = row["cells"]
            name = re.sub(", pageable memory$", "", cells[0][0])
            pageable = name != cells[0][0]
            kind = COPIES[name]
            times = [0, 0]
            for side in range(2):
                found = [c for c in self.sides[side]["copies"] if c["kind"] == kind and c["pageable"] == pageable]
                times[side] = sum(c["ms_per_step"] for c in found)
                self.expect(cells[2 + side][0], times[side], unit, f"copies, {cells[0][0]}")
                self.expect(both(cells[5][0])[side], sum(c["instances_per_step"] for c in found), 1, f"copies, {cells[0][0]}")
                self.expect(both(cells[6][0])[side], sum(c["bytes_per_step"] or 0 for c in found), 1, f"bytes, {cells[0][0]}")
            self.expect(cells[4][0], times[1] - times[0], unit, f"copies, {cells[0][0]}")

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
            if "more" in row["class"].split():
                values, n = [sum(side.values()) for side in rows], len({k for side in rows for k in side})
                assert cells[0][0] == f"and {n} more", f"{self.name}: idle: {cells[0][0]}, not {n}"
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

    def budget(self):
        table = self.table("phases", "Budget of each GPU")
        unit, rows = self.unit(table), table["rows"][1:]
        for side, label in zip(self.sides, ("baseline", "fixed")):
            devices = [d["per_step"] for d in side["devices"]]
            mine = [r["cells"] for r in rows if r["cells"][0][0] == label]
            for cells, device in zip(mine, side["devices"]):
                gpu = rf"(GPU )?{device['id']}(: .*)?, process {device['process']}|rank \d+.*|mean of {len(devices)}"
                assert re.fullmatch(gpu, cells[1][0]), f"{self.name}: budget: {cells[1][0]}"
            for cells, device in zip(mine, [*devices[:16], side["budget"]["per_step"]]):
                for text, key in zip(cells[2:], ("compute", "comm_exposed", "copy_exposed", "idle", "period")):
                    self.expect(text[0], device[key], unit, f"budget, {label}")

    def ranks(self):
        table = self.table("ranks", "Ranks")
        if not table:
            assert not any(side["ranks"] for side in self.sides), f"{self.name}: no table of ranks"
            return
        unit, rows = self.unit(table), table["rows"][1:]
        for side, label in zip(self.sides, ("baseline", "fixed")):
            mine = [r["cells"] for r in rows if r["cells"][0][0] == label and "more" not in r["class"].split()]
            ranks = side["ranks"]["list"] if side["ranks"] else []
            assert len(mine) >= min(len(ranks), 100), f"{self.name}: ranks: {len(mine)} rows"
            for cells, rank in zip(mine, ranks):
                budget = side["devices"][rank["device"]]["per_step"]
                own = {"compute": budget["compute"], "idle": budget["idle"]}
                keys = ("own", "waited_for", None, "compute", "waiting", "bubble", "moving", "unmatched", "overlapped", "idle")
                for text, key in zip(cells[2:], keys):
                    if key:
                        self.expect(text[0], own.get(key, rank.get(f"{key}_ms_per_step")), unit, f"ranks, {label}, {key}")
                if cells[4][0] != "\u2013":
                    self.expect(cells[4][0].replace(" %", ""), 100 * rank["last_share"], 1, f"ranks, {label}, last")

    def communication(self):
        table = self.table("ranks", "Communication")
        if not table:
            assert not any((side["ranks"] or {}).get("communication") for side in self.sides), f"{self.name}: no table of communication"
            return
        unit = self.unit(table)
        for side, label in zip(self.sides, ("baseline", "fixed")):
            mine = [r["cells"] for r in table["rows"][1:] if r["cells"][0][0] == label]
            of = (side["ranks"] or {}).get("communication", [])
            assert len(mine) == len(of), f"{self.name}: communication: {len(mine)} rows"
            for cells, row in zip(mine, of):
                where = f"communication, {label}, {row['name']}"
                keys = ("waiting", "moving", "exposed", "overlapped")
                values = [row["communicator"], row["ranks"], row["per_step"], *(row[f"{key}_ms_per_step"] for key in keys)]
                for i, value in enumerate(values):
                    text = cells[2 + i][0]
                    if text == "\u2013":
                        assert not value or not row["matched_share"], f"{self.name}: {where}: {i}"
                    else:
                        self.expect(text, value, unit if i > 2 else 1, where)
                for text, value, one in (cells[10][0], row["bytes"], 1), (cells[11][0], row["bus_bandwidth_gb_per_s"], 1e9):
                    assert (text == "\u2013") == (value is None), f"{self.name}: {where}: {text}, {value}"
                    value is None or self.expect(text.replace("/s", ""), value * one, 1, where)

    def steps(self):
        table = self.table("steps", "Measured ")
        unit = self.unit(table)
        keys = {"time per step": "mean", "time per run": "mean", "typical": "typical", "median": "median", "shortest": "min", "longest": "max"}
        for cells in (row["cells"] for row in table["rows"][1:] if not check_quantile(self, row["cells"], unit)):
            name = cells[0][0]
            known = [{"time per step, timed": side["steps"]["stopwatch_ms"], "time per run, timed": side["steps"]["stopwatch_ms"], "profiled": side["steps"]["recorded_ms"]} for side in self.sides]
            values = [k[name] if name in k else side["steps"]["period_ms"][keys[name]] for k, side in zip(known, self.sides)]
            for i, value in enumerate((*values, values[1] - values[0])):
                self.expect(cells[1 + i][0], value, unit, f"steps, {cells[0][0]}")

    def startup(self):
        """Parts have other words on the page: by the longer of their two times, as the table has them."""
        of = [side["startup"] for side in self.sides]
        table = self.table("startup")
        assert bool(table) == any(s["ms"] > 0 for s in of), f"{self.name}: table of the start-up"
        if not table:
            return
        unit, known = self.unit(table), [s["ms"] > 0 for s in of]
        parts = [{row["cause"]: row["ms"] for row in s["causes"]} for s in of]
        for s, row in zip(of, parts):
            assert abs(sum(row.values()) - s["ms"]) <= 1e-9 * s["ms"], f"{self.name}: the start-up's parts add up to {sum(row.values())}"
            assert s["min_ms"] <= s["ms"] * (1 + 1e-12) and s["ms"] <= s["max_ms"] * (1 + 1e-12), f"{self.name}: start-up: {s}"
        causes = sorted({*parts[0], *parts[1]}, key=lambda cause: -max(row.get(cause, 0) for row in parts))
        values = [[row.get(cause, 0) for row in parts] for cause in causes] + [[s["ms"] for s in of]]
        rows = [row["cells"] for row in table["rows"][1:]]
        assert len(rows) == len(values), f"{self.name}: start-up: {len(rows)} rows"
        for cells, value in zip(rows, values):
            where = f"start-up, {cells[0][0]}"
            for i in range(2):
                if known[i]:
                    self.expect(cells[2 + i][0], value[i], unit, where)
                else:
                    assert cells[2 + i][0] == "unknown", f"{self.name}: {where}"
            if all(known):
                self.expect(cells[4][0], value[1] - value[0], unit, where)
        labels = dict(zip((cells[0][0] for cells in rows), values))
        for tag, text in self.page.words["startup"]:
            heading = re.fullmatch(r"(baseline|fixed)(?:: .*)?, (\S+ \S+)", text)
            part = re.fullmatch(r"(.*): (\S+ \S+)", text)
            if heading:
                self.claim(is_time(heading[2], of[heading[1] == "fixed"]["ms"]), "start-up", text)
            elif part and part[1] in labels:
                self.claim(any(is_time(part[2], value) for value in labels[part[1]]), "start-up", text)
            elif re.search(r"\d", text):
                self.claim(any(is_time(text, value) for values in labels.values() for value in values), "start-up", text)

    def functions(self):
        """Functions that the GPU waited for: in the order of the JSON, all of them and by cause; what is not shown is left
        over, so that a list's times add up to what the JSON says was sampled."""
        found = self.result.get("functions")
        tables = self.page.tables.get("functions", [])
        if not found:
            assert not tables, f"{self.name}: a table of functions"
            return
        everything, by_cause = tables
        labels, unit = ("baseline", "fixed"), self.unit(everything)
        mine, title = self.function_row, lambda c: f"in {c['phase']}" if c["phase"] else "between"
        whole = [found["sampling"][label]["ms_per_step"] for label in labels]
        of, listed, shown = whole, list(found["functions"]), [0, 0]
        for row in everything["rows"][1:]:
            if "more" in row["class"].split():
                n = len(listed) + found["left_out"]
                assert row["cells"][0][0] == f"and {n} more", f"{self.name}: functions: {row['cells'][0][0]}, not {n}"
                if not found["left_out"]:
                    mine(row["cells"], self.added(listed), of, unit, False)
                listed = []
            else:
                mine(row["cells"], listed.pop(0), of, unit)
        assert not listed, f"{self.name}: {len(listed)} functions are missing"
        causes = list(found["causes"])
        for row in by_cause["rows"][1:] if causes else []:
            cells, words = row["cells"], row["class"].split()
            if "group" in words:
                assert not listed, f"{self.name}: functions of a cause are missing: {listed}"
                cause = causes.pop(0)
                assert title(cause) in cells[0][0], f"{self.name}: functions: {cells[0][0]!r} is not {title(cause)!r}"
                listed, of = list(cause["functions"]), [cause[label]["ms_per_step"] for label in labels]
                nobody = [cause[label]["ms_per_step"] - cause[label]["sampled_ms"] for label in labels]
                sums = {label: {"self_ms": ms} for label, ms in zip(labels, of)}
                mine(cells, sums, of, unit, False)
            elif cells[0][0] == "no sample":
                mine(cells, {label: {"self_ms": max(ms, 0)} for label, ms in zip(labels, nobody)}, of, unit, False)
            elif "more" in words:
                n = len(listed) + cause["left_out"]
                assert cells[0][0] == f"and {n} more", f"{self.name}: functions: {cells[0][0]}, not {n}"
                if not cause["left_out"]:
                    mine(cells, self.added(listed), of, unit, False)
                listed = []
            else:
                mine(cells, listed.pop(0), of, unit)
        assert not causes and not listed, f"{self.name}: functions by cause are missing"
        self.icicle(found["stacks"])

    def samples(self, text):
        """How many samples there are, and of how many something is missing: what is left of the text."""
        found = re.fullmatch(r"(baseline|fixed): (.*)", text)
        if not found or found[2] == "no samples.":
            return text
        of, idle = self.result["functions"]["sampling"][found[1]], lambda key: lambda of: 100 * of[key] / of["in_idle"]
        patterns = {
            r"^(\d+) samples of threads": lambda of: of["samples"], r"the GPU waited in (\d+) of them": lambda of: of["in_idle"],
            r"They stand for (\S+) % of": lambda of: 100 * of["sampled_share"],
            r"Of these (\S+) % have unknown callers": idle("without_callers"),
            r"(\S+) % are in code without symbols": idle("without_symbol"),
            r"(\S+) % have no stack": idle("without_stack"),
            r"Samples cover (\S+) % of that idle time": lambda of: 100 * of["covered_share"],
            r"(\d+) samples lack": lambda of: of["cut"],
            r"In (\S+) % of the idle time nothing looked": lambda of: 100 * of["gil_unlooked_ms_per_step"] / self.result[found[1]]["budget"]["per_step"]["idle"],
        }  # fmt: skip
        text = found[2]
        every = re.search("one every " + TIME, text)
        self.claim(every and is_time(every[0].removeprefix("one every "), of["interval_ms"]), "functions", text)
        text = text.replace(every[0], "")
        for pattern, value in patterns.items():
            number = re.search(pattern, text)
            if number:
                self.claim(shows(number[1], value(of)), "functions", f"{number[0]} in {text}")
                text = text.replace(number[0], "")
        return text

    def icicle(self, parts):
        """What a part of the picture says of itself: its times."""
        times = r"(?P<name>.*): (?P<a>\S+)(?: \u2192 (?P<b>\S+))? (?P<unit>ns|\u00b5s|ms|s) per (?:step|run), "
        titles = [re.match(times, text) for tag, text in self.page.words["functions"] if tag == "title"]
        titles = [t for t in titles if t]
        assert titles, f"{self.name}: no part of the picture says how long it is"
        for t in titles:
            shown = [t["a"], t["b"] or t["a"]]
            fits = lambda p: all(shows(text, p[label]["total_ms"], MS[t["unit"]]) for text, label in zip(shown, ("baseline", "fixed")))
            alike = [p for p in parts if fits(p)]
            if not t["name"].startswith(("\u25bc", "(", "host code", "others")):
                name = (t["name"].rpartition(" (")[0] or t["name"]).split(" \u2192 ")[-1]
                alike = [p for p in alike if p.get("name") is None or self.is_name(name, p["name"])]
            self.claim(alike, "functions, picture", t[0])

    @staticmethod
    def added(functions):
        return {label: {"self_ms": sum(f[label]["self_ms"] for f in functions)} for label in ("baseline", "fixed")}

    def function_row(self, cells, function, of, unit, whole=True):
        where = f"functions, {cells[0][0]}"
        own = [function[label]["self_ms"] for label in ("baseline", "fixed")]
        shares = both(cells[2][0])
        if "\u2192" not in cells[2][0]: # of one side, the other has no samples, or none of this cause
            own_of = [side for side, ms in enumerate(of) if ms > 0]
            shares = ["\u2013" if side not in own_of else shares[0] for side in range(2)]
        for text, ms, all_ms in zip(shares, own, of):
            if text != "\u2013":
                self.expect(text.replace(" %", ""), 100 * ms / all_ms, 1, f"{where}, share")
        for cell, ms in zip(cells[3:6], (*own, own[1] - own[0])):
            if cell[0] != "\u2013":
                self.expect(cell[0], ms, unit, where)
        if not whole:
            return
        name = {"function": function["name"], "module": f"{function['module']} (no symbols)", "broken": "(callers unknown)",
                "cut": "(callers too deep)", "unknown": "(unknown)"}[function["kind"]]  # fmt: skip
        self.claim(self.is_name(cells[0][1], name) or self.is_name(cells[0][0], name), "functions", cells[0][0])
        if function["module"]:
            self.claim(self.is_name(cells[1][1], function["module"]), "functions", cells[1][0])
        for text, label in zip(both(cells[6][0]), ("baseline", "fixed")):
            if text != "\u2013":
                self.expect(text, function[label]["total_ms"], unit, f"{where}, with what it calls")

    def run(self):
        for part in ("startup", "functions", "phases", "kernels", "api", "nvtx", "copies", "idle", "budget", "ranks", "communication", "steps"):
            getattr(self, part)()
        self.run_words()
        return self.cells


def reports(gapline, tests, folder):
    for fixture in FIXTURES:
        out = [subprocess.run([tests / "print_fixture", fixture, kind], capture_output=True, check=True).stdout for kind in ("html", "json")]
        yield fixture, *out
    example = ROOT / "examples" / "training-step"
    pairs = {"example": example, "runs": example / "runs"}
    pairs |= {name: CAPTURES / name for name in PAIRS if (CAPTURES / name).is_dir()}
    for name, pair in pairs.items():
        page, result = folder / "page.html", folder / "result.json"
        sides = [next(pair.glob(f"{side}.sqlite*"), None) for side in ("baseline", "fixed")]
        if not all(sides):
            sides = [f"--baseline={pair}/baseline-*", f"--fixed={pair}/fixed-*"]
        subprocess.run([gapline, "report", *sides, "-o", page, "--json", result, "--quiet"], check=True)
        yield name, page.read_bytes(), result.read_bytes()
    sides, page, result = [folder / f"{side}.sqlite" for side in ("baseline", "fixed")], folder / "page.html", folder / "result.json"
    for side, lengths in zip(sides, ((2000, 3000, 5000), (2000, 3100, 1500))):
        sampled(side, lengths)
    subprocess.run([gapline, "report", *sides, "-o", page, "--json", result, "--quiet"], check=True)
    yield "functions", page.read_bytes(), result.read_bytes()


def sampled(path, lengths):
    """A profile whose steps wait for more functions than a list shows."""
    us, library = 1000, "/opt/acme/lib/libdata.so"
    tiny_profile.write(path, steps=300, load=sum(lengths) * us, jitter=100 * us, kernels=40, seed=1)
    read, parse, augment = lengths
    parts = [(f"parse > {name}_value", library, parse * us // 20) for name in "abcdefghijklmnopqrst"]
    tiny_samples.add(path, [("read_file > fread", "/usr/lib/libc.so.6", read * us), *parts, ("augment", library, augment * us)])


def main():
    gapline, tests = (pathlib.Path(a).resolve() for a in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as folder:
        for name, page_bytes, json_bytes in reports(gapline, tests, pathlib.Path(folder)):
            page = Page()
            page.feed(page_bytes.decode())
            n = Check(name, page, json.loads(json_bytes, object_hook=facts.text)).run()
            assert n > 60, f"{name}: only {n} numbers compared"
            print(f"{name}: {n} numbers")


if __name__ == "__main__":
    main()
