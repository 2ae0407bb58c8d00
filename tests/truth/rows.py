"""What is injected, where it landed, and what else gapline said: one row for each pair and size."""
import collections
import glob
import json
import math
import os
import re
import subprocess
import tempfile


# The gallery's order: from what the first picture shows to what is told by one number only; at the end what is no improvement.
GALLERY = ["input-stall", "sync-every-step", "pageable-copy", "copy-serial", "tiny-kernels", "alloc-in-loop", "module-load", "host-lock",
           "gil-loader", "nccl-serial", "straggler", "kernel-bound", "no-change", "regression"]


class Pair(collections.namedtuple("Pair", "name gpus sizes options trace accounts finding ceiling verdict work")):
    __slots__ = ()

    @property
    def program(self):
        """What follows a + says what else is different, beside the program."""
        return self.name.split("+")[0]

    def neutral(self, size):
        """At the middle size phases have neutral names: that no name gives a cause away is measured, too."""
        return len(self.sizes) == 3 and size == self.sizes[1] or "+" in self.name


COLLECTORS = ("cupti", "nsys")
SIDES = ("baseline", "fixed")
SHARE = 0.95  # of the injected time that must land where it belongs
CLAIM = 0.10  # of a step: no finding of another kind may claim more
CEILING = 0.10  # how far the measured step may be from the combined ceiling
CLOCK = 0.02  # how far a side's time a step may be from the program's own clock in the same runs


def read_pairs(path):
    pairs = []
    with open(path, encoding="utf-8") as file:
        lines = [line.rstrip("\n") for line in file if line.strip() and not line.startswith("#")]
    for line in lines[1:]:
        name, gpus, sizes, options, trace, accounts, finding, ceiling, verdict, work = line.split("\t")
        pairs.append(Pair(name, int(gpus), sizes.split(","), [] if options == "-" else options.split(), trace,
                          [] if accounts == "-" else accounts.split(","), None if finding == "-" else finding,
                          ceiling == "yes", verdict, work))
    return pairs


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else 0.0


def read_jsonl(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.startswith("{")]


def off_ceiling(said):
    """How far the measured step is from the combined ceiling, or from the range where it has a lower end."""
    least, most, measured = said.get("least_ms", said["ceiling_ms"]), said["ceiling_ms"], said["measured_ms"]
    return max(measured / most - 1, 1 - measured / least, 0)


def natural(name):
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def report(gapline, folder, sides):
    """gapline's result for two lists of profiles; (None, message) when it gives none."""
    with tempfile.TemporaryDirectory() as scratch:
        result = os.path.join(scratch, "report.json")
        words = [gapline, "report", "-q", "--json", result, "-o", os.path.join(scratch, "report.html")]
        for side, files in zip(("--baseline", "--fixed"), sides):
            for file in files:
                words += [side, os.path.join(folder, file)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return None, done.stderr.strip()
        with open(result, encoding="utf-8") as file:
            return json.load(file), ""


# ---- accounts: where time is, ms a step ----


def phase_name(name, run):
    """The plain name of a phase; `run` says what the letters of neutral names stand for."""
    phases = run.get("phases", [])
    if name and len(name) == 1 and "a" <= name <= "z" and ord(name) - ord("a") < len(phases):
        return phases[ord(name) - ord("a")]
    return name


def account(side, what, run):
    budget = side["budget"]
    part, *rest = what.split(":")
    if part == "idle":
        cause, phase = rest
        return sum(row["ms_per_step"] for row in budget["idle"]
                   if row["cause"] == cause and phase_name(row["phase"], run) == phase)
    exposed = [device["per_step"]["comm_exposed"] for device in side["devices"]]
    if part == "comm_exposed":
        return min(exposed)
    if part == "waiting":
        return mean(exposed) - min(exposed)
    return budget["per_step"][part]


def where(side):
    """Everything in a step by part, and idle time by cause."""
    found = {part: side["budget"]["per_step"][part] for part in ("compute", "comm_exposed", "copy_exposed")}
    for row in side["budget"]["idle"]:
        found[row["cause"]] = found.get(row["cause"], 0) + row["ms_per_step"]
    return found


# ---- what the programs say ----


def fault(runs, side, result):
    """The fault as the programs of a side measured it, over the steps that gapline measured too."""
    warmup = {int(judged["file"].split("-")[1].split(".")[0]): judged["warmup"] for judged in result[side]["runs"]}
    return mean(mean(run["faults_ms"][warmup[run["run"]]:]) for run in runs if run["side"] == side and run["run"] in warmup)


def step_ms(run):
    """A run's time per step by the program's own clock, over the steps that a stopwatch times, too."""
    return mean(run["steps_ms"][run["warmup"]:])


# Student's t, two-sided 95 %, by degrees of freedom.
T95 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131)


