"""Pairs for check_real_pairs.py whose steps are not drawn alike: work that grows or depends on the step before, stages of a
program, cycles of a profiler, networks in turns.
"""
import math

from made_strange import *  # noqa: F403: its programs, Pair, of


def convergence(p, steps, least=20, most=60, drift=0):
    """Iterations until a solver converges, near as many as in the step before."""
    n = (least + most) / 2
    for _ in range(steps):
        n = min(most, max(least, n + p.rng.choice([-4, -2, 0, 2, 4]) + drift))
        p.begin("timestep")
        p.host(120 * US)
        p.kernel("advect(double*)", 200 * US, 2048)
        for _ in range(int(n)):
            p.kernel("spmv(double*)", 20 * US, 1024)
            p.kernel("dot(double*)", 5 * US, 64)
            p.copy(2, 8)
        p.kernel("project(double*)", 150 * US, 2048)
        p.finish(8)


def stages(p, steps, first):
    """Pretraining, then fine-tuning of half of the layers, under one name of steps."""
    for i in range(steps):
        step_of(p, layers=6 if i < first else 3, wait=300 * US)


def long_generation(p, tokens, times=1.0, start=0):
    """One text: attention takes longer with each token."""
    for i in range(start, start + tokens):
        p.begin("token")
        p.host(50 * US)
        for _ in range(8):
            p.kernel("gemv_qkv(half*)", 14 * US, 128)
            p.kernel("paged_attention(half*)", (5 + 0.15 * i) * US * times, 32 + i // 8)
            p.kernel("gemv_mlp(half*)", 20 * US, 256)
        p.copy(2, 4)
        p.finish()


def dynamics(p, steps, rebuild=10, name="md_step"):
    """Molecular dynamics: lists of neighbours are made in every so many-th step."""
    for i in range(steps):
        p.begin(name)
        p.host(20 * US)
        if i % rebuild == 0:
            for _ in range(3):
                p.kernel("build_neighbours(float*)", 150 * US, 1024)
        for _ in range(4):
            p.kernel("force_lj(float*)", 90 * US, 1024)
        p.kernel("integrate(float*)", 20 * US, 512)
        p.finish(64)


def beams(p, n, width=4, most=40, times=1.0):
    """Sentences are translated, each by an encoder and as many steps of a decoder as it takes."""
    for _ in range(n):
        p.begin("translate")
        p.host(200 * US)
        p.copy(1, 4096)
        for _ in range(6):
            p.kernel("enc_gemm(half*)", 60 * US, 512)
        for _ in range(p.rng.randint(10, most)):
            for _ in range(4):
                p.kernel("dec_gemm(half*)", 20 * US * times * width / 4, 64 * width)
            p.kernel("beam_topk(float*)", 12 * US, 8 * width)
            p.copy(2, 64)
        p.finish()


def scaled(p, steps, rate):
    """Mixed precision: the optimizer is skipped where gradients overflow."""
    for _ in range(steps):
        p.begin("step")
        load(p, 100 * US)
        forward(p, 5)
        backward(p, 5)
        p.kernel("unscale_check(float*)", 20 * US, 320)
        p.copy(2, 4)
        if p.rng.random() > rate:
            adam(p)
        p.finish(4)


def seldom(p, steps, every=1, sync=1, buckets=1):
    """The backward pass in every so many-th step, and gradients that are reduced in every so many-th, in buckets."""
    for i in range(steps):
        p.begin("train_step")
        load(p, 200 * US)
        forward(p, 5)
        if i % every == 0:
            backward(p, 5)
            for _ in range(buckets if i % sync == 0 else 0):
                p.kernel(SUM, 800 * US / buckets, 24)
            adam(p, 8)
        p.finish(4)


def refined(p, steps):
    """A mesh is refined every ten steps, and has more or fewer blocks then."""
    blocks = 12
    for i in range(steps):
        p.host(60 * US)
        if i % 10 == 0:
            p.kernel("tag_cells(double*)", 80 * US, 512)
            p.copy(2, 4096)
            blocks = max(8, min(18, blocks + p.rng.randint(-2, 2)))
            p.copy(1, 4096 * blocks)
        for _ in range(blocks):
            p.kernel("flux(double*)", 45 * US, 256)
            p.kernel("update(double*)", 20 * US, 256)
        p.kernel("reduce_dt(double*)", 8 * US, 64)
        p.copy(2, 8)
        p.units += 1


def wandering(p, steps, times=1.0):
    """A server's batches: how many requests are in one hangs together with those before it."""
    x = p.rng.gauss(0, 1)
    for _ in range(steps):
        n = 2 + int(62 / (1 + math.exp(-1.5 * x)))
        x = 0.95 * x + 0.31 * p.rng.gauss(0, 1)
        p.begin("iteration")
        load(p, 60 * US + n * US, 256 * n)
        for _ in range(8):
            p.kernel(NORM, (6 + 0.1 * n) * US * times, 8 * n)
            p.kernel(GEMM, (40 + 0.6 * n) * US * times, 512)
            p.kernel("paged_attention(half*)", 2.5 * n * US * times, 16 * n)
        p.finish(4 * n)


def resident(p, steps):
    """The same of a kernel that stays resident: as many blocks, however much there is to do."""
    x = p.rng.gauss(0, 1)
    for _ in range(steps):
        n = 2 + int(62 / (1 + math.exp(-1.5 * x)))
        x = 0.98 * x + math.sqrt(1 - 0.98 * 0.98) * p.rng.gauss(0, 1)
        p.begin("iteration")
        p.host(60 * US)
        p.copy(1, 4096 * n)
        for _ in range(8):
            p.kernel("persistent_decode(half*)", (20 + 5 * n) * US, 132)
        p.finish(4 * n)


def inner(p, steps):
    """Of each input one small kernel again and again, as often as it takes: that hangs together with the inputs before."""
    x = p.rng.gauss(0, 1)
    for _ in range(steps):
        n = 2 + int(62 / (1 + math.exp(-1.5 * x)))
        x = 0.95 * x + 0.31 * p.rng.gauss(0, 1)
        p.begin("iteration")
        p.host(60 * US)
        p.copy(1, 4096)
        for _ in range(n):
            p.kernel(ACT, 3 * US, 64)
        p.finish(4)


def iterating(p, steps):
    """A solver whose iterations hang together with those of the steps before."""
    x = p.rng.gauss(0, 1)
    for _ in range(steps):
        p.begin("time_step")
        p.kernel("assemble(float*)", 200 * US, 1024)
        for _ in range(15 + int(55 / (1 + math.exp(-1.5 * x)))):
            p.kernel("spmv(float*)", 45 * US, 1024)
            p.kernel("axpy(float*)", 10 * US, 512)
        x = 0.95 * x + 0.31 * p.rng.gauss(0, 1)
        p.finish(8)


def regimes(p, steps):
    """Two kinds of work, some thirty steps of one, then of the other."""
    heavy = p.rng.random() < 0.5
    for _ in range(steps):
        heavy ^= p.rng.random() < 1 / 30
        p.begin("iteration")
        p.copy(1, 1 << 20 if heavy else 1 << 14)
        for _ in range(12 if heavy else 4):
            p.kernel(GEMM, (200 if heavy else 60) * US, 2048 if heavy else 256)
            p.kernel(ACT, 15 * US, 512)
        p.finish(4)


FILL = "vectorized_elementwise_kernel<4, FillFunctor<float>>(P)"
COLUMNS = "reduce_kernel<512, 1, ReduceOp<float, func_wrapper_t<float>>>(P)"


def masked(p, steps, batched=False, metrics=True):
    """Sixteen experts: each of them takes its tokens by a mask, or all sorted ones go through batched products. `metrics`:
    are calculated in a phase of their own."""
    parts, rows = (1, 16) if batched else (16, 1)
    product, add, ns = "sgemm_64x64(P)", "index_copy_kernel(P)" if batched else "index_add_kernel(P)", (300 if batched else 40) * US
    for _ in range(steps):
        p.begin("train_step")
        phase(p, "data", load, 150 * US)
        p.begin("forward")
        forward(p, 1)
        if batched:
            for name in "radix_sort(P)", "scan_outer_dim(P)":
                p.kernel(name, 150 * US, 16)
        for _ in range(parts):
            if not batched:
                p.kernel(FILL, 12 * US, 512)
            p.kernel("gather_kernel(P)", 3 * US, 32 * rows)
            for name in product, "gelu(P)", product:
                p.kernel(name, ns, 30 * rows if batched else 24)
            p.kernel(add, 4 * US, 32 * rows)
        p.kernel(COLUMNS, 5 * US, 8)
        p.end()
        p.begin("backward")
        backward(p, 1)
        for _ in range(parts):
            for _ in range(4):
                p.kernel(product, ns, 30 * rows if batched else 24)
            for _ in range(2):
                p.kernel(COLUMNS, 5 * US, 8)
            if not batched:
                p.kernel(FILL, 6 * US, 512)
        for _ in range(20):
            p.kernel(COLUMNS, 5 * US, 8)
        p.end()
        phase(p, "optimizer", adam)
        if metrics:
            phase(p, "metrics", lambda p: [p.kernel("top_k_accuracy(P)", 30 * US, 64) for _ in range(4)])
        p.finish(4)


def clipped(p, steps, attn, sums):
    """Layers with one attention or another, and so many sums of squares."""
    for _ in range(steps):
        p.begin("train_step")
        phase(p, "data", load, 150 * US)
        p.begin("forward")
        for _ in range(6):
            p.kernel(GEMM, 90 * US, 1024)
            p.kernel(attn, 40 * US, 512)
            p.kernel(GEMM, 110 * US, 1536)
        p.end()
        phase(p, "backward", backward, 6)
        phase(p, "clip", lambda p: [p.kernel(COLUMNS, 8 * US, 64) for _ in range(sums)])
        phase(p, "optimizer", adam)
        p.finish(4)


UNSEEN = [
    Pair("a solver's iterations go by the step before: nothing", (of(convergence), of(convergence)), {SAME, UNKNOWN}, set(), 150),
    Pair("a solver's iterations grow, and go by the step before", (of(convergence), of(convergence, drift=3)), {DIFFERENT, UNKNOWN}, None, 60),
    Pair("a solver's iterations halve, and go by the step before", (of(convergence), of(convergence, 10, 30)), {DIFFERENT, UNKNOWN}, None, 80),
    Pair("a solver's iterations go by the step before, nothing is marked", (of(convergence), of(convergence)), {SAME, UNKNOWN}, set(), 60, (False, False)),
    Pair("a solver's iterations halve, nothing is marked", (of(convergence), of(convergence, 10, 30)), {DIFFERENT, UNKNOWN}, None, 80, (False, False)),
    Pair("sentences of half the length are translated, nothing is marked", (of(beams), of(beams, most=20)), {DIFFERENT, UNKNOWN}, None, 60, (False, False)),
    Pair("beams of 4 became 2", (of(beams), of(beams, 2)), {DIFFERENT, UNKNOWN}, {"compute"}, 60),
    Pair("some steps overflow: nothing", (of(scaled, 0.4), of(scaled, 0.4)), {SAME, UNKNOWN}, set(), 80),
    Pair("work that grows, recorded 60 steps later", (of(growing), of(growing, 60)), {DIFFERENT, UNKNOWN}, None, 60),
    Pair("work that grows, recorded 20 steps later", (of(growing), of(growing, 20)), {DIFFERENT, UNKNOWN}, None, 60),
    Pair("two stages of a program, the first of which is longer", (of(stages, 20), of(stages, 45)), {DIFFERENT, UNKNOWN}, None, 60),
    Pair("a long text, its attention takes half as long", (of(long_generation), of(long_generation, 0.5)), {JOB, UNKNOWN}, {"compute"}, 150),
    Pair("a long text, recorded 200 tokens later", (of(long_generation), of(long_generation, start=200)), {DIFFERENT, UNKNOWN}, None, 150),
    Pair("another program, whose steps have the same name", (of(training), of(dynamics, name="train_step")), {UNKNOWN}, None, doubt={"require_comparable"}),
    Pair("lists of neighbours every 20 steps, not every 10", (of(dynamics), of(dynamics, 20)), {DIFFERENT, UNKNOWN}, {"compute"}, 100),
    Pair("the backward pass in every second step, three runs, nothing is marked", (of(seldom), of(seldom, 2)), {DIFFERENT, UNKNOWN}, None, 40, (False, False), shown=True, runs=3),
    Pair("gradients are reduced in every third step", (of(seldom), of(seldom, sync=3)), {DIFFERENT, UNKNOWN}, {"comm_exposed"}, 42),
    Pair("gradients are reduced in every second step", (of(seldom, buckets=4), of(seldom, sync=2, buckets=4)), {DIFFERENT, UNKNOWN}, {"comm_exposed"}),
    Pair("gradients are reduced in 2 buckets, not in 8", (of(seldom, buckets=8), of(seldom, buckets=2)), {JOB, SAME}, set()),
    Pair("a mesh that is refined: nothing, four runs, nothing is marked", (of(refined), of(refined)), {SAME, UNKNOWN}, set(), 60, (False, False), runs=4),
    Pair("batches of a server that vary slowly: nothing", (of(wandering), of(wandering)), {SAME, UNKNOWN}, set(), 60),
    Pair("batches of a server that vary slowly: faster kernels", (of(wandering), of(wandering, 0.7)), {JOB, UNKNOWN, DIFFERENT}, {"compute"}, 60),
    # the numbers draw what would have a direction, an answer that differs, launches that are other work
    Pair("a resident kernel's batches hang together, 33: nothing", (of(resident), of(resident)), {SAME, UNKNOWN}, set(), 60, unsaid="reads back"),
    Pair("a resident kernel's batches hang together, 35: nothing", (of(resident), of(resident)), {SAME, UNKNOWN}, set(), 60, unsaid="reads back"),
    Pair("iterations that hang together, 50: nothing", (of(iterating), of(iterating)), {SAME, UNKNOWN}, set(), 60),
    Pair("one kernel as often as each of 60 inputs takes, nothing is marked: nothing", (of(inner), of(inner)), {SAME, UNKNOWN}, set(), 60, (False, False)),
    Pair("two kinds of work that take turns, nothing is marked: nothing", (of(regimes), of(regimes)), {SAME, UNKNOWN}, set(), 60, (False, False)),
    Pair("experts by masks became batched products", (of(masked), of(masked, batched=True)), {JOB, UNKNOWN}, {"compute"} | IDLE, 60),
    Pair("experts by masks became batched products, without metrics", (of(masked), of(masked, batched=True, metrics=False)), {DIFFERENT}, {"compute"} | IDLE, 60),
    Pair("attention by other kernels, and a third of the sums of squares", (of(clipped, "attention_v1(P)", 60), of(clipped, "attention_v2(P)", 20)), {DIFFERENT}, {"compute"} | IDLE, 60),
    Pair("two kinds of work after each other, nothing is marked: nothing", (of(regimes), of(regimes)), {SAME, UNKNOWN}, set(), 60, (False, False)),
]
