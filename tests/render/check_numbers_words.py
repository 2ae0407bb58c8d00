"""What check_numbers.py says of everything but the main tables: the environment, runs, clocks and data quality, the words
of every picture, and all sentences. Numbers that are not in the JSON, each for a reason:

- ticks of axes: they say where a place on the axis is, not what was measured. They are equally far apart.
- constants of the method: 95 % of the interval, 2 % that count as unchanged, the line at 1x of the speedup's picture.
- the GPUs that are drawn of many (gen/render/pictures.h), and how many texts, rows and files a list shows before it says how
  many more there are: what a list leaves out is counted from the JSON.
- durations of the single events in the timeline: the JSON has only sums. They are found in the page's packed data, by
  name, which is what the script draws (gen/render/pictures.h).
- numbers inside names of kernels, files, threads, streams and GPUs."""

import re

from page_numbers import MS, check_few_slowest, drawn, shows

TIME = r"((?:<|~)?\d+(?:\.\d+)?) (ns|µs|ms|s)\b"
CONSTANTS = [95, 2, 1, 0]
DRAWN_GPUS = range(1, 9)
MOST_TEXTS, MOST_RUNS, MOST_BARS = 24, 40, 9


def is_time(text, value):
    """`value` in ms."""
    found = re.fullmatch(TIME, text)
    return bool(found) and shows(found[1], value, MS[found[2]])


