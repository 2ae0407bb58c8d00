"""Stranger pairs for check_real_pairs.py: what comes by chance, hosts and GPUs in other states, work that grows, marks and
recordings that end elsewhere, kernels cut, joined and renamed.
"""
from made_moves import *  # noqa: F403: its programs, Pair, of


def sampled_eval(p, steps, rate=0.15, act=ACT):
    """A validation in some steps, by chance."""
    for _ in range(steps):
        p.begin("train_step")
        phase(p, "data", load, 200 * US)
        forward(p, 5)
        backward(p, 5)
        adam(p)
        if p.rng.random() < rate:
            p.begin("eval")
            for _ in range(3):
                p.copy(1, 1 << 20)
                forward(p, 4, act=act)
            p.copy(2, 4)
            p.end()
        p.finish(4)


def bursts(p, steps, wait=1500 * US, share=0.15):
    """Others on the host come and go: some steps in a row the host is twice as slow."""
    busy = False
    pace = p.pace
    for i in range(steps):
        if p.rng.random() < (0.3 if busy else share * 0.3):
            busy = not busy
        p.pace = pace * (2 if busy else 1)
        step_of(p, wait=wait)
    p.pace = pace


def warm(p, steps, first=0, factor=1.4, wait=600 * US):
    pace, clock = p.pace, p.clock
    for i in range(steps):
        f = factor if i < first else 1
        p.pace, p.clock = pace * f, clock * f
        step_of(p, wait=wait)
    p.pace, p.clock = pace, clock


def idle_around(p, steps, lead=0, trail=0, inner=training):
    p.kernel("init_kernel(float*)", 10 * US, 64)
    p.sync()
    p.host(lead)
    inner(p, steps)
    if trail:
        p.host(trail)
        p.kernel("final_kernel(float*)", 10 * US, 64)
        p.sync()


def nccl_moved(p, steps, where):
    for _ in range(steps):
        p.begin("step")
        phase(p, "data", load, 150 * US)
        if where == "forward":
            p.free[7] = p.kernel(SUM, 1500 * US, 24, 20, p.free.get(7, 0))
        phase(p, "forward", forward, 5)
        p.begin("backward")
        backward(p, 5)
        if where == "backward":
            p.free[7] = p.kernel(SUM, 1500 * US, 24, 20, p.free[7])
        p.end()
        phase(p, "optimizer", adam)
        p.finish(4)


def double_buffer(p, steps, on):
    """The next input is read and copied beside the work, on a stream of its own, or before it."""
    if on:
        p.copy(1, 12 << 20, stream=9)
    for _ in range(steps):
        p.begin("step")
        if on:
            ready = p.free[9]
            forward_after(p, 6, ready)
            p.host(400 * US)
            p.copy(1, 12 << 20, stream=9)
        else:
            p.host(400 * US)
            p.copy(1, 12 << 20)
            forward(p, 6)
        p.sync(7)
        p.finish()


def forward_after(p, layers, after):
    p.kernel(NORM, 12 * US, 256, after=after)
    p.free[7] = max(p.free[7], after)
    for k in range(layers):
        if k:
            p.kernel(NORM, 12 * US, 256)
        p.kernel(GEMM, 90 * US, 1024)
        p.kernel(ATTN, 60 * US, 512)
        p.kernel(GEMM, 110 * US, 1536)
        p.kernel(ACT, 20 * US, 2048)


def split(p, steps, parts, faster=1.0):
    """A kernel whole, or in five."""
    for _ in range(steps):
        p.begin("step")
        phase(p, "data", load, 100 * US)
        for _ in range(10):
            p.kernel(GEMM, 90 * US, 1024)
            if parts == 1:
                p.kernel("mega_fused(float*)", 100 * US, 1024)
            else:
                for k in range(5):
                    p.kernel(f"piece_{k}(float*)", 20 * US * faster, 1024)
        phase(p, "optimizer", adam)
        p.finish(4)


def moe(p, steps, least=2, most=10, times=1.0, name="expert_gemm(half*)"):
    for _ in range(steps):
        p.begin("step")
        phase(p, "data", load, 200 * US)
        for _ in range(4):
            forward(p, 1)
            for e in range(p.rng.randint(least, most)):
                n = p.rng.randint(8, 128)
                p.kernel(name, (10 + n / 2) * US * times, n)
        p.finish(4)


