#!/usr/bin/env python3
"""CUDA graphs that were traced whole, divided by a run that has their nodes.

    check_graphs.py GAPLINE

Shares of made profiles (tests/support/tiny_graphs.py) are worked out here by hand, those of one program that nsys recorded
both ways (tests/stats/recorded) by SQL.
"""
import copy
import json
import lzma
import pathlib
import sqlite3
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
import sys  # noqa: E402

sys.path.insert(0, str(HERE.parent / "support"))
import by_hand  # noqa: E402
import facts  # noqa: E402
import tiny_graphs as graphs  # noqa: E402
from by_hand import GAPLINE, check, near, report  # noqa: E402

SLOWER = copy.deepcopy(graphs.GRAPHS)
SLOWER[0] = (1, 420, SLOWER[0][2])


def show(profile, nodes, *options):
    """What is in its graphs, and the terminal."""
    out = profile.with_name("show.json")
    done = subprocess.run([GAPLINE, "show", profile, "--graph-nodes", nodes, "--json", out, "--color", "never", *options], capture_output=True, text=True)
    check(done.returncode == 0, "show:", done.stderr)
    return json.loads(out.read_text())["graphs_inside"]["profile"], done.stdout


def shares(graph, of):
    return {row["name"]: row["share"] for row in graph[of]}


def close(found, right, what):
    check(found.keys() == right.keys(), f"{what}: {found}, not {right}")
    for name in right:
        near(found.get(name), right[name], f"{what}, {name}")


# By hand from GRAPHS: nodes of graph 1 take 60 + 30 + 30 + 60 + 20 = 200 us, of graph 2 45 + 15 = 60.
FIRST = {
    "kernels": {"gemm(float *)": 0.75, "relu(float *)": 0.15, "[CUDA memcpy Device-to-Device]": 0.1},
    "phases": {"forward": 0.6, "backward": 0.3, None: 0.1},
    "ranges": {"attention": 0.3, "mlp": 0.3, "backward": 0.3, None: 0.1},
    "modules": {},
}
SECOND = {"kernels": {"relu(float *)": 0.75, "gemm(float *)": 0.25}, "phases": {"optimizer": 1}, "ranges": {}, "modules": {}}


def known_shares(folder):
    """And the graphs' own times are those of the whole ones: 300 us, and 2 x 50."""
    whole, nodes = folder / "whole.sqlite", folder / "nodes.sqlite"
    graphs.write(whole)
    graphs.write(nodes, by_node=True, first_id=20, steps=25, seed=2)
    inside, out = show(whole, nodes)
    check(inside["unknown"] is None and inside["file"] == "nodes.sqlite" and inside["left_out"] == 0, inside)
    for graph, right, (number, launches, ms) in zip(inside["graphs"], (FIRST, SECOND), ((1, 1, 0.3), (2, 2, 0.1))):
        check(graph["number"] == number, graph)
        near(graph["launches_per_step"], launches, "launches")
        near(graph["ms_per_step"], ms, "time")
        for of in right:
            close(shares(graph, of), right[of], f"graph {number}, {of}")
            for row in graph[of]:
                near(row["estimated_ms_per_step"], row["share"] * ms, "estimate")
    check("An estimate." in out and "75.0 %  kernel gemm" in out and "60.0 %  phase forward" in out, out)
    packed = folder / "nodes.digest"
    subprocess.run([GAPLINE, "digest", nodes, "-o", packed], check=True, capture_output=True)
    subprocess.run([GAPLINE, "digest", whole, "-o", folder / "whole.digest"], check=True, capture_output=True)
    again, _ = show(folder / "whole.digest", packed)
    check(again["graphs"] == inside["graphs"], "digests:", again)
    db = sqlite3.connect(nodes)  # some nodes are a child graph's, which has an id of its own
    db.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET graphNodeId = graphNodeId + (100 << 32) WHERE demangledName = 5 AND graphNodeId >> 32 = 20")
    db.commit()
    db.close()
    again, _ = show(whole, nodes)
    check(again["unknown"] is None, "a child graph:", again)
    close(shares(again["graphs"][0], "kernels"), FIRST["kernels"], "a child graph")
    graphs.write(folder / "uncaptured.sqlite", by_node=True, captured=False, seed=3)
    inside, _ = show(whole, folder / "uncaptured.sqlite")
    close(shares(inside["graphs"][0], "kernels"), FIRST["kernels"], "who made the nodes is not known")
    check(inside["graphs"][0]["phases"] == inside["graphs"][0]["ranges"] == [], inside)


