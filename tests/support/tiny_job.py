"""Makes the nsys exports of a job of many ranks, a file each, in which one rank computes longer: everybody waits for it
in the all-reduce that ends each backward pass. Eight ranks a host, all on one clock."""

import sqlite3

import tiny_profile

NAMES = ["forward_gemm(float *)", "backward_gemm(float *)", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgs)",
         "adam(float *)", "cudaLaunchKernel_v7000", "cudaStreamSynchronize_v3020"]
FORWARD, BACKWARD, REDUCE, ADAM, LAUNCH, WAIT = range(1, 7)
LAUNCH_NS, LATENCY, RETURN, DATA = 2_000, 1_000, 3_000, 150_000
KERNEL = {FORWARD: 80_000, BACKWARD: 120_000, ADAM: 60_000}
STARTED = 1_795_000_000_000_000_000


def write(folder, ranks=64, steps=20, layers=3, slow=None, more=1.48, seed=1, jitter=2_000, per_host=8, recorded=None,
          ahead=0, ranges=("step", "forward", "backward", "optimizer"), longer=(BACKWARD,)):
    """Returns the files. The rank `slow` takes `more` times as long in each kernel of `backward`, or those that are `longer`. `recorded`: by rank, the
    steps from which and before which it was recorded; of the others all are. Each host's clock is `ahead` ns ahead of
    the one before."""
    folder.mkdir(exist_ok=True)
    noise = tiny_profile.jitters(seed, jitter)
    now = [1_000_000 + 137 * r for r in range(ranks)]
    rows = [{"KERNEL": [], "RUNTIME": [], "NVTX": []} for _ in range(ranks)]
    correlation = [0] * ranks

    def launch(r, at, start, length, name, stream=7):
        correlation[r] += 1
        pid = 1000 + r
        tid = 1 << 48 | pid << 24 | pid
        rows[r]["RUNTIME"].append((at, at + LAUNCH_NS, 0, tid, correlation[r], LAUNCH, 0))
        rows[r]["KERNEL"].append((start, start + length, 0, 1, stream, correlation[r], 1 << 48 | pid << 24, name, name, None))

    for step in range(steps):
        held = [[len(rows[r][kind]) for kind in rows[r]] for r in range(ranks)]
        begun, entered, host, forward_end = list(now), [0] * ranks, [0] * ranks, [0] * ranks
        for r in range(ranks):
            at, gpu = now[r], now[r] + LAUNCH_NS + LATENCY
            for kind in FORWARD, BACKWARD:
                for _ in range(layers):
                    length = int(KERNEL[kind] * (more if kind in longer and r == slow else 1)) + next(noise)
                    launch(r, at, gpu, length, kind)
                    at, gpu = at + LAUNCH_NS, gpu + length + 1_000
                forward_end[r] = at if kind == FORWARD else forward_end[r]
            host[r], entered[r] = at, gpu
        moved = max(entered) + DATA
        for r in range(ranks):
            launch(r, host[r], entered[r], moved + next(noise) // 4 - entered[r], REDUCE, 13)
            length = KERNEL[ADAM] + next(noise)
            launch(r, host[r] + LAUNCH_NS, moved + 2_000, length, ADAM)
            optimizer, at, end = host[r] + LAUNCH_NS, host[r] + 2 * LAUNCH_NS, moved + 2_000 + length + RETURN
            pid = 1000 + r
            tid = 1 << 48 | pid << 24 | pid
            correlation[r] += 1
            rows[r]["RUNTIME"].append((at, end, 0, tid, correlation[r], WAIT, 0))
            for a, b, text in ((begun[r], end, "step"), (begun[r], forward_end[r], "forward"),
                               (forward_end[r], optimizer, "backward"), (optimizer, end, "optimizer")):
                if text in ranges:
                    rows[r]["NVTX"].append((a, b, 59, None, text, tid, None, None, 0))
            now[r] = end
            first, last = (recorded or {}).get(r, (0, steps))
            if not first <= step < last:
                for kind, n in zip(rows[r], held[r]):
                    del rows[r][kind][n:]
    files = []
    for r in range(ranks):
        files.append(folder / f"rank-{r}.sqlite")
        if ahead:
            shift = r // per_host * ahead
            rows[r] = {kind: [(a + shift, b + shift, *rest) for a, b, *rest in rows[r][kind]] for kind in rows[r]}
        write_rank(files[-1], rows[r], seed, r, ranks, r // per_host)
    return files


def write_rank(path, rows, seed, rank, ranks, host):
    path.unlink(missing_ok=True)
    db = sqlite3.connect(path)
    db.executescript(tiny_profile.SCHEMA)
    db.execute("CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid INTEGER, devStateName TEXT, name TEXT, nameEnum INTEGER, value TEXT)")
    db.executemany("INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (1, '', ?, 0, ?)",
                   [("Hostname", f"node{host}"), ("ENVIRONMENT_VARIABLE", f"RANK={rank}"),
                    ("ENVIRONMENT_VARIABLE", f"WORLD_SIZE={ranks}"), ("ENVIRONMENT_VARIABLE", f"SLURM_JOB_ID={4000 + seed}")])
    db.executemany("INSERT INTO StringIds VALUES (?, ?)", enumerate(NAMES, 1))
    db.executemany("INSERT INTO META_DATA_EXPORT VALUES (?, ?)",
                   [("EXPORT_PRODUCT_VERSION", "2025.3.1.90"), ("EXPORT_SCHEMA_VERSION", "3.20.2")])
    db.execute("INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (?, '', '')", (STARTED + seed * 60_000_000_000,))
    db.execute("INSERT INTO TARGET_INFO_GPU VALUES (0, 0, 'Test GPU', 1 << 33, 1000000000, 8)")
    for table, n, kept in (("CUPTI_ACTIVITY_KIND_KERNEL", 10, "KERNEL"), ("CUPTI_ACTIVITY_KIND_RUNTIME", 7, "RUNTIME"),
                           ("NVTX_EVENTS", 9, "NVTX")):
        db.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * n)})", rows[kept])
    db.commit()
    db.close()


def add_start(path, before, rank, pid):
    """Adds what the same rank did in the file `before`, as of a process `pid` of its own: the rank was started again."""
    moved = pid - (1000 + rank)
    with sqlite3.connect(path) as db:
        db.execute("ATTACH ? AS other", (str(before),))
        for table in "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS":
            as_it_is = {"globalTid": f"globalTid + {(moved << 24) + moved}", "globalPid": f"globalPid + {moved << 24}"}
            columns = [as_it_is.get(row[1], f'"{row[1]}"') for row in db.execute(f"PRAGMA table_info({table})")]
            db.execute(f"INSERT INTO {table} SELECT {', '.join(columns)} FROM other.{table}")
    db.close()