class Words:
    def claim(self, ok, where, text):
        self.cells += 1
        assert ok, f"{self.name}: {where}: {text!r} is not in the JSON"

    def is_name(self, shown, name):
        """A name is shortened in its middle, several times where it is nested."""
        return shown == name or re.fullmatch(".*".join(map(re.escape, shown.split("\u2026"))), name, re.DOTALL) is not None

    # ---- tables ----

    def work(self):
        table = self.table("environment", "Work per ")
        keys = {
            "kernel launches": "launches_per_step",
            "CUDA graph launches": "graph_launches_per_step",
            "communication kernels": "collectives_per_step",
            "synchronising calls": "sync_calls_per_step",
            "NVTX ranges": "nvtx_ranges_per_step",
            "bytes, host to device": "h2d_bytes_per_step",
            "bytes, device to host": "d2h_bytes_per_step",
            "bytes, between and within devices": "d2d_bytes_per_step",
        }
        assert [row["cells"][0][0] for row in table["rows"][1:]] == list(keys)
        for row in table["rows"][1:]:
            cells = row["cells"]
            values = [side["totals"][keys[cells[0][0]]] for side in self.sides]
            if None in values:
                self.claim([cell[0] == "unknown" for cell in cells[1:3]] == [v is None for v in values], "work", cells[0][0])
                continue
            for i, value in enumerate((*values, values[1] - values[0])):
                self.expect(cells[1 + i][0], value, 1, f"work, {cells[0][0]}")

    def runs(self):
        table = self.table("steps", "Runs;")
        assert bool(table) == any(len(side["runs"]) > 1 for side in self.sides), f"{self.name}: table of runs"
        if not table:
            return
        unit, rows = MS[re.search(r", (ns|µs|ms|s);", table["caption"])[1]], [row["cells"] for row in table["rows"][1:]]
        for side, label in zip(self.sides, ("baseline", "fixed")):
            mine = [[cell[0] for cell in cells] for cells in rows if cells[0][0] == label]
            assert len(mine) == min(len(side["runs"]), MOST_RUNS + 1), f"{self.name}: runs of {label}"
            for i, (run, (_, file, steps, warmup, measured, period, shown)) in enumerate(zip(side["runs"], mine)):
                if i == MOST_RUNS:
                    self.claim(file == f"and {len(side['runs']) - i} more", "runs", file)
                    break
                self.claim(self.is_name(file, run["file"]), "runs", file)
                if side["steps"]["found"]:
                    self.expect(steps, run["steps"], 1, f"steps of {file}")
                    self.expect(warmup, run["warmup"], 1, f"warm-up of {file}")
                self.expect(measured, len(run["period_ms"]) - max(run["warmup"] - (len(run["period_ms"]) < run["steps"]), 0), 1, f"periods of {file}")
                if run["series"]:
                    self.expect(period, run["series"]["mean_ms"], unit, f"time per step of {file}")
                self.claim((shown == "shown") == (i == side["shown"]["run"]), "runs", shown)

    def fact_of(self, name, side):
        """What a cell of the environment says, but for words without numbers."""
        source, devices, runs = side["source"], side["devices"], side["runs"]
        unknown = lambda text: text or "unknown"
        if name == "GPU":
            return unknown(f"{len(devices)} GPUs, the first: {devices[0]['name']}" if len(devices) > 1 else devices[0]["name"])
        if name == "NVIDIA driver":
            return unknown(source["driver"])
        if name == "CUDA version of the driver":
            return unknown(source["cuda_driver"])
        if name == "Profile":
            more = f" and {len(runs) - 6} more" if len(runs) > 6 else ""
            return ", ".join(run["file"] for run in runs[:6]) + more
        if name == "Profiled by":
            return (source["exporter"] or source["collector"]) + (f", schema {source['schema']}" if source["schema"] else "")
        if name == "Captured by":
            capture = source.get("capture")
            return f"gapline {capture['gapline']} through {'CUPTI ' + capture['cupti'] if capture['cupti'] else source['collector']}" if capture else "another tool"
        if name == "Runs":
            return str(side["steps"]["runs"])
        if name == "Steps" and side["steps"]["found"]:
            of, measured = sum(run["steps"] for run in runs), side["steps"]["measured"]
            several = f" in {len(runs)} runs" if len(runs) > 1 else ""
            return (
                f"{side['steps']['name']}: {of} step{'s' * (of != 1)}{several}, {sum(run['warmup'] for run in runs)} left out "
                f"as warm-up, {measured} measured"
            )
        return None

    def is_share(self, text, share):
        found = re.match(r"(\d+(?:\.\d+)?) % of the GPU's work", text)
        return bool(found) and shows(found[1], 100 * share, 1)

    def evidence(self, text, side):
        """What is said behind the steps: how much of the GPU's work they are, and the sequence that they come from."""
        found = re.fullmatch(r"(?:steps found from (the repeating sequence of|one|work in variants,)"
                             r"(?: about)?(?: repeating)?(?: (\d+))? GPU operations?(?: each)?"
                             r"(?:, (\d+(?:\.\d+)?) % of them [a-z ]*)?, (\d+) times, )?(.*)", text)
        judged = [loop for loop in side["loops"] if loop["judged"]]
        good = bool(found) and (not judged) == (not found[1])
        if good and judged:
            ops = "1" if found[1] == "one" else found[2]
            same = 100 * judged[0]["same_names"]
            good = (ops, found[4]) == (str(judged[0]["ops"]), str(judged[0]["steps"]))
            good = good and (shows(found[3], same, 1) and (found[1][:3] == "the") == (same >= 50) if found[3] else same == 100)
        self.claim(good and self.is_share(found[5], side["steps"]["coverage"]), "steps", text)

    def loops(self, text, side):
        rows = text.split("; ") if side["loops"] else []
        self.claim(len(rows) == len(side["loops"]), "loops", text)
        for row, loop in zip(rows, side["loops"]):
            found = re.fullmatch(r"(.*): (\d+) × (" + TIME + r"), (.*?)(, judged)?", row)
            self.claim(found and self.is_name(found[1], loop["name"]) and int(found[2]) == loop["steps"] and
                       is_time(found[3], loop["period_ms"]) and self.is_share(found[6], loop["share"]) and
                       bool(found[7]) == loop["judged"], "loops", row)

    def facts(self):
        table = self.table("environment", "What was compared")
        for row in table["rows"][1:]:
            (name, _), *cells = row["cells"]
            for (text, _), side in zip(cells, self.sides):
                if name == "Loops":
                    self.loops(text, side)
                    continue
                if name == "Steps" and side["steps"]["found"]:
                    text, _, evidence = text.partition("; ")
                    self.evidence(evidence, side)
                fact = self.fact_of(name, side)
                if fact is None:
                    self.claim(not re.search(r"\d", text), name, text)
                else:
                    self.claim(self.is_name(text, re.sub(r"\s+", " ", fact).strip()), name, text)

    def clocks(self):
        table = self.table("environment", "Clocks, power and temperature")
        known = [(label, d) for label, side in zip(("baseline", "fixed"), self.sides) for d in side["devices"]]
        assert bool(table) == any(d.get("clocks", {}).get("samples") for _, d in known), f"{self.name}: table of clocks"
        if not table:
            return
        for row, (label, device) in zip(table["rows"][1:], known, strict=True):
            side, gpu, samples, *spreads, limits = [cell[0] for cell in row["cells"]]
            clocks = device.get("clocks", {})
            self.claim(side == label and gpu.startswith(f"{device['ordinal']}: "), "clocks", gpu)
            self.expect(samples, clocks.get("samples", 0), 1, "samples of clocks")
            for text, key in zip(spreads, ("sm_mhz", "memory_mhz", "power_w", "temperature_c"), strict=True):
                spread = clocks.get(key)
                values = [spread[k] for k in ("median", "min", "max")] if spread else []
                shown = re.findall(r"\d+", text)
                self.claim(bool(spread) == (text != "unknown") and len(shown) in (0, 1, 3), key, text)
                for number, value in zip(shown, values):
                    self.expect(number, value, 1, key)
            limited = clocks.get("limited") or {}
            shares = sorted(v for k, v in limited.items() if k != "samples" and v > 0)
            found = sorted(re.findall(r"(\d+(?:\.\d+)?) %", limits), key=float)
            self.claim(len(shares) == len(found) and all(shows(text, 100 * a, 1) for a, text in zip(shares, found)), "clocks", limits)

    def quality(self):
        rows = {row["cells"][0][0]: [cell[0] for cell in row["cells"][1:]] for row in self.table("method")["rows"][1:]}
        for i, side in enumerate(self.sides):
            data, left_out = side["data"], rows["Rows that made no sense, left out"][i]
            for count, dropped in zip(re.findall(r"(?:^|, )(\d+) in ", left_out), data["dropped"], strict=False):
                self.expect(count, int(dropped.split()[0]), 1, "rows left out")
            self.claim((left_out == "none") == (not data["dropped"]), "rows left out", left_out)
            share = rows["GPU operations without a launch in the profile"][i]
            small = 0 < data["unlaunched_share"] < 5e-4
            self.claim(share == ("none" if not data["unlaunched_share"] else "<0.1 %" if small else f"{100 * data['unlaunched_share']:.1f} %"), "share without launch", share)
            overhead, known = rows["The profiler's own overhead on launching threads"][i], side["totals"]["profiler_overhead_ms_per_step"]
            found = re.fullmatch(r"(.+) per (?:step|run)", overhead)
            self.claim(is_time(found[1], known) if found else overhead == "none" and known == 0, "overhead", overhead)
            said = rows["Messages of the collector"][i]
            for message in data["diagnostics"][:6]:
                self.claim(message[:60].strip() in said, "messages", said)

    # ---- pictures ----

    def glance(self):
        """The verdict's pictures: the runs that decide, and what a step consists of, where waits that cannot be seen are one."""
        verdict, budgets = self.result["verdict"], [side["budget"] for side in self.sides]
        most = max(budget["per_step"]["period"] for budget in budgets)
        waits = [[row["ms_per_step"] for row in budget["idle"]] for budget in budgets]
        joined = [[part[f"{label}_ms"] for part in self.result["waterfall"] if part["part"]["kind"] == "idle"] for label in ("baseline", "fixed")]
        most = max([most, *(side["steps"]["recorded_timed_ms"] or 0 for side in self.sides), *(side["steps"]["stopwatch_ms"] or 0 for side in self.sides)])
        tiny = [max(pair) / most * 640 < 1.001 for pair in zip(*joined)] if any(joined) else []
        hidden = [sum(ms for ms, small in zip(of, tiny) if small) for of in joined] if tiny else [sum(ms for ms in of if ms / most * 640 < 1) for of in waits]
        work = {"GPU compute": "compute", "communication": "comm_exposed", "copies": "copy_exposed"}
        steps = [side["steps"] for side in self.sides]
        headlines = [of["period_ms"]["mean"] for of in steps]
        runs = [of["stopwatch_run_ms"] if verdict["measured"] == "stopwatch" else [run["series"]["mean_ms"] for run in side["runs"] if run["series"]] for of, side in zip(steps, self.sides)]
        ticks = []
        for tag, text in self.page.words["verdict"]:
            head = re.fullmatch(rf"(baseline|fixed)(?:: .*)?, (?P<step>{TIME}) per (?:step|run)(?:; mean (?P<mean>{TIME}))?(?:; profiled (?P<profiled>{TIME})(?: \(all profiled steps: (?P<all>{TIME})\))?)?", text)
            timed = re.fullmatch(rf"without a profiler: ({TIME})|the profiler added (?P<more>{TIME})", text)
            named = re.fullmatch(rf"(.*): ({TIME})", text, re.DOTALL)
            time = re.search(TIME + "$", text)
            if head:
                side = self.result[head[1]]
                self.claim(is_time(head["step"], side["steps"]["period_ms"]["mean"]), "a step", text)
                for key, ms in ("mean", side["budget"]["per_step"]["period"]), ("profiled", side["steps"]["recorded_timed_ms"]), ("all", side["budget"]["per_step"]["period"]):
                    self.claim(not head[key] or is_time(head[key], ms), f"a step, {key}", text)
            elif timed:
                added = [s["recorded_timed_ms"] - s["stopwatch_ms"] for s in steps]
                found = [is_time(timed["more"], ms) if timed["more"] else is_time(timed[1], s["stopwatch_ms"]) for s, ms in zip(steps, added)]
                self.claim(any(found), "what recording added", text)
            elif text.startswith("the gate asks for "):
                self.claim(shows(text.split()[-1].rstrip("\u00d7"), verdict["gates"][0]["asked"]), "gate", text)
            elif tag == "title" and named:
                values = hidden if named[1] == "smaller waits" else sum(waits + joined + runs, [])
                if named[1] in work:
                    values = [budget["per_step"][work[named[1]]] for budget in budgets]
                self.claim(any(is_time(named[2], value) for value in values), "what a step consists of", text)
            elif re.fullmatch(rf"\d+(\.\d+)?|{TIME}", text) and not any(is_time(text, value) for value in self.slices(hidden, waits, joined, budgets, work, headlines, runs)):
                ticks.append(float(text.split()[0]))
            elif time:
                self.claim(any(is_time(time[0], value) for value in self.slices(hidden, waits, joined, budgets, work, headlines, runs)), "what a step consists of", text)
            elif not re.fullmatch(r"95 % CI|.*95 % confidence\.", text):
                self.constants("verdict's pictures", text)
        apart = [round(b - a, 6) for a, b in zip(ticks, ticks[1:])]
        self.claim(max(apart, default=0) - min(apart, default=0) < 1e-5 and ticks[:1] in ([], [0]), "the axis of runs", ticks)

    @staticmethod
    def slices(hidden, waits, joined, budgets, work, headlines, runs):
        return [*hidden, *sum(waits + joined + runs, []), *headlines, *(budget["per_step"][key] for budget in budgets for key in work.values())]

    def constants(self, where, text):
        for token in re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?!\w)", text):
            self.claim(float(token) in CONSTANTS, where, text)

    def is_event(self, text, lanes):
        """ "NAME: 0.1805 ms in PHASE" and "GPU idle 31.60 ms: CAUSE in PHASE", as the packed data has them."""
        idle = re.match(rf"GPU idle {TIME}: ", text)
        if idle:
            gaps = [lane for lane in lanes if lane["kind"] == "gaps"]
            return any(shows(idle[1], ns / 1e6, MS[idle[2]]) for lane in gaps for ns in lane["length"])
        for found in re.finditer(rf": {TIME}(?= in |$)", text):
            for lane in lanes:
                for name, ns in zip(lane["names"], lane["length"]):
                    if shows(found[1], ns / 1e6, MS[found[2]]) and self.is_name(text[: found.start()], name):
                        return True
        return False

    def pieces(self, lanes):
        """Times that a label of a gap may show: of pieces with one cause and phase, neighbours in one gap added up."""
        for lane in lanes:
            if lane["kind"] != "gaps":
                continue
            spent = {}
            for key in zip(lane["group"], lane["which"], lane["phase"], lane["length"]):
                spent.setdefault(key[:3], []).append(key[3])
            for lengths in spent.values():
                for i in range(len(lengths)):
                    total = 0
                    for length in lengths[i:]:
                        total += length
                        yield total / 1e6

    def timeline(self):
        data, words = drawn(self.page), self.page.words["timeline"]
        lanes = [lane for side in data["sides"] for lane in side["lanes"]]
        labels = {text for lane in lanes for text in (lane["label"], lane["note"]) if text}
        names = {name for lane in lanes for name in (*lane["names"], *lane["phases"])}
        pieces, steps, shown = list(self.pieces(lanes)), [], [side["shown"] for side in self.sides]
        periods = [side["runs"][side["shown"]["run"]]["period_ms"] for side in self.sides]
        for side, other, period in zip(self.sides, data["sides"], periods, strict=True):
            self.claim(abs(other["length"] / 1e6 - side["shown"]["length_ms"]) < 1e-6, "the timeline's length", other["length"])
            first, lengths = side["shown"]["first_step"], [(b - a) / 1e6 for a, b in zip(other["boundary"], other["boundary"][1:])]
            if side["shown"]["steps"] and not self.fabricated: # a fixture's timeline is drawn by hand
                of = period[first - 1 : first - 1 + len(lengths)]
                self.claim(all(abs(a - b) < 1e-6 for a, b in zip(of, lengths, strict=True)), "periods of the steps shown", lengths)
            steps += [(first + i, length) for i, length in enumerate(lengths)]
        for tag, text in words:
            step = re.fullmatch(rf"step (\d+): ({TIME})", text)
            less = re.fullmatch(rf"(?:these (\d+) steps take|this step takes) ({TIME}) less", text)
            strip = re.fullmatch(rf"(baseline|fixed), ({TIME})", text)
            if not re.search(r"\d", text) or tag == "text" and text in labels and not re.search(TIME, text):
                continue
            if step:
                fits = [length for n, length in steps if n == int(step[1])]
                self.claim(any(is_time(step[2], length) for length in fits), "a step of the timeline", text)
            elif less:
                self.claim(int(less[1] or 1) == shown[0]["steps"], "steps of the timeline", text)
                self.claim(is_time(less[2], abs(shown[0]["length_ms"] - shown[1]["length_ms"])), "the timeline's lengths", text)
            elif strip:
                self.claim(is_time(strip[2], self.result[strip[1]]["shown"]["run_ms"]), "the whole run", text)
            elif text.startswith(("measured: ", "whole run: ")):
                spans = [s["window_end_ms"] - s["window_start_ms"] for s in shown] if text[0] == "m" else [ms for _, ms in steps]
                self.claim(any(is_time(text.partition(": ")[2], span) for span in spans), "the window", text)
            elif tag == "title":
                self.claim(self.is_event(text, lanes), "the packed data", text)
            elif tag == "text" and re.fullmatch(rf"{TIME} (a|per) (step|run)", text):
                idle = [side["budget"]["per_step"]["idle"] for side in self.sides]
                idle += [device["per_step"]["idle"] for side in self.sides for device in side["devices"]]
                self.claim(any(is_time(re.split(" a | per ", text)[0], value) for value in idle), "idle time", text)
            elif tag == "text" and re.search(rf"(^|\u00b7 ){TIME}$", text):
                number, unit = re.search(f"{TIME}$", text).groups()
                bare = [length for _, length in steps] # a step without room for its number
                self.claim(any(shows(number, value, MS[unit]) for value in [*pieces, *bare]), "a gap of the packed data", text)
            elif tag == "desc":
                for number, unit in re.findall(TIME, text):
                    values = [side["budget"]["per_step"][key] for side in self.sides for key in ("period", "idle")]
                    self.claim(any(shows(number, value, MS[unit]) for value in values), "the description", text)
            elif not re.fullmatch(r"\d+(\.\d+)?", text): # a tick
                self.claim(any(self.is_name(text, name) for name in names), "names of the packed data", text)
        self.ticks("timeline")

    def ticks(self, section):
        """All that is only a number is on an axis, equally far from its neighbours."""
        ticks, texts = [], [text for tag, text in self.page.words[section] if tag == "text"]
        for text in [*texts, ""]:
            if re.fullmatch(r"\d+(\.\d+)?", text):
                ticks.append(float(text))
                continue
            steps = [round(b - a, 6) for a, b in zip(ticks, ticks[1:])]
            assert max(steps, default=0) - min(steps, default=0) < 1e-5, f"{self.name}: {section}: ticks {ticks}"
            ticks = []

    def step_pictures(self):
        most = 1.04 * max(min(p["max"], 2.5 * p["median"]) for p in (side["steps"]["period_ms"] for side in self.sides))
        counts, beyond = [], []
        for side in self.sides:
            periods = [run["period_ms"] for run in side["runs"]]
            counts.append((sum(map(len, periods)), len(periods)))
            measured = [ms for run in side["runs"] for ms in run["period_ms"][max(run["warmup"] - 1, 0) :]]
            beyond.append(sum(ms > most for ms in measured))
        for _, text in self.page.words["steps"]:
            curve = re.fullmatch(rf"(baseline|fixed), ({TIME}) per (?:step|run)(?:, (?P<beyond>\d+) beyond the axis)?", text)
            count = re.fullmatch(r"(\d+) periods?(?: in (\d+) runs)?", text)
            quantile = re.fullmatch(rf"p(\d\d): ({TIME})", text)
            if curve:
                steps = self.result[curve[1]]["steps"]
                self.claim(is_time(curve[2], steps["recorded_ms"] if steps["stopwatch_ms"] else steps["period_ms"]["mean"]), "time per step", text)
                self.claim(int(curve["beyond"] or 0) == beyond[curve[1] == "fixed"], "periods beyond the axis", text)
            elif quantile:
                known = [q["ms"] for side in self.sides for q in side["steps"]["quantiles"] if q["p"] == int(quantile[1]) / 100]
                self.claim(any(is_time(quantile[2], ms) for ms in known), "quantiles", text)
            elif count:
                self.claim((int(count[1]), int(count[2] or 1)) in counts, "periods", text)
            elif re.fullmatch(r"p(50|90|95|99)", text) or text.startswith("Above, both sides on one axis"):
                continue
            elif not re.fullmatch(r"\d+(\.\d+)?", text):
                self.constants("pictures of steps", text)
        self.ticks("steps")

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

    def strings_of(self, value):
        if isinstance(value, str):
            yield value
        elif isinstance(value, (dict, list)):
            for item in value.values() if isinstance(value, dict) else value:
                yield from self.strings_of(item)

    def lists(self):
        """Findings, differences, notes and remarks are the JSON's, word for word; what is left out is counted."""
        verdict = self.result["verdict"]
        remarks = [f"{label}: {note}" for label, side in zip(("baseline", "fixed"), self.sides) for note in side["data"]["notes"]]
        found = [finding[key] for finding in self.result["findings"] for key in ("title", "text", "advice")]
        gates = " ".join(gate["text"] for gate in verdict["gates"])
        texts = [gates, *(f"{result}. {gates}" for result in ("passed", "failed", "inconclusive"))] + [gate["text"] for gate in verdict["gates"]] + verdict["differences"] + verdict["notes"] + verdict["reasons"] + remarks
        sizes = [len(verdict["differences"]), len(verdict["notes"]), len(verdict["reasons"]), len(remarks)]
        n, on_card = len(verdict["differences"]), 6
        return texts + found, [f"{n - on_card} more below, under More."] * (n > on_card) + [f"and {size - MOST_TEXTS} more" for size in sizes if size > MOST_TEXTS]

    def ceilings(self, text):
        found = re.fullmatch(rf"Best case: ({TIME}) per (?:step|run)(?: while profiled)?, ([\d.]+)\u00d7, if only this were fixed, perfectly(?:; down to (?P<least>{TIME}), as a thread that does not sleep launches faster)?\.", text)
        ceilings = [finding["ceiling"] for finding in self.result["findings"] if finding["ceiling"]]
        least = lambda c: is_time(found["least"], c["least_ms"]) if "least_ms" in c else not found["least"]
        return found and any(is_time(found[1], c["step_ms"]) and shows(found[4], c["speedup"]) and least(c) for c in ceilings)

    def rows_of(self, section):
        """How many rows a table has when both sides are joined."""
        keys = {"idle": ("cause", "phase"), "nvtx": ("domain", "name")}.get(section, ("name",))
        lists = [side["budget"]["idle"] if section == "idle" else side[section] for side in self.sides]
        return len({tuple(row[key] for key in keys) for rows in lists for row in rows})

    def sentences(self):
        """Numbers of everything else: in the same part of the JSON, as rounded there, in ms or another unit of time."""
        verdict, names = self.result["verdict"], self.strings_of([self.result["title"], [side["runs"] for side in self.sides]])
        plain = [*verdict["ci95"]] if verdict["ci95"] else []
        plain += [verdict["speedup"], verdict["at_least"], verdict["more_steps"], verdict["more_runs"], verdict["counted_speedup"], verdict["steps_set_aside"]]
        rates = [side["rates"] for side in self.sides]
        plain += [rate[key] for rate in rates for key in ("steps_per_second", "items_per_step", "items_per_second")]
        shares = [(rate["gpu_busy_share"], rate["gpu_communication_share"]) for rate in rates]
        plain += [100 * share for busy, comm in shares for share in (busy, comm, busy - comm)]
        plain += [self.result["next"]["speedup"]] if self.result["next"] else []
        plain += [100 * self.result["diagnosis"]["explained_share"]] if self.result["diagnosis"].get("explained_share") else []
        once = [kernel[key] for kernel in verdict["kernels_once"] for key in ("speedup", "baseline_launches", "fixed_launches")]
        plain = [n for n in plain if n is not None] + once + CONSTANTS
        runs = [len(side["runs"]) for side in self.sides]
        shown = [side["shown"]["steps"] for side in self.sides]
        plain += [side["steps"]["stopwatch_runs"] for side in self.sides]
        plain += [*runs, sum(runs), *shown, *(len(side["devices"]) for side in self.sides)]
        share = self.result["diagnosis"]["explained_share"]
        plain += [100 * share] if share is not None else []
        if verdict["measured"] == "stopwatch":
            lengths = [(side["steps"]["recorded_timed_ms"], side["steps"]["stopwatch_ms"]) for side in self.sides]
            plain += [lengths[0][0] / lengths[1][0], *(100 * abs(recorded / alone - 1) for recorded, alone in lengths)]
        times = [*self.numbers_of(self.result["diagnosis"]), *(side["steps"][key] or 0 for side in self.sides for key in ("recorded_ms", "recorded_timed_ms")), *(part[key] for part in self.result["waterfall"] for key in ("baseline_ms", "fixed_ms")), *(side["steps"]["period_ms"]["mean"] for side in self.sides)]
        for side in self.sides:
            sums = {}
            for row in side["budget"]["idle"]: # of one cause and phase, whichever call it is
                sums[row["cause"], row["phase"]] = sums.get((row["cause"], row["phase"]), 0) + row["ms_per_step"]
            times += [*side["budget"]["per_step"].values(), *sums.values(), *(kernel["ms_per_step"] for kernel in side["kernels"])]
        times += self.numbers_of([finding for finding in self.result["findings"] if finding["id"] == "straggler"])
        why, headlines = verdict["why"]["parts"], [side["steps"]["period_ms"]["mean"] for side in self.sides]
        times += [part.get(key) or 0 for part in [*why, verdict["why"]["largest_of_rest"] or {}] for key in ("baseline_ms", "fixed_ms", "delta_ms")]
        times += [*map(self.half_width, why), headlines[1] - headlines[0] - sum(part["delta_ms"] for part in why), *(abs(part["delta_ms"]) - self.half_width(part) for part in why)] # "(≥ 2.25)"
        times += self.numbers_of([side["steps"]["slowest"] for side in self.sides])
        times = [*times, *map(abs, times)]
        plain += [100 * abs(headlines[1] / headlines[0] - 1)] + [n for side in self.sides for n in (side["steps"]["measured"] // side["steps"]["runs"], 100 * side["steps"]["coverage"], *(loop["ops"] for loop in side["loops"] if loop["judged"]))]
        known = plain + [n * scale for n in times for scale in (1e-3, 1, 1e3)]
        whole, more = self.lists()
        inside = self.result.get("kernels_inside") # only in some results
        commands = [re.sub(r"\s+", " ", inside[side]["command"] or "") for side in ("baseline", "fixed")] if inside else []
        names = sorted({*filter(None, names)}, key=len, reverse=True)
        for section, texts in self.page.texts.items():
            for text in filter(None, (re.sub(r"\s+", " ", text).strip() for text in texts)):
                texts_of_both = re.fullmatch(r"Baseline: (.*) Fixed side: (.*)", text)
                said = texts_of_both.groups() if texts_of_both else [text]
                if all(any(self.is_name(s, re.sub(r"\s+", " ", other).strip()) for other in whole) for s in said) or text in more or text in commands:
                    self.cells += 1
                    continue
                if text.startswith("Best case: "):
                    self.claim(self.ceilings(text), "findings", text)
                    continue
                opens = re.fullmatch(r"(?:All|The first (\d+) of) (\d+) (?:causes|phases|kernels|calls|ranges)", text)
                if opens:
                    rows = [row for row in self.page.tables[section][0]["rows"] if not {"more"} & set(row["class"].split())]
                    self.claim(int(opens[2]) == self.rows_of(section), section, text)
                    self.claim(len(rows) - 1 - (section == "idle") == int(opens[1] or opens[2]), section, text)
                    continue
                text = text.replace(f"gapline {self.result['gapline']}", "gapline")
                floor = re.search(r"Few independent steps: only a change above (\S+) %", text)
                if section == "verdict" and floor:
                    self.claim(verdict["short_capture"] and shows(floor[1], 100 * (verdict["floor"] - 1)), section, text)
                    text = text.replace(f"above {floor[1]} %", "")
                for name in names if section in ("", "timeline") else ():
                    text = text.replace(name, "")
                if section == "": # of the runs, as the profiles say it
                    text = re.sub(r"\b\d{4}-\d\d-\d\d\b", "", text)
                if section == "verdict":
                    head, *other = re.split(", with (other work|another result): ", text)
                    self.claim(not other or other[0] == "another result" or self.is_name(other[1], verdict["differences"][0].rstrip(".")), section, text)
                    text = head
                    for reason in verdict["reasons"]:
                        text = text.replace(re.sub(r"\s+", " ", reason).strip(), "")
                    for number, scale in re.findall(r"([\d.]+)([kMG])(?= (?:\u2192|[^\u2192]* a second))", text):
                        rate = [r[key] for r in rates for key in ("steps_per_second", "items_per_second") if r[key]]
                        self.claim(any(shows(number, r, {"k": 1e3, "M": 1e6, "G": 1e9}[scale]) for r in rate), section, text)
                text = check_few_slowest(self, text)
                typical = re.findall(r"(\d+) representative steps?", text)
                self.claim(not typical or list(map(int, typical)) == shown, "steps of the timeline", text)
                if section == "functions":
                    text = self.samples(text)
                if section == "startup": # whole start-ups, and what single runs took
                    said = [side["startup"][key] for side in self.sides for key in ("ms", "min_ms", "max_ms")]
                    for number, unit in re.findall(TIME.replace("(?:<|~)?", ""), re.sub(r"(\S+) (?=\u2192 \S+ (\S+))", r"\1 \2 ", text)):
                        self.claim(any(is_time(f"{number} {unit}", ms) for ms in said), "start-up", text)
                        text = text.replace(number, "")
                for token in re.findall(r"(?<![\w.#-])\d+(?:\.\d+)*(?!\w)", text.replace("\u00d7", " ")):
                    half = 0.5 * 10 ** -len(token.partition(".")[2])
                    ok = token.count(".") < 2 and any(abs(float(token) - n) <= half * 1.0001 for n in known)
                    ok = ok or section == "timeline" and "are drawn" in text and int(token) in DRAWN_GPUS
                    self.claim(ok, f"sentences, {section}", f"{token} in {text}")

    def run_words(self):
        for part in ("work", "runs", "facts", "clocks", "quality", "glance", "timeline", "step_pictures", "sentences"):
            getattr(self, part)()