def nothing_else(folder):
    """Of two sides; no other number is another one, one side may be alone, and the page proves itself."""
    graphs.write(folder / "base.sqlite", graphs=SLOWER)
    graphs.write(folder / "fixed.sqlite", seed=2)
    graphs.write(folder / "base-nodes.sqlite", by_node=True, graphs=SLOWER, seed=3)
    graphs.write(folder / "fixed-nodes.sqlite", by_node=True, seed=4)
    both = ["--baseline-graph-nodes", folder / "base-nodes.sqlite", "--fixed-graph-nodes", folder / "fixed-nodes.sqlite"]
    done, doc, out, markdown, page = report(folder, *both)
    check(done.returncode == 0, done.stderr)
    verified = subprocess.run([GAPLINE, "verify", folder / "out.html"], capture_output=True, text=True)
    check(verified.returncode == 0, "verify:", verified.stdout, verified.stderr)
    inside = doc.pop("graphs_inside")
    near(inside["baseline"]["graphs"][0]["ms_per_step"], 0.42, "baseline")
    near(inside["fixed"]["graphs"][0]["ms_per_step"], 0.3, "fixed")
    for side in inside.values():
        close(shares(side["graphs"][0], "kernels"), FIRST["kernels"], "kernels")
    check("Inside CUDA graphs, estimated" in page and "An estimate." in page and "Baseline, graph 1, 1 per step, measured" in page, "the page")
    _, bare, bare_out, bare_markdown, bare_page = report(folder)
    check(bare == doc, "another number of the report is another one")
    check((bare_out, bare_markdown) == (out, markdown), "terminal or Markdown")
    check("Inside CUDA graphs" not in bare_page, "the page has an empty section")
    _, doc, _, _, page = report(folder, *both[2:])
    check(doc["graphs_inside"]["baseline"] is None and doc["graphs_inside"]["fixed"]["graphs"], doc["graphs_inside"])
    check("Baseline, graph" not in page and "Fixed, graph 1" in page, "the page of one side")


def unlike(folder):
    """What does not match is unknown, with the reason."""
    whole = folder / "whole.sqlite"
    one, other = graphs.GRAPHS
    graphs.write(whole)
    for name, words, how in (
        ("fewer", "It launches 2 graphs, and fewer.sqlite launches 1.", {"graphs": [one]}),
        ("oftener", "Its graph 1 is launched more or less often in oftener.sqlite", {"graphs": [(2, *one[1:]), other], "steps": 30}),
        ("turned", "is launched more or less often in turned.sqlite", {"order": [1, 0, 0, 0, 0]}),
    ):
        nodes = folder / f"{name}.sqlite"
        graphs.write(nodes, by_node=True, seed=5, **how)
        inside, out = show(whole, nodes)
        check(inside["graphs"] == [] and words in (inside["unknown"] or ""), name, inside)
        check("unknown" in out and "An estimate" not in out, name, out)
    nodes = folder / "nodes.sqlite"
    graphs.write(nodes, by_node=True, seed=6)
    for profile, beside, words in ((whole, whole, "whole.sqlite has no nodes of graphs"), (nodes, nodes, "It has no graph that was traced whole.")):
        inside, _ = show(profile, beside)
        check(words in (inside["unknown"] or ""), words, inside)
    db = sqlite3.connect(whole)
    db.execute("UPDATE CUPTI_ACTIVITY_KIND_GRAPH_TRACE SET graphExecId = 0 WHERE rowid = 9")
    db.commit()
    db.close()
    inside, _ = show(whole, nodes)
    check("It does not say which graph each launch is of." in inside["unknown"], inside)


