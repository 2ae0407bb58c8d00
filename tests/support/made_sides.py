"""More pairs whose truth is known, as made_pairs has them: the same program recorded otherwise on the two sides, or on
another machine's bad day. The GPU is throttled on one side, a side is killed, its ranges have other names, its graphs
are traced otherwise, its runs differ by more than the fix.

The truth is that of the programs, simulated without what the recording adds.
"""
import random
import sqlite3

import made_pairs
from made_pairs import MS, STARTED, US, Sim

LATER = STARTED + 100_000_000_000
EFFECTS = [1, 1, 1, 1.02, 1.1, 1 / 1.1, 1.5, 1 / 1.5]
CLOCKS = """
CREATE TABLE GAPLINE_CAPTURE (name TEXT NOT NULL, value TEXT NOT NULL);
CREATE TABLE GAPLINE_GPU (gpu INTEGER NOT NULL, uuid TEXT, bus TEXT, name TEXT, max_sm_mhz INTEGER, others INTEGER);
CREATE TABLE GAPLINE_GPU_STATE (time INTEGER NOT NULL, gpu INTEGER NOT NULL, sm_mhz INTEGER, memory_mhz INTEGER,
    power_mw INTEGER, temperature_c INTEGER, busy_percent INTEGER, throttle INTEGER);
INSERT INTO GAPLINE_GPU VALUES (0, NULL, NULL, 'Test GPU', 1980, 0);
"""


class Side(Sim):
    """`cost`: ns that recording adds to a call. `more`: (SQL, rows) that are written besides."""

    def __init__(self, cost=0, **process):
        super().__init__(**process)
        self.cost, self.more, self.open = cost, [], []

    def _call(self, name, thread):
        arrived = super()._call(name, thread)
        if self.cost:
            a, b, *rest = self.calls[-1]
            self.clock[thread] += self.cost
            self.calls[-1] = (a, b + self.cost, *rest)
        return arrived + self.cost

    def kill_at(self, t):
        """What a profiler leaves of a program that was killed at t: ranges that were open have no end."""
        self.open = [(a, None, *rest) for a, b, *rest in self.ranges if a <= t < b]
        self.cut_at(t)
        self.ranges += self.open

    def write(self, path, *args, **how):
        super().write(path, *args, **how)
        db = sqlite3.connect(path)
        for sql, rows in self.more:
            if rows is None:
                db.executescript(sql)
            else:
                db.executemany(sql, rows)
        db.commit()
        db.close()


class Loop:
    """A loop: host code, launches, a wait or none. Times in ns."""

    def __init__(self, r):
        self.kernels = r.choice([1, 3, 8, 30])
        self.kernel = int(r.choice([5, 20, 100]) * US * r.uniform(0.5, 2))
        self.host = int(self.kernels * self.kernel * r.choice([0.05, 0.3, 1, 2]))
        self.noise = r.choice([0.001, 0.005, 0.02])
        self.waits = r.random() < 0.6
        self.effect, self.gpu = 1.0, lambda i: 1.0  # `gpu`: of a share of the run, how many times as long kernels take
        self.counts = None  # kernels of each step
        self.name, self.outer, self.phases = "step", False, False

    def run(self, n, seed, cost=0, speed=1.0, **process):
        r = random.Random(seed)
        sim = Side(cost, speed=speed, **process)
        began = sim.clock[0]
        for i in range(n):
            begin, count = sim.clock[0], self.counts(r) if self.counts else self.kernels
            f = max(0.2, 1 + r.gauss(0, self.noise)) / self.effect
            sim.host(self.host * f)
            loaded = sim.clock[0]
            for j in range(count):
                sim.host(US)
                end = sim.kernel(self.kernel * f * self.gpu(i / n), 7, "relu" if j == count - 1 else "gemm")
            if self.waits:
                sim.wait(end)
            sim.range(begin, self.name)
            if self.phases:
                sim.ranges += [(begin, loaded, *sim.ranges[-1][2:4], "load", *sim.ranges[-1][5:])]
        if not self.waits:
            sim.wait(end)
        if self.outer:
            sim.range(began, "epoch")
        return sim

    def long_run(self, n=400):
        gpu, self.gpu = self.gpu, lambda i: 1.0
        sim = self.run(n + 1, 99)
        self.gpu = gpu
        return (sim.clock[0] - MS) / (n + 1)


def two(r):
    state = r.getstate()
    a = Loop(r)
    r.setstate(state)
    b = Loop(r)
    b.effect = r.choice(EFFECTS)
    return a, b


def add(p, r, a, b, n, cost=0):
    sims = [x.run(n, r.random(), cost) for x in (a, b)]
    p.add(0, sims[0], STARTED)
    p.add(1, sims[1], LATER)
    p.truth = a.long_run() / b.long_run()
    p.words = f" effect {b.effect:.3f} {a.kernels} x {a.kernel / US:.0f} us, host {a.host / US:.0f}, waits {a.waits}"
    return sims


