"""Further pairs as a trainer's or a server's engineer brings them, for check_real_pairs.py: what was changed between the two
recordings is often not the fix alone."""
from made_fixes import *  # noqa: F403: its programs, Pair, of

GATHER, SCATTER = "ncclDevKernel_AllGather_RING_LL(P)", "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(P)"


def comes_due(p, frames_, network, period=8 * MS, vary=0.0, waits=True, size=2 << 20):
    """A loop that spins until its clock says so: frames take what they take, and none is early."""
    due = p.now
    for _ in range(frames_):
        due += period
        p.now = max(p.now, int(due + abs(p.rng.gauss(0, 4 * US))))
        p.begin("frame")
        if size:
            p.copy(1, size)
        for _ in range(int(network * (1 + vary * p.rng.uniform(-1, 1)))):
            p.kernel("conv3x3(half*)", 60 * US, 512)
        p.copy(2, 2048) if waits else p.sync()
        p.end()
        p.units += 1


def micro_batches(p, steps, micro, reduced, opt="fused_update(TL)", n_opt=8, divided=True, marks=("step", "micro"), buckets=3):
    """Gradient accumulation; gradients are reduced after each micro-batch, or (no_sync) after the last alone."""
    for _ in range(steps):
        p.begin(marks[0])
        for i in range(micro):
            p.begin(marks[1])
            load(p, 150 * US)
            forward(p, 4)
            backward(p, 4)
            for _ in range(buckets if reduced == "each" or i == micro - 1 else 0):
                if divided:
                    p.kernel("void vectorized_elementwise_kernel<4, DivFunctor>(int)", 12 * US, 1024)
                    p.between(8 << 20)
                p.free[7] = p.kernel(SUM, 400 * US, 24, 20, p.free[7])
                if divided:
                    p.between(8 << 20)
            p.end()
        for _ in range(n_opt):
            p.kernel(opt, 30 * US, 320)
        p.copy(2, 4)
        p.end()
        p.units += 1


def sharded(p, steps, again, layers=6):
    """FSDP: weights are gathered before a layer's forward pass, and again before its backward pass, or kept."""
    def gather():
        p.kernel("split_with_sizes_copy_out_contiguous(P)", 10 * US, 512)
        p.free[7] = p.kernel(GATHER, 260 * US, 24, 20, p.free[7])
        p.between(16 << 20)
    for _ in range(steps):
        p.begin("train_step")
        phase(p, "data", load, 100 * US)
        p.begin("forward")
        for _ in range(layers):
            gather()
            forward(p, 1)
        p.end()
        p.begin("backward")
        for _ in range(layers):
            if again:
                gather()
            backward(p, 1)
            p.kernel("chunk_cat_cuda_kernel(P)", 14 * US, 512)
            p.free[7] = p.kernel(SCATTER, 300 * US, 24, 20, p.free[7])
        p.end()
        phase(p, "optimizer", adam)
        p.copy(2, 4)
        p.end()
        p.units += 1


def compiled(p, steps, recompiles=0, fused_=True, each=900 * MS):
    """torch.compile: the first steps compile, and time their candidates."""
    for i in range(steps):
        p.begin("train_step")
        phase(p, "data", load, 150 * US)
        p.begin("forward")
        if i < recompiles:
            p.host(each)
            for k in range(30):
                for _ in range(5):
                    p.kernel(f"triton_candidate_{i}_{k}(P)", (20 + k) * US, 512)
            p.call("cuModuleLoadData", 2 * MS)
        for _ in range(8):
            p.kernel("cutlass_gemm(half*)", 70 * US, 768)
            for name in ("triton_poi_fused_add_mul_gelu_0",) if fused_ else ("add", "mul", "gelu", "dropout"):
                p.kernel(f"{name}(P)", 16 * US if fused_ else 9 * US, 1024)
        p.end()
        phase(p, "backward", backward, 8)
        phase(p, "optimizer", adam)
        p.copy(2, 4)
        p.end()
        p.units += 1


def epochs(p, steps, per_epoch, restart=400 * MS, wait=300 * US):
    """Workers of the loader are started again in each epoch."""
    for i in range(steps):
        if i and i % per_epoch == 0:
            p.host(restart)
        step_of(p, wait=wait)


