"""Pairs in the spirit of real programs, whose truth is known: what was changed, and what may be said of it.

`write(pair, folder)` writes both sides' profiles. The truth is the time per unit of the same two programs over a long
run, on a machine whose pace and clock do not move.
"""
import collections
import functools
import itertools
import random

from made_real import *  # noqa: F403: programs by name

SAME, JOB, DIFFERENT, UNKNOWN = "same", "same_job", "different", "unknown"

# `programs`: the baseline's and the fixed one; `work`: what may be said of it; `why`: parts that may be named; `doubt`: nothing may be decided, but for gates that it names; `options` of the report; `edit` of
# the fixed side's rows; `finds`: a finding that has to be there; `never`: one that must not be; `unsaid`: what no reason, difference or note may say; `shown`: it has to be decided; `items`: of a step of the fixed side, of one of the baseline; `runs`: of each side, in turns
Pair = collections.namedtuple("Pair", "what programs work why steps marked options doubt edit lengths machine finds never items unsaid shown runs",
                              defaults=[{"compute"}, 40, (True, True), (), False, None, (1, 1), {}, (), (), 1, None, False, 1])


def of(program, *args, **how):
    return lambda p, n: program(p, n, *args, **how)


HALF_GEMM = "ampere_fp16_s16816gemm_fp16_128x128(P)"
HALF = {"gemm": HALF_GEMM}
IDLE = {"idle"}  # of every cause
PAIRS = [
    Pair("accumulation and a validation loop: nothing", (of(accumulate), of(accumulate)), {SAME}, set()),
    Pair("accumulation and a validation loop: attention by other kernels", (of(accumulate, attn="softmax_attention(float*)"), of(accumulate)), {SAME, JOB}, set()),
    Pair("accumulation and a validation loop, nothing is marked", (of(accumulate), of(accumulate)), {SAME}, set(), 40, (False, False)),
    Pair("accumulation of 4 became 8", (of(accumulate, every=0), of(accumulate, micro=8, every=0)), {DIFFERENT, UNKNOWN}, {"compute"}, 30),
    Pair("validation every 10 steps became every 40", (of(accumulate), of(accumulate, every=40)), {DIFFERENT, UNKNOWN, SAME}, None, 80),
    Pair("images: the guidance's branches became one batch", (of(diffusion), of(diffusion, guided=1)), {JOB, UNKNOWN, SAME}, {"compute"} | IDLE, 12),
    Pair("images: nothing is marked", (of(diffusion), of(diffusion)), {SAME}, set(), 12, (False, False)),
    Pair("images: 20 steps became 14", (of(diffusion), of(diffusion, steps=14)), {DIFFERENT}, {"compute"} | IDLE, 14),
    Pair("decoding, batches vary: nothing", (of(decode), of(decode)), {SAME, UNKNOWN}, set(), 300),
    Pair("decoding, batches vary: a graph, traced whole", (of(decode), of(decode, graph=True)), {JOB, UNKNOWN}, None, 300),
    Pair("decoding: batches of 16 became 32", (of(decode, batch=16), of(decode, batch=32)), {DIFFERENT, UNKNOWN}, None, 300),
    Pair("decoding: the host prepares in half the time", (of(decode, batch=16), of(decode, batch=16, sampler=60 * US)), {SAME}, {"idle:host_code"}, 300),
    Pair("the loader stalls every 8th step: more workers", (of(stalls, 8), of(stalls, 16)), {SAME}, {"idle:host_code"}, 96, finds={"input_starvation"}),
    Pair("a loop of few kernels, nothing is marked: a faster kernel", (of(solver), of(solver, kernel="spmv_ell(double*)", ns=25 * US)), {JOB, UNKNOWN}, {"compute"}, 400, (False, False)),
    Pair("a loop of few kernels: no read-back", (of(solver), of(solver, read=False)), {UNKNOWN, JOB, SAME}, IDLE | {"copy_exposed"}, 400, (False, False)),
    Pair("compilation in the first steps, cached on the fixed side", (of(jit), of(jit, cached=True)), {SAME}, set()),
    Pair("augmentation on the GPU instead of the host", (of(augment, False), of(augment, True)), {UNKNOWN, DIFFERENT, JOB}, {"idle:host_code"}, finds={"input_starvation"}),
    Pair("one way of two copies is gone, the other has half as much again", (of(to_and_fro, False), of(to_and_fro, True)), {UNKNOWN, JOB, DIFFERENT}, {"copy_exposed", "idle"}),
    Pair("input on a stream of its own", (of(overlap, False), of(overlap, True)), {SAME}, {"copy_exposed"}),
    Pair("gradients reduced beside the backward pass", (of(reduce, 1, False), of(reduce, 3, True)), {JOB, UNKNOWN, SAME}, {"comm_exposed"}),
    Pair("a checkpoint every 10 steps became every 20", (of(checkpoint, 10, 5 * MS), of(checkpoint, 20, 5 * MS)), {UNKNOWN, DIFFERENT}, None, 80),
    Pair("losses are read every 10 steps instead of each", (of(read_losses, 1), of(read_losses, 10)), {SAME, UNKNOWN, JOB}, None, 80),
    Pair("sentences of random length: nothing", (of(varying), of(varying)), {SAME, UNKNOWN}, set(), 60),
    Pair("sentences of random length: 5 layers became 4", (of(varying), of(varying, layers=4)), {DIFFERENT, UNKNOWN}, {"compute"}, 60),
    Pair("training and evaluation steps: half precision", (of(mixed), of(mixed, gemm=HALF_GEMM)), {JOB, SAME}, set(), 60),
    Pair("a part is a graph, traced whole", (of(partly, False), of(partly, True)), {JOB, UNKNOWN}, None, 50),
    Pair("no garbage collection", (of(collect, 12), of(collect, 0)), {SAME}, {"idle:host_code"}, 72),
    Pair("recomputation is gone", (of(training, recompute=True), of(training)), {DIFFERENT, UNKNOWN}, {"compute"}),
    Pair("half precision, casts come with it", (of(training), lambda p, n: training(p, n, gemm=HALF_GEMM, more=[("cast_kernel(half*)", 6 * US)])), {JOB, UNKNOWN}, {"compute"}),
    Pair("the optimizer is one kernel", (of(training, opt={"tensors": 60, "ns": 8 * US}), of(training, opt={"tensors": 2, "name": "fused_adam(TL)", "ns": 110 * US})), {JOB}, {"compute"} | IDLE),
    Pair("6 layers became 5, and other work takes their place", (of(training), lambda p, n: training(p, n, layers=5, more=[("spin(float*)", 150 * US)])), {DIFFERENT, UNKNOWN}, set()),
    Pair("no backward pass", (of(training), of(training, back=False)), {DIFFERENT}, {"compute"}),
    Pair("half of the batch, input made on the device", (of(training, size=16), of(training, size=16, work=0.5)), {DIFFERENT, UNKNOWN}, {"compute"}),
    Pair("batches of 8 became 16, per item", (of(training), of(training, work=2, size=2 << 20)), {SAME, JOB, UNKNOWN}, None, 40, (True, True), ("--items-per-step", "8,16 samples"), items=2),
    Pair("batches of 8 became 16, nobody says so", (of(training), of(training, work=2, size=2 << 20)), {DIFFERENT, UNKNOWN}, None),
    Pair("30 steps against 200", (of(checkpoint, 25, 3 * MS), of(checkpoint, 25, 3 * MS)), {SAME, UNKNOWN}, set(), 30, lengths=(1, 7)),
    Pair("another node, 3 % apart", (of(training), of(training)), {SAME}, set(), machine={"node": ("n1", "n2"), "clock": (1, 1.03), "pace": (1, 1.03)}),
    Pair("another GPU model", (of(training), of(training)), {SAME, JOB, UNKNOWN}, set(), machine={"gpu": ("Test GPU", "Other GPU"), "clock": (1, 0.7)}, doubt=None),
    Pair("requests: nothing", (of(request), of(request)), {SAME, UNKNOWN}, set(), 60),
    Pair("requests: half as many tokens", (of(request), of(request, tokens=(10, 30))), {DIFFERENT, UNKNOWN}, None, 60),
    Pair("requests: quantized weights under the same kernels", (of(request), of(request, quantized=0.6)), {JOB, UNKNOWN}, {"compute"}, 60),
    Pair("requests: prompts of half the length", (of(request), of(request, prefill=0.5)), {DIFFERENT, UNKNOWN}, {"compute"}, 60),
    Pair("requests: speculative decoding", (of(request, (40, 40)), of(request, (40, 40), draft=4)), {JOB, UNKNOWN, DIFFERENT}, None, 40),
    Pair("rollouts: nothing", (of(rollouts), of(rollouts)), {SAME}, set(), 80),
    Pair("rollouts: a faster environment", (of(rollouts), of(rollouts, envs_ns=600 * US)), {SAME}, {"idle:host_code"}, 80),
    Pair("rollouts: half of the updates", (of(rollouts), of(rollouts, updates=4)), {DIFFERENT, UNKNOWN}, {"compute"} | IDLE, 80),
    Pair("rollouts: learning in every eighth iteration", (of(rollouts), of(rollouts, every=8)), {DIFFERENT, UNKNOWN}, None, 96),
    Pair("no wait after each kernel", (of(waits, True), of(waits)), {SAME}, IDLE),
    Pair("buffers are kept", (of(allocate, False), of(allocate, True)), {SAME}, IDLE, finds={"alloc_in_step"}),
    Pair("pointwise operations fused by a compiler", (of(fused, False), of(fused, True)), {JOB}, {"compute"} | IDLE),
    Pair("branches on two streams", (of(streams, False), of(streams, True)), {SAME}, {"compute"}),
    Pair("every second frame is skipped", (of(frames), of(frames, skip=2)), {DIFFERENT, UNKNOWN}, None, 80),
    Pair("a smaller network for frames", (of(frames), of(frames, network=28)), {DIFFERENT}, {"compute"}, 60),
    Pair("neighbours are sampled on the device", (of(sampled, False), of(sampled, True)), {UNKNOWN, JOB}, {"idle:host_code", "copy_exposed"} | IDLE),
    Pair("the clock falls on one side", (of(training), of(heating)), {SAME, UNKNOWN}, {"compute"}, 60, doubt=None),
    Pair("kernels and calls of some steps are lost, ranges are not", (of(training), of(training)), {UNKNOWN}, set(), 60, doubt=True, edit=lambda p: [p.lose(("KERNEL", "RUNTIME", "MEMCPY"), x, x + 0.03) for x in (0.2, 0.5, 0.7)]),
    Pair("all rows of several stretches are lost", (of(training), of(training)), {UNKNOWN}, set(), 60, doubt=True, edit=lambda p: [p.lose(("KERNEL", "RUNTIME", "MEMCPY", "NVTX"), x, x + 0.05) for x in (0.2, 0.5, 0.7, 0.8)]),
]


