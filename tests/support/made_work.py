"""Pairs of a training step and a change of it, for "same work" and "why": what the change is, and what may be said of it.

A step is a list of operations (phase, kind, name, ns, blocks or bytes, how often); kinds are host, kernel, input, output,
graph, peer (a call of MPI's, which ends when another process says so). Most changes are those that defeat evidence by names, counts, blocks or bytes alone.
"""
import collections
import random
import sqlite3

from made_program import PID, Program, write

US = 1000
INPUT, BATCH = 1 << 20, 60 * US
SAME, JOB, DIFFERENT, UNKNOWN = "same", "same_job", "different", "unknown"
NVTX = """CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, rangeId INTEGER, text TEXT,
  globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER)"""

# what was changed, both sides' steps, what may be said of the work, the parts that may be named as why with the kernel
# ("": none is right), and whether phases are marked
Change = collections.namedtuple("Change", "what baseline fixed work why kernels phases", defaults=[{"compute"}, None, (True, True)])


class Marked(Program):
    def __init__(self, rng):
        super().__init__(rng)
        self.peers = []

    def run(self, step, steps, phases):
        ranges = []
        for i in range(steps):
            begin = phase_begin = self.now
            phase = None
            for name, kind, kernel, ns, amount, count in [*(step(i) if callable(step) else step), (None, "wait", "", 0, 0, 1)]:
                if name != phase and phase and phases:
                    ranges.append((phase_begin, self.now, phase))
                if name != phase:
                    phase, phase_begin = name, self.now
                for _ in range(count):
                    self.do(kind, kernel, ns, amount)
            ranges.append((begin, self.now, "step"))
            self.now += 2 * US
        return ranges

    def do(self, kind, kernel, ns, amount):
        if kind == "host":
            self.host(ns)
        elif kind == "peer":
            begin = self.now
            self.host(ns)
            self.peers.append((begin, self.now, PID + 77, kernel))
        elif kind == "wait":
            self.wait()
        elif kind == "kernel":
            self.call("cudaLaunchKernel_v7000", 2000)
            self.kernels.append(self.place(7, self.rng.gauss(ns, ns / 100)) + (kernel, kernel.split("(")[0], amount, 128))
        elif kind == "graph":
            self.graph(5, ns)
        else:
            self.copy(1 if kind == "input" else 2, amount)


def make(path, step, phases=True, steps=40, seed=1):
    program = Marked(random.Random(seed))
    ranges = program.run(step, steps, phases)
    write(path, [program])
    db = sqlite3.connect(path)
    db.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;")
    db.execute(NVTX)
    for column in "gridY", "gridZ", "blockY", "blockZ":
        db.execute(f"ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN {column} INTEGER DEFAULT 1")
    thread = PID + 77
    db.executemany(f"INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, NULL, ?, {thread}, NULL, NULL, 0)", ranges)
    if program.peers:
        db.execute("CREATE TABLE MPI_START_WAIT_EVENTS (start INTEGER, end INTEGER, globalTid INTEGER, textId INTEGER, requestHandle INTEGER)")
        db.executemany("INSERT INTO StringIds VALUES (?, ?)", enumerate(sorted({name for *_, name in program.peers}), 9000))
        db.executemany("INSERT INTO MPI_START_WAIT_EVENTS SELECT ?, ?, ?, id, 0 FROM StringIds WHERE value = ?", program.peers)
    db.commit()
    db.close()


SGEMM, HGEMM = "void sgemm_128x64<float>(P)", "void hgemm_256x128<half>(P)"
FILL = "void vectorized_elementwise_kernel<4, FillFunctor<float>>(int)"
ADD = "void vectorized_elementwise_kernel<4, CUDAFunctor_add<float>>(int)"
MUL = "void unrolled_elementwise_kernel<MulFunctor<float>, LoadWithCast<1>, StoreWithCast<1>>(int)"


def net(layers=12, gemm=SGEMM, gemm_ns=200 * US, gemm_blocks=1024, attention="attention_%s(float*)", again="gelu_forward(float*)", recomputed=None,
        adam="adam(float*)", adams=20, update="optimizer", fills=0, inputs=INPUT, loss=4096, load=50 * US, more=()):
    """A transformer's step: two products, attention and an activation per layer, which the backward pass computes again."""
    recomputed = layers if recomputed is None else recomputed
    step = [("load", "host", "", load, 0, 1)]
    step += [("load", "input", "", BATCH, inputs, 1)] if inputs else []
    step += [("zero", "kernel", FILL, 15 * US, 64, fills)] if fills else []
    for phase in "forward", "backward":
        for layer in range(layers):
            step.append((phase, "kernel", gemm, gemm_ns, gemm_blocks, 2))
            step += [(phase, "kernel", attention % phase[:3], 150 * US, 512, 1)] if attention else []
            step += [(phase, "kernel", again, 40 * US, 2048, 1)] if phase == "forward" or layer < recomputed else []
    step += [(update, "kernel", adam, 30 * US, 256, adams)] if adams else []
    return step + list(more) + [("loss", "output", "", 0, loss, 1)]


