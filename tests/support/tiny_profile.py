"""Makes small nsys SQLite exports whose answers can be worked out by hand.

One thread, one stream. Each step is a range `step`, in it `data_load` (host code, GPU idle) and `compute`, in which the
host launches the kernels and waits for the stream. From one step's end to the next pass, in ns:

    load + LAUNCH + LATENCY + kernels * kernel + RETURN      (and the jitter of this step, which is spent in data_load)
"""

import sqlite3

LAUNCH, LATENCY, RETURN = 2_000, 1_000, 3_000
PID, TID = 100, 100
GLOBAL_PID = 1 << 48 | PID << 24
NAMES = ["gemm(float *)", "gemm", "cudaLaunchKernel_v7000", "cudaStreamSynchronize_v3020", "relu(float *)", "relu"]

# What is made for a test need not outlast a power cut: waiting for the disk took six times as long as all the rest.
SCHEMA = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime TEXT);
CREATE TABLE TARGET_INFO_GPU (vmId INTEGER, id INTEGER, name TEXT, totalMemory INTEGER, clockRate INTEGER,
    smCount INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
    contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
    demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, graphNodeId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL,
    globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL);
CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER, text TEXT,
    globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER);
"""


def jitters(seed, size):
    """Endless pseudo-random integers from 0 to size: the same on every machine and in every Python."""
    state = seed
    while True:
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        yield (state >> 33) % (size + 1)


def write(path, steps=60, load=400_000, kernel=100_000, kernels=5, jitter=10_000, seed=1, nvtx=True, more_kernels=0, loads=None, started=None, memory=(), window=False):
    """`loads`: instead of `load`, of each step. `started`: on the wall clock; None: a minute a seed, 0: not known. `more_kernels`: so many `relu` a step besides, each a tenth of `kernel`, launched with the others. `memory`: rows (time, address, bytes, kind, 1 where freed) of allocations; `window`: not recorded from the start."""
    tid = GLOBAL_PID | TID
    rows = {"KERNEL": [], "RUNTIME": [], "NVTX": []}
    now, correlation = 1_000_000, 1
    noise = jitters(seed, jitter)
    for i in range(steps):
        begin = now
        now += (loads[i] if loads else load) + next(noise)
        loaded, gpu = now, now + LAUNCH + LATENCY
        for i in range(kernels + more_kernels):
            length, name = (kernel, 1) if i < kernels else (kernel // 10, 5)
            rows["RUNTIME"].append((now, now + LAUNCH, 0, tid, correlation, 3, 0))
            rows["KERNEL"].append((gpu, gpu + length, 0, 1, 7, correlation, GLOBAL_PID, name, name + 1, None))
            now += LAUNCH
            gpu += length
            correlation += 1
        end = gpu + RETURN
        rows["RUNTIME"].append((now, end, 0, tid, correlation, 4, 0))
        correlation += 1
        for a, b, text in (begin, end, "step"), (begin, loaded, "data_load"), (loaded, end, "compute"):
            rows["NVTX"].append((a, b, 59, None, text, tid, None, None, 0))
        now = end
    db = sqlite3.connect(path)
    db.executescript(SCHEMA)
    db.executemany("INSERT INTO StringIds VALUES (?, ?)", enumerate(NAMES, 1))
    db.executemany(
        "INSERT INTO META_DATA_EXPORT VALUES (?, ?)",
        [("EXPORT_PRODUCT_VERSION", "2025.3.1.90"), ("EXPORT_SCHEMA_VERSION", "3.20.2")],
    )
    if started is None:
        started = 1_795_000_000_000_000_000 + seed * 60_000_000_000
    if started:
        db.execute("INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (?, '', '')", (started,))
    db.execute("INSERT INTO TARGET_INFO_GPU VALUES (0, 0, 'Test GPU', 1 << 33, 1000000000, 8)")
    for table, n, kept in ("CUPTI_ACTIVITY_KIND_KERNEL", 10, "KERNEL"), ("CUPTI_ACTIVITY_KIND_RUNTIME", 7, "RUNTIME"):
        db.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * n)})", rows[kept])
    if nvtx:
        db.executemany("INSERT INTO NVTX_EVENTS VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows["NVTX"])
    if memory:
        db.execute(
            "CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start INTEGER NOT NULL, globalPid INTEGER NOT NULL, deviceId"
            " INTEGER NOT NULL, contextId INTEGER NOT NULL, address INTEGER NOT NULL, pc INTEGER NOT NULL, bytes INTEGER"
            " NOT NULL, memKind INTEGER NOT NULL, memoryOperationType INTEGER NOT NULL, name TEXT, correlationId INTEGER)"
        )
        db.execute("INSERT INTO StringIds VALUES (90, 'CUDA profiling initialization')")
        db.execute("CREATE TABLE PROFILER_OVERHEAD (start INTEGER, end INTEGER, globalTid INTEGER, nameId INTEGER)")
        if not window:
            db.execute("INSERT INTO PROFILER_OVERHEAD VALUES (1, 2, ?, 90)", (tid,))
        db.executemany(
            "INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES (?, ?, 0, 1, ?, 0, ?, ?, ?, NULL, NULL)",
            [(time, GLOBAL_PID, address, size, kind, freed) for time, address, size, kind, freed in memory],
        )
    db.commit()
    db.close()


def damage(path, table="CUPTI_ACTIVITY_KIND_KERNEL", last=False):
    """Overwrites the first page of a table, or its `last` with rows, as a bad disk would."""
    db = sqlite3.connect(path)
    (page,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    (size,) = db.execute("PRAGMA page_size").fetchone()
    db.close()
    with open(path, "r+b") as f:
        f.seek((page - 1) * size)
        while last and f.read(12)[0] == 5:  # it points to others, and ends with the one for the greatest row ids
            f.seek((page - 1) * size + 8)
            page = int.from_bytes(f.read(4), "big")
            f.seek((page - 1) * size)
        f.seek((page - 1) * size)
        f.write(b"\xff" * size)