# Programs that have nothing to do with each other, unmarked: there is nothing to compare.
UNRELATED = {"solver": lambda p: solver(p, 300), "waits": lambda p: waits(p, 50), "frames": lambda p: frames(p, 50), "decoding": lambda p: decode(p, 200),
             "fused": lambda p: fused(p, 40, True), "sampled": lambda p: sampled(p, 60, False), "rollouts": lambda p: rollouts(p, 60),
             "images": lambda p: diffusion(p, 12), "requests": lambda p: request(p, 40), "streams": lambda p: streams(p, 60, True)}


def write_unrelated(name, path, side):
    p = Host(f"{name} {side}", marked=False)
    UNRELATED[name](p)
    p.write(path, STARTED + side * 100_000_000_000)


@functools.cache  # pairs have programs in common, and are asked more than once
def time_per_unit(program, steps):
    p = Host(99, noise=0)
    program(p, steps)
    q = Host(99, noise=0)
    program(q, 3 * steps)
    return (max(q.now, *q.free.values()) - max(p.now, *p.free.values())) / (q.units - p.units)


def truth_of(pair):
    return pair.items * time_per_unit(pair.programs[0], pair.steps) / time_per_unit(pair.programs[1], pair.steps)


def write(pair, folder, seed=1, like=False, side_of_like=0):
    """Both sides' profiles; `like`: the same program on both."""
    paths = []
    for run, side in itertools.product(range(pair.runs), (0, 1)):
        name = ("baseline", "fixed")[side]
        r = random.Random(f"{pair.what} {seed} {side}" + (f" {run}" if run else ""))
        at = {k: v[side] for k, v in pair.machine.items()} if not like else {}
        p = Host(r.random(), pace=at.get("pace", 1) * (1 + r.gauss(0, 0.01)), clock=at.get("clock", 1) * (1 + r.gauss(0, 0.001)),
                 marked=pair.marked[side_of_like if like else side])
        pair.programs[side_of_like if like else side](p, pair.steps * (1 if like else pair.lengths[side]))
        if side and pair.edit and not like:
            pair.edit(p)
        path = folder / f"{name}{run or ''}.sqlite"
        p.write(path, STARTED + (2 * run + side) * 100_000_000_000, at.get("node"), at.get("gpu", "Test GPU"))
        paths += ["--" + name, str(path)]
    return paths