def speculative(p, rounds, draft, accepted=0.7, layers=8):
    """Rounds of drafted tokens, all checked at once: how many are kept is chance."""
    for _ in range(rounds):
        p.begin("decode_step")
        p.host(120 * US)
        p.copy(1, 256)
        for _ in range(draft):
            for _ in range(2):
                p.kernel("gemv_draft(half*)", 9 * US, 64)
        for _ in range(layers):
            p.kernel("gemv_qkv(half*)", 14 * US, 128)
            p.kernel("paged_attention(half*)", 10 * US, 128)
            p.kernel("gemv_mlp(half*)", 16 * US, 256)
        p.kernel("sample_top_p(float*)", 20 * US, 1 + draft)
        p.copy(2, 4 * (1 + draft))
        p.end()
        kept = 1
        while kept <= draft and p.rng.random() < accepted:
            kept += 1
        p.units += kept if draft else 1


def ramp(p, steps, to, over=60):
    """The batch grows while the program runs."""
    for i in range(steps):
        work = 1 + (to - 1) * min(1, i / over)
        step_of(p, work=work, size=int(work * (1 << 20)))


def buckets_of(p, steps, lengths=(1, 2, 3, 4), wait=400 * US):
    """Sentences in buckets; a library has another kernel for each length."""
    for _ in range(steps):
        n = p.rng.choice(lengths)
        step_of(p, work=n / 2, size=(1 << 19) * n, wait=wait, gemm=f"ampere_sgemm_{32 * n}x64_tn(P)", attn=f"fmha_{64 * n}(P)")


def evaluated(p, steps, every, batches=6):
    for i in range(steps):
        step_of(p)
        if every and i % every == every - 1:
            p.begin("eval")
            for _ in range(batches):
                load(p, 100 * US)
                forward(p, 6)
                p.copy(2, 4)
            p.end()


def beside(p, steps, job):
    """Another thread's statistics on a stream of their own, all the time."""
    for i in range(steps):
        if job:
            for _ in range(4):
                p.kernel("histogram_job(uint*)", 300 * US, 24, 33)
        step_of(p)


def throttled(p, steps, by=0.35):
    clock = p.clock
    for i in range(steps):
        if i > steps // 2:
            p.clock = clock * (1 + by)
        step_of(p)
    p.clock = clock


def routed(p, steps, capacity=None, experts_=8, wait=200 * US):
    """Tokens choose their experts: which and how many is chance."""
    for _ in range(steps):
        p.begin("train_step")
        phase(p, "data", load, wait)
        for title in "forward", "backward":
            p.begin(title)
            for _ in range(4):
                p.kernel(GEMM, 90 * US, 1024)
                share = [p.rng.expovariate(1) for _ in range(experts_)]
                for s in share:
                    tokens = s / sum(share) * experts_
                    if capacity:
                        tokens = min(tokens, capacity)
                    if tokens > 0.08:
                        p.kernel("expert_gemm(half*)", (4 + 40 * tokens) * US, max(1, int(96 * tokens)))
            p.end()
        phase(p, "optimizer", adam)
        p.copy(2, 4)
        p.end()
        p.units += 1


def stage(p, steps, micro, total=8):
    """A stage of a pipeline: more and smaller micro-batches of one batch, receives and sends around each."""
    work = total / micro
    for _ in range(steps):
        p.begin("train_step")
        for title, f in ("forward", forward), ("backward", backward):
            p.begin(title)
            for _ in range(micro):
                p.free[7] = p.kernel("ncclDevKernel_SendRecv(P)", 150 * US, 8, 20, p.free.get(7, 0))
                f(p, 3, work / 2)
            p.end()
        p.free[7] += 700 * US * (3 if micro < 16 else 1)
        phase(p, "optimizer", adam)
        p.copy(2, 4)
        p.end()
        p.units += 1


