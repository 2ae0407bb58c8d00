#!/usr/bin/env python3
"""Which lines of a Python program made the nodes of CUDA graphs: what a recording with `--trace cuda,nvtx,py` says is what
the program itself wrote of where it was (`traceback`). With the stand-ins of check_python_capture.py.

    check_python_graphs.py GAPLINE FOLDER_OF_THE_FAKES PYTHON_CUDA CUDA_TARGET [--python FILE]
"""

import json
import re
import sys
import textwrap
import unittest

import check_python_capture as python


@unittest.skipIf(python.REFUSED, "it is not known")
class Graphs(python.Case):
    PROGRAM = """
        import json, os, sys, threading, time
        BEGIN, CAPTURE, INSTANTIATE, REPLAY = range(4)
        sys.path.insert(0, os.path.join(os.getcwd(), "lib", "python3.99"))
        import helper

        def names():
            return [open(f"/proc/self/task/{t}/comm").read().strip() for t in os.listdir("/proc/self/task")]

        until = time.monotonic() + 30
        while "--alone" not in sys.argv and names().count("gapline") < 2 and time.monotonic() < until:
            time.sleep(0.01)

        class Block:
            def forward(self, first):
                helper.capture(cuda, first)
                for node in first + 1, first + 2:
                    helper.capture(
                        cuda, node)

        cuda.cuda_graph(BEGIN, ctypes.c_long(0), ctypes.c_long(0))
        block = Block()
        block.forward(1)
        block.forward(4)
        other = threading.Thread(target=helper.capture, args=(cuda, 7))
        other.start()
        other.join()
        for node in range(1, 8):
            cuda.cuda_graph(INSTANTIATE, ctypes.c_long(10 + node), ctypes.c_long(node))
        for i in range(20):
            cuda.range_push(b"step")
            for node in range(1, 8):
                cuda.cuda_graph(REPLAY, ctypes.c_long(10 + node), ctypes.c_long(0))
                cuda.cuda_run(ctypes.c_long(10000 * node))
            cuda.cuda_run(ctypes.c_long(60000))
            cuda.range_pop()
        json.dump(helper.said, open("said.json", "w"))
        """

    HELPER = """
        import ctypes, os, sys, traceback
        said = {}

        def capture(cuda, node):
            stack = traceback.walk_stack(sys._getframe())
            said[node] = [(f.f_code.co_qualname, os.path.basename(f.f_code.co_filename), line) for f, line in stack]
            said[node][0] = (*said[node][0][:2], sys._getframe().f_lineno + 1)
            cuda.cuda_graph(1, ctypes.c_long(node), ctypes.c_long(0))
        """

    def recorded(self, *options, trace="cuda,nvtx,py", words=(), name="x.sqlite", text=PROGRAM, **how):
        library = self.folder / "lib" / "python3.99"
        library.mkdir(parents=True, exist_ok=True)
        (library / "helper.py").write_text(textwrap.dedent(self.HELPER))
        out = self.capture(name, python.PYTHON, self.program(text), *words, trace=trace, options=options, **how)
        return out, {int(node): [tuple(f) for f in stack] for node, stack in json.loads((self.folder / "said.json").read_text()).items()}

    CHAINS = """SELECT n.graphNodeId & 255, s.value, m.value, c.line, c.library FROM CUDA_GRAPH_NODE_EVENTS n
        JOIN CUDA_CALLCHAINS c ON c.id = n.callchainId JOIN StringIds s ON s.id = c.symbol JOIN StringIds m ON m.id = c.module
        ORDER BY n.graphNodeId, c.stackDepth"""

    def test_lines(self):
        _, said = self.recorded("--cuda-graph-trace", "node")
        read = {}
        for node, name, file, line, library in self.sql("x.sqlite", self.CHAINS):
            self.assertEqual(library, file in ("helper.py", "threading.py"), (file, name))
            read.setdefault(node, []).append((name, file, line))
        self.assertEqual(read, said, "and nothing of copies")
        ((chains,),) = self.sql("x.sqlite", "SELECT count(DISTINCT id) FROM CUDA_CALLCHAINS")
        self.assertEqual(chains, 5, "two lines, each from two places, and the thread")

        inner, helper = ("%s:%d %s" % (file, line, name) for name, file, line in (said[2][1], said[7][0]))
        outer = "program.py:%d Block.forward" % said[1][1][2]
        for name in "x.sqlite", "x.digest", "y.sqlite":
            if name == "x.digest":
                self.gapline("digest", "x.sqlite", "-o", name)
            elif name == "y.sqlite":
                self.gapline("scrub", "x.sqlite", "-o", name, "--keep-stacks")
            lines = json.loads(self.gapline("show", "--json", "-", name)[0])["profile"]["lines"]
            self.assertEqual([(x["name"], round(x["gpu_ms_per_step"], 2), round(x["own_gpu_ms_per_step"], 2), round(x["gpu_operations_per_step"], 6)) for x in lines],
                             [("program.py Block.forward", 0.21, 0, 6), (inner, 0.16, 0.16, 4), ("helper.py capture", 0.07, 0, 1),
                              (helper, 0.07, 0.07, 1), (None, 0.06, 0.06, 1), (outer, 0.05, 0.05, 2)], name)  # fmt: skip

    def test_moved_lines(self):
        """An edit moves lines, and both sides have the function."""
        texts = self.PROGRAM, "\n        # one more" + self.PROGRAM
        for name, text in zip(("before.sqlite", "after.sqlite"), texts):
            self.recorded("--cuda-graph-trace", "node", name=name, text=text)
        self.gapline("report", "before.sqlite", "after.sqlite", "--json", "x.json", "-o", "x.html")
        result = json.loads((self.folder / "x.json").read_text())
        sides = [{x["name"]: (round(x["gpu_ms_per_step"], 2), round(x["own_gpu_ms_per_step"], 2)) for x in result[side]["lines"]} for side in ("baseline", "fixed")]
        self.assertEqual([side["program.py Block.forward"] for side in sides], [(0.21, 0)] * 2)
        lines = [sorted(int(name.split(":")[1].split()[0]) for name in side if name and name.startswith("program.py:")) for side in sides]
        self.assertEqual([line + 1 for line in lines[0]], lines[1])
        page = (self.folder / "x.html").read_text()
        self.assertIn("By line", page)
        self.assertEqual(len(re.findall(r"<tr[^>]*><th[^>]*>program.py Block.forward</th>", page)), 1, "one row of both sides")

    def test_nobody_asked(self):
        """Without Python, of graphs that are traced whole, and in a copy to be shared."""
        self.recorded("--cuda-graph-trace", "node", trace="cuda,nvtx", words=["--alone"])
        self.assertIn("CUDA_GRAPH_NODE_EVENTS", self.tables("x.sqlite"))
        self.assertNotIn("CUDA_CALLCHAINS", self.tables("x.sqlite"))
        self.assertEqual(json.loads(self.gapline("show", "--json", "-", "x.sqlite")[0])["profile"]["lines"], [])
        self.recorded("--cuda-graph-trace", "graph")
        self.assertNotIn("CUDA_CALLCHAINS", self.tables("x.sqlite"))
        self.recorded("--cuda-graph-trace", "node")
        self.gapline("scrub", "x.sqlite", "-o", "y.sqlite")
        self.assertIn("CUDA_CALLCHAINS", self.tables("x.sqlite"))
        self.assertNotIn("CUDA_CALLCHAINS", self.tables("y.sqlite"))
        self.assertNotIn(b"Block.forward", (self.folder / "y.sqlite").read_bytes())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
