"""A simulated host and its GPU, and the rows that a profiler would write of them: for programs in the spirit of real ones.

A host thread takes its time and launches, a kernel starts when its stream is free, a wait lasts until a stream is done.
"""
import collections
import itertools
import random
import sqlite3

from made_program import PID, TABLES

US, MS = 1_000, 1_000_000
STARTED = 1_795_000_000_000_000_000
NVTX = """CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, rangeId INTEGER, text TEXT,
  globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER,
  correlationId INTEGER, globalPid INTEGER, value INTEGER, bytes INTEGER, memKind INTEGER);
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime TEXT);
CREATE TABLE TARGET_INFO_GPU (vmId INTEGER, id INTEGER, name TEXT, totalMemory INTEGER, clockRate INTEGER, smCount INTEGER);
CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid INTEGER, devStateName TEXT, name TEXT, nameEnum INTEGER, value TEXT);"""


class Host:
    """One process of one GPU. `pace` and `clock`: how many times as long host code and kernels take in this run."""

    def __init__(self, seed, pace=1.0, clock=1.0, noise=0.005, marked=True):
        self.rng = random.Random(seed)
        self.pace, self.clock, self.noise, self.marked = pace, clock, noise, marked
        self.now, self.free, self.correlation, self.units = MS, {}, 0, 0
        self.rows = collections.defaultdict(list)
        self.open = []
        self.tid = PID + 77

    def host(self, ns):
        self.now += max(0, int(ns * self.pace * max(0.2, self.rng.gauss(1, 4 * self.noise))))

    def call(self, name, ns=3 * US):
        self.correlation += 1
        start = self.now
        self.now += max(500, int(ns * self.pace * max(0.5, self.rng.gauss(1, 0.08))))
        self.rows["RUNTIME"].append((start, self.now, 0, self.tid, self.correlation, name, 0))

    def place(self, stream, ns, after=0):
        start = max(self.now + 1500, self.free.get(stream, 0) + 700, after)
        self.free[stream] = end = start + max(700, int(ns))
        return start, end, 0, 1, stream, self.correlation, PID

    def kernel(self, name, ns, blocks=256, stream=7, after=0):
        self.call("cudaLaunchKernel_v7000")
        row = self.place(stream, ns * self.clock * max(0.3, self.rng.gauss(1, self.noise)), after)
        self.rows["KERNEL"].append((*row, name, name.split("(")[0], blocks, 128))
        return row[1]

    def graph(self, number, ns):
        self.call("cudaGraphLaunch_v10000", 8 * US)
        self.rows["GRAPH_TRACE"].append((*self.place(7, ns * self.clock * self.rng.gauss(1, self.noise)), number, number + 1))

    def copy(self, way, size, stream=7, pinned=True, after=0):
        """`way`: 1 to the device, 2 back. From pageable memory the host is held until it is done, at a third of the rate."""
        self.call("cudaMemcpyAsync_v3020", 5 * US)
        row = self.place(stream, 2 * US + size / (20 if pinned else 7), after)
        self.rows["MEMCPY"].append((*row, size, way, (1 if pinned else 0) if way == 1 else 2, 2 if way == 1 else (1 if pinned else 0)))
        if not pinned or way == 2:
            self.until(row[1])
        return row[1]

    def between(self, size, way=8):
        """On the device (8), or from another one (10)."""
        self.call("cudaMemcpyAsync_v3020", 5 * US)
        self.rows["MEMCPY"].append((*self.place(7, 2 * US + size / (300 if way == 8 else 100)), size, way, 2, 2))

    def migrate(self, size, way):
        """Unified memory: nobody calls for it."""
        start, end, *place = self.place(7, 12 * US + size / 18)
        self.rows["MEMCPY"].append((start, end, *place[:3], 0, place[4], size, way, 3, 3))

    def memset(self, size, ns):
        self.call("cudaMemsetAsync_v3020")
        self.rows["MEMSET"].append((*self.place(7, ns), 0, size, 2))

    def until(self, end):
        """The last call goes on until then."""
        self.now = max(self.now, end + 2 * US)
        row = self.rows["RUNTIME"][-1]
        self.rows["RUNTIME"][-1] = (row[0], self.now, *row[2:])

    def sync(self, stream=None):
        self.call("cudaStreamSynchronize_v3020" if stream else "cudaDeviceSynchronize_v3020", 2 * US)
        self.until(self.free.get(stream, 0) if stream else max(self.free.values(), default=0))

    def begin(self, name):
        self.open.append((self.now, name))

    def end(self):
        start, name = self.open.pop()
        self.rows["NVTX"].append((start, self.now, 59, None, name, PID + 77, None, None, 0))

    def finish(self, back=0):
        """Ends the range of a unit of work, of which so many bytes come back to the host."""
        if back:
            self.copy(2, back)
        self.end()
        self.units += 1

    def lose(self, tables, share_from, share_to):
        """Rows that began in this share of the run are lost."""
        a, b = (MS + int((self.now - MS) * share) for share in (share_from, share_to))
        for table in tables:
            self.rows[table] = [r for r in self.rows[table] if not a <= r[0] < b]

    def write(self, path, started=STARTED, node=None, gpu="Test GPU"):
        ids = collections.defaultdict(itertools.count(1).__next__)
        path.unlink(missing_ok=True)
        db = sqlite3.connect(path)
        db.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;" + TABLES + NVTX)
        db.execute("INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (?, '', '')", (started,))
        db.execute("INSERT INTO TARGET_INFO_GPU VALUES (0, 0, ?, 1 << 33, 1000000000, 132)", (gpu,))
        if node:
            db.execute("INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (0, '', 'Hostname', 0, ?)", (node,))
        for table, named in ("KERNEL", (7, 8)), ("GRAPH_TRACE", ()), ("MEMCPY", ()), ("MEMSET", ()), ("RUNTIME", (5,)):
            rows = [tuple(ids[x] if i in named else x for i, x in enumerate(r)) for r in self.rows[table]]
            if rows:
                db.executemany(f"INSERT INTO CUPTI_ACTIVITY_KIND_{table} VALUES ({','.join('?' * len(rows[0]))})", rows)
        for column in "gridY", "gridZ", "blockY", "blockZ":
            db.execute(f"ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN {column} INTEGER DEFAULT 1")
        if not self.rows["GRAPH_TRACE"]:
            db.execute("DROP TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE")
        if self.marked:
            db.executemany("INSERT INTO NVTX_EVENTS VALUES (?,?,?,?,?,?,?,?,?)", self.rows["NVTX"])
        db.executemany("INSERT INTO StringIds VALUES (?, ?)", [(i, s) for s, i in ids.items()])
        db.commit()
        db.close()