def long_warm_up(folder):
    """A loop of another length is the same program: three launches before it, 40 and 400 steps in it."""
    graphs.write(folder / "whole.sqlite", order=[0, 0, 0])
    graphs.write(folder / "nodes.sqlite", by_node=True, order=[0, 0, 0], steps=400, seed=2)
    inside, _ = show(folder / "whole.sqlite", folder / "nodes.sqlite")
    check(inside["unknown"] is None and len(inside["graphs"]) == 2, inside)
    close(shares(inside["graphs"][0], "kernels"), FIRST["kernels"], "kernels")


def refused(folder):
    """A side of a report has no rows, an input is never replaced, and what cannot be read is named."""
    graphs.write(folder / "base.sqlite", graphs=SLOWER)
    graphs.write(folder / "fixed.sqlite", seed=2)
    graphs.write(folder / "nodes.sqlite", by_node=True, seed=3)
    report(folder)
    before = (folder / "nodes.sqlite").read_bytes()
    for words, status, said in (
        ([f"{folder}/out.html:baseline", folder / "fixed.sqlite", "--baseline-graph-nodes", folder / "nodes.sqlite"], 2, "--baseline-graph-nodes needs the profiles themselves"),
        ([folder / "base.sqlite", folder / "fixed.sqlite", "--fixed-graph-nodes", folder / "nodes.sqlite", "--json", folder / "nodes.sqlite"], 2, "this output would replace an input"),
        ([folder / "base.sqlite", folder / "fixed.sqlite", "--fixed-graph-nodes", folder / "none.sqlite"], 3, "none.sqlite: no such file; check its name"),
    ):
        done = subprocess.run([GAPLINE, "report", *words], capture_output=True, text=True)
        check(done.returncode == status and said in done.stderr, said, done.returncode, done.stderr)
    check((folder / "nodes.sqlite").read_bytes() == before, "an input was replaced")


def recorded(folder):
    """Two threads, each with two graphs: those of one run launch first now in one order, now in the other. Shares by SQL,
    of graphs that are told apart by how often they are launched."""
    files = {}
    for name in ("whole", "node"):
        files[name] = folder / f"{name}.sqlite"
        with lzma.open(HERE.parent / "stats" / "recorded" / f"graphs-{name}.sqlite.xz") as source:
            files[name].write_bytes(source.read())
    inside, _ = show(files["whole"], files["node"])
    check(inside["unknown"] is None and len(inside["graphs"]) == 4, inside)
    db = sqlite3.connect(files["node"])
    nodes = " UNION ALL ".join(
        f"SELECT graphNodeId >> 32 AS graph, correlationId, end - start AS ns, {name} AS name FROM CUPTI_ACTIVITY_KIND_{kind} WHERE graphNodeId > 0"
        for kind, name in (("KERNEL", "(SELECT value FROM StringIds WHERE id = demangledName)"), ("MEMCPY", "'copy ' || copyKind"), ("MEMSET", "'[CUDA memset]'"))
    )
    known = {}
    for graph, launches in db.execute(f"SELECT graph, COUNT(DISTINCT correlationId) FROM ({nodes}) GROUP BY graph").fetchall():
        rows = dict(db.execute(f"SELECT name, SUM(ns) FROM ({nodes}) WHERE graph = ? GROUP BY name", (graph,)))
        known[launches] = {{"copy 1": "[CUDA memcpy Host-to-Device]", "copy 2": "[CUDA memcpy Device-to-Host]"}.get(n, n): ns / sum(rows.values()) for n, ns in rows.items()}
    db = sqlite3.connect(files["whole"])
    often = [n for (n,) in db.execute("SELECT COUNT(*) FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE GROUP BY graphExecId ORDER BY 1")]
    check(sorted(known) == often, known.keys(), often)
    for graph, launches in zip(sorted(inside["graphs"], key=lambda g: g["launches_per_step"]), often):
        close(shares(graph, "kernels"), known[launches], f"launched {launches} times")