def half_width(groups):
    """Of the 95 % interval of a sum or difference of the groups' means (Welch); None without repeats."""
    if any(len(group) < 2 for group in groups):
        return None
    parts = [sum((x - mean(group)) ** 2 for x in group) / (len(group) - 1) / len(group) for group in groups]
    if sum(parts) == 0:
        return 0.0
    freedom = sum(parts) ** 2 / sum(part ** 2 / (len(group) - 1) for part, group in zip(parts, groups))
    return T95[min(int(freedom), len(T95)) - 1] * math.sqrt(sum(parts))


def overlap(interval, value, half):
    """Whether an interval holds a part of another: a value, and half of its width in logarithms."""
    return interval is not None and interval[0] <= value * math.exp(half or 0) and value * math.exp(-(half or 0)) <= interval[1]


class Row:
    def __init__(self, pair, size, collector, folder, gapline):
        self.pair, self.size, self.problems = pair, size, []
        self.said = {"pair": pair.name, "size_ms": float(size), "collector": collector}
        self.runs = read_jsonl(os.path.join(folder, "profiled.jsonl"))
        self.free = read_jsonl(os.path.join(folder, "unprofiled.jsonl"))
        self.timed = read_jsonl(os.path.join(folder, "stopwatch.jsonl"))
        files = [os.path.basename(name) for name in glob.glob(os.path.join(folder, "*.sqlite*"))]
        sides = [sorted((f for f in files if f.startswith(side)), key=natural) for side in ("baseline", "fixed")]
        if pair.name == "no-change":
            self.judge_repeats(folder, gapline, sides)
        result, error = report(gapline, folder, sides)
        if result is None:
            self.problem(f"gapline: {error}")
            return
        self.result = result
        hashes = {run["result_hash"] for run in self.runs + self.free + self.timed}
        if len(hashes) != 1:
            self.problem(f"the runs computed {len(hashes)} different results")
        self.judge_share()
        self.judge_findings()
        self.judge_ceiling()
        self.judge_verdict()

    def problem(self, text):
        self.problems.append(text)

    def key(self):
        return self.said["pair"], self.said["size_ms"], self.said["collector"]

    def label(self):
        pair, size, collector = self.key()
        return f"{pair} {size:g} ms, {collector}"

    def judge_repeats(self, folder, gapline, sides):
        """Every single pair of captures of the same program."""
        results = collections.Counter()
        for baseline, fixed in zip(*sides):
            result, error = report(gapline, folder, [[baseline], [fixed]])
            results[result["verdict"]["result"] if result else error] += 1
        self.said["repeats"] = dict(results)
        for wrong in ("faster", "slower"):
            if results[wrong]:
                self.problem(f"{results[wrong]} of {sum(results.values())} single pairs are {wrong}")

    def judge_share(self):
        baseline, fixed, said = self.result["baseline"], self.result["fixed"], self.said
        sign = -1 if self.pair.verdict == "slower" else 1
        run = next((run for run in self.runs if run["side"] == "baseline"), {})
        amount = sign * (fault(self.runs, "baseline", self.result) - fault(self.runs, "fixed", self.result))
        landed = sum(sign * (account(baseline, what, run) - account(fixed, what, run)) for what in self.pair.accounts)
        before, after = where(baseline), where(fixed)
        said["injected_ms"], said["landed_ms"] = amount, landed
        said["moved"] = {key: sign * (before.get(key, 0) - after.get(key, 0)) for key in {**before, **after}}
        if not self.pair.accounts:
            return
        said["share"] = landed / amount if amount > 0 else 0.0
        if said["share"] < SHARE:
            self.problem(f"{100 * said['share']:.1f} % of {amount:.3f} ms landed on {', '.join(self.pair.accounts)}")

    def judge_findings(self):
        found = [f for f in self.result["findings"] if f["id"] != "gpu_bound"]
        main = [f for f in found if f["id"] == self.pair.finding and f["side"] in ("baseline", "both")]
        self.said["finding"] = main[0]["status"] if main else None
        bound = [f for f in self.result["findings"] if f["id"] == "gpu_bound" and f["side"] in ("baseline", "both")]
        self.said["text"] = (main or bound or [{"text": ""}])[0]["text"]
        if self.pair.finding and (not main or main[0]["status"] != "resolved"):
            self.problem(f"{self.pair.finding} is {main[0]['status'] if main else 'not found'}")
        others = []
        for f in found:
            if f["id"] == self.pair.finding:
                continue
            for side in ("baseline", "fixed") if f["side"] == "both" else (f["side"],):
                share = f["cost_ms_per_step"][side] / self.result[side]["budget"]["per_step"]["period"]
                others.append(f"{f['id']} ({side}, {100 * share:.0f} %)")
                if share > CLAIM or not self.pair.finding:
                    self.problem(f"{f['id']} claims {100 * share:.1f} % of the {side} step")
        self.said["other_findings"] = others

    def judge_ceiling(self):
        diagnosis = self.result["diagnosis"]
        combined, measured = diagnosis["combined_ceiling_ms"], diagnosis["measured_ms"]
        self.said["ceiling_ms"], self.said["measured_ms"] = combined, self.result["fixed"]["budget"]["per_step"]["period"]
        if "combined_least_ms" in diagnosis:
            self.said["least_ms"] = diagnosis["combined_least_ms"]
        if not self.pair.ceiling:
            return
        if not combined:
            self.problem("no ceiling")
        elif off_ceiling(self.said) > CEILING:
            self.problem(f"the ceiling is {combined:.3f} ms, measured are {measured:.3f}")

    def judge_verdict(self):
        said, verdict = self.said, self.result["verdict"]
        said["verdict"], said["speedup"] = verdict["result"], verdict["speedup"]
        said["comparable"] = verdict["comparable"]
        said["step_ms"] = [self.result[side]["steps"]["period_ms"]["mean"] for side in ("baseline", "fixed")]
        largest = float(self.size) == max(float(size) for size in self.pair.sizes)
        wanted = {self.pair.verdict} | ({"inconclusive"} if self.pair.verdict == "unchanged" else set())
        if (largest and said["verdict"] not in wanted) or (not largest and said["verdict"] in self.never()):
            self.problem(f"the verdict is {said['verdict']}")
        said["measured"], said["interval"] = verdict["measured"], verdict["ci95"]
        recorded = verdict.get("recorded") or {}
        said["recorded_speedup"] = recorded.get("speedup")
        if verdict["measured"] == "stopwatch":
            self.judge_clock()
        elif self.free:
            free = [[math.log(step_ms(run)) for run in self.free if run["variant"] == side] for side in SIDES]
            said["own_ms"] = [math.exp(mean(logs)) for logs in free]
            said["own_speedup"] = said["own_ms"][0] / said["own_ms"][1]
            said["held"] = overlap(said["interval"], said["own_speedup"], half_width(free))

    def judge_clock(self):
        """The stopwatch against the program's own clock, in the same runs."""
        said = self.said
        own = [mean(step_ms(run) for run in self.timed if run["side"] == side) for side in SIDES]
        found = [self.result[side]["steps"]["stopwatch_ms"] for side in SIDES]
        said["own_ms"], said["own_speedup"] = own, own[0] / own[1]
        said["off"] = max((found[i] / own[i] - 1 for i in (0, 1)), key=abs)
        said["held"] = abs(said["off"]) <= CLOCK
        if not said["held"]:
            self.problem(f"the stopwatch is {100 * said['off']:+.1f} % off the program's own clock")

    def verdict_is_right(self):
        return self.said["verdict"] == self.pair.verdict

    def never(self):
        return {"faster": {"slower"}, "slower": {"faster"}, "unchanged": {"faster", "slower"}}[self.pair.verdict]