def growing(p, tokens, each=0.15, layers=8, sampler=150 * US):
    """One request: attention takes longer with each token."""
    for t in range(tokens):
        p.begin("decode_step")
        p.host(sampler)
        for _ in range(layers):
            p.kernel("gemv_qkv(half*)", 14 * US, 128)
            p.kernel("paged_attention(half*)", (6 + each * t) * US, 64 + t // 8)
            p.kernel("gemv_mlp(half*)", 16 * US, 256)
        p.kernel("argmax(float*)", 8 * US, 8)
        p.copy(2, 4)
        p.end()
        p.units += 1


def tolerant(p, steps, inner):
    """A time step of a solver: iterations until it is good enough, which are fewer where less is asked."""
    for _ in range(steps):
        p.begin("time_step")
        p.host(80 * US)
        for _ in range(p.rng.randint(int(inner * 0.8), int(inner * 1.2))):
            p.kernel("spmv_csr(double*)", 40 * US, 2048)
            p.kernel("axpy(double*)", 12 * US, 1024)
            p.kernel("dot(double*)", 9 * US, 64)
            p.copy(2, 8)
        p.kernel("advect(double*)", 120 * US, 4096)
        p.end()
        p.units += 1


def adversaries(p, steps, critic, wait=200 * US):
    """A critic's steps for each of the generator's."""
    for i in range(steps):
        p.begin("iteration")
        for _ in range(critic):
            load(p, wait)
            forward(p, 3)
            backward(p, 3)
            adam(p, 6)
        forward(p, 4, gemm="ampere_generator_gemm(P)")
        backward(p, 4, gemm="ampere_generator_gemm(P)")
        adam(p, 8)
        p.copy(2, 4)
        p.end()
        p.units += 1


def arrivals(p, n, speed=1.0, gap=6 * MS):
    """A server that waits for requests: they come when they come."""
    due = p.now
    for _ in range(n):
        due += p.rng.expovariate(1 / gap)
        p.now = max(p.now, int(due))
        p.begin("request")
        p.copy(1, 1 << 20)
        for _ in range(20):
            p.kernel("conv3x3(half*)", 60 * US * speed, 512)
        p.copy(2, 4096)
        p.end()
        p.units += 1


def overflowing(p, steps, first):
    """Mixed precision: the first steps overflow, and their optimizer is skipped."""
    for i in range(steps):
        step_of(p, opt=i >= first)


def averaged(p, steps, every):
    """Weights are averaged now and then."""
    for i in range(steps):
        step_of(p)
        if every and i % every == every - 1:
            p.begin("ema")
            for _ in range(60):
                p.kernel("void vectorized_elementwise_kernel<4, LerpFunctor>(int)", 12 * US, 512)
            p.end()


def saved_beside(p, steps, every, beside_=True):
    """A checkpoint is copied back on a stream of its own while training goes on."""
    for i in range(steps):
        if every and i % every == every - 1:
            p.call("cudaMemcpyAsync_v3020", 5 * US)
            row = p.place(40, (40 << 20) / 20)
            p.rows["MEMCPY"].append((*row, 40 << 20, 2, 2, 1))
            if not beside_:
                p.until(row[1])
        step_of(p)


def drifting(p, steps, per=0.004):
    """Host work that grows with each step: a list that is never emptied."""
    for i in range(steps):
        step_of(p, wait=600 * US * (1 + per * i))


def cycles(p, steps, graph, size=16):
    """Decoding in graphs for batches of 1, 2, 4 … 32: padded to the next."""
    for _ in range(steps):
        n = p.rng.randint(1, 32)
        fit = 1 << (n - 1).bit_length()
        p.begin("decode_step")
        p.host(120 * US)
        p.copy(1, 64 * n)
        if graph:
            p.graph(fit, (220 + 9 * fit) * US)
        else:
            for _ in range(8):
                p.kernel("gemv_qkv(half*)", (12 + n / 2) * US, 128)
                p.kernel("paged_attention(half*)", (6 + n / 4) * US, 8 * n)
        p.kernel("sample_top_p(float*)", 20 * US, n)
        p.copy(2, 4 * n)
        p.end()
        p.units += 1


def jump(by):
    """The host's clock is set while the program runs: every row after that is `by` ns later."""
    def edit(p):
        at = (MS + p.now) // 2
        for table in EVERYTHING:
            p.rows[table] = [(r[0] + by * (r[0] >= at), r[1] + by * (r[1] >= at), *r[2:]) for r in p.rows[table]]
    return edit


def front_cut(p):
    """Recording began in the middle: rows that began before are not there."""
    p.lose(EVERYTHING, -1, 0.31)


NEXT = [
    Pair("a loop that spins for its clock, frames differ: a faster network", (of(comes_due, 60, vary=0.4), of(comes_due, 40, vary=0.4)), {DIFFERENT, UNKNOWN, SAME}, None, 100, never={"input_starvation"}, finds={"paced"}),
    Pair("a loop that spins for its clock, no input", (of(comes_due, 60, vary=0.4, size=0, waits=False), of(comes_due, 60, vary=0.4, size=0, waits=False)), {SAME, UNKNOWN}, set(), 100, never={"input_starvation", "sync_every_step"}),
    Pair("a loop that spins for its clock, 1200 frames", (of(comes_due, 60, vary=0.4), of(comes_due, 60, vary=0.4)), {SAME, UNKNOWN}, set(), 1200, never={"input_starvation"}, finds={"paced"}),
    Pair("a loop that spins for its clock, all frames alike", (of(comes_due, 60), of(comes_due, 60)), {SAME, UNKNOWN}, set(), 100),
    Pair("a server that waits for requests: a faster model", (of(arrivals, 1.0), of(arrivals, 0.7)), {JOB, UNKNOWN}, None, 200),
    Pair("no_sync: gradients are reduced once a step", (of(micro_batches, 4, "each"), of(micro_batches, 4, "last")), {UNKNOWN, JOB}, {"comm_exposed", "compute", "copy_exposed"}),
    Pair("no_sync, nothing beside the reduction", (of(micro_batches, 4, "each", divided=False), of(micro_batches, 4, "last", divided=False)), {UNKNOWN, JOB}, {"comm_exposed"}),
    Pair("no_sync is gone", (of(micro_batches, 4, "last"), of(micro_batches, 4, "each")), {UNKNOWN, JOB}, {"comm_exposed", "compute", "copy_exposed"}),
    Pair("weights are kept after the forward pass", (of(sharded, True), of(sharded, False)), {UNKNOWN, JOB}, {"comm_exposed", "compute", "copy_exposed"}),
    Pair("weights are gathered again", (of(sharded, False), of(sharded, True)), {UNKNOWN, JOB}, {"comm_exposed", "compute", "copy_exposed"}),
    Pair("micro-batches, nothing is marked: nothing", (of(micro_batches, 4, "last"), of(micro_batches, 4, "last")), {SAME}, set(), 40, (False, False)),
    Pair("micro-batches, nothing is marked: four became one", (of(micro_batches, 4, "last", buckets=0), of(micro_batches, 1, "last", buckets=0)), {UNKNOWN, DIFFERENT}, None, 60, (False, False), doubt=True),
    Pair("micro-batches, nothing is marked: four became two", (of(micro_batches, 4, "last", buckets=0), of(micro_batches, 2, "last", buckets=0)), {UNKNOWN, DIFFERENT}, None, 60, (False, False), doubt=True),
    Pair("the first steps compile on one side", (of(compiled, 0), of(compiled, 3)), {SAME}, set(), 40),
    Pair("compiled, with compilation in the profile", (of(compiled, 0, False), of(compiled, 3)), {JOB}, {"compute"} | IDLE, 40),
    Pair("compiled, nothing is marked", (of(compiled, 0, False), of(compiled, 3)), {JOB, UNKNOWN}, {"compute"} | IDLE, 40, (False, False)),
    Pair("workers are started again in each epoch: nothing", (of(epochs, 30), of(epochs, 30)), {SAME}, set(), 110),
    Pair("workers are started again: epochs twice as long", (of(epochs, 20), of(epochs, 40)), {SAME}, IDLE, 120),
    Pair("speculative decoding, tokens differ: nothing", (of(speculative, 4), of(speculative, 4)), {SAME, UNKNOWN}, set(), 200),
    Pair("the batch grows while it runs: nothing", (of(ramp, 3), of(ramp, 3)), {SAME, UNKNOWN}, set(), 60),
    Pair("the batch grows on one side", (of(ramp, 1), of(ramp, 3)), {DIFFERENT, UNKNOWN}, None, 60),
    Pair("the batch grows, one recording is longer", (of(ramp, 3), of(ramp, 3)), {SAME, UNKNOWN, DIFFERENT}, set(), 60, lengths=(1, 3)),
    Pair("buckets of lengths: nothing", (of(buckets_of), of(buckets_of)), {SAME, UNKNOWN}, set(), 80),
    Pair("buckets of lengths, nothing is marked", (of(buckets_of), of(buckets_of)), {SAME, UNKNOWN}, set(), 80, (False, False)),
    Pair("buckets of lengths: shorter ones", (of(buckets_of), of(buckets_of, (1, 2))), {DIFFERENT, UNKNOWN}, None, 80),
    Pair("evaluation every 20 steps became every 60", (of(evaluated, 20), of(evaluated, 60)), {DIFFERENT, UNKNOWN, SAME}, None, 120),
    Pair("evaluation on one side alone", (of(evaluated, 0), of(evaluated, 20)), {DIFFERENT, UNKNOWN, SAME}, None, 120),
    Pair("evaluation, nothing is marked", (of(evaluated, 20), of(evaluated, 20)), {SAME}, set(), 120, (False, False)),
    Pair("a job of its own beside one side", (of(beside, False), of(beside, True)), {DIFFERENT, UNKNOWN}, None),
    Pair("a job of its own is gone", (of(beside, True), of(beside, False)), {DIFFERENT, UNKNOWN}, None),
    Pair("activations are computed again", (of(training), of(training, recompute=True)), {DIFFERENT, UNKNOWN}, {"compute"}),
    Pair("the clock falls in the second half of one side", (of(training), of(throttled)), {SAME, UNKNOWN}, {"compute"}, 60, doubt=None),
    Pair("the host's clock is set back by 40 ms", (of(training), of(training)), {SAME, UNKNOWN}, set(), 60, doubt=True, edit=jump(-40 * MS)),
    Pair("recording began in the middle", (of(training), of(training)), {SAME}, set(), 60, edit=front_cut),
    Pair("experts by chance: nothing", (of(routed), of(routed)), {SAME, UNKNOWN}, set(), 60),
    Pair("experts by chance: no more than their capacity", (of(routed), of(routed, 1.0)), {DIFFERENT, UNKNOWN, JOB}, {"compute"}, 60),
    Pair("experts by chance: input in half of the time", (of(routed, wait=2000 * US), of(routed, wait=800 * US)), {SAME, UNKNOWN}, {"idle:host_code"}, 60),
    Pair("a pipeline's stage: 8 micro-batches became 16", (of(stage, 8), of(stage, 16)), {UNKNOWN, JOB, DIFFERENT}, None),
    Pair("a cache that grows: nothing", (of(growing), of(growing)), {SAME, UNKNOWN}, set(), 200),
    Pair("a cache that grows, one recording is longer", (of(growing), of(growing)), {SAME, UNKNOWN, DIFFERENT}, set(), 200, lengths=(1, 2), doubt=None),
    Pair("a cache that grows, nothing is marked", (of(growing), of(growing)), {SAME, UNKNOWN}, set(), 200, (False, False)),
    Pair("a solver that asks for less", (of(tolerant, 30), of(tolerant, 18)), {DIFFERENT, UNKNOWN}, None, 60),
    Pair("a solver by chance: nothing", (of(tolerant, 30), of(tolerant, 30)), {SAME, UNKNOWN}, set(), 60),
    Pair("five critics' steps became one", (of(adversaries, 5), of(adversaries, 1)), {DIFFERENT, UNKNOWN}, None, 40),
    Pair("adversaries, nothing is marked", (of(adversaries, 5), of(adversaries, 5)), {SAME}, set(), 40, (False, False)),
    Pair("the first steps overflow on one side", (of(overflowing, 0), of(overflowing, 4)), {SAME, UNKNOWN, DIFFERENT}, set(), 60),
    Pair("weights are averaged every 5 steps, then every 25", (of(averaged, 5), of(averaged, 25)), {DIFFERENT, UNKNOWN}, None, 100),
    Pair("a checkpoint beside the training", (of(saved_beside, 10, False), of(saved_beside, 10)), {SAME, UNKNOWN, JOB}, None, 80),
    Pair("checkpoints beside the training, on one side", (of(saved_beside, 0), of(saved_beside, 10)), {UNKNOWN, DIFFERENT, SAME}, None, 80),
    Pair("host work that grows: nothing", (of(drifting), of(drifting)), {SAME}, set(), 80),
    Pair("host work that grows, one recording is longer", (of(drifting), of(drifting)), {SAME}, set(), 80, lengths=(1, 3)),
    Pair("graphs for padded batches, traced whole", (of(cycles, False), of(cycles, True)), {JOB, UNKNOWN}, None, 200),
    Pair("graphs for padded batches: nothing", (of(cycles, True), of(cycles, True)), {SAME, UNKNOWN}, set(), 200),
    Pair("frames every 8 ms became every 16", (of(comes_due, 60, vary=0.4), of(comes_due, 60, 16 * MS, vary=0.4)), {SAME, UNKNOWN}, None, 100, never={"input_starvation"}),
]
