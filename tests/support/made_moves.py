"""Still more pairs for check_real_pairs.py: work that moves to where no step is, kernels that are cut into other blocks, and
those that change by factors of their own, so that they tell nothing of the GPU's clock.
"""
from made_fixes import *  # noqa: F403: its programs, Pair, of


def tables(p, steps, once):
    """Tables for each step: made in it, or for all steps before the first one."""
    if once:
        for _ in range(steps):
            p.kernel("make_tables(float*)", 2 * MS, 1024)
        p.sync()
    for _ in range(steps):
        p.begin("step")
        p.host(100 * US)
        p.copy(1, 1 << 20)
        if not once:
            p.kernel("make_tables(float*)", 2 * MS, 1024)
        forward(p, 5)
        p.finish(4)


def reblocked(p, steps, parts=1, times=1.0):
    """Both kernels in so many times fewer blocks, each of which does so many times as much: larger ones, vectors of four, or a grid that strides."""
    for _ in range(steps):
        p.begin("step")
        p.host(100 * US)
        p.copy(1, 1 << 20)
        for _ in range(20):
            p.kernel("axpy_kernel(float*)", 80 * US * times, 4096 // parts)
            p.kernel("stencil_kernel(float*)", 60 * US * times, 2048 // parts)
        p.finish(4)


def scattered(p, steps, kept):
    """Kernels whose data stay in the cache get faster, each by another factor."""
    for _ in range(steps):
        p.begin("step")
        p.host(50 * US)
        p.copy(1, 1 << 20)
        for _ in range(25):
            p.kernel("scatter(float*)", (60 if kept else 75) * US, 1024)
            p.kernel("gather(float*)", (50 if kept else 80) * US, 1024)
            p.kernel("scan(int*)", 30 * US, 256)
        p.finish(4)


def kept(p, steps, on):
    """What was computed of one input serves for the next one, too, but for the last layer."""
    for i in range(steps):
        step_of(p, layers=1 if on and i % 2 else 6, back=False, opt=False)


def skipping(p, steps, first):
    """A gradient scaler finds its scale: the first steps skip the optimizer."""
    for i in range(steps):
        step_of(p, opt=i >= first)


def called(p, steps, name, wait, work=1.0):
    for _ in range(steps):
        p.begin(name)
        phase(p, "data", load, wait)
        for _ in range(24):
            p.kernel("fused_layer(half*)", 160 * US * work, 512)
        p.finish(4)


def advected(p, steps, on_device):
    """How long a time step may be is calculated from the largest velocity: by the host, or by a kernel of one block."""
    for _ in range(steps):
        p.begin("step")
        if on_device:
            p.kernel("set_dt(float*)", 3 * US, 1)
        else:
            p.copy(2, 4)
            p.host(20 * US)
            p.memset(4, 2 * US)
            p.copy(1, 4)
        p.kernel("advect(float*)", 60 * US, 4096)
        p.kernel("max_velocity(float*)", 20 * US, 64)
        p.finish(100000)


def replayed(p, steps, on_device):
    """Batches are taken from a buffer by the host, small ones, or on the device, to which each step adds what it saw."""
    for _ in range(steps):
        p.begin("step")
        for _ in range(4):
            p.copy(1, 80, pinned=False)
        if p.rng.random() < 0.1:  # an episode begins
            p.copy(1, 100_000, pinned=False)
        if on_device:
            for _ in range(3):
                p.kernel("index_elementwise_kernel(P)", 3 * US, 8)
        else:
            p.host(30 * US)
            for size in 4096, 4096, 256, 512:
                p.copy(1, size, pinned=False)
        forward(p, 2)
        p.finish(4)


def wandering(p, steps, wait):
    """Images get larger and smaller over many steps, a little; the host prepares them."""
    size, pull = 1.0, random.Random(p.rng.random())
    for _ in range(steps):
        size = 1 + 0.9 * (size - 1) + pull.gauss(0, 0.05)
        few, many = 1 + 0.4 * (size - 1), 1 + 1.5 * (size - 1)
        p.begin("step")
        p.host(wait)
        p.copy(1, 1 << 22)
        for _ in range(10):
            p.kernel("convolve(float*)", 500 * US * few, int(2048 * few))
            p.kernel("normalize(float*)", 100 * US * many, int(1024 * many))
        p.finish(4)


MOVES = [
    Pair("the steps have another name, and input is ready in time", (of(called, "train_step", 1500 * US), of(called, "iteration", 300 * US)), {SAME}, {"idle:host_code"}, shown=True),
    Pair("the steps have another name, and faster kernels", (of(called, "train_step", 500 * US), of(called, "iteration", 500 * US, 0.7)), {JOB}, {"compute"}, shown=True),
    Pair("the steps have another name, and rows of one side are lost", (of(training), lambda p, n: training(p, n, name="iteration")), {UNKNOWN}, set(), 60, doubt=True, edit=lambda p: p.lose(("KERNEL", "MEMCPY"), 0.4, 0.5), unsaid="Both hold"),
    Pair("the steps have another name, and hold a layer less", (of(training), lambda p, n: training(p, n, name="iteration", layers=5)), {DIFFERENT, UNKNOWN}, set()),
    Pair("tables are made before the loop, nothing is marked", (of(tables, False), of(tables, True)), {UNKNOWN}, set(), 40, (False, False), doubt={"require_comparable"}),
    Pair("every second step computes one layer of six, nothing is marked", (of(kept, False), of(kept, True)), {DIFFERENT, UNKNOWN}, {"compute"} | IDLE, 60, (False, False)),
    Pair("the first steps skip the optimizer, nothing is marked", (of(skipping, 0), of(skipping, 6)), {SAME, UNKNOWN}, set(), 40, (False, False)),
    Pair("all kernels in half as many blocks, twice as large", (of(reblocked), of(reblocked, 2, 0.95)), {SAME, JOB, UNKNOWN}, {"compute"}),
    Pair("all kernels load four values at once", (of(reblocked), of(reblocked, 4, 0.8)), {JOB, UNKNOWN}, {"compute"}),
    Pair("grids that stride, for all kernels", (of(reblocked), of(reblocked, 16, 0.9)), {JOB, UNKNOWN}, {"compute"}),
    Pair("the cache helps kernels, each by another factor", (of(scattered, False), of(scattered, True)), {JOB, UNKNOWN}, {"compute"}, unsaid=r"GPU [0-9.]+ % slower"),
    Pair("a scalar is calculated on the device instead of the host", (of(advected, False), of(advected, True)), {UNKNOWN, JOB}, None, 200),
    Pair("small batches are taken from a buffer on the device", (of(replayed, False), of(replayed, True)), {UNKNOWN, JOB}, None, 100),
    Pair("input is ready in time, of sizes that wander", (of(wandering, 30 * MS), of(wandering, 200 * US)), {SAME, UNKNOWN}, {"idle:host_code", "compute"}, 60, shown=True),
]