def length(sim):
    """From the first step's end to the last one's: `relu` is a step's last kernel."""
    ends = [k[1] for k in sim.kernels if k[7] == 2] or [g[1] for g in sim.graphs]
    return (ends[-1] - ends[0]) / (len(ends) - 1)


def sampled(sim, mhz, limits):
    """Clock samples every 50 ms; `mhz`, `limits`: of the share of the run."""
    first, last = sim.kernels[0][0], sim.last()
    times = range(first, last, max((last - first) // 20, 1))
    rows = [(t, 0, mhz((t - first) / (last - first)), 2619, 300_000, 70, 99, limits((t - first) / (last - first))) for t in times]
    sim.more += [(CLOCKS, None), ("INSERT INTO GAPLINE_GPU_STATE VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)]


def throttled(p, r):
    """One side's GPU is throttled, all the time or from some point on; clocks were sampled or not."""
    a, b = two(r)
    b.effect = 1.0
    x, slow, since = r.choice([a, b]), r.uniform(1.05, 1.6), r.choice([0, 0, r.uniform(0.1, 0.9)])
    x.gpu = lambda i: slow if i >= since else 1.0
    sims = add(p, r, a, b, r.choice([60, 120]))
    samples = r.random() < 0.5
    for loop, sim in zip((a, b), sims):
        if samples:
            hot = loop is x
            sampled(sim, lambda t: int(1980 / slow) if hot and t >= since else 1980, lambda t: 0x20 if hot and t >= since else 0)
    p.truth = length(sims[0]) / length(sims[1])  # as they ran
    p.words += f" x {slow:.2f} from {since:.2f} {'fixed' if x is b else 'baseline'} samples {samples}"
    apart = (1 - since) * (1 - 1 / slow)
    if samples and apart > 0.05:
        p.says, p.never = ["SM clock under load"], ["explains no difference"]
    elif not samples:
        p.says = ["a different GPU clock would look like a change"]


def killed(p, r):
    """One side is killed in the middle of a step."""
    a, b = two(r)
    a.outer = b.outer = r.random() < 0.5
    sims = add(p, r, a, b, r.choice([60, 120]))
    sim = r.choice(sims)
    first, last = sim.kernels[0][0], sim.last()
    share = r.uniform(0.15, 0.99)
    sim.kill_at(first + share * (last - first))
    p.words += f" {'fixed' if sim is sims[1] else 'baseline'} killed at {share:.2f}"


def renamed(p, r):
    """Other names of ranges on the two sides, or another one around them."""
    a, b = two(r)
    x = r.choice([a, b])
    x.name = r.choice(["step", "train_step", "iteration"])
    x.outer, x.phases = r.random() < 0.5, r.random() < 0.5
    add(p, r, a, b, r.choice([40, 90]))
    p.words += f" {a.name}/{b.name} outer {a.outer}/{b.outer} phases {a.phases}/{b.phases}"


def overhead(p, r):
    """The profiler's own rows on one side only: buffers flushed, which hold the host up or not."""
    a, b = two(r)
    sims = add(p, r, a, b, r.choice([60, 120]))
    sim, every = r.choice(sims), r.choice([1, 5, 20])
    steps = [x for x in sim.ranges if x[4] == "step"]
    rows = [(a0, a0 + min(int((b0 - a0) * r.uniform(0.05, 0.5)), 200 * US), sim.tid(0), 91) for a0, b0, *_ in steps[::every]]
    sim.more += [("CREATE TABLE PROFILER_OVERHEAD (start INTEGER, end INTEGER, globalTid INTEGER, nameId INTEGER);"
                  "INSERT INTO StringIds VALUES (91, 'CUPTI buffer flush')", None),
                 ("INSERT INTO PROFILER_OVERHEAD VALUES (?, ?, ?, ?)", rows)]
    p.words += f" rows on {'fixed' if sim is sims[1] else 'baseline'} every {every}"


def host_cost(p, r):
    """Recording costs each call of both sides a microsecond or two: GPU-bound, or not quite."""
    a, b = two(r)
    for x in a, b:
        x.waits = False
        x.kernels, x.kernel = r.choice([10, 40]), int(r.choice([10, 30, 100]) * US)
        x.host = int(x.kernels * x.kernel * r.choice([0.02, 0.2, 0.6]))
    if r.random() < 0.5:
        b.kernels, b.kernel, b.host = a.kernels, a.kernel, a.host
    cost = int(r.uniform(0.2, 1.9) * US)
    add(p, r, a, b, r.choice([60, 120]), cost)
    p.words += f" cost {cost} ns, fixed {b.kernels} x {b.kernel / US:.0f} us, host {b.host / US:.0f}"


def noisy_runs(p, r):
    """Several runs a side, in turns, which differ by more than the effect."""
    a, b = two(r)
    b.effect = r.choice([1, 1, 1, 1.005, 1.02, 1.05])
    count, spread, n = r.choice([2, 3, 5, 8]), r.choice([0.01, 0.03, 0.08]), 40
    for i in range(2 * count):
        side = i % 2 ^ (i // 2) % 2
        p.add(side, (b if side else a).run(n, r.random(), speed=max(0.5, 1 + r.gauss(0, spread))), STARTED + i * 60_000_000_000)
    p.truth = a.long_run() / b.long_run()
    p.words = f" {count} runs, {100 * spread:.0f} %, effect {b.effect:.3f}"


def routed_steps(p, r):
    """Steps of as many kernels as routing makes them, alike on both sides."""
    a, b = two(r)
    least, most = r.choice([(2, 10), (10, 20), (1, 40)])
    for x in a, b:
        x.counts = lambda q: q.randint(least, most)
    add(p, r, a, b, r.choice([60, 150]))
    p.words += f" {least} to {most} kernels"


def work_differs(p, r):
    """The same input on both sides; the fixed side pads its steps, or leaves padding out."""
    a, b = two(r)
    factor = r.choice([0.5, 0.8, 1.25, 2])
    b.gpu = lambda i: factor
    sims = add(p, r, a, b, r.choice([60, 120]))
    for sim in sims:
        for start, *_ in list(sim.ranges):
            sim.copies.append((start, start + 2000, 0, 1, 13, 0, sim.global_pid, 4096, 1, 1, 2, None))
    n = 401
    p.truth = (a.run(n, 5).clock[0] - MS) / (b.run(n, 5).clock[0] - MS)
    p.words += f" work x {factor}"


def launch_graph(sim, lengths, how, cost):
    """One call; its nodes run one after the other, each `cost` later where they are recorded one by one."""
    arrived = sim._call("cudaLaunchKernel_v7000", 0)
    start = at = max(arrived, sim.free.get(7, 0))
    for i, one in enumerate(lengths):
        name = 2 if i == len(lengths) - 1 else 1
        end = at + max(1, int(one))
        if how == "node":
            sim.kernels.append((at, end, 0, 1, 7, sim.correlation, sim.global_pid, name, name, 1000 + i))
        at = end + (cost if how == "node" else 300)
    sim.free[7] = end
    if how == "whole":
        sim.graphs.append((start, end, 0, 1, 7, sim.correlation, sim.global_pid, 5, 6))
    return end


def graph_loop(x, how, n, seed, cost):
    r = random.Random(seed)
    sim = Side()
    sim.graphs = []
    for _ in range(n):
        begin, f = sim.clock[0], max(0.2, 1 + r.gauss(0, x.noise)) / x.effect
        sim.host(x.host * f)
        lengths = [x.kernel * f] * x.kernels
        if how == "launches":
            for i, one in enumerate(lengths):
                sim.host(US)
                end = sim.kernel(one, 7, "relu" if i == x.kernels - 1 else "gemm")
        else:
            end = launch_graph(sim, lengths, how, cost)
        sim.wait(end)
        sim.range(begin, "step")
    calls = {c[4] for c in sim.calls}
    names = "INSERT INTO StringIds VALUES (95, 'cudaGraphLaunch_v10000')"
    sim.more.append((names, None))
    if how != "launches":
        sim.calls = [(*c[:5], 95 if c[5] == 4 else c[5], c[6]) for c in sim.calls if c[4] in calls]
    if sim.graphs:
        sim.more += [("CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER, end INTEGER, deviceId INTEGER, contextId"
                      " INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, graphId INTEGER,"
                      " graphExecId INTEGER)", None),
                     ("INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", sim.graphs)]
    return sim


def graph_modes(p, r):
    """Graphs recorded node by node, which takes the GPU longer, or whole, or launches one by one."""
    a, b = two(r)
    for x in a, b:
        x.kernels, x.kernel = max(a.kernels, 3), max(x.kernel, 3 * US)
    how = r.choice([("node", "whole"), ("whole", "node"), ("whole", "whole"), ("node", "node"), ("launches", "node"),
                    ("launches", "whole"), ("node", "launches")])
    n, cost = r.choice([60, 120]), 300 + int(r.uniform(1100, 1700))
    for side, (x, one) in enumerate(zip((a, b), how)):
        p.add(side, graph_loop(x, one, n, r.random(), cost), LATER if side else STARTED)
    truth = [graph_loop(x, one, 400, 7, 300) for x, one in zip((a, b), how)]
    p.truth = length(truth[0]) / length(truth[1]) if set(how) != {"node", "whole"} else None
    if p.truth is None:
        p.says = ["hide their kernels on one side"]
        p.never = ["run only in the", "Kernel launches:", "Graph launches:"]
    p.words = f" {how} effect {b.effect:.3f} {a.kernels} x {a.kernel / US:.0f} us, host {a.host / US:.0f}, cost {cost}"


KINDS = {f.__name__: f for f in (throttled, killed, renamed, overhead, host_cost, noisy_runs, routed_steps, work_differs, graph_modes)}
made_pairs.KINDS.update(KINDS)
