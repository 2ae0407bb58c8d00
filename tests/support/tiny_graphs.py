"""Makes pairs of small nsys exports of one program that replays CUDA graphs: traced whole, and node by node. All times
are given, so that shares can be worked out by hand.

Before the loop each graph is captured, in a range `set up`, and its nodes in ranges of their own; each step launches every
graph as often as is said. Ids of graphs are others in each export, as instantiation numbers them anew in every run.
"""

import sqlite3

import tiny_profile as tiny

US = 1000
TID = tiny.GLOBAL_PID | tiny.TID
CALLS = {"cudaGraphLaunch_v10000": 20, "cudaStreamBeginCapture_v10000": 21, "cudaLaunchKernel_v7000": 3, "cudaStreamSynchronize_v3020": 4}

# Graph: launches per step, its length when traced whole (us), and nodes: (kernel, us by node, ranges it was captured in).
# A node of no kernel is a copy.
GRAPHS = [
    (1, 300, [("gemm", 60, ["forward", "attention"]), ("gemm", 30, ["forward", "mlp"]), ("relu", 30, ["forward", "mlp"]),
              ("gemm", 60, ["backward"]), (None, 20, [])]),
    (2, 50, [("relu", 45, ["optimizer"]), ("gemm", 15, ["optimizer"])]),
]
NAMES = {"gemm": 1, "relu": 5}


class Maker:
    def __init__(self, seed):
        self.rows = {"KERNEL": [], "RUNTIME": [], "NVTX": [], "GRAPH": [], "MEMCPY": [], "NODE": []}
        self.now, self.correlation, self.seed = 1_000_000, 0, seed

    def call(self, name, ns=2 * US):
        self.correlation += 1
        self.rows["RUNTIME"].append((self.now, self.now + ns, 0, TID, self.correlation, CALLS[name], 0))
        self.now += ns
        return self.correlation

    def range(self, start, text):
        self.rows["NVTX"].append((start, self.now, 59, None, text, TID, None, None, 0))

    def capture(self, graph, nodes):
        """Ids of the nodes that run: copies of those that were captured, in a graph with the next number."""
        self.call("cudaStreamBeginCapture_v10000")
        for k, (_, _, ranges) in enumerate(nodes):
            start = self.now
            self.now += 1
            self.rows["NODE"].append((self.now + US, self.now + US, 77, TID, 90, (graph - 1 << 32) + k, None))
            self.call("cudaLaunchKernel_v7000")
            self.now += 1
            for depth, text in enumerate(ranges):
                self.rows["NVTX"].append((start + depth, self.now - depth, 59, None, text, TID, None, None, 0))
        for k in range(len(nodes)):
            self.rows["NODE"].append((self.now, self.now, 77, TID, 90, (graph << 32) + k, (graph - 1 << 32) + k))
        self.now += US

    def replay(self, graph, whole, nodes, by_node):
        call, at = self.call("cudaGraphLaunch_v10000"), self.now + US
        for k, (kernel, us, _) in enumerate(nodes if by_node else []):
            row = (at, at + us * US, 0, 1, 7, call, tiny.GLOBAL_PID)
            if kernel:
                self.rows["KERNEL"].append((*row, NAMES[kernel], NAMES[kernel] + 1, (graph << 32) + k))
            else:
                self.rows["MEMCPY"].append((*row, 4096, 8, 2, 2, (graph << 32) + k))
            at += us * US + US
        if not by_node:
            at += whole * US
            self.rows["GRAPH"].append((at - whole * US, at, 0, 1, 7, call, tiny.GLOBAL_PID, graph - 1, graph))
        self.call("cudaStreamSynchronize_v3020", at - self.now + 3 * US)


def write(path, by_node=False, steps=40, graphs=None, first_id=5, order=None, seed=1, pause=100, captured=True, jitter=2 * US):
    """`order`: of the graphs' first launches, before the loop; `pause`: us between steps; `captured`: nodes are noted."""
    graphs = graphs or GRAPHS
    m = Maker(seed)
    ids = [first_id + 3 * k for k in range(len(graphs))]
    begin, noise = m.now, tiny.jitters(seed, jitter)
    m.now += US
    for graph, (_, _, nodes) in zip(ids, graphs):
        m.capture(graph, nodes)
    m.range(begin, "set up")
    for k in order or ():
        m.replay(ids[k], *graphs[k][1:], by_node)
    for _ in range(steps):
        m.now += pause * US + next(noise)
        begin = m.now
        for graph, (times, whole, nodes) in zip(ids, graphs):
            for _ in range(times):
                m.replay(graph, whole, nodes, by_node)
        m.range(begin, "step")
    save(path, m, by_node, captured)


def save(path, m, by_node, captured):
    db = sqlite3.connect(path)
    db.executescript(tiny.SCHEMA)
    op = "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER"
    db.execute(f"CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY ({op}, bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL, srcKind INTEGER, dstKind INTEGER, graphNodeId INTEGER)")
    names = {i: n for i, n in enumerate(tiny.NAMES, 1)} | {i: n for n, i in CALLS.items()} | {90: "Graph Node Creation"}
    db.executemany("INSERT INTO StringIds VALUES (?, ?)", sorted(names.items()))
    db.executemany("INSERT INTO META_DATA_EXPORT VALUES (?, ?)", [("EXPORT_PRODUCT_VERSION", "2025.3.1.90"), ("EXPORT_SCHEMA_VERSION", "3.20.2")])
    db.execute("INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (?, '', '')", (1_795_000_000_000_000_000 + m.seed * 60_000_000_000,))
    db.execute("INSERT INTO TARGET_INFO_GPU VALUES (0, 0, 'Test GPU', 1 << 33, 1000000000, 8)")
    tables = {"KERNEL": "CUPTI_ACTIVITY_KIND_KERNEL", "RUNTIME": "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX": "NVTX_EVENTS", "MEMCPY": "CUPTI_ACTIVITY_KIND_MEMCPY"}
    if by_node and captured:
        db.execute("CREATE TABLE CUDA_GRAPH_NODE_EVENTS (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, globalTid INTEGER, nameId INTEGER NOT NULL, graphNodeId INTEGER NOT NULL, originalGraphNodeId INTEGER)")
        tables["NODE"] = "CUDA_GRAPH_NODE_EVENTS"
    if not by_node:
        db.execute(f"CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE ({op}, graphId INTEGER NOT NULL, graphExecId INTEGER NOT NULL)")
        tables["GRAPH"] = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"
    for kind, table in tables.items():
        for row in m.rows[kind]:
            db.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
    db.commit()
    db.close()