# ---- the table ----


def number(value, digits=2):
    return "" if value is None else f"{value:.{digits}f}"


HEAD = ("pair", "fault, ms", "collector", "injected", "landed", "share", "main finding", "other findings", "ceiling",
        "measured", "speedup", "95 % interval", "by", "own clock", "off", "recorded", "verdict", "not met")


class Table:
    def __init__(self, pairs, folder, gapline, unpack):
        self.rows = []
        for pair in pairs:
            for collector in COLLECTORS:
                for size in pair.sizes:
                    path = os.path.join(folder, f"{pair.name}-{size}" + ("" if collector == "cupti" else "-" + collector))
                    if os.path.exists(os.path.join(path, "profiled.jsonl")):
                        self.rows.append(Row(pair, size, collector, unpack(path), gapline))

    def problems(self):
        return [f"{row.label()}: {problem}" for row in self.rows for problem in row.problems]

    def cells(self):
        """Each row as texts, in the order of HEAD."""
        for row in self.rows:
            s = row.said
            repeats = ", ".join(f"{n} {result}" for result, n in sorted(s.get("repeats", {}).items()))
            interval = s.get("interval")
            yield [
                row.pair.name, row.size, s["collector"], number(s.get("injected_ms") if row.pair.accounts else None, 3),
                number(s.get("landed_ms") if row.pair.accounts else None, 3),
                f"{100 * s['share']:.1f} %" if "share" in s else "",
                f"{row.pair.finding}: {s.get('finding')}" if row.pair.finding else "", ", ".join(s.get("other_findings", [])),
                number(s.get("ceiling_ms") or None, 3), number(s.get("measured_ms"), 3),
                number(s.get("speedup"), 3), f"{interval[0]:.3f} to {interval[1]:.3f}" if interval else "",
                s.get("measured", ""), number(s.get("own_speedup"), 3),
                f"{100 * s['off']:+.2f} %" if "off" in s else "", number(s.get("recorded_speedup"), 3),
                s.get("verdict", "") + (f"; single pairs: {repeats}" if repeats else ""), "; ".join(row.problems)]

    def markdown(self):
        numbers = ("fault, ms", "injected", "landed", "share", "ceiling", "measured", "speedup", "own clock", "off",
                   "recorded")
        lines = ["| " + " | ".join(HEAD) + " |", "|" + "|".join("--:" if head in numbers else "---" for head in HEAD) + "|"]
        lines += ["| " + " | ".join(cells) + " |" for cells in self.cells()]
        return "\n".join(["# What gapline says, and what is true", "", *self.bounds(), "", *lines, "", *self.matrix(), ""])

    def bounds(self):
        """What was asked for, and in how many rows it is so."""
        shares = [row for row in self.rows if "share" in row.said]
        found = [row for row in self.rows if row.pair.finding]
        promised = [row for row in self.rows if row.pair.ceiling and row.said.get("ceiling_ms")]
        off = {row: off_ceiling(row.said) for row in promised}
        timed = [row for row in self.rows if "off" in row.said]
        others = [row for row in self.rows if "held" in row.said and "off" not in row.said]
        apart = [abs(row.said["recorded_speedup"] / row.said["own_speedup"] - 1) for row in timed]
        all_ms = [sum(row.said[key] for row in shares) for key in ("injected_ms", "landed_ms")]
        worst = min(shares, key=lambda row: row.said["share"])
        furthest, clock = max(off, key=off.get), max(timed, key=lambda row: abs(row.said["off"]))
        return [
            f"- {sum(row.said['share'] >= SHARE for row in shares)} of {len(shares)} rows have at least 95 % of the injected "
            f"time where it belongs (all together {100 * all_ms[1] / all_ms[0]:.1f} %; least: {worst.label()}, "
            f"{100 * worst.said['share']:.1f} %).",
            f"- {sum(row.said['finding'] == 'resolved' for row in found)} of {len(found)} rows have their main finding in the "
            "baseline, resolved in the fixed side.",
            f"- {sum(ratio <= CEILING for ratio in off.values())} of {sum(row.pair.ceiling for row in self.rows)} rows have the "
            f"combined ceiling within 10 % of what was measured (furthest: {furthest.label()}, {100 * off[furthest]:.1f} %).",
            f"- {sum(row.said['held'] for row in timed)} of {len(timed)} rows with timed runs have on both sides the time "
            "per step that the program's own clock says in the same runs, within 2 % (furthest: "
            f"{clock.label()}, {100 * clock.said['off']:+.2f} %).",
            f"- In {sum(ratio > CLOCK for ratio in apart)} of these {len(timed)} rows the recorded speedup alone is more than 2 % "
            f"from that of the own clocks, by up to {100 * max(apart):.0f} %: recording, and hosts whose speed differs from run "
            "to run.",
            f"- {sum(row.said['held'] for row in others)} of {len(others)} rows without timed runs hold the speedup of the "
            "programs' own clocks, in other runs without a profiler, in their interval. Not: "
            f"{', '.join(row.label() for row in others if not row.said['held']) or 'none'}.",
            f"- {sum(row.verdict_is_right() for row in self.rows)} of {len(self.rows)} rows have the right verdict.",
        ]

    def write_tsv(self, path):
        with open(path, "w", encoding="utf-8") as file:
            file.writelines("\t".join(cells) + "\n" for cells in [HEAD, *self.cells()])

    def matrix(self):
        """Which part of the budget, and which cause of idle time, what was injected moved: in % of it."""
        columns = sorted({key for row in self.rows if row.pair.accounts for key, ms in row.said.get("moved", {}).items()
                          if row.said.get("injected_ms", 0) > 0 and abs(ms) > 0.005 * row.said["injected_ms"]})
        lines = ["| injected \\ landed, % | " + " | ".join(columns) + " |", "|---|" + "--:|" * len(columns)]
        names = dict.fromkeys(row.pair.name for row in self.rows if row.pair.accounts)
        for name in names:
            of_pair = [row.said for row in self.rows if row.pair.name == name and row.said.get("injected_ms", 0) > 0]
            total = sum(said["injected_ms"] for said in of_pair)
            cells = [100 * sum(said["moved"].get(key, 0) for said in of_pair) / total if total else 0 for key in columns]
            lines.append(f"| {name} | " + " | ".join("" if abs(c) < 0.5 else f"{c:.0f}" for c in cells) + " |")
        return lines

    def write_json(self, path):
        with open(path, "w", encoding="utf-8") as file:
            json.dump([{**row.said, "problems": row.problems} for row in self.rows], file, indent=1, sort_keys=True)
            file.write("\n")

    def worse_than(self, path):
        """What an earlier table had right and this one has not: more problems in a row, a smaller share, a verdict that
        is another one."""
        with open(path, encoding="utf-8") as file:
            before = {(row["pair"], row["size_ms"], row["collector"]): row for row in json.load(file)}
        worse = []
        for row in self.rows:
            old, label = before.pop(row.key(), None), row.label()
            if old is None:
                continue
            if len(row.problems) > len(old["problems"]):
                worse.append(f"{label}: {len(row.problems)} problems, before {len(old['problems'])}")
            if old.get("share", 0) <= 1 and row.said.get("share", 0) < old.get("share", 0) - 0.005:
                worse.append(f"{label}: {row.said['share']:.3f} of the fault landed right, before {old['share']:.3f}")
            if old.get("held") and not row.said.get("held"):
                worse.append(f"{label}: the speedup of the own clocks is missed, and was not before")
            if row.said.get("verdict") != old.get("verdict"):
                worse.append(f"{label}: {row.said.get('verdict')}, before {old.get('verdict')}")
        return worse + [f"{name} {size:g} ms, {collector}: not there any more" for name, size, collector in before]


