"""Pairs of small nsys SQLite exports made to deceive, whose truth is known.

A host and its GPU are simulated: host threads take time and launch, an op starts when its stream is free and it has
arrived, a wait lasts until a stream is done. `pair(kind, seed)` gives the profiles of one pair of a kind and what is
true of it; the long-run time per step comes from the same program run for many more steps, not from the profile.
"""

import random
import sqlite3

import tiny_profile

LAUNCH, LATENCY = 2_000, 1_500
US, MS = 1_000, 1_000_000
NAMES = ["gemm", "relu", "adam", "cudaLaunchKernel_v7000", "cudaStreamSynchronize_v3020", "cudaMemcpyAsync_v3020"]
STARTED = 1_795_000_000_000_000_000
COPIES = """
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
    contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
    bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL, srcKind INTEGER, dstKind INTEGER, graphNodeId INTEGER);
"""


class Sim:
    """One process: its threads' clocks, its streams and what a profiler would have seen. All in ns."""

    def __init__(self, pid=100, device=0, speed=1.0):
        self.pid, self.device, self.speed = pid, device, speed
        self.global_pid = 1 << 48 | pid << 24
        self.clock, self.free, self.correlation = {0: MS}, {}, 1
        self.kernels, self.copies, self.calls, self.ranges = [], [], [], []

    def tid(self, thread):
        return self.global_pid | self.pid + thread

    def host(self, length, thread=0):
        self.clock[thread] += max(0, int(length * self.speed))

    def _call(self, name, thread):
        a = self.clock[thread]
        self.clock[thread] += LAUNCH
        self.correlation += 1
        self.calls.append((a, a + LAUNCH, 0, self.tid(thread), self.correlation, NAMES.index(name) + 1, 0))
        return a + LAUNCH + LATENCY

    def _run(self, arrived, length, stream, after):
        start = max(arrived, self.free.get(stream, 0), after)
        self.free[stream] = start + max(1, int(length * self.speed))
        return start, self.free[stream]

    def kernel(self, length, stream=7, name="gemm", thread=0, after=0):
        a, b = self._run(self._call("cudaLaunchKernel_v7000", thread), length, stream, after)
        n = NAMES.index(name) + 1
        self.kernels.append((a, b, self.device, 1, stream, self.correlation, self.global_pid, n, n, None))
        return b

    def copy(self, length, stream=13, thread=0, after=0):
        a, b = self._run(self._call("cudaMemcpyAsync_v3020", thread), length, stream, after)
        self.copies.append((a, b, self.device, 1, stream, self.correlation, self.global_pid, 4096, 1, 1, 2, None))
        return b

    def wait(self, until, thread=0):
        a = self.clock[thread]
        b = max(a + LAUNCH, until + 3_000)
        self.clock[thread] = b
        self.correlation += 1
        self.calls.append((a, b, 0, self.tid(thread), self.correlation, 5, 0))

    def range(self, start, text, thread=0):
        self.ranges.append((start, self.clock[thread], 59, None, text, self.tid(thread), None, None, 0))

    def last(self):
        return max(b for _, b, *_ in self.kernels + self.copies)

    def cut_at(self, t):
        """What a profiler that stops at t leaves: ops and calls that ended, ranges that were closed."""
        for rows in self.kernels, self.copies, self.calls, self.ranges:
            rows[:] = [r for r in rows if r[1] <= t]

    def write(self, path, started=STARTED, nvtx=True, spoilt=0):
        """`spoilt`: so many kernels get an end before their start."""
        kernels = [(b, a, *r) if i < spoilt else (a, b, *r) for i, (a, b, *r) in enumerate(self.kernels)]
        db = sqlite3.connect(path)
        db.executescript(tiny_profile.SCHEMA + COPIES)
        db.executemany("INSERT INTO StringIds VALUES (?, ?)", enumerate(NAMES, 1))
        db.executemany(
            "INSERT INTO META_DATA_EXPORT VALUES (?, ?)",
            [("EXPORT_PRODUCT_VERSION", "2025.3.1.90"), ("EXPORT_SCHEMA_VERSION", "3.20.2")],
        )
        if started:
            db.execute("INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (?, '', '')", (started,))
        db.execute("INSERT INTO TARGET_INFO_GPU VALUES (0, ?, 'Test GPU', 1 << 33, 1000000000, 8)", (self.device,))
        for table, n, rows in (
            ("CUPTI_ACTIVITY_KIND_KERNEL", 10, kernels),
            ("CUPTI_ACTIVITY_KIND_MEMCPY", 12, self.copies),
            ("CUPTI_ACTIVITY_KIND_RUNTIME", 7, self.calls),
            ("NVTX_EVENTS", 9, self.ranges if nvtx else []),
        ):
            db.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * n)})", rows)
        db.commit()
        db.close()


