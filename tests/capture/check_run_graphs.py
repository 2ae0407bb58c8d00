#!/usr/bin/env python3
"""Runs `gapline run` with programs that replay CUDA graphs and a stand-in for nsys; recorded runs only.

    check_run_graphs.py GAPLINE [-k PATTERN]
"""

import json
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import captured
import tiny_graphs
from captured import Case


class Graphs(Case):
    BOTH = ["--baseline", "true base-#.sqlite", "--fixed", "true fixed-#.sqlite"]

    def state(self, folder="out"):
        return json.loads((self.folder / folder / "run.json").read_text())

    def graph_sides(self, *whole):
        """Commands of programs that replay CUDA graphs; those of `whole` were traced whole where nothing else is asked
        for."""
        for i, (side, length) in enumerate((("base", 420), ("fixed", 300))):
            made = [(1, length, tiny_graphs.GRAPHS[0][2]), tiny_graphs.GRAPHS[1]]
            for r in range(5):
                tiny_graphs.write(self.folder / f"{side}-graphs-{r}.sqlite", by_node=side not in whole, graphs=made, seed=60 + 10 * i + r)
            tiny_graphs.write(self.folder / f"{side}-graphs-nodes.sqlite", by_node=True, graphs=made, first_id=30, seed=69 + 10 * i)
        return ["--baseline", "true base-graphs-#.sqlite", "--fixed", "true fixed-graphs-#.sqlite", "-o", "out"]

    def test_nodes_of_graphs(self):
        """Each side whose graphs were traced whole is run once more, by node, and nothing but the shares is of that run."""
        both = [*self.graph_sides("base", "fixed"), "--recorded", "2"]
        _, said = self.run_both(*both)
        lines = re.findall(r"^gapline: run (\d) of 6: (.*): \d+\.\d s$", said, re.M)
        self.assertEqual([n for n, _ in lines], list("3456"))  # before the first one nobody knows of graphs
        self.assertEqual([name for _, name in lines[2:]], ["baseline, CUDA graphs node by node", "fixed, CUDA graphs node by node"])
        state = self.state()
        self.assertEqual(" ".join(f"{r['side'][0]}{r['run']}" for r in state["runs"]), "b1 f1 f2 b2")
        self.assertEqual([(r["side"], r["kind"], r["profile"], r["complete"]) for r in state["graph_nodes"]],
                         [(s, "nodes", f"nodes-{s}.sqlite", "yes") for s in ("baseline", "fixed")])
        result = json.loads((self.folder / "out/report.json").read_text())
        inside = result.pop("graphs_inside")
        for side, ms in ("baseline", 0.42), ("fixed", 0.3):
            self.assertEqual(inside[side]["file"], f"nodes-{side}.sqlite")
            first = inside[side]["graphs"][0]
            self.assertAlmostEqual(first["ms_per_step"], ms)
            self.assertEqual({k["name"]: round(k["share"], 9) for k in first["kernels"]},
                             {"gemm(float *)": 0.75, "relu(float *)": 0.15, "[CUDA memcpy Device-to-Device]": 0.1})
        self.assertEqual([result[s]["steps"]["runs"] for s in ("baseline", "fixed")], [2, 2])
        profiles = [w for s in ("baseline", "fixed") for w in ("--" + s, f"out/{s}-*.sqlite")]  # without that run, all else is the same
        self.gapline("report", *profiles, "--files-are", "repeats", "--json", "without.json", "-o", "without.html", "--baseline-name", result["baseline"]["name"],
                     "--fixed-name", result["fixed"]["name"])
        without = json.loads((self.folder / "without.json").read_text())
        for doc in result, without:
            for side in "baseline", "fixed":
                for why in "files", "told":
                    doc[side].pop(why, None)
        self.assertEqual(without, result)
        (self.folder / "out/nodes-fixed.sqlite").unlink()  # a run that lacks is made again, and no other
        _, said = self.run_both(*both, "--resume")
        self.assertEqual(re.findall(r"^gapline: run (\d) of 6: (.*): \d+\.\d s$", said, re.M), [("6", "fixed, CUDA graphs node by node")])
        self.assertIn("graphs_inside", json.loads((self.folder / "out/report.json").read_text()))
        self.run_both(*both, "--force", "--cuda-graph-trace", "graph")  # asked for, they stay whole; and what was made is ours to remove
        self.assertEqual([n for n in self.files("out") if n.startswith("nodes")], [])
        self.assertNotIn("graphs_inside", json.loads((self.folder / "out/report.json").read_text()))

    def test_nodes_of_one_side_s_graphs(self):
        """Only where graphs were traced whole, which that side's profile says."""
        self.run_both(*self.graph_sides("fixed"), "--recorded", "1")
        self.assertEqual([r["side"] for r in self.state()["graph_nodes"]], ["fixed"])
        self.assertEqual(self.state()["graphs_whole"], {"baseline": False, "fixed": True})
        self.run_both(*self.BOTH, "--recorded", "1", "-o", "none")
        self.assertEqual(self.state("none")["graph_nodes"], [])
        self.assertNotIn("graphs_inside", json.loads((self.folder / "none/report.json").read_text()))

    def test_nodes_of_variants(self):
        """Each variant whose graphs were traced whole has such a run, the baseline's is in every pair, and the numbers are
        those of the pair without them."""
        self.graph_sides("base", "fixed")
        for r in range(4):
            tiny_graphs.write(self.folder / f"third-{r}.sqlite", by_node=True, seed=80 + r)
        words = [w for name in ("base-graphs", "fixed-graphs", "third") for w in ("--variant", f"{name}=true {name}-#.sqlite")]
        _, said = self.run_both(*words, "-o", "out")
        self.assertEqual(re.findall(r"^gapline: run (\d+) of 14: (.*): \d+\.\d s$", said, re.M)[-2:],
                         [("13", "base-graphs, CUDA graphs node by node"), ("14", "fixed-graphs, CUDA graphs node by node")])  # fmt: skip
        self.assertEqual([(r["side"], r["profile"]) for r in self.state()["graph_nodes"]],
                         [(s, f"nodes-{s}.sqlite") for s in ("baseline", "variant-2")])
        for pair, sides in ("fixed-graphs", 2), ("third", 1):
            page = (self.folder / f"out/report-{pair}.html").read_text()
            self.assertEqual(len(re.findall("graph 1, 1 per step, measured", page)), sides)
            subprocess.run([captured.GAPLINE, "verify", self.folder / f"out/report-{pair}.html"], check=True, capture_output=True)
        files = [w for name, side in zip(("base-graphs", "fixed-graphs", "third"), ("baseline", "variant-2", "variant-3")) for w in ("--variant", f"{name}=out/{side}-*.sqlite")]
        self.gapline("report", *files, "--json", "without.json", "-o", "out/without.html", "-q")
        found, without = (json.loads((self.folder / name).read_text()) for name in ("out/report.json", "without.json"))
        for doc in found, without:
            for variant in doc["variants"]:
                variant.pop("report")
        self.assertEqual(found, without)
        _, said = self.run_both(*words, "-o", "out", "--resume", "--json", "out/nodes-baseline.sqlite", status=2)
        self.assertIn("this output would replace an input", said)

    def test_a_run_by_node_that_fails(self):
        """The comparison does without it."""
        both = [*self.graph_sides("base", "fixed"), "--recorded", "1"]
        (self.folder / "fixed-graphs-nodes.sqlite").write_bytes(b"no profile")
        _, said = self.run_both(*both)
        self.assertRegex(said, r"gapline: fixed side, CUDA graphs node by node: .*; what is inside them stays unknown")
        inside = json.loads((self.folder / "out/report.json").read_text())["graphs_inside"]
        self.assertEqual((len(inside["baseline"]["graphs"]), inside["fixed"]), (2, None))
        self.assertNotIn("nodes-fixed.sqlite", self.files("out"))
        _, said = self.run_both(*both, "--force", "--time-limit", "0.001s")
        self.assertEqual(said.count("the time limit leaves no room for a run of the"), 2)
        self.assertEqual(self.state()["graph_nodes"], [])


if __name__ == "__main__":
    captured.main()
