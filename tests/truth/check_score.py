#!/usr/bin/env python3
"""examples/truth/score on claims whose score is known: all true, all false, none, and files that are none."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCORE = ROOT / "examples/truth/score"
TABLE = json.loads((ROOT / "examples/truth/table.json").read_text(encoding="utf-8"))
NAMES = [f"{r['pair']}-{r['size_ms']:g}" + ("-nsys" if r["collector"] == "nsys" else "") for r in TABLE]


class Score(unittest.TestCase):
    def run_it(self, value, status=0):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write(value if isinstance(value, str) else json.dumps(value))
            file.flush()
            done = subprocess.run([SCORE, file.name], capture_output=True, text=True)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout if not status else done.stderr

    def counts(self, claims):
        said = self.run_it({"schema": "gapline-claims/1", "tool": "t", "claims": claims})
        return {kind.strip(): [int(n) for n in row.split()] for kind, row in re.findall(r"^  ([a-z ]{10})((?: +\d+){4})$", said, re.MULTILINE)}

    def truths(self):
        """By hand from the pairs' names: what each fault is, as its README says."""
        causes = {
            "input-stall": ["idle:host_code"], "pageable-copy": ["copy_exposed", "idle:copy_api"], "copy-serial": ["copy_exposed"],
            "sync-every-step": ["idle:host_code"], "tiny-kernels": ["idle:launch_api"], "alloc-in-loop": ["idle:alloc"],
            "host-lock": ["idle:host_blocked"], "gil-loader": ["idle:gil"], "host-lock+untraced": ["idle:host_code"], "kernel-bound": ["compute"],
            "nccl-serial": ["comm_exposed"], "straggler": ["comm_exposed"], "module-load": ["idle:module_load"], "no-change": [], "regression": ["compute"],
        }  # fmt: skip
        for name, row in zip(NAMES, TABLE):
            speedup = row["own_ms"][0] / row["own_ms"][1]
            yield name, speedup, causes[row["pair"]], "different" if row["pair"] == "regression" else "same"

    def test_what_is_true_is_right(self):
        claims = [{"pair": n, "speedup": s * 1.04, "interval": [s * 0.99, s * 1.01], "cause": c, "same_work": w} for n, s, c, w in self.truths()]
        for claim in claims:
            claim["direction"] = {"regression": "slower", "no-change": "unchanged"}.get(re.sub(r"-[\d.]+(-nsys)?$", "", claim["pair"]), "faster")
        n = len(claims)
        self.assertEqual(n, 53)
        self.assertEqual(self.counts(claims), dict.fromkeys(("direction", "speedup", "interval", "cause", "same work"), [n, 0, 0, 0]))

    def test_what_is_false_is_wrong(self):
        claims = [{"pair": n, "direction": "slower" if s > 1.02 else "faster", "speedup": s * 1.06, "interval": [s * 1.01, s * 1.02],
                   "cause": [*c, "idle:nonsense"], "same_work": "same" if w == "different" else "different"} for n, s, c, w in self.truths()]
        self.assertEqual(self.counts(claims), dict.fromkeys(("direction", "speedup", "interval", "cause", "same work"), [0, 53, 0, 0]))

    def test_nothing_named_is_wrong_where_there_is_a_fault(self):
        self.assertEqual(self.counts([{"pair": n, "cause": []} for n in NAMES])["cause"], [1, 52, 0, 0])

    def test_undecided_and_not_claimed(self):
        claims = [{"pair": NAMES[0], "direction": "unknown", "same_work": "unknown"}, {"pair": NAMES[1], "speedup": None}]
        self.assertEqual(self.counts(claims), {"direction": [0, 0, 1, 52], "same work": [0, 0, 1, 52], **dict.fromkeys(("speedup", "interval", "cause"), [0, 0, 0, 53])})

    def test_direction_of_a_speedup(self):
        self.assertEqual(self.counts([{"pair": "no-change-0", "speedup": s} for s in [1.01]])["direction"], [1, 0, 0, 52])
        self.assertEqual(self.counts([{"pair": "no-change-0", "speedup": 1.03}])["direction"], [0, 1, 0, 52])

    def test_files_that_are_none(self):
        head = {"schema": "gapline-claims/1"}
        for value in ("{", "[]", {"claims": []}, {**head, "claims": {}}, {**head, "claims": [{"pair": "nothing"}]}, {**head, "claims": [{"pair": NAMES[0]}] * 2},
                      {**head, "claims": [{"pair": NAMES[0], "speedup": "2"}]}, {**head, "claims": [{"pair": NAMES[0], "speedup": -1}]},
                      {**head, "claims": [{"pair": NAMES[0], "direction": "better"}]}, {**head, "claims": [{"pair": NAMES[0], "cause": "compute"}]},
                      {**head, "claims": [{"pair": NAMES[0], "interval": [1]}]}, {**head, "claims": [3]}):  # fmt: skip
            said = self.run_it(value, status=2)
            self.assertEqual(said.count("\n"), 1, said)
        self.assertEqual(subprocess.run([SCORE], capture_output=True).returncode, 2)
        self.assertEqual(subprocess.run([SCORE, "/nowhere.json"], capture_output=True).returncode, 2)


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=0))