class Program:
    """A loop. Each step: host code, kernels, a wait, with what the options add."""

    def __init__(self, r, step=None):
        self.load = step or r.choice([1, 2, 4, 8]) * MS // 4
        self.kernel = int(self.load * r.uniform(0.1, 0.9))
        self.kernels = r.randint(1, 6)
        self.noise = r.choice([0.001, 0.005, 0.02, 0.04])
        self.pause = self.every = self.offset = 0  # every step at which step % every == offset takes `pause` longer
        self.cycle = None  # factors of the work in turn; the last of a cycle also runs `adam`
        self.prefetch = 0  # the next step's copy, which takes so many steps' time …
        self.late = 0  # … in every so many-th step
        self.outlive = 0  # every so many-th step starts an op on another stream that outlives `long` steps
        self.long = 0
        self.behind = False  # the host waits only for the step before
        self.workers = 1
        self.slow_start = 0  # the first steps are slower by this share, decaying
        self.decay = 8
        self.odd = {}  # step -> factor of its time
        self.effect = 1.0  # every length is divided by it
        self.ahead = False  # the host waits for nothing
        self.stall = 0  # the GPU is busy for so long before it gets to the first step
        self.walk = 0.0  # a step's noise depends on the one before

    def usual(self):
        return self.load + self.kernels * self.kernel

    def run(self, n, seed, speed=1.0, **process):
        r = random.Random(seed)
        sim = Sim(speed=speed, **process)
        for t in range(self.workers):
            sim.clock[t] = MS + t * self.usual() // self.workers
        ready, before, state = 0, [0, 0], 0.0
        if self.stall:
            sim.kernel(self.stall, 7, "adam")
        for k in range(n * self.workers):
            t = min(sim.clock, key=lambda x: sim.clock[x])
            i = k // self.workers if self.workers > 1 else k
            state = self.walk * state + r.gauss(0, self.noise)
            f = max(0.2, 1 + state) / self.effect
            f *= 1 + self.slow_start * 2.718281828 ** (-i / self.decay)
            part = self.cycle[k % len(self.cycle)] if self.cycle else 1
            begin = sim.clock[t]
            sim.host(self.load * f * part, t)
            if self.every and k % self.every == self.offset:
                sim.host(self.pause / self.effect, t)
            if k in self.odd:
                sim.host(self.odd[k] * self.usual() / self.effect, t)
            stream = 7 + t
            for j in range(self.kernels):
                name = "relu" if j == self.kernels - 1 else "gemm"
                end = sim.kernel(self.kernel * f * part, stream, name, t, ready)
            if self.cycle and k % len(self.cycle) == len(self.cycle) - 1:
                end = sim.kernel(self.kernel * f, stream, "adam", t)
            if self.prefetch:
                late = self.late and k % self.late == self.late - 1
                sim.copy(self.prefetch * self.usual() * (1 if late else 0.1) * f, 13, t, end if late else 0)
            if self.outlive and k % self.outlive == self.outlive - 1:
                sim.kernel(self.long * self.usual() / self.effect, 21, "relu", t)
            if not self.ahead:
                sim.wait(before[-1] if self.behind else end, t)
            before = [before[-1], end] if self.behind else before
            sim.range(begin, "step", t)
        return sim

    def long_run(self, n=360):
        """Time per step instance in the long run, without a start."""
        kept, odd, stall = self.slow_start, self.odd, self.stall
        self.slow_start, self.odd, self.stall = 0, {}, 0
        many = n * len(self.cycle or [1])
        many -= many % (self.every or 1)
        sim = self.run(many + 1, 99)
        self.slow_start, self.odd, self.stall = kept, odd, stall
        first, last = sim.ranges[0][0], max(r[1] for r in sim.ranges)
        last = max(last, *sim.free.values()) if self.ahead else last
        return (last - first) / ((many + 1) * self.workers)


class Pair:
    """Profiles of two sides and what is true of them.

    `truth`: the speedup in the long run, or None where these data tell no direction. `says`, `never`: words that have to
    stand beside the verdict, or must not.
    """

    def __init__(self, kind, seed):
        self.kind, self.seed, self.sides, self.truth, self.words = kind, seed, ([], []), 1.0, ""
        self.nothing = self.doubt = False
        self.says, self.never = [], []

    def add(self, side, sim, started, **how):
        self.sides[side].append((sim, started, how))

    def write(self, folder):
        paths = []
        for side, name in (0, "baseline"), (1, "fixed"):
            for i, (sim, started, how) in enumerate(self.sides[side]):
                path = folder / f"{name}-{i}.sqlite"
                path.unlink(missing_ok=True)
                sim.write(path, started, **how)
                paths.append(("--" + name, str(path)))
        return paths


