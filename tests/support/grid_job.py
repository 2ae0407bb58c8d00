"""Makes the nsys exports of a job that is divided in several ways at once: tensor parallel (all-reduces within a layer),
pipeline parallel (sends and receives of microbatches), data parallel (an all-reduce of gradients a step), a file a rank.
The job is played on one true clock, so that what every rank computes, waits, moves and idles is known; each host's clock
then shows what it shows.

Ranks count as Megatron's: tensor-parallel ones beside each other, then data-parallel ones, then stages."""

import random

import tiny_job
import tiny_profile

NAMES = ["forward_gemm(float *)", "backward_gemm(float *)", "adam(float *)", "cudaLaunchKernel_v7000", "cudaStreamSynchronize_v3020",
         "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096>)", "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096>)"]
FORWARD, BACKWARD, ADAM, LAUNCH, SYNC, REDUCE, SENDRECV = range(1, 8)
DOMAIN, WORLD = 5, 99
STREAM = {"compute": 7, "tensor": 20, "data": 21, "world": 22, "pipe": 23}
SENT, SUMMED, REDUCED, OPTIMIZER = 40_000, 20_000, 300_000, 200_000
BEFORE = 25_000  # every launch is so long before its kernel


class Rank:
    def __init__(self):
        self.plan, self.next, self.now, self.entered = [], 0, 1_000_000, None
        self.seen, self.did, self.ends = {}, [], []  # did: (start, end, what); ends: of each step's GPU work


