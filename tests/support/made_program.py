"""Simulated programs without ranges: a host that launches into streams, devices that work them off, and the rows that a
profiler would write of it, as an export."""
import collections
import functools
import itertools
import math
import sqlite3

PID = 1 << 24
TABLES = """
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId
  INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER, gridX INTEGER, blockX
  INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId
  INTEGER, correlationId INTEGER, globalPid INTEGER, graphId INTEGER, graphExecId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId
  INTEGER, correlationId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind INTEGER, srcKind INTEGER, dstKind INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER,
  correlationId INTEGER, nameId INTEGER, returnValue INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,
  streamId INTEGER, correlationId INTEGER, globalPid INTEGER, syncType INTEGER);
"""


class Program:
    """One process: a host clock, streams, and the rows that a profiler would write."""

    def __init__(self, rng, rank=0):
        self.rng, self.rank, self.now, self.free = rng, rank, 10**9 + rng.randrange(10**6), {}
        self.kernels, self.graphs, self.copies, self.calls = [], [], [], []
        self.correlation = 0
        self.ends = []  # latest end of an op at each step's end
        self.latest = 0

    def two(self):
        """What two calls of self.rng.gauss(0, 1) give, in the time of one: the documented polar pair of Box and Muller."""
        rng = self.rng
        first = rng.gauss_next
        turn, length = rng.random() * 2 * math.pi, math.sqrt(-2 * math.log(1 - rng.random()))
        if first is None:
            return math.cos(turn) * length, math.sin(turn) * length
        rng.gauss_next = math.sin(turn) * length
        return first, math.cos(turn) * length

    def call(self, name, length):
        self.called(name, self.rng.gauss(length, length / 8))

    def called(self, name, length):
        self.correlation += 1
        start = self.now
        self.now = end = start + (int(length) if length >= 500 else 500)
        self.calls.append((start, end, 0, self.rank * PID + PID + 77, self.correlation, name, 0))

    def place(self, stream, length):
        start, free = self.now + 1500, self.free.get(stream, 0) + 800
        if free > start:
            start = free
        end = start + (int(length) if length >= 800 else 800)
        self.free[stream] = end
        if end > self.latest:
            self.latest = end
        return start, end, self.rank, self.rank + 1, stream, self.correlation, self.rank * PID + PID

    def kernel(self, name, stream=7, length=None):
        length = length or 2000 + hash_of(name) % 30000
        launch, itself = self.two()
        self.called("cudaLaunchKernel_v7000", 4000 + launch * 500)
        self.kernels.append(self.place(stream, length + itself * (length / 40)) + (name, name, 8, 128))

    def graph(self, graph, length):
        self.call("cudaGraphLaunch_v10000", 9000)
        self.graphs.append(self.place(7, self.rng.gauss(length, length / 40)) + (graph, graph + 1))

    def copy(self, kind, size, stream=7):
        self.call("cudaMemcpyAsync_v3020", 5000)
        self.copies.append(self.place(stream, 1500 + size / 20) + (size, kind, 1, 2))

    def wait(self):
        start = self.now
        self.call("cudaDeviceSynchronize_v3020", 2000)
        self.now = max(self.now, max(self.free.values(), default=0)) + 1000
        self.calls[-1] = (start, self.now) + self.calls[-1][2:]

    def host(self, length):
        self.now += max(0, int(self.rng.gauss(length, length / 20)))

    def step(self):
        self.ends.append(self.latest)


@functools.cache
def hash_of(name):
    return sum((i + 1) * 2654435761 * ord(c) for i, c in enumerate(name)) >> 7


def write(path, programs):
    ids = collections.defaultdict(itertools.count(1).__next__)  # of texts
    db = sqlite3.connect(path)
    db.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;" + TABLES)

    def insert(table, rows):
        if rows:
            db.executemany(f"INSERT INTO {table} VALUES ({','.join('?' * len(rows[0]))})", rows)

    for p in programs:
        insert("CUPTI_ACTIVITY_KIND_KERNEL", [(*r[:7], ids[r[7]], ids[r[8]], *r[9:]) for r in p.kernels])
        insert("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", p.graphs)
        insert("CUPTI_ACTIVITY_KIND_MEMCPY", p.copies)
        insert("CUPTI_ACTIVITY_KIND_RUNTIME", [(*r[:5], ids[r[5]], *r[6:]) for r in p.calls])
    db.executemany("INSERT INTO StringIds VALUES (?, ?)", [(i, s) for s, i in ids.items()])
    if not any(p.graphs for p in programs):
        db.execute("DROP TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE")
    db.commit()
    db.close()