def growing(p, steps, start=0, by=0.01, times=1.0):
    for i in range(steps):
        step_of(p, work=(0.5 + by * (i + start)) * times)


def post_norm(p, steps, post):
    for _ in range(steps):
        p.begin("train_step")
        phase(p, "data", load, 200 * US)
        for _ in range(6):
            if not post:
                p.kernel(NORM, 12 * US, 256)
            p.kernel(GEMM, 90 * US, 1024)
            p.kernel(ATTN, 60 * US, 512)
            p.kernel(GEMM, 110 * US, 1536)
            p.kernel(ACT, 20 * US, 2048)
            if post:
                p.kernel(NORM, 12 * US, 256)
        backward(p, 6)
        adam(p)
        p.finish(4)


def renamed_all(p, steps, suffix="", times=1.0):
    for _ in range(steps):
        p.begin("step")
        phase(p, "data", load, 200 * US)
        for _ in range(6):
            for n, ns, b in ("conv_a", 80, 512), ("conv_b", 120, 700), ("norm_c", 20, 300), ("act_d", 15, 2048):
                p.kernel(f"{n}{suffix}(float*)", ns * US * times, b)
        p.finish(4)


def swap_times(p, steps, fixed):
    for _ in range(steps):
        p.begin("step")
        phase(p, "data", load, 100 * US)
        for _ in range(10):
            p.kernel("k_one(float*)", (60 if fixed else 100) * US, 512)
            p.kernel("k_two(float*)", (140 if fixed else 100) * US, 512)
        p.finish(4)


def polled(p, steps, poll):
    for _ in range(steps):
        p.begin("step")
        phase(p, "data", load, 150 * US)
        forward(p, 5)
        end = p.free[7]
        if poll:
            while p.now < end:
                p.call("cudaStreamQuery_v3020", 2 * US)
                p.host(8 * US)
        else:
            p.sync(7)
        p.finish()


def teacher(p, steps, on):
    for _ in range(steps):
        p.begin("train_step")
        phase(p, "data", load, 200 * US)
        if on:
            phase(p, "teacher", forward, 4)
        phase(p, "forward", forward, 6)
        phase(p, "backward", backward, 6)
        phase(p, "optimizer", adam)
        p.finish(4)


def ema(p, steps, every=0):
    for i in range(steps):
        p.begin("train_step")
        phase(p, "data", load, 200 * US)
        phase(p, "forward", forward, 6)
        phase(p, "backward", backward, 6)
        phase(p, "optimizer", adam)
        if every and i % every == 0:
            for _ in range(12):
                p.kernel("ema_update(float*)", 20 * US, 320)
        p.finish(4)


def flash(p, steps, on):
    for _ in range(steps):
        p.begin("step")
        phase(p, "data", load, 100 * US)
        for _ in range(8):
            p.kernel(GEMM, 90 * US, 1024)
            if on:
                p.kernel(ATTN, 60 * US, 512)
            else:
                p.kernel("gemm_qk(half*)", 50 * US, 800)
                p.kernel("softmax_warp(float*)", 60 * US, 4096)
                p.kernel("gemm_pv(half*)", 50 * US, 800)
            p.kernel(GEMM, 110 * US, 1536)
        p.finish(4)


def poisson(p, n, times=1.0, mean=4 * MS):
    """Requests arrive by chance; the server is half idle."""
    due = p.now
    for _ in range(n):
        due += int(p.rng.expovariate(1 / mean))
        if p.now < due:
            p.correlation += 1
            p.now = due
        p.begin("request")
        p.copy(1, 8192)
        forward(p, 6, times)
        p.copy(2, 1024)
        p.finish()


def zero_by_kernel(p, steps, kernel):
    for _ in range(steps):
        p.begin("train_step")
        phase(p, "data", load, 100 * US)
        for _ in range(40):
            if kernel:
                p.kernel("void vectorized_elementwise_kernel<4, FillFunctor<float>>(int)", 14 * US, 2048)
            else:
                p.memset(1 << 22, 14 * US)
        forward(p, 5)
        backward(p, 5)
        adam(p)
        p.finish(4)


def jitter_counts(p, steps):
    for _ in range(steps):
        p.begin("step")
        phase(p, "data", load, 200 * US)
        for _ in range(8):
            p.kernel(GEMM, 90 * US, 1024)
            if p.rng.random() < 0.5:
                p.kernel("dropout(float*)", 15 * US, 1024)
        p.finish(4)