class Grid:
    """`slow`: by rank, how many times as long it computes. `jitter`: each computation is up to so much longer, ns.
    `skew`: ranks leave a collective up to so much apart."""

    def __init__(self, tensor=1, pipeline=1, data=1, microbatches=4, steps=12, forward=500_000, backward=1_000_000, slow=None, jitter=0, skew=0,
                 seed=1, world=True, alternating=True):
        self.tensor, self.pipeline, self.data, self.microbatches, self.steps = tensor, pipeline, data, microbatches, steps
        self.forward, self.backward, self.slow, self.jitter, self.skew = forward, backward, slow or {}, jitter, skew
        self.world, self.alternating, self.random, self.seed = world, alternating, random.Random(seed), seed
        self.n = tensor * pipeline * data
        self.ranks = [Rank() for _ in range(self.n)]
        for step in range(steps):
            self.plan(step)
        self.play()

    def at(self, stage, data, tensor):
        return (stage * self.data + data) * self.tensor + tensor

    def compute(self, p, d, kind):
        for _ in range(2):
            for t in range(self.tensor):
                rank = self.at(p, d, t)
                length = int((self.forward if kind == FORWARD else self.backward) / 2 * self.slow.get(rank, 1))
                self.ranks[rank].plan.append(("compute", kind, length + self.random.randint(0, self.jitter)))
                if self.tensor > 1:
                    self.ranks[rank].plan.append(("all", "tensor", 5000 + p * self.data + d, [self.at(p, d, i) for i in range(self.tensor)], SUMMED, t))

    def meet(self, p, d, to, of):
        to, of = (s if s is not None and 0 <= s < self.pipeline else None for s in (to, of))
        for t in range(self.tensor if to is not None or of is not None else 0):
            self.ranks[self.at(p, d, t)].plan.append(
                ("meet", 1000 + d * self.tensor + t, p, to, of, *(None if s is None else self.at(s, d, t) for s in (to, of))))

    def plan_stage(self, p, d):
        first = min(self.pipeline - 1 - p, self.microbatches) if self.alternating else self.microbatches
        rest = self.microbatches - first
        for _ in range(first):
            self.meet(p, d, None, p - 1)
            self.compute(p, d, FORWARD)
            self.meet(p, d, p + 1, None)
        if rest:
            self.meet(p, d, None, p - 1)
        for m in range(rest):
            self.compute(p, d, FORWARD)
            self.meet(p, d, p + 1, p + 1)
            self.compute(p, d, BACKWARD)
            self.meet(p, d, p - 1, p - 1 if m + 1 < rest else None)
        for _ in range(first):
            self.meet(p, d, None, p + 1)
            self.compute(p, d, BACKWARD)
            self.meet(p, d, p - 1, None)

    def plan(self, step):
        for p in range(self.pipeline):
            for d in range(self.data):
                for t in range(self.tensor):
                    self.ranks[self.at(p, d, t)].plan.append(("step", step))
                self.plan_stage(p, d)
                for t in range(self.tensor):
                    rank = self.ranks[self.at(p, d, t)]
                    if self.data > 1:
                        rank.plan.append(("all", "data", 7000 + p * self.tensor + t, [self.at(p, i, t) for i in range(self.data)], REDUCED, d))
                    if self.world:
                        rank.plan.append(("all", "world", WORLD, list(range(self.n)), SUMMED, self.at(p, d, t)))
                    rank.plan.append(("compute", ADAM, OPTIMIZER + self.random.randint(0, self.jitter)))
                    rank.plan.append(("end", step))

    # ---- played ----

    def did(self, rank, start, arrived, end, op):
        """`arrived`: until then it waited."""
        r = self.ranks[rank]
        r.did.append((start, arrived, end, op))
        r.now = end + 1_000
        r.next += 1
        r.entered = None

    def other(self, rank, peer, send):
        """When the other's kernel of the same transfer began; None: it has not yet."""
        r, o = self.ranks[rank], self.ranks[peer]
        if o.next == len(o.plan) or o.plan[o.next][0] != "meet" or o.entered is None:
            return None
        mine, theirs = r.seen.get((peer, send), 0), o.seen.get((rank, not send), 0)
        return o.entered if o.plan[o.next][6 if send else 5] == rank and mine == theirs else None

    def advance(self, rank):
        r = self.ranks[rank]
        if r.next == len(r.plan):
            return False
        op = r.plan[r.next]
        if op[0] in ("step", "end"):
            r.did.append((r.now, r.now, r.now, op))
            if op[0] == "end":
                r.ends.append(r.now - 1_000)
                r.now += 30_000
            r.next += 1
        elif op[0] == "compute":
            self.did(rank, r.now, None, r.now + op[2], op)
        elif op[0] == "all":
            others = [self.ranks[i] for i in op[3]]
            if any(o.next == len(o.plan) or o.plan[o.next][:3] != op[:3] for o in others):
                return False
            last = max(o.now for o in others)
            for i in op[3]:
                self.did(i, self.ranks[i].now, last, last + op[4] + self.random.randint(0, self.skew), self.ranks[i].plan[self.ranks[i].next])
        else:
            r.entered = r.now if r.entered is None else r.entered
            # what kernels meet in is a set of ranks, each of whose partners are in it
            group, open_ = {rank}, [rank]
            while open_:
                i = open_.pop()
                for peer, send in ((self.ranks[i].plan[self.ranks[i].next][5], True), (self.ranks[i].plan[self.ranks[i].next][6], False)):
                    if peer is None:
                        continue
                    o = self.ranks[peer]
                    if o.next < len(o.plan) and o.plan[o.next][0] == "meet" and o.entered is None:
                        o.entered = o.now
                    if self.other(i, peer, send) is None:
                        return False
                    if peer not in group:
                        group.add(peer)
                        open_.append(peer)
            arrived = {i: max([self.ranks[i].entered] + [self.other(i, peer, send) for peer, send in
                              ((self.ranks[i].plan[self.ranks[i].next][5], True), (self.ranks[i].plan[self.ranks[i].next][6], False)) if peer is not None])
                       for i in group}
            for i in group:
                o = self.ranks[i]
                op = o.plan[o.next]
                for peer, send in (op[5], True), (op[6], False):
                    if peer is not None:
                        o.seen[peer, send] = o.seen.get((peer, send), 0) + 1
                self.did(i, o.entered, arrived[i], arrived[i] + SENT, op)
        return True

    def play(self):
        while any([self.advance(rank) for rank in range(self.n)]):
            pass
        assert all(r.next == len(r.plan) for r in self.ranks), "the schedule stands still"

    def truth(self, first, last):
        """What each rank did in the steps [first, last), ns a step."""
        begin, end = (max(r.ends[k - 1] for r in self.ranks) for k in (first, last))
        out = []
        for r in self.ranks:
            sums = {"compute": 0, "waiting": 0, "bubble": 0, "moving": 0}
            for start, arrived, until, op in r.did:
                clip = lambda a, b: max(0, min(b, end) - max(a, begin))
                if op[0] == "compute":
                    sums["compute"] += clip(start, until)
                elif op[0] in ("all", "meet"):
                    sums["waiting" if op[0] == "all" else "bubble"] += clip(start, arrived)
                    sums["moving"] += clip(arrived, until)
            out.append({**{k: v / (last - first) for k, v in sums.items()}, "step": (end - begin) / (last - first)})
        return out

    # ---- written ----

    def write(self, folder, payloads=True, ranges=True, host_of=None, clock=None, only=None, recorded=None, shift=None):
        """`host_of`(rank): number of its host. `clock`(host, true time): what it shows. `only`: ranks to write. `recorded`: by rank,
        the steps from which and before which it was."""
        folder.mkdir(exist_ok=True)
        files = []
        for rank in only if only is not None else range(self.n):
            host = host_of(rank) if host_of else 0
            files.append(folder / f"rank-{rank}.sqlite")
            self.write_rank(files[-1], rank, host, (lambda at, h=host: int(clock(h, at))) if clock else int, payloads, ranges, (recorded or {}).get(rank, (0, self.steps)))
        return files

    def write_rank(self, path, rank, host, shown, payloads, ranges, recorded):
        names, tiny_job.NAMES = tiny_job.NAMES, NAMES
        rows = {"KERNEL": [], "RUNTIME": [], "NVTX": []}
        pid, correlation, step, begun = 1000 + rank, 0, 0, None
        process = 1 << 48 | pid << 24
        tid = process | pid
        comms = {}

        def nccl(start, end, name, json):
            if payloads:
                rows["NVTX"].append((shown(start), shown(end), 59, None, name, tid, None, None, DOMAIN, json))

        t, d, p = rank % self.tensor, rank // self.tensor % self.data, rank // self.tensor // self.data
        for comm, n, me in ((5000 + p * self.data + d, self.tensor, t), (7000 + p * self.tensor + t, self.data, d), (1000 + d * self.tensor + t, self.pipeline, p),
                            (WORLD, self.n, rank)):
            comms[comm] = n
            at = 100_000 + 10_000 * len(comms)
            nccl(at, at + 5_000, "ncclCommInitRank", '{"NCCL communicator ID":%d,"No. of ranks":%d,"Rank":%d,"CUDA device":0}' % (comm, n, me))
        for start, arrived, end, op in self.ranks[rank].did:
            if op[0] == "step":
                step, begun = op[1], start
            kept = recorded[0] <= step < recorded[1]
            if op[0] == "end" and kept:
                correlation += 1
                rows["RUNTIME"].append((shown(start - BEFORE + 10_000), shown(start + 3_000), 0, tid, correlation, SYNC, 0))
                if ranges:
                    rows["NVTX"].append((shown(begun - BEFORE - 500), shown(start + 4_000), 59, None, "step", tid, None, None, 0, None))
            if op[0] in ("step", "end") or not kept:
                continue
            at = start - BEFORE
            correlation += 1
            name, stream = (op[1], STREAM["compute"]) if op[0] == "compute" else (REDUCE, STREAM[op[1]]) if op[0] == "all" else (SENDRECV, STREAM["pipe"])
            rows["RUNTIME"].append((shown(at), shown(at + 600), 0, tid, correlation, LAUNCH, 0))
            rows["KERNEL"].append((shown(start), shown(end), 0, 1, stream, correlation, process, name, name, None))
            if op[0] == "all":
                nccl(at - 100, at + 700, "ncclAllReduce", '{"NCCL communicator ID":%d,"Message size [bytes]":4194304}' % op[2])
            elif op[0] == "meet":
                for k, (which, stage) in enumerate((("ncclSend", op[3]), ("ncclRecv", op[4]))):
                    if stage is not None:
                        nccl(at - 300 + 100 * k, at - 250 + 100 * k, which, '{"NCCL communicator ID":%d,"Message size [bytes]":1048576,"Peer rank":%d}' % (op[1], stage))
                nccl(at - 100, at + 700, "ncclGroupEnd", None)
        json = [(i, row[9]) for i, row in enumerate(rows["NVTX"])]
        rows["NVTX"] = [row[:9] for row in rows["NVTX"]]
        tiny_job.write_rank(path, rows, self.seed, rank, self.n, host)
        tiny_job.NAMES = names
        db = tiny_profile.sqlite3.connect(path)
        if payloads:
            db.execute("ALTER TABLE NVTX_EVENTS ADD COLUMN jsonText TEXT")
            db.executemany("UPDATE NVTX_EVENTS SET jsonText = ? WHERE rowid = ?", [(text, i + 1) for i, text in json if text])
            db.execute("INSERT INTO NVTX_EVENTS VALUES (0, NULL, 75, NULL, 'NCCL', ?, NULL, NULL, ?, NULL)", (tid, DOMAIN))
        db.commit()
        db.close()