def effect_of(r):
    return r.choice([1, 1, 1.02, 1.05, 1.1, 1.3, 2.3, 1 / 1.05, 1 / 1.2])


def one_run(p, a, b, n, r, m=None):
    p.add(0, a.run(n, r.random()), STARTED)
    p.add(1, b.run(m or n, r.random()), STARTED + 100_000_000_000)
    p.truth = a.long_run() / b.long_run()


def two_programs(r):
    """The same program twice, the second with an effect."""
    state = r.getstate()
    a = Program(r)
    r.setstate(state)
    b = Program(r)
    b.effect = effect_of(r)
    return a, b


def pauses(p, r):
    a, b = two_programs(r)
    n, both = r.randint(30, 100), r.random() < 0.3
    for x in [a, b] if both else [r.choice([a, b])]:
        x.every = r.randint(3, max(4, n // 3))
        x.offset = r.randrange(x.every)
        x.pause = int(x.usual() * r.uniform(0.2, 4))
        p.words += f" every {x.every} +{x.pause / x.usual():.2f}"
    one_run(p, a, b, n, r)


def accumulation(p, r):
    a, b = two_programs(r)
    k = r.randint(2, 8)
    a.cycle = [1] * (k - 1) + [r.uniform(1, 4)]
    b.cycle = r.choice([[1], a.cycle, [1] * (r.randint(2, 8) - 1) + [r.uniform(1, 4)]])
    if r.random() < 0.5:
        a, b = b, a
    one_run(p, a, b, r.randint(30, 90), r)


def prefetch(p, r):
    a, b = two_programs(r)
    for x in [a, b] if r.random() < 0.4 else [r.choice([a, b])]:
        x.prefetch, x.late = r.uniform(0.05, 0.85), r.randint(2, 6)
    one_run(p, a, b, r.randint(30, 90), r)


def overtaken(p, r):
    a, b = two_programs(r)
    for x in [a, b] if r.random() < 0.3 else [r.choice([a, b])]:
        x.long = r.uniform(0.5, 4.5)
        x.outlive = int(x.long) + r.randint(1, 6)
    one_run(p, a, b, r.randint(40, 100), r)


def behind(p, r):
    a, b = two_programs(r)
    r.choice([a, b]).behind = True
    if r.random() < 0.5:
        b.behind = True
    one_run(p, a, b, r.randint(30, 80), r)


def workers(p, r):
    a, b = two_programs(r)
    a.workers, b.workers = r.randint(1, 4), r.randint(2, 4)
    if r.random() < 0.5:
        a.workers = b.workers
    one_run(p, a, b, r.randint(25, 60), r)


def ranks(p, r):
    a, b = two_programs(r)
    if r.random() < 0.7:
        b.effect = 1.0
    n, count = r.randint(30, 70), r.choice([2, 4, 8])
    apart = r.uniform(0, 0.025)
    for side, x in (0, a), (1, b):
        for i in range(count):
            speed = 1 + (apart if side else 0) + r.gauss(0, 0.0003)
            p.add(side, x.run(n, r.random(), speed, pid=100 + i, device=i), STARTED + side * 100_000_000_000 + i * MS)
    # what differs between machines looks like an effect, so a small one shows no direction
    p.truth = a.long_run() / b.long_run() / (1 + apart) if abs(b.effect - 1) > 0.04 else None


def drift(p, r):
    a, b = two_programs(r)
    if r.random() < 0.7:
        b.effect = 1.0
    n, count, one = r.randint(25, 60), r.randint(2, 5), r.uniform(-0.015, 0.015)
    in_turns = r.random() < 0.3
    for i in range(2 * count):
        side = i % 2 if in_turns else i // count
        if in_turns and i // 2 % 2:
            side = 1 - side
        speed = (1 + one) ** i * (1 + r.gauss(0, 0.001))
        p.add(side, (b if side else a).run(n, r.random(), speed), STARTED + i * 60_000_000_000)
    p.truth = a.long_run() / b.long_run()
    p.words = f" {100 * one:.2f} % a run, {count} runs{', in turns' if in_turns else ''}"


def cold(p, r):
    a, b = two_programs(r)
    b.effect = 1.0
    a.slow_start, a.decay = r.uniform(0.3, 1.5), r.randint(8, 40)
    a.noise = b.noise = r.choice([0.002, 0.01])
    n = r.randint(18, 40)
    if r.random() < 0.5:
        a, b = b, a
    one_run(p, a, b, n, r)
    p.words = f" {n} steps, decay {max(a.decay, b.decay)}"


def warm(p, r):
    a, b = two_programs(r)
    for x in a, b:
        x.slow_start, x.decay = r.uniform(0.1, 2), r.uniform(0.5, 4)
    one_run(p, a, b, r.randint(40, 90), r)


def cut(p, r):
    a, b = two_programs(r)
    b.effect = 1.0
    if r.random() < 0.4:
        a.behind = b.behind = True
    if r.random() < 0.4:
        a.cycle = b.cycle = [1, 1, 1, 3]
    one_run(p, a, b, r.randint(40, 80), r)
    for sim, _, _ in p.sides[r.randrange(2)]:
        first, last = sim.kernels[0][0], sim.last()
        sim.cut_at(first + r.uniform(0.55, 1) * (last - first))


def aside(p, r):
    a, b = two_programs(r)
    n = r.randint(40, 90)
    for x in [a, b] if r.random() < 0.2 else [r.choice([a, b])]:
        x.odd = {r.randrange(4, n): r.uniform(12, 100) for _ in range(r.randint(1, 2))}
    one_run(p, a, b, n, r)


def same_file(p, r):
    a, _ = two_programs(r)
    sim = a.run(r.randint(25, 50), 1)
    p.add(0, sim, STARTED)
    p.add(1, sim, STARTED)
    p.nothing = True


def steps_or_run(p, r):
    a, b = two_programs(r)
    b.effect = 2.3
    sides = [a.run(40, 1), b.run(3, 2)]
    way = r.randrange(2)
    p.add(way, sides[0], STARTED)
    p.add(1 - way, sides[1], STARTED + 100_000_000_000, nvtx=False)
    p.nothing = True


def dropped(p, r):
    a, b = two_programs(r)
    one_run(p, a, b, r.randint(40, 80), r)
    side = r.randrange(2)
    sim, started, how = p.sides[side][0]
    p.sides[side][0] = (sim, started, how | {"spoilt": int(len(sim.kernels) * r.uniform(0.012, 0.3)) + 2})
    p.doubt = True


def walking(p, r):
    a, b = two_programs(r)
    a.walk = b.walk = r.choice([0.3, 0.6])
    a.noise = b.noise = 0.02
    one_run(p, a, b, r.randint(20, 120), r, r.randint(20, 120))


def queued(p, r):
    """The GPU works off what piled up behind a stall, on one side or both; the host launches faster or more slowly."""
    a, b = two_programs(r)
    n = r.randint(12, 90)
    for x in a, b:
        x.load = int(x.kernels * x.kernel * r.choice([0.3, 0.7, 1.1, 1.3, 1.7, 2.5]))
        x.ahead = True
        x.stall = int(n * x.kernels * x.kernel * r.choice([0, 0.1, 0.4, 0.8, 2]))
        p.words += f" host {x.load / (x.kernels * x.kernel):.1f} stall {x.stall / (n * x.kernels * x.kernel):.1f}"
    if r.random() < 0.3:
        b.load, b.effect = a.load, 1.0
    one_run(p, a, b, n, r)


def unmarked(p, r):
    a, b = two_programs(r)
    a.kernels = b.kernels = r.randint(2, 7)
    if r.random() < 0.5:
        a.cycle = b.cycle = [1] * r.randint(1, 4) + [r.uniform(1, 3)]
    n = r.randint(40, 100)
    one_run(p, a, b, n, r)
    marked = r.choice([(False, False), (False, False), (True, False), (False, True)])
    for side in 0, 1:
        sim, started, how = p.sides[side][0]
        p.sides[side][0] = (sim, started, {"nvtx": marked[side]})
    p.words = f" nvtx {marked}, cycle {a.cycle is not None}"


KINDS = {
    f.__name__: f
    for f in (
        pauses,
        accumulation,
        prefetch,
        overtaken,
        behind,
        workers,
        ranks,
        drift,
        cold,
        warm,
        cut,
        aside,
        same_file,
        steps_or_run,
        dropped,
        walking,
        queued,
        unmarked,
    )
}


def pair(kind, seed):
    r = random.Random(f"{kind} {seed}")
    p = Pair(kind, seed)
    KINDS[kind](p, r)
    return p