def gan(p, steps, critics=2, times=1.0):
    for i in range(steps):
        for _ in range(critics):
            p.begin("d_step")
            load(p, 150 * US)
            for _ in range(6):
                p.kernel("conv_d(half*)", 60 * US * times, 256)
            p.kernel("adam_d(float*)", 20 * US, 64)
            p.end()
        p.begin("g_step")
        p.host(100 * US)
        for _ in range(10):
            p.kernel("conv_g(half*)", 70 * US * times, 256)
        p.kernel("adam_g(float*)", 25 * US, 64)
        p.copy(2, 8)
        p.end()
        p.units += 1


def substeps(p, steps, most=4, iters=20, times=1.0):
    """Time steps of one to four parts, each of a solver's iterations."""
    for _ in range(steps):
        p.begin("timestep")
        p.host(80 * US)
        for _ in range(p.rng.randint(1, most)):
            for _ in range(iters):
                p.kernel("spmv(double*)", 20 * US * times, 1024)
                p.kernel("axpy(double*)", 6 * US * times, 1024)
            p.copy(2, 8)
        p.finish()


def pareto(p, steps, wait=800 * US):
    for _ in range(steps):
        w = wait * min(20, 0.6 * p.rng.paretovariate(2.2))
        step_of(p, wait=w)


def epochs(p, steps, every=20, off=0, pause=25 * MS):
    for i in range(steps):
        if (i + off) % every == 0:
            p.host(pause)
        step_of(p)


def cpu_sampling(p, tokens, gpu):
    for _ in range(tokens):
        p.begin("token")
        p.host(50 * US)
        for _ in range(8):
            p.kernel("gemv_qkv(half*)", 14 * US, 128)
            p.kernel("gemv_mlp(half*)", 14 * US, 256)
        if gpu:
            p.kernel("top_k(float*)", 25 * US, 8)
            p.copy(2, 4)
        else:
            p.copy(2, 512 << 10)
            p.host(400 * US)
        p.copy(1, 4)
        p.finish()


def loader_thread(p, steps, aside):
    """Input is prepared and copied by a thread of its own."""
    t = p.now
    for i in range(steps):
        p.begin("step")
        if aside:
            keep, tid = p.now, p.tid
            p.now, p.tid = max(t, p.now - 3 * MS), PID + 79
            p.host(900 * US)
            p.copy(1, 4 << 20, stream=9)
            t, p.now, p.tid = p.now, keep, tid
            p.now = max(p.now, t)
            p.free[7] = max(p.free.get(7, 0), p.free[9])
        else:
            p.host(900 * US)
            p.copy(1, 4 << 20)
        forward(p, 6)
        p.sync(7)
        p.finish()


def dyn_shape_recompile(p, steps, on):
    for i in range(steps):
        if on and i % 9 == 4:
            p.call("cuModuleLoadData", 12 * MS)
        step_of(p, wait=200 * US)


def whole_epoch_ranges(p, steps, nested):
    """Epochs are marked, too, or steps alone."""
    for i in range(steps):
        if nested and i % 10 == 0:
            p.begin("epoch")
        step_of(p)
        if nested and i % 10 == 9:
            p.end()


def late_marks(p, steps, share=0.6):
    for i in range(steps):
        if i < steps * share:
            step_of(p)
        else:
            n = len(p.rows["NVTX"])
            step_of(p)
            del p.rows["NVTX"][n:]


def half_input(p, steps, half):
    """Input as bytes that the device converts, or as floats."""
    for _ in range(steps):
        p.begin("step")
        p.host(100 * US)
        p.copy(1, (8 if half else 32) << 20)
        if half:
            p.kernel("to_float(uchar*)", 30 * US, 2048)
        forward(p, 5)
        p.finish(4)


def decode_len(p, tokens, growth, times=1.0):
    """The cache grows: attention's time by token, in sequences of 64."""
    for i in range(tokens):
        p.begin("token")
        p.host(60 * US)
        for _ in range(6):
            p.kernel("gemv_qkv(half*)", 14 * US * times, 128)
            p.kernel("paged_attention(half*)", (6 + growth * (i % 64)) * US * times, 32)
            p.kernel("gemv_mlp(half*)", 20 * US * times, 256)
        p.copy(2, 4)
        p.finish()


