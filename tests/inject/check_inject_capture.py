#!/usr/bin/env python3
"""The profile that `gapline capture` makes of a program that uses CUDA, with a stand-in for the driver and for CUPTI.

    check_inject_capture.py LIBRARY CUDA_TARGET FOLDER_OF_THE_FAKES GAPLINE
"""

import json
import math
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

from check_inject_cupti import Case, FAKES, GAPLINE, TARGET


class Capture(Case):
    """From the program to the profile, with everything of ours in between."""

    def capture(self, *words, **more):
        env = {k: v for k, v in self.environment(**more).items() if k not in ("CUDA_INJECTION64_PATH", "GAPLINE_SPOOL")}
        profile = pathlib.Path(self.folder.name) / "x.sqlite"
        command = [GAPLINE, "capture", "--collector", "cupti", "-o", profile, "--", TARGET, *words]
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"\Agapline: \S+: \d+\.\d s, complete\n\Z")
        self.assertEqual(os.listdir(self.folder.name), ["x.sqlite"])
        db = sqlite3.connect(profile)
        self.addCleanup(db.close)
        return done.stdout, db

    def test_no_room_for_the_recording(self):
        """A spool that cannot be created, or not be written on: that is said, and not that no CUDA was used."""
        words = r"process \d+ could not write its recording: No space left on device"
        wanted, found = [rf"gapline: nothing was recorded: {words}", rf"gapline: {words}.* \(what it had written before is used\)", r": \d\.\d s, complete\n\Z"], []
        for room in None, *range(40):
            env = self.environment(FAKE_EXACT="1", **({} if room is None else {"FAKE_ROOM": str(room)}))
            del env["CUDA_INJECTION64_PATH"], env["GAPLINE_SPOOL"]
            with tempfile.TemporaryDirectory() as folder:
                command = [GAPLINE, "capture", "--collector", "cupti", "-o", f"{folder}/x.sqlite", "--", "env", f"LD_PRELOAD={FAKES}/libfake_full_disk.so", TARGET, "steps"]
                done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)
            said = [i for i, pattern in enumerate(wanted) if re.search(pattern, done.stderr)]
            self.assertTrue(said and done.returncode == (0 if said[0] else 3) and "never used CUDA" not in done.stderr, (room, done.stderr))
            found.append(said[0])
            if found[-1] == 2:
                break
        self.assertEqual((found[0], found, set(found)), (0, sorted(found), {0, 1, 2}))  # none, some, and all of it

    def test_folder_that_cannot_be_reached(self):
        """As in a container of its own: nobody is told, so it is not said that no CUDA was used."""
        env = self.environment(FAKE_EXACT="1")
        del env["CUDA_INJECTION64_PATH"], env["GAPLINE_SPOOL"]
        with tempfile.TemporaryDirectory() as folder:
            command = [GAPLINE, "capture", "--collector", "cupti", "-o", f"{folder}/x.sqlite", "--", "env", "GAPLINE_SPOOL=/nowhere", TARGET, "steps"]
            done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 3)
        self.assertIn("the program never used CUDA, or could not reach the output's folder", done.stderr)

    def test_profile(self):
        before = time.monotonic_ns()
        out, db = self.capture("steps", FAKE_EXACT="1")
        ran = time.monotonic_ns() - before
        printed = [(name, int(start), int(end)) for name, start, end in map(str.split, out.splitlines())]
        self.assertEqual(len(printed), 60)

        rows = db.execute(
            "SELECT s.value, k.start, k.end, k.correlationId FROM CUPTI_ACTIVITY_KIND_KERNEL k "
            "JOIN StringIds s ON s.id = k.shortName ORDER BY k.start"
        ).fetchall()
        zero = printed[0][1] - rows[0][1]  # the profile's time 0 on the clock that the program printed
        self.assertTrue(before < zero < printed[0][1], "time 0 is the start of the program")
        self.assertEqual(rows, [(n, s - zero, e - zero, i) for i, (n, s, e) in enumerate(printed, 1)])

        calls = db.execute(
            "SELECT s.value, r.start, r.end, r.correlationId, r.globalTid FROM CUPTI_ACTIVITY_KIND_RUNTIME r "
            "JOIN StringIds s ON s.id = r.nameId ORDER BY r.start"
        ).fetchall()
        self.assertEqual([(c[0], c[3]) for c in calls], [("cudaLaunchKernel_v7000", i) for i in range(1, 61)])
        self.assertTrue(all(0 < c[1] <= c[2] < ran for c in calls))

        ranges = db.execute("SELECT text, start, end, globalTid FROM NVTX_EVENTS WHERE eventType = 59 ORDER BY start")
        ranges = ranges.fetchall()
        self.assertEqual([r[0] for r in ranges], ["step"] * 20)
        self.assertEqual({r[3] for r in ranges}, {c[4] for c in calls})
        inside = [[c[3] for c in calls if r[1] <= c[1] and c[2] <= r[2]] for r in ranges]
        self.assertEqual(inside, [[i, i + 1, i + 2] for i in range(1, 61, 3)])

        self.assertEqual(db.execute("SELECT name, smCount FROM TARGET_INFO_GPU").fetchall(), [("Fake GPU", 132)])
        facts = dict(db.execute("SELECT name, value FROM GAPLINE_CAPTURE"))
        self.assertIn(facts.pop("gpu_state"), ("none", "NVML"))
        version = subprocess.run([GAPLINE, "--version"], capture_output=True, text=True).stdout.split()[1]
        self.assertEqual(facts, {"gapline": version, "collector": "cupti", "cupti": "13.0.1", "trace": "cuda,nvtx",
                                 "graphs": "graph", "complete": "yes", "begins": "program"})

    def test_ranks(self):
        """Each process of one capture has the number that its own launcher gave it, not that of gapline's environment. One
        number of several is nobody's: a program's workers have it from the program."""
        each, same = 'for r in 1 0; do RANK=$r "$0" steps & done; wait', 'for i in 1 2; do "$0" steps & done; wait'
        for how, given, wanted, titles in (("each", each, [0, 1], {"rank 0", "rank 1"}), ("same", same, [5, 5], set())):
            with self.subTest(how), tempfile.TemporaryDirectory() as folder:
                profile = pathlib.Path(folder) / "x.sqlite"
                env = {k: v for k, v in self.environment(FAKE_EXACT="1", SLURM_PROCID="5").items() if k not in ("CUDA_INJECTION64_PATH", "GAPLINE_SPOOL")}
                done = subprocess.run([GAPLINE, "capture", "--collector", "cupti", "-o", profile, "--", "sh", "-c", given, TARGET],
                                      env=env, capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, 0, done.stderr)
                db = sqlite3.connect(profile)
                self.addCleanup(db.close)
                rows = db.execute("SELECT p.pid, r.rank FROM GAPLINE_RANK r JOIN PROCESSES p USING (globalPid) ORDER BY 2").fetchall()
                self.assertEqual([rank for _, rank in rows], wanted)
                shown = subprocess.run([GAPLINE, "show", "--json", "-", profile], capture_output=True, text=True)
                self.assertEqual(shown.returncode, 0, shown.stderr)
                devices = json.loads(shown.stdout)["profile"]["devices"]
                self.assertEqual({d["rank"] for d in devices if d["rank"] is not None}, {int(t.split()[1]) for t in titles}, devices)

    def test_nodes_of_graphs(self):
        """Node by node, the profile says who made each node, as nsys's does, and a graph that is the step has the phases
        in which it was captured. Traced whole, nobody asks."""
        base = 3 << 32
        for how, nodes in (("node", [(base + 1, None), (base + 2, None), (base + 11, None), (base + 11, base + 1),
                                     (base + 12, None), (base + 12, base + 2)]), ("graph", None)):
            with self.subTest(how), tempfile.TemporaryDirectory() as folder:
                profile = pathlib.Path(folder) / "x.sqlite"
                env = {k: v for k, v in self.environment(FAKE_EXACT="1").items() if k not in ("CUDA_INJECTION64_PATH", "GAPLINE_SPOOL")}
                done = subprocess.run([GAPLINE, "capture", "--collector", "cupti", "--cuda-graph-trace", how, "-o", profile, "--",
                                       TARGET, "graph"], env=env, capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, 0, done.stderr)
                db = sqlite3.connect(profile)
                self.addCleanup(db.close)
                if not nodes:
                    self.assertEqual(db.execute("SELECT name FROM sqlite_master WHERE name LIKE 'CUDA_GRAPH%'").fetchall(), [])
                    continue
                rows = db.execute("SELECT graphNodeId, originalGraphNodeId FROM CUDA_GRAPH_NODE_EVENTS ORDER BY start, rowid").fetchall()
                self.assertEqual(rows, nodes)
                made = db.execute("SELECT s.value FROM CUDA_GRAPH_NODE_EVENTS n JOIN CUPTI_ACTIVITY_KIND_RUNTIME r ON n.start BETWEEN "
                                  "r.start AND r.end AND n.globalTid = r.globalTid JOIN StringIds s ON s.id = r.nameId ORDER BY n.start")
                self.assertEqual([m for (m,) in made], ["cudaLaunchKernel_v7000"] * 2 + ["cudaGraphInstantiate_v10000"] * 4)
                shown = subprocess.run([GAPLINE, "show", "--json", "-", "--step", "step", profile], capture_output=True, text=True)
                self.assertEqual(shown.returncode, 0, shown.stderr)
                side = json.loads(shown.stdout)["profile"]
                gpu = {p["name"]: round(p["gpu_ms_per_step"], 3) for p in side["phases"] if p["gpu_ms_per_step"]}
                self.assertEqual(gpu, {"forward": 0.04, "backward": 0.02})
                gpu = {r["name"]: round(r["gpu_ms"], 3) for r in side["nvtx"]}
                self.assertEqual(gpu, {"step": 0.06, "forward": 0.04, "backward": 0.02})

    def of_children(self, **more):
        """The profile of graphs whose nodes are a child graph's, and what a report says of it."""
        profile = pathlib.Path(self.folder.name) / "children.sqlite"
        env = {k: v for k, v in self.environment(FAKE_EXACT="1", **more).items() if k not in ("CUDA_INJECTION64_PATH", "GAPLINE_SPOOL")}
        done = subprocess.run([GAPLINE, "capture", "--collector", "cupti", "--cuda-graph-trace", "node", "--force", "-o", profile, "--", TARGET, "child_graphs"], env=env, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        shown = subprocess.run([GAPLINE, "show", "--json", "-", "--step", "step", profile], capture_output=True, text=True)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        db = sqlite3.connect(profile)
        self.addCleanup(db.close)
        return db, json.loads(shown.stdout)["profile"]

    def test_nodes_of_child_graphs(self):
        """The nodes of child graphs get other numbers when a graph is instantiated. The profile has both, also of what is
        destroyed then, however many there are, and each is of the phase in which it was captured."""
        db, side = self.of_children()
        ids, moved = ([number << 32 | first + i for first in (1000, 2000) for i in range(300)] for number in (3, 5))
        rows = db.execute("SELECT graphNodeId, originalGraphNodeId FROM CUDA_GRAPH_NODE_EVENTS WHERE originalGraphNodeId IS NOT NULL")
        plain = (3 << 32 | 11, 3 << 32 | 1)
        self.assertEqual(sorted(rows), sorted([plain, *((i, 3 << 32 | (i & 0xFFFFFFFF) // 1000) for i in ids), *zip(moved, ids)]))
        self.assertEqual({p["name"]: round(p["gpu_ms_per_step"], 3) for p in side["phases"] if p["gpu_ms_per_step"]}, {"forward": 0.05, "backward": 0.02})
        self.assertNotIn("graph_nodes_unknown", [n["id"] for n in side["data"]["notes"]])

    def test_nodes_of_child_graphs_that_cannot_be_followed(self):
        """A CUPTI that does not say when nodes are destroyed or when graphs are ready: no node is asked for its number that
        may be gone, and that they are unknown is said."""
        DESTROYED, READY = 14, 18
        for callback in DESTROYED, READY:
            _, side = self.of_children(FAKE_NO_CALLBACK=str(callback))
            (unknown,) = [n["params"] for n in side["data"]["notes"] if n["id"] == "graph_nodes_unknown"]
            self.assertEqual((round(unknown["share"], 3), unknown["why"]), (0.857, "unseen"))  # 60 us of 70

    def test_nodes_that_nobody_tells(self):
        """A CUPTI that does not say who makes nodes: the capture says so, and so does a report, of all of them."""
        CREATED, CLONED = 13, 20
        for callback in CREATED, CLONED:
            with self.subTest(callback), tempfile.TemporaryDirectory() as folder:
                profile = pathlib.Path(folder) / "x.sqlite"
                env = {k: v for k, v in self.environment(FAKE_EXACT="1", FAKE_NO_CALLBACK=str(callback)).items() if k not in ("CUDA_INJECTION64_PATH", "GAPLINE_SPOOL")}
                done = subprocess.run([GAPLINE, "capture", "--collector", "cupti", "--cuda-graph-trace", "node", "-o", profile, "--",
                                       TARGET, "graph"], env=env, capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(done.stderr.count("CUPTI refused to say who makes the nodes of CUDA graphs"), 1, done.stderr)
                shown = subprocess.run([GAPLINE, "show", "--json", "-", "--step", "step", profile], capture_output=True, text=True)
                data = json.loads(shown.stdout)["profile"]["data"]
                self.assertIn("to say who makes the nodes", str(data["diagnostics"]))
                (unknown,) = [n["params"] for n in data["notes"] if n["id"] == "graph_nodes_unknown"]
                self.assertEqual(unknown, {"share": 1, "why": "untold"})

    def test_server_log(self):
        """Quantiles of 10,000 requests, of the time to the first token and per output token, are those of the server's
        own log, which notes the time before and after each of its marks. Requests that are over before the first one, and
        the last ones of the recording, are not measured: the bounds allow for any of them to be missing."""
        logs, profiles = {}, [pathlib.Path(self.folder.name) / f"{case}.sqlite" for case in ("server", "short_server")]
        env = {k: v for k, v in self.environment(FAKE_EXACT="1").items() if k not in ("CUDA_INJECTION64_PATH", "GAPLINE_SPOOL")}
        for side, profile in zip(("baseline", "fixed"), profiles):
            command = [GAPLINE, "capture", "--collector", "cupti", "-o", profile, "--", TARGET, profile.stem]
            done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=100)
            self.assertEqual(done.returncode, 0, done.stderr)
            logs[side] = [[int(x) for x in line.split()] for line in done.stdout.splitlines()]
        command = [GAPLINE, "report", *profiles, "-o", os.devnull, "--json", "-", "--warmup", "1", "--requests"]
        doc, prefill = (json.loads(subprocess.run([*command, *words], capture_output=True, text=True, timeout=100).stdout)
                        for words in (["request", "--first", "prefill", "--each", "decode"], ["prefill"]))
        self.assertEqual([len(log) for log in logs.values()], [10000, 1000])
        for side, log in logs.items():
            steps = doc[side]["steps"]
            least = {  # and most: a mark was made between the two times beside it
                "quantiles": [(e[0] - s[1], e[1] - s[0]) for s, e in ((r[1:3], r[7:9]) for r in log)],
                "first_token": [(e[0] - s[1], e[1] - s[0]) for s, e in ((r[1:3], r[3:5]) for r in log)],
                "per_token": [((r[5] - r[4]) / r[0], (r[6] - r[3]) / r[0]) for r in log if r[0]],
                "prefill": [(e[0] - s[1], e[1] - s[0]) for s, e in ((r[9:11], r[3:5]) for r in log)],
            }
            for what, times in least.items():
                low, high = (sorted(t[i] / 1e6 for t in times) for i in (0, 1))
                of = prefill[side]["steps"] if what == "prefill" else steps
                found = of["quantiles"] if what in ("quantiles", "prefill") else of[what]["quantiles"]
                n = of["measured"] if what in ("quantiles", "prefill") else of[what]["requests"]
                left_out = len(times) - n
                self.assertTrue(0 <= left_out <= len(times) // 10, (side, what, left_out))
                longest = of["longest_request_ms"] if what in ("quantiles", "prefill") else of[what]["longest_ms"]
                self.assertTrue(low[n - 1] <= longest <= high[-1], (side, what, longest))
                for q in found:
                    rank = math.ceil(n * q["p"] - 1e-9)
                    at = low[rank - 1], high[min(rank - 1 + left_out, len(high) - 1)]
                    self.assertTrue(at[0] <= q["ms"] <= at[1], (side, what, q, at))
                    if q["p"] == 0.5:
                        self.assertLess(at[1], 1.3 * at[0], "the log itself is exact enough")
                    if side == "baseline" and q["lo_ms"] is not None:  # at least as wide as that of independent requests
                        d = 1.96 * math.sqrt(n * q["p"] * (1 - q["p"]))
                        ends = math.floor(n * q["p"] - d + 0.5), math.floor(n * q["p"] + d + 0.5) + 1
                        self.assertLessEqual(q["lo_ms"], high[ends[0] - 1 + left_out], (side, what, q))
                        self.assertGreaterEqual(q["hi_ms"], low[ends[1] - 1], (side, what, q))
                self.assertIsNotNone(found[1]["lo_ms"], (side, what, found))

    def test_memory(self):
        """Allocations, where they are asked for: the peak is what the program adds up to."""
        env = {k: v for k, v in self.environment(FAKE_EXACT="1").items() if k not in ("CUDA_INJECTION64_PATH", "GAPLINE_SPOOL")}
        profile = pathlib.Path(self.folder.name) / "x.sqlite"

        def shown(*options):
            profile.unlink(missing_ok=True)
            command = [GAPLINE, "capture", "--collector", "cupti", *options, "-o", profile, "--", TARGET, "memory"]
            done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            return again()

        def again():
            said = subprocess.run([GAPLINE, "show", profile, "--warmup", "0", "--json", "-"], capture_output=True, text=True, check=True)
            return json.loads(said.stdout)["profile"]["memory"]

        self.assertIn("were not recorded", shown()["not_known_because"])
        memory = shown("--trace", "cuda,nvtx,memory")
        self.assertEqual(memory["steps"].pop("n"), 39)  # of 40 the first one only begins the window
        own = {"median_bytes": 256 << 20, "max_bytes": 256 << 20}  # between steps there are 128 MB more for a moment
        self.assertEqual(memory, {"peak_bytes": 384 << 20, "counted_by": "cuda", "held": [], "operators": [], "steps": own, "not_known_because": None, "steps_not_known_because": None})
        db = sqlite3.connect(profile)
        self.addCleanup(db.close)
        rows = db.execute("SELECT memoryOperationType, bytes >> 20, memKind, deviceId FROM CUDA_GPU_MEMORY_USAGE_EVENTS ORDER BY start").fetchall()
        self.assertEqual(rows, [(0, 64, 2, 0), (0, 256, 2, 0), (1, 0, 2, 0), (0, 128, 2, 0), (1, 128, 2, 0), (1, 256, 2, 0)])
        db.execute("INSERT INTO GAPLINE_CAPTURE VALUES ('dropped', '3')")
        db.commit()
        self.assertIn("were lost", again()["not_known_because"])
        db.execute("DELETE FROM GAPLINE_CAPTURE WHERE name IN ('dropped', 'begins')")  # as of a window
        db.commit()
        self.assertIn("may have begun after the first allocation", again()["not_known_because"])

    def test_processes_that_trace_graphs_differently(self):
        """Where one of them traced graphs whole, there are graphs whose kernels are not known, whichever came first."""
        for first, second, said in (("node", "graph", "graph"), ("graph", "node", "graph"), ("node", "auto", "graph"),
                                    ("node", "node", "node"), ("auto", "graph", "graph")):
            with self.subTest(first=first, second=second), tempfile.TemporaryDirectory() as folder:
                profile = pathlib.Path(folder) / "x.sqlite"
                code = f"GAPLINE_GRAPH_TRACE={first} '{TARGET}' steps; GAPLINE_GRAPH_TRACE={second} '{TARGET}' steps"
                env = {k: v for k, v in self.environment(FAKE_EXACT="1").items() if k not in ("CUDA_INJECTION64_PATH", "GAPLINE_SPOOL")}
                done = subprocess.run([GAPLINE, "capture", "--collector", "cupti", "-o", profile, "--", "sh", "-c", code],
                                      env=env, capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, 0, done.stderr)
                db = sqlite3.connect(profile)
                self.addCleanup(db.close)
                ((graphs,),) = db.execute("SELECT value FROM GAPLINE_CAPTURE WHERE name = 'graphs'")
                ((mode,),) = db.execute("SELECT value FROM META_DATA_CAPTURE WHERE name = 'CUDA_GRAPH_TRACE_OPTIONS:MODE'")
                ((kernels,),) = db.execute("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL")
                self.assertEqual((graphs, mode.lower(), kernels), (said, said, 120))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[5:])
