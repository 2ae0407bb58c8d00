"""Pairs for check_real_pairs.py whose steps are not the same unit: what repeats, and nobody marked, is a part of a step, or
holds several; and steps that do less of what both sides run.
"""
from made_strange import *  # noqa: F403: its programs, Pair, of


def layers(p, n, ns, name="gemm(P)", blocks=512):
    for _ in range(n):
        p.kernel(name, ns, blocks)


def tiles(p, images, n=8):
    """An image in so many tiles, each copied there and back."""
    for _ in range(images):
        p.begin("image")
        p.host(100 * US)
        for _ in range(n):
            p.copy(1, (1 << 21) // n)
            layers(p, 3, (400 / n + 8) * US, "conv(P)", 2048 // n)
            p.copy(2, (1 << 20) // n)
        p.finish()


def dear(p, steps, every):
    """Cheap and dear iterations in turns."""
    for i in range(steps):
        p.begin("step")
        p.host(80 * US)
        p.copy(1, 1 << 18)
        layers(p, 8, 60 * US)
        if i % every:
            layers(p, 8, 60 * US, "bwd(P)")
            layers(p, 4, 40 * US, "adam(P)")
        else:
            layers(p, 24, 60 * US, "metric(P)")
        p.finish(4)


def cached(p, requests, hits):
    """A request that hits a cache has hardly anything to do."""
    for _ in range(requests):
        p.begin("request")
        p.host(80 * US)
        p.copy(1, 1 << 14)
        p.kernel("lookup(P)", 20 * US, 64)
        if p.rng.random() >= hits:
            layers(p, 10, 60 * US, "embed(P)")
            p.kernel("insert(P)", 15 * US, 64)
        p.finish(4096)


def ranked(p, iterations, fused=False):
    """Ranks of pages: two kernels an iteration, or one; the ranks are read back, and the host adds them up."""
    for _ in range(iterations):
        p.begin("iteration")
        if fused:
            p.kernel("fused(P)", 1500 * US, 16)
        else:
            p.kernel("map(P)", 900 * US, 16)
            p.kernel("reduce(P)", 840 * US, 16)
        p.copy(2, 16000)
        p.finish()
        p.host(20 * US)


def tested(p, steps, tests):
    """Training, of which one step holds so many batches of a test, each fifteen times as large."""
    for i in range(steps):
        p.begin("step")
        p.host(200 * US)
        p.copy(1, 1 << 20)
        layers(p, 1, 20 * US, "conv(P)", 288)
        layers(p, 6, 100 * US)
        if i == steps // 2:
            layers(p, tests, 110 * US, "conv(P)", 4500)
        p.finish(4)


def book(p, books, options=48, batched=False):
    """Prices of a book of options: a kernel and an answer for each, or for all of them."""
    for _ in range(books):
        p.begin("book")
        p.host(40 * US)
        p.copy(1, 4 * options)
        if batched:
            p.kernel("price(float*)", (30 + 6 * options) * US, 64 * options)
            p.copy(2, 8 * options)
            p.sync()
        for _ in range(0 if batched else options):
            p.kernel("price(float*)", 36 * US, 64)
            p.copy(2, 8)
            p.sync()
        p.finish()


def accumulated(p, steps, batches):
    """Gradients of so many batches, then an update whose name does not say that it is one."""
    for _ in range(steps):
        p.begin("step")
        p.host(60 * US)
        for _ in range(batches):
            p.copy(1, 1 << 18)
            layers(p, 8, 60 * US)
        layers(p, 20, 60 * US, "param_update(P)", 320)
        p.units += batches - 1
        p.finish(4)


def graphs(p, steps, batches):
    """So many batches in a CUDA graph that was traced whole."""
    for _ in range(steps // batches):
        p.begin("step")
        p.host(60 * US)
        p.copy(1, batches << 19)
        p.graph(7, (800 - 50 * (batches > 1)) * batches * US)
        p.units += batches - 1
        p.finish(4)


def traffic(p, requests, big, drawn=False):
    """Requests of two kinds, in turns or drawn."""
    for i in range(requests):
        p.begin("request")
        p.host(100 * US)
        p.copy(1, 1 << 16)
        if p.rng.random() < big if drawn else (i * big) % 1 + big >= 1:
            layers(p, 12, 60 * US, "large(P)")
        else:
            layers(p, 4, 30 * US, "small(P)", 128)
        p.finish(4096)


def skipping(p, steps, skipped):
    """Some layers have a normalisation in the place of their product."""
    for _ in range(steps):
        p.begin("step")
        p.copy(1, 1 << 16)
        for i in range(12):
            p.kernel("norm(P)", 9 * US, 64)
            p.kernel(*(("norm(P)", 9 * US, 64) if i < skipped else ("gemm(P)", 100 * US, 512)))
        p.finish(64)


def smaller(p, steps, moved):
    """Some layers are calculated by a kernel that others have, in as many blocks."""
    for _ in range(steps):
        p.begin("step")
        p.copy(1, 1 << 16)
        for i in range(12):
            p.kernel("norm(P)", 9 * US, 64)
            p.kernel(*(("gemm_fp8(P)", 55 * US, 512) if i < 4 + moved else ("gemm_bf16(P)", 100 * US, 512)))
        p.finish(64)


def solves(p, steps):
    """A solver whose iterations vary by two."""
    for _ in range(steps):
        p.begin("solve")
        p.host(80 * US)
        p.kernel("rhs(double*)", 60 * US, 512)
        for _ in range(60 + p.rng.randint(-2, 2)):
            p.kernel("spmv(double*)", 30 * US, 1024)
            p.kernel("dot(double*)", 6 * US, 64)
            p.copy(2, 8)
            p.kernel("axpy(double*)", 12 * US, 512)
            p.kernel("axpy(double*)", 12 * US, 512)
        p.finish(8)


def substeps(p, steps, n):
    """A simulation without input: so many substeps a time step, and its energy is read back."""
    for _ in range(steps):
        p.begin("time step")
        for _ in range(n):
            p.kernel("force(P)", 800 * US, 4096)
            p.kernel("move(P)", 26 * US, 512)
        p.kernel("energy(P)", 40 * US, 64)
        p.finish(8)


def products(p, iterations, n, batched=False, norm=False):
    """So many small products an iteration, or all in one; what comes in and goes out stays on the device. `norm`: another
    kernel tells where an iteration ends."""
    for _ in range(iterations):
        p.begin("iteration")
        for _ in range(1 if batched else n):
            p.kernel("sm80_xmma_gemm_f32_nn_n_tilesize64x64x8(P)" if batched else "sm80_xmma_gemm_f32_nn_n_tilesize32x32x8(P)", (600 if batched else 14) * US, 64)
            p.kernel("bias(P)", (40 if batched else 3) * US, 16)
        if norm:
            p.kernel("norm(P)", 9 * US, 16)
        p.finish()


def generations(p, n, candidates=24, batched=False):
    """Each candidate of a generation is weighed, and the host reads what it weighs; or all together, by other kernels."""
    for _ in range(n):
        p.begin("generation")
        for _ in range(1 if batched else candidates):
            layers(p, 1, (90 if batched else 12) * US, "sm80_xmma_gemm_f32_nn_n_tilesize128x32x8(P)" if batched else "sm80_xmma_gemm_f32_nn_n_tilesize32x32x8(P)", 64)
            p.kernel("weigh_all(P)" if batched else "weigh(P)", (20 if batched else 3) * US, 16)
            if not batched:
                p.copy(2, 4)
                p.sync()
        for name in ("mean(P)", "noise(P)", "update(P)"):
            p.kernel(name, 5 * US, 32)
        p.finish(4)


NOT_MARKED = (False, False)
UNITS = [
    Pair("an image in 16 tiles, not in 8, nothing is marked", (of(tiles, 8), of(tiles, 16)), {DIFFERENT, UNKNOWN}, None, 50, NOT_MARKED, doubt=True),
    Pair("an image in 4 tiles, not in 8, nothing is marked", (of(tiles, 8), of(tiles, 4)), {DIFFERENT, UNKNOWN}, None, 50, NOT_MARKED, doubt=True),
    Pair("every third iteration is dear, not every second, nothing is marked", (of(dear, 2), of(dear, 3)), {DIFFERENT, UNKNOWN}, None, 120, NOT_MARKED, doubt=True),
    Pair("every second iteration is dear, not every third, nothing is marked", (of(dear, 3), of(dear, 2)), {DIFFERENT, UNKNOWN}, None, 120, NOT_MARKED, doubt=True),
    Pair("a cache is hit more often, nothing is marked", (of(cached, 0.3), of(cached, 0.8)), {DIFFERENT, UNKNOWN}, None, 150, NOT_MARKED, doubt=True),
    Pair("a book of 48 options is priced by one kernel, nothing is marked", (of(book), of(book, batched=True)), {DIFFERENT, UNKNOWN}, None, 60, NOT_MARKED, doubt=True),
    Pair("gradients of one batch, not of two, and an update without a name", (of(accumulated, 2), of(accumulated, 1)), {UNKNOWN}, None, doubt=True),
    Pair("gradients of 8 batches, not of 4, and an update without a name", (of(accumulated, 4), of(accumulated, 8)), {UNKNOWN}, None, doubt=True),
    Pair("two batches in a graph that was traced whole, not one", (of(graphs, 1), of(graphs, 2)), {UNKNOWN}, None, 120, doubt=True),
    Pair("fewer requests of the larger kind", (of(traffic, 0.5), of(traffic, 0.25)), {DIFFERENT, UNKNOWN}, {"compute"}, 100),
    Pair("requests of two kinds, nothing is marked: nothing", (of(traffic, 0.5, True), of(traffic, 0.5, True)), {SAME, UNKNOWN}, set(), 100, NOT_MARKED),
    Pair("iterations of a solver vary, 10: nothing", (of(solves), of(solves)), {SAME, UNKNOWN}, set(), 12, runs=3),  # the number draws what would be another way
    Pair("two kernels are one, and nothing is marked", (of(ranked), of(ranked, fused=True)), {UNKNOWN}, {"compute"}, 200, NOT_MARKED, shown=True),
    Pair("3 substeps of a time step, not 4, nothing is marked", (of(substeps, 200), of(substeps, 150)), {DIFFERENT, UNKNOWN}, None, 6, NOT_MARKED, doubt=True),
    Pair("64 small products are one call, nothing is marked", (of(products, 64), of(products, 64, batched=True)), {UNKNOWN}, None, 150, NOT_MARKED, doubt=True),
    Pair("64 small products before a norm are one call, nothing is marked", (of(products, 64, norm=True), of(products, 64, batched=True, norm=True)), {UNKNOWN}, {"compute"}, 150, NOT_MARKED),
    Pair("24 candidates of a generation are weighed together, nothing is marked", (of(generations), of(generations, batched=True)), {UNKNOWN}, None, 60, NOT_MARKED),
    Pair("one step of 700 holds 8 batches of a test", (of(tested, 0), of(tested, 8)), {SAME, UNKNOWN}, set(), 700),
    Pair("four layers are skipped", (of(skipping, 0), of(skipping, 4)), {DIFFERENT, UNKNOWN}, {"compute"}, 80),
    Pair("four layers more are calculated in eight bits", (of(smaller, 0), of(smaller, 4)), {JOB}, {"compute"}, 80, shown=True),
]