def children(folder):
    """Kernels, copies and memsets of child graphs that were recorded on a GPU are of the range and line of Python that made
    them, at every replay: what the programs printed, or what the same kernels took outside of graphs."""

    def unpacked(name):
        (folder / name).write_bytes(lzma.open(HERE / "recorded" / f"{name}.xz").read())
        return folder / name

    def about(found, right, what):
        check(found.keys() == right.keys() and all(abs(found[n] - us) <= 1 + 0.01 * us for n, us in right.items()), f"{what}: {found}, not {right}")

    def side(profile):
        done = subprocess.run([GAPLINE, "show", "--json", "-", "-q", profile], capture_output=True, text=True)
        found = json.loads(done.stdout)["profile"]
        check(not [n for n in found["data"]["notes"] if n["id"] == "graph_nodes_unknown"], profile.name, found["data"]["notes"])
        return found, {p["name"]: 1000 * p["gpu_ms_per_step"] for p in found["phases"] if p["gpu_ms_per_step"]}

    graphs = unpacked("child-graphs.sqlite")
    about(side(graphs)[1], {"inner": 400, "middle": 120, "outer": 30}, "children of children, twice each")
    copies = unpacked("child-copies.sqlite")
    db = sqlite3.connect(copies)
    moved = sum(db.execute(f"SELECT AVG(end - start) FROM CUPTI_ACTIVITY_KIND_{kind} WHERE graphNodeId > 0").fetchone()[0] for kind in ("MEMCPY", "MEMSET"))
    about(side(copies)[1], {"inner": 100, "copies": moved / 1000, "outer": 50}, "copies in a child")
    lines = unpacked("child-lines.sqlite")
    db = sqlite3.connect(lines)
    alone = sorted(ns / 1000 for (ns,) in db.execute("SELECT end - start FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE graphNodeId IS NULL AND end - start > 50000"))
    check(len(alone) == 2, "kernels outside of graphs:", alone)
    found, phases = side(lines)
    about(phases, {"inner": 2 * alone[0], "outer": alone[1]}, "ranges")
    about({x["name"]: 1000 * x["own_gpu_ms_per_step"] for x in found["lines"] if x["own_gpu_ms_per_step"]},
          {"torchchild.py:17 Sleeper.inner": 2 * alone[0], "torchchild.py:21 Sleeper.outer": alone[1]}, "lines")  # fmt: skip
    db = sqlite3.connect(graphs)  # as CUPTI tells it, without the numbers by which the copies run: not known, and that is said
    db.execute("DELETE FROM CUDA_GRAPH_NODE_EVENTS WHERE originalGraphNodeId >> 32 >= (SELECT MIN(graphNodeId >> 32) FROM CUPTI_ACTIVITY_KIND_KERNEL)")
    db.commit()
    db.close()
    done = subprocess.run([GAPLINE, "show", "--json", "-", "-q", graphs], capture_output=True, text=True)
    (unknown,) = [n["params"] for n in json.loads(done.stdout)["profile"]["data"]["notes"] if n["id"] == "graph_nodes_unknown"]
    check(abs(unknown["share"] - 520 / 550) < 0.01 and unknown["why"] == "unseen", "without them:", unknown)


def steps_of_several(folder):
    """A step of the fixed side is given four batches, and its graph does the work of four: it is no step of the baseline."""
    for name, times in ("base", 1), ("fixed", 4):
        graphs.write(folder / f"{name}.sqlite", graphs=[(1, 300 * times, graphs.GRAPHS[0][2])], seed=times)
        db = sqlite3.connect(folder / f"{name}.sqlite")
        db.execute(
            "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY SELECT start - 20000, start - 10000, 0, 1, 7, NULL, ?, ?, 1, 1, 2, NULL FROM NVTX_EVENTS WHERE text = 'step'",
            (graphs.tiny.GLOBAL_PID, times * 1_000_000),
        )
        db.commit()
        db.close()
    _, doc, out, *_ = report(folder)
    check(doc["verdict"]["result"] == "inconclusive" and "copies 4 times the other side's input" in " ".join(out.split()), out)


by_hand.run([steps_of_several, known_shares, nothing_else, unlike, long_warm_up, refused, recorded, children])