# ---- the short table of docs/method/truth.md ----


def faults(path):
    """The fault of each pair, in words, from the table in workloads/README.md."""
    with open(path, encoding="utf-8") as file:
        return dict(re.findall(r"^\| \[([\w-]+)\]\(.*?\|\s*(.*?)\s*\|", file.read(), re.M))


def short_table(table, words):
    """The largest size of each pair, from the JSON of a table."""
    largest = {}
    for row in table:
        if row["collector"] == "cupti" and "+" not in row["pair"]:
            if row["size_ms"] >= largest.get(row["pair"], row)["size_ms"]:
                largest[row["pair"]] = row
    lines = ["| what is true | what gapline says | and there | promised, measured | speedup (recorded) | by its own clock | verdict |",
             "|---|---|--:|--:|--:|--:|---|"]
    for name, row in largest.items():
        amount = f" {row['injected_ms']:.2f} ms per step: {words[name]}" if "share" in row else f" {words[name]}"
        least = f"{row['least_ms']:.2f} to " if row.get("least_ms") else ""
        ceiling = f"{least}{row['ceiling_ms']:.2f}, {row['measured_ms']:.2f} ms" if row.get("ceiling_ms") else ""
        lines.append("| " + " | ".join([
            f"[{name}](../../workloads/{name}):{amount}", row["text"], f"{100 * row['share']:.1f} %" if "share" in row else "",
            ceiling, f"{row['speedup']:.3f}×" + (f" ({row['recorded_speedup']:.3f}×)" if row["measured"] == "stopwatch" else ""),
            f"{row['own_speedup']:.3f}×", row["verdict"]]) + " |")
    return "\n".join(lines)


MARKS = ("<!-- truth: made by tests/truth/truth.py page -->", "<!-- end of truth -->")


def put_between_marks(text, table):
    """The page with the table between its marks."""
    start, end = text.index(MARKS[0]) + len(MARKS[0]), text.index(MARKS[1])
    return text[:start] + "\n" + table + "\n" + text[end:]