def scaled(step, kernel, times, blocks=1.0):
    return [(p, k, n, ns * times if kernel in n and k == "kernel" else ns, int(a * blocks) if kernel in n and k == "kernel" else a, c)
            for p, k, n, ns, a, c in step]


def half(step):
    """Half of the batch: every kernel of it has half the blocks, and half the bytes go in."""
    return [(p, k, n, ns / (1 if "adam" in n else 2), a if "adam" in n or k == "output" else a // 2, c) for p, k, n, ns, a, c in step]


def graph(ns, inputs=INPUT):
    return [("load", "input", "", BATCH, inputs, 1), ("work", "graph", "", ns, 0, 1), ("loss", "output", "", 0, 4096, 1)]


BASE = net()
TINY = [("forward", "kernel", "scale(float*)", 3 * US, 16, 1)]
SOLVER = [("load", "input", "", BATCH, INPUT, 1), ("solve", "kernel", "stencil(double*)", 100 * US, 4096, 40),
          ("solve", "kernel", "dot(double*)", 20 * US, 128, 39), ("loss", "output", "", 0, 4096, 1)]
DROPOUT = [("forward", "kernel", "dropout(float*)", 45 * US, 2048, 12)]
NAIVE = [("load", "input", "", BATCH, INPUT, 1), ("multiply", "kernel", "naive_multiply(float*)", 9000 * US, 512, 1),
         ("multiply", "kernel", "relu(float*)", 10 * US, 512, 1)]
CLIP = [("clip", "kernel", "clip_grad_norm(float*)", 40 * US, 64, 1)]
CASTS = [("forward", "kernel", "cast_kernel(float*)", 30 * US, 1024, 24)]
HEAD = [("head", "kernel", SGEMM, 900 * US, 8192, 1)]
AVERAGE = [("optimizer", "kernel", "adam(float*)", 30 * US, 256, 10)]
EVALUATION = [("evaluation", "kernel", SGEMM, 200 * US, 1024, 24)]


def other(name, ns, blocks=64, phase="loss"):
    return [(phase, "kernel", name, ns, blocks, 1)]


def shapes(times=1.0, inputs=0):
    """One name for launches of many shapes, as elementwise kernels have."""
    step = [("load", "input", "", BATCH, inputs, 1)] if inputs else []
    step += [("forward", "kernel", "void elementwise_kernel<float>(P)", int((2 + blocks / 32) * US * times), int(blocks * times), 4)
             for blocks in (64, 128, 256, 512, 1024, 2048, 8192, 32768)]
    return [*step, ("loss", "output", "", 0, 4096, 1)]


def in_parts(step, kernel, parts):
    """Launches of fewer blocks, so many times as many."""
    return [(p, k, n, ns / parts, a // parts, c * parts) if k == "kernel" and kernel in n else (p, k, n, ns, a, c) for p, k, n, ns, a, c in step]


def split(step):
    """Each product is cut into four parts, which another kernel adds up."""
    for op in step:
        if SGEMM in op[2]:
            yield op[:3] + (90 * US, 4096, 2)
            yield op[:2] + ("splitKreduce_kernel(float*)", 15 * US, 256, 2)
        else:
            yield op


def without(step, phase, kernel):
    return [op for op in step if not (op[0] == phase and kernel in op[2])]


UNMARKED, MARKED_LATER = (False, False), (False, True)
NOTHING = set()
CHANGES = [
    Change("nothing", BASE, net(), {SAME}, NOTHING),
    Change("ranges were added", BASE, net(), {SAME}, NOTHING, None, MARKED_LATER),
    Change("the optimizer stands in another phase", BASE, net(update="backward"), {SAME}, NOTHING),
    Change("template arguments of a kernel", BASE, net(gemm="void sgemm_128x64<float, 4, true>(P)"), {SAME}, NOTHING),
    Change("another name of a kernel", BASE, net(gemm="void product<float>(P)"), {SAME, JOB}, NOTHING),
    Change("a clock lower by 8 %", BASE, scaled(BASE, "", 1.08), {SAME}),
    Change("input stays on the device", BASE, net(inputs=0), {JOB}, NOTHING),
    Change("input is ready in time", net(load=3000 * US), BASE, {SAME}, {"idle:host_code"}),
    Change("half precision, other names", BASE, net(gemm=HGEMM, gemm_ns=60 * US, gemm_blocks=512, attention="attention_%s_half(half*)"), {JOB}, {"compute"}, {SGEMM}),
    Change("half precision, all names are others, no phases", BASE,
           net(gemm=HGEMM, gemm_ns=60 * US, gemm_blocks=512, attention="flash_%s(half*)", again="gelu_half(half*)", adam="adam_half(half*)"), {JOB},
           {"compute"}, {SGEMM}, UNMARKED),
    Change("half precision, the same names", BASE, scaled(BASE, "gemm", 0.4), {JOB, UNKNOWN}, {"compute"}, {SGEMM}),
    Change("4 MB of results are no longer read back", net(more=[("loss", "output", "", 0, 1 << 22, 1)]), net(), {UNKNOWN}, {"copy_exposed"}),
    Change("half precision, smaller results are read back", net(loss=1 << 16), net(loss=1 << 15, gemm=HGEMM, gemm_ns=60 * US), {JOB}, {"compute"}, {SGEMM}),
    Change("60 kernels of an optimizer became 3", net(adams=60), net(adams=3, adam="multi_tensor_adam(TL)"), {JOB}, {"compute"}, {"adam(float*)"}),
    Change("500 tiny kernels became 10", net(more=[("forward", "kernel", "mul(float*)", 3 * US, 16, 500)]),
           net(more=[("forward", "kernel", "triton_fused_mul(float*)", 12 * US, 512, 10)]), {JOB}, {"compute"}, {"mul(float*)"}),
    Change("attention became one kernel", net(attention="softmax_%s(float*)", more=[("forward", "kernel", "mask(float*)", 60 * US, 512, 12)]),
           net(attention="flash_%s(half*)"), {JOB}, {"compute"}, {"mask(float*)"}),
    Change("a kernel of our own became a library's, 30 times as fast", NAIVE, [(p, k, "sgemm(P)" if "naive" in n else n, ns / (30 if "naive" in n else 1), a, c)
           for p, k, n, ns, a, c in NAIVE], {JOB}, {"compute"}, {"naive_multiply(float*)"}),
    Change("a kernel with a quarter of the blocks, which each do more", BASE, scaled(BASE, "gemm", 0.7, 0.25), {JOB}, {"compute"}, {SGEMM}),
    Change("gradients are set to none: 40 fills are gone", net(fills=40), net(), {UNKNOWN}, {"compute"}, {FILL}),
    Change("gradients are set to none: 40 fills and the sums onto them are gone", net(fills=40, more=[("backward", "kernel", ADD, 20 * US, 64, 40)]), net(),
           {UNKNOWN}, {"compute"}),
    Change("40 fills and 40 larger kernels are gone", net(fills=40, more=[("backward", "kernel", ADD, 20 * US, 512, 40)]), net(), {DIFFERENT}, {"compute"}),
    Change("no recomputation", BASE, net(recomputed=0), {DIFFERENT, UNKNOWN}, {"compute"}, {"gelu_forward(float*)"}),
    Change("12 layers became 8", BASE, net(layers=8), {DIFFERENT}, {"compute"}, {SGEMM}),
    Change("12 layers became 8, no phases", BASE, net(layers=8), {DIFFERENT}, {"compute"}, {SGEMM}, UNMARKED),
    Change("12 layers became 8, in half precision with other names", BASE,
           net(layers=8, gemm=HGEMM, gemm_ns=150 * US, attention="flash_%s(half*)", again="gelu_half(half*)"), {DIFFERENT, UNKNOWN}),
    Change("no optimizer", BASE, net(adams=0), {DIFFERENT}, {"compute"}, {"adam(float*)"}),
    Change("the optimizer in every second step", BASE, lambda i: net(adams=20 if i % 2 else 0), {DIFFERENT}, NOTHING),
    Change("no optimizer, and all phases have other names", BASE, [("other " + op[0], *op[1:]) for op in net(adams=0)], {DIFFERENT}, {"compute"}, {"adam(float*)"}),
    Change("no attention", BASE, net(attention=None), {DIFFERENT}),
    Change("no attention, and a tiny kernel more, no phases", BASE, net(attention=None, more=TINY), {DIFFERENT, UNKNOWN}, {"compute"}, None, UNMARKED),
    Change("half of the activations, by kernels called broadcast", net(again="broadcast_mul(float*)"), net(again="broadcast_mul(float*)", recomputed=0),
           {DIFFERENT}, {"compute"}, {"broadcast_mul(float*)"}),
    Change("half of the activations, by kernels that cast what they read", net(again=MUL), net(again=MUL, recomputed=0), {DIFFERENT}, {"compute"}, {MUL}),
    Change("no dropout, and another name of the product", net(more=DROPOUT), net(gemm="void product<float>(P)"), {DIFFERENT, UNKNOWN, JOB},
           {"compute"}, {"dropout(float*)"}),
    Change("half of the batch", BASE, half(BASE), {DIFFERENT}, {"compute"}, {SGEMM}),
    Change("half of the batch in the products alone", BASE, scaled(net(inputs=INPUT // 2), "gemm", 0.5, 0.5), {DIFFERENT, UNKNOWN}, {"compute"}, {SGEMM}),
    Change("half of the batch in the products alone, input made on the device", net(inputs=0), scaled(net(inputs=0), "gemm", 0.5, 0.5), {DIFFERENT, UNKNOWN},
           {"compute"}, {SGEMM}),
    Change("half of the batch, persistent kernels", BASE, scaled(net(inputs=INPUT // 2), "", 0.5), {DIFFERENT, UNKNOWN}, {"compute"}, {SGEMM}),
    Change("half of the batch, persistent kernels, no input", net(inputs=0), scaled(net(inputs=0), "gemm", 0.5), {UNKNOWN}, {"compute"}, {SGEMM}),
    Change("half of the batch, all names are others", BASE, half(net(gemm=HGEMM, attention="flash_%s(half*)", again="gelu_half(half*)")), {DIFFERENT, UNKNOWN}),
    Change("another program with as much input", BASE, SOLVER, {DIFFERENT, UNKNOWN}),
    Change("another program with as much input, no phases", BASE, SOLVER, {DIFFERENT, UNKNOWN}, {"compute"}, None, UNMARKED),
    Change("half of the batch, one name of many shapes, no input", shapes(), shapes(0.5), {DIFFERENT, UNKNOWN}),
    Change("four fifths of the batch, one name of many shapes", shapes(1, INPUT), shapes(0.8, INPUT * 4 // 5), {DIFFERENT, UNKNOWN}),
    Change("half of the output's vocabulary, as a product of that name", net(more=HEAD), net(more=scaled(HEAD, "gemm", 0.5, 0.5)), {DIFFERENT, UNKNOWN}),
    Change("products of half the blocks, twice as many", BASE, in_parts(BASE, "gemm", 2), {SAME, JOB}, NOTHING),
    Change("12 layers became 8, each half as large again", BASE, scaled(net(layers=8), "", 1.5, 1.5), {DIFFERENT, UNKNOWN}, NOTHING),
    Change("products are cut into four parts, which are added up", BASE, list(split(BASE)), {JOB, UNKNOWN}, {"compute"}, {SGEMM}),
    Change("no casts, and a faster product of other name", net(more=CASTS), net(gemm=HGEMM, gemm_ns=80 * US), {JOB, UNKNOWN}, {"compute"}, {SGEMM}),
    Change("clipping of 0.3 % of a step is gone, and input is ready in time", net(more=CLIP, load=3000 * US), net(), {UNKNOWN}, {"idle:host_code"}),
    Change("clipping is gone, and something as small is new in another phase", net(more=CLIP), net(more=other("average(float*)", 40 * US)), {UNKNOWN, JOB}, NOTHING),
    Change("no attention in the backward pass, and a small kernel more in another phase", net(more=other("log(float*)", 9 * US)),
           without(net(more=other("log(float*)", 9 * US) + other("augment(float*)", 80 * US)), "backward", "attention"), {DIFFERENT, UNKNOWN}, {"compute"}),
    Change("no dropout, and a small kernel more in the optimizer", net(more=DROPOUT), net(more=other("unscale(float*)", 20 * US, phase="optimizer")),
           {DIFFERENT, UNKNOWN}, {"compute"}, {"dropout(float*)"}),
    Change("no averaging of weights, by kernels that the optimizer also runs", net(more=AVERAGE), net(), {DIFFERENT, UNKNOWN}, {"compute"}, {"adam(float*)"}),
    Change("no evaluation in every 10th step, by kernels that the training also runs", lambda i: net(more=EVALUATION if i % 10 == 9 else []), BASE,
           {DIFFERENT, UNKNOWN}, {"compute"}, {SGEMM}),
    Change("labels alone are still copied", BASE, net(inputs=4096), {JOB}, NOTHING),
    Change("a graph that was traced whole got shorter", graph(8000 * US), graph(6000 * US), {UNKNOWN}),
    Change("a graph that was traced whole, with half of the input", graph(8000 * US), graph(4000 * US, INPUT // 2), {DIFFERENT, UNKNOWN}),
]
