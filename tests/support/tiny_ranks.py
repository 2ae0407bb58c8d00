"""Small nsys exports of the ranks of one job: steps of input, compute and an all-reduce, on one clock.

Times in ns. Every rank loads for LOAD, computes for COMPUTE (the straggler for `more` longer, the others for as
many ns as their number, since no two ranks are ever the same) and takes part in an
all-reduce, whose data moves for MOVE after the last rank has entered. From one step's end to the next pass
LOAD + COMPUTE + more + MOVE + RETURN; every rank but the straggler waits for `more` in each of them.
"""

import sqlite3

import tiny_profile

LOAD, COMPUTE, MOVE, RETURN, START = 300_000, 1_000_000, 200_000, 10_000, 1_000_000
NAMES = ["gemm(float *)", "gemm", "cudaLaunchKernel_v7000", "cudaStreamSynchronize_v3020",
         "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096>)", "ncclDevKernel_AllReduce_Sum_f32_RING_LL"]


def write(path, rank, straggler=2, more=500_000, steps=40, started=1_795_000_000_000_000_000, environment="", faster=0, late=0):
    """`faster`: by so much every rank computes less. `late`: so much longer does the straggler load. `environment`: what the launcher tells the program."""
    pid = 100 + rank
    process = 1 << 48 | pid << 24
    tid = process | pid
    kernels, calls, ranges = [], [], []
    now, correlation = START, 0
    compute, longest = COMPUTE - faster + (more if rank == straggler else rank), COMPUTE - faster + more
    for _ in range(steps):
        launch = now + LOAD + (late if rank == straggler else 0)
        done, last = launch + 5_000 + compute, now + LOAD + late + 5_000 + longest
        for at, start, end, name in (launch, launch + 5_000, done, 1), (launch + 3_000, done, last + MOVE, 5):
            correlation += 1
            calls.append((at, at + 2_000, 0, tid, correlation, 3, 0))
            kernels.append((start, end, 0, 1, 7, correlation, process, name, name + 1, None))
        correlation += 1
        end = last + MOVE + RETURN
        calls.append((launch + 6_000, end, 0, tid, correlation, 4, 0))
        for a, b, text in (now, end, "step"), (now, launch, "data_load"), (launch, end, "train"):
            ranges.append((a, b, 59, None, text, tid, None, None, 0))
        now = end
    db = sqlite3.connect(path)
    db.executescript(tiny_profile.SCHEMA)
    db.executescript("CREATE TABLE META_DATA_CAPTURE (name TEXT, value TEXT)")
    db.executemany("INSERT INTO StringIds VALUES (?, ?)", enumerate(NAMES, 1))
    db.executemany("INSERT INTO META_DATA_EXPORT VALUES (?, ?)", [("EXPORT_PRODUCT_VERSION", "2025.3.1.90"), ("EXPORT_SCHEMA_VERSION", "3.20.2")])
    if environment:
        db.execute("INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:ENVIRONMENT_VARIABLE', ?)", (environment,))
    db.execute("INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (?, '', '')", (started,))
    db.execute("INSERT INTO TARGET_INFO_GPU VALUES (0, 0, 'Test GPU', 1 << 33, 1000000000, 8)")
    for table, n, rows in ("CUPTI_ACTIVITY_KIND_KERNEL", 10, kernels), ("CUPTI_ACTIVITY_KIND_RUNTIME", 7, calls), ("NVTX_EVENTS", 9, ranges):
        db.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * n)})", rows)
    db.commit()
    db.close()