def curriculum(p, steps, order):
    """Sentences of five lengths in one order or another."""
    sizes = [0.5, 0.75, 1, 1.25, 1.5] * (steps // 5)
    if order == "sorted":
        sizes.sort()
    elif order == "reverse":
        sizes.sort(reverse=True)
    else:
        p.rng.shuffle(sizes)
    for w in sizes:
        step_of(p, work=w, size=int(w * (1 << 20)))


def two_iter_fix(p, steps, k):
    """A range holds so many batches."""
    for _ in range(steps // k):
        p.begin("chunk")
        for _ in range(k):
            load(p, 200 * US)
            forward(p, 4)
            backward(p, 4)
            adam(p)
            p.copy(2, 4)
            p.units += 1
        p.finish(4)
        p.units -= 1


def from_weights(p, steps):
    """Weights are copied one by one before the first step."""
    for _ in range(steps):
        p.host(40 * US)
        p.copy(1, 64 << 10, pinned=False)
    p.weights = p.now
    training(p, steps)


def cut_behind_weights(p):
    for table in EVERYTHING:
        p.rows[table] = [r for r in p.rows[table] if r[0] < p.weights]


STRANGE = [
    Pair("a validation by chance in some steps: nothing", (of(sampled_eval), of(sampled_eval)), {SAME, UNKNOWN}, set(), 60),
    Pair("a validation by chance, with kernels of its own: nothing", (of(sampled_eval, rate=0.06, act="eval_only_act(float*)"), of(sampled_eval, rate=0.06, act="eval_only_act(float*)")), {SAME, UNKNOWN}, set(), 60),
    Pair("others on the host come and go: nothing", (of(bursts), of(bursts)), {SAME}, set(), 60),
    Pair("others on the host come and go: a loader three times as fast", (of(bursts), of(bursts, wait=500 * US)), {SAME}, {"idle:host_code"}, 60),
    Pair("the first third of one side is slower", (of(warm, 20), of(warm, 0)), {SAME, UNKNOWN}, set(), 60),
    Pair("a host 1.4 times as slow, the same program", (of(training, wait=1500 * US), of(training, wait=1500 * US)), {SAME}, set(), 40, machine={"pace": (1.4, 1)}),
    Pair("five seconds before the loop, nothing is marked", (of(idle_around), of(idle_around, 5000 * MS)), {SAME, UNKNOWN}, set(), 40, (False, False)),
    Pair("three seconds behind the loop, nothing is marked", (of(idle_around, 10 * MS, 3000 * MS), of(idle_around)), {SAME, UNKNOWN}, set(), 40, (False, False)),
    Pair("the reduction before the forward pass, not behind the backward pass", (of(nccl_moved, "backward"), of(nccl_moved, "forward")), {SAME}, set()),
    Pair("two buffers, filled on a stream of their own", (of(double_buffer, False), of(double_buffer, True)), {SAME}, {"copy_exposed:h2d", "idle:host_code"}, shown=True),
    Pair("one kernel in five", (of(split, 1), of(split, 5)), {JOB, UNKNOWN}, ALL),
    Pair("five kernels became one", (of(split, 5, 2.0), of(split, 1)), {JOB, UNKNOWN}, {"compute", "idle"}, shown=True),
    Pair("experts chosen by the data: nothing", (of(moe), of(moe)), {SAME, UNKNOWN}, set(), 60),
    Pair("experts chosen by the data: grouped products", (of(moe), of(moe, times=0.5, name="expert_grouped(half*)")), {JOB, UNKNOWN}, {"compute"}, 60),
    Pair("data that grow: a fifth less in each step", (of(growing), of(growing, times=0.8)), {DIFFERENT, UNKNOWN}, {"compute"}, 60, shown=True),
    Pair("norms behind the layers, not before them", (of(post_norm, False), of(post_norm, True)), {SAME, UNKNOWN, JOB}, set()),
    Pair("all kernels have other names and are faster", (of(renamed_all), of(renamed_all, "_v2", 0.7)), {JOB, UNKNOWN}, {"compute"}, shown=True),
    Pair("all kernels have other names, nothing is marked", (of(renamed_all), of(renamed_all, "_v2")), {SAME, JOB, UNKNOWN}, set(), 40, (False, False)),
    Pair("one kernel got faster by what another got slower", (of(swap_times, False), of(swap_times, True)), {JOB, UNKNOWN}, set()),
    Pair("the host asks again and again instead of waiting", (of(polled, False), of(polled, True)), {SAME}, set()),
    Pair("no teacher's forward pass", (of(teacher, True), of(teacher, False)), {DIFFERENT, UNKNOWN}, {"compute"}),
    Pair("averages of weights every 10 steps", (of(ema, 1), of(ema, 10)), {DIFFERENT, UNKNOWN}, {"compute", "idle"}, 60),
    Pair("batches of 8 became 16, the host makes the step, per item", (of(training, wait=4000 * US), of(training, wait=4000 * US, work=2, size=2 << 20)), {SAME, JOB, UNKNOWN}, None, 40, (True, True), ("--items-per-step", "8,16 samples"), items=2),
    Pair("attention in one kernel", (of(flash, False), of(flash, True)), {JOB, UNKNOWN}, {"compute"}, shown=True),
    Pair("a host 1.3 times as slow, and a loader three times as fast", (of(training, wait=6000 * US), of(training, wait=2000 * US)), {SAME}, {"idle:host_code"}, 40, machine={"pace": (1, 1.3)}, doubt=None),
    Pair("requests that arrive by chance: faster kernels", (of(poisson), of(poisson, 0.6)), {DIFFERENT, UNKNOWN, JOB}, set(), 80),
    Pair("kernels that fill instead of memsets", (of(zero_by_kernel, False), of(zero_by_kernel, True)), {JOB, UNKNOWN}, set()),
    Pair("kernels by chance, nothing is marked", (of(jitter_counts), of(jitter_counts)), {SAME, UNKNOWN}, set(), 60, (False, False)),
    Pair("two networks in turns, each marked: nothing", (of(gan), of(gan)), {SAME}, set(), 60),
    Pair("two networks in turns: faster kernels", (of(gan), of(gan, times=0.7)), {JOB, UNKNOWN, DIFFERENT}, {"compute"}, 60),
    Pair("steps of one to four parts: nothing", (of(substeps), of(substeps)), {SAME, UNKNOWN}, set(), 80),
    Pair("steps of one to four parts: half of the iterations", (of(substeps), of(substeps, iters=10)), {DIFFERENT, UNKNOWN}, {"compute", "idle"}, 80),
    Pair("waits with a long tail, a quarter as long", (of(pareto, 2000 * US), of(pareto, 500 * US)), {SAME}, {"idle:host_code"}, 60),
    Pair("an epoch's start at another step: nothing", (of(epochs, 20, 3), of(epochs, 20, 14)), {SAME}, set(), 50),
    Pair("tokens are sampled on the device", (of(cpu_sampling, False), of(cpu_sampling, True)), {UNKNOWN, JOB}, {"idle", "copy_exposed:d2h"}, 200),
    Pair("input by a thread of its own", (of(loader_thread, False), of(loader_thread, True)), {SAME}, {"idle", "copy_exposed:h2d"}, shown=True),
    Pair("no compilation in every ninth step", (of(dyn_shape_recompile, True), of(dyn_shape_recompile, False)), {SAME}, {"idle"}, 60),
    Pair("epochs are marked on one side", (of(whole_epoch_ranges, False), of(whole_epoch_ranges, True)), {SAME}, set(), 40),
    Pair("marks end before the program does", (of(training), of(late_marks)), {SAME, UNKNOWN}, set(), 60),
    Pair("input in bytes, converted on the device", (of(half_input, False), of(half_input, True)), {UNKNOWN, JOB}, {"copy_exposed:h2d", "idle"}),
    Pair("a growing cache takes less time", (of(decode_len, 0.5), of(decode_len, 0.2)), {JOB, UNKNOWN}, {"compute"}, 192),
    Pair("sentences sorted or shuffled: nothing", (of(curriculum, "sorted"), of(curriculum, "shuffled")), {SAME, UNKNOWN}, set(), 50),
    Pair("ranges of two batches became ranges of three", (of(two_iter_fix, 2), of(two_iter_fix, 3)), {UNKNOWN}, None, 60, doubt=True),
    Pair("the fixed profile ends while weights are copied, nothing is marked", (of(from_weights), of(from_weights)), {UNKNOWN}, set(), 40, (False, False), doubt={"require_comparable"}, edit=cut_behind_weights),
]
