"""Further ways in which programs repeat themselves, as made_loops has them: those whose steps are not all alike, because
what they compute, how a library computes it, or how long it takes is decided as they run."""
from made_loops import KINDS, body, close, start_up
from made_mixtures import run


def guidance(p, rng):
    """Diffusion: with the prompt and without, then the scheduler, so many times; then a decoder."""
    text, unet = body(rng, rng.randint(10, 40), "t"), body(rng, rng.randint(30, 120), "u")
    mix, vae = body(rng, rng.randint(3, 9), "m"), body(rng, rng.randint(10, 40), "v")
    times = rng.choice([10, 20, 30])
    start_up(p, rng)
    p.mixes, p.halves = [], []
    for _ in range(rng.randint(6, 14)):
        p.copy(1, 1000)
        run(p, text)
        for _ in range(times):
            run(p, unet)
            p.halves.append(p.latest)
            run(p, unet)
            p.halves.append(p.latest)
            run(p, mix)
            p.mixes.append(p.latest)
        run(p, vae)
        p.copy(2, 10**6)
        p.wait()
        p.step()
    p.others = [p.mixes, p.halves]  # a network's evaluation is most of it


def cache(p, rng):
    """Decoding beside a cache that grows: from some lengths on a library takes other kernels for attention."""
    n, head, tail = rng.choice([2, 6, 12, 24]), body(rng, rng.randint(2, 8), "h"), body(rng, rng.randint(3, 10), "o")
    layer, k = body(rng, rng.randint(6, 14)), rng.randint(2, 4)
    start_up(p, rng)
    p.copy(1, 10**4)
    p.others = []
    for part in range(k):
        mine = [name if i % 4 else f"attention{part}_{name}" for i, name in enumerate(layer)]
        ends = []
        for i in range(rng.randint(30, 90)):
            run(p, head)
            for _ in range(n):
                for name in mine:
                    p.kernel(name, 7, 3000 + 30 * (60 * part + i) if name.startswith("attention") else 4000)
            run(p, tail)
            close(p, rng, "read")
            ends.append(p.latest)
        p.others.append(ends)
    p.or_none = True


def critics(p, rng):
    """Wasserstein: the critic very often at first, then five times to each of the generator's."""
    critic, generator = body(rng, rng.randint(20, 50), "c"), body(rng, rng.randint(20, 50), "g")
    adam, k = body(rng, rng.randint(3, 9), "a"), rng.choice([3, 5])
    start_up(p, rng)
    p.cs = []
    for i in range(rng.randint(40, 60)):
        for _ in range(25 if i < 3 else k):
            p.copy(1, 10**5)
            run(p, critic + adam)
            p.cs.append(p.latest)
        run(p, generator + adam)
        close(p, rng, "read")
    p.others = [p.cs, p.ends[3:]]


def prefetch(p, rng):
    """Two inputs ahead on a stream of their own, results out on a third."""
    ops, sizes = body(rng, rng.randint(5, 80)), rng.choice([(10**5, 10**5), (10**5, 6 * 10**6)])
    start_up(p, rng)
    for _ in range(2):
        p.copy(1, sizes[0], 20)
    for _ in range(rng.randint(40, 120)):
        if rng.random() < 0.97:
            p.copy(1, rng.randint(*sizes), 20)
        p.host(rng.choice([0, 10**5]))
        run(p, ops)
        if rng.random() < 0.9:
            p.copy(2, 10**5, 21)
        if rng.random() < 0.5:
            p.wait()
        p.latest = max(e[1] for e in p.kernels[-1:])
        p.step()


def replays(p, rng):
    """A graph of one block, replayed as often as there are blocks of work in a step; then eager kernels."""
    tail, some = body(rng, rng.randint(4, 30), "o"), rng.random() < 0.5
    start_up(p, rng)
    p.blocks = []
    for _ in range(rng.randint(50, 120)):
        p.copy(1, 10**5)
        for _ in range(rng.randint(1, 4) if some else rng.choice([3, 3, 3, 4])):
            p.graph(10, 200000)
            p.blocks.append(p.latest)
        run(p, tail)
        close(p, rng, "read")
    p.or_none, p.others = True, [p.blocks]


def gradients(p, rng):
    """Conjugate gradients within time steps: as many iterations as it takes, each with a norm that is read."""
    step, it = body(rng, rng.randint(4, 20), "s"), body(rng, rng.randint(4, 10), "i")
    end, few = body(rng, rng.randint(2, 8), "e"), rng.randint(4, 40)
    start_up(p, rng)
    p.iterations = []
    for _ in range(rng.randint(25, 70)):
        run(p, step)
        for _ in range(rng.randint(few, few + rng.choice([1, 5, 30]))):
            run(p, it)
            p.copy(2, 8)
            p.wait()
            p.iterations.append(p.latest)
        run(p, end)
        p.step()
    p.or_none, p.others = True, [p.iterations]


def neighbours(p, rng):
    """Molecules: neighbours are looked for anew when one has moved far enough, after about twenty steps."""
    ops, near = body(rng, rng.randint(5, 14)), body(rng, rng.randint(3, 9), "n")
    out, left = rng.choice([50, 100]), 0
    start_up(p, rng)
    p.outs = []
    for i in range(rng.randint(300, 800)):
        if left == 0:
            run(p, near)
            left = rng.randint(14, 26)
        left -= 1
        run(p, ops)
        if i % out == out - 1:
            p.copy(2, 10**6)
            p.wait()
            p.outs.append(p.latest)
        p.step()
    p.others = [p.outs]


def heuristics(p, rng):
    """A library picks one of several kernels for the same product, now this one, now that one."""
    n, share = rng.randint(20, 100), rng.choice([0.05, 0.15, 0.3])
    ops, some = body(rng, n), rng.random() < 0.5
    picks = [rng.random() < (0.3 if some else 0.1) for _ in ops]
    start_up(p, rng)
    for _ in range(rng.randint(50, 120)):
        p.copy(1, 10**5)
        run(p, [f"{name}_v{rng.randint(2, 3)}" if pick and rng.random() < share else name for name, pick in zip(ops, picks)])
        close(p, rng, "read")
    p.or_none = True


def shared(p, rng, q):
    """Two processes on one GPU (MPS), each at its own pace."""
    q.now = p.now
    for x, n, ops in (p, rng.randint(60, 90), body(rng, rng.randint(40, 80))), (q, 150, body(rng, 15, "q")):
        for _ in range(n):
            run(x, ops)
            x.wait()
            x.step()
    for x in p, q:
        x.kernels = [r[:2] + (0,) + r[3:] for r in x.kernels]


def games(p, rng):
    """Reinforcement learning: an episode ends when it ends; then a few updates."""
    act, learn = body(rng, rng.randint(6, 20), "act"), body(rng, rng.randint(30, 70), "learn")
    u = rng.choice([1, 4, 16])
    start_up(p, rng)
    p.acts, p.learns = [], []
    for _ in range(rng.randint(20, 40)):
        for _ in range(rng.randint(5, 60)):
            p.host(50000)
            p.copy(1, 4096)
            run(p, act)
            p.copy(2, 64)
            p.wait()
            p.acts.append(p.latest)
        for _ in range(u):
            p.copy(1, 10**5)
            run(p, learn)
            p.learns.append(p.latest)
        close(p, rng, "read")
    p.or_none, p.others = True, [p.acts, p.learns]


def buckets(p, rng):
    """Sequences of three lengths in any order: some kernels are picked by length."""
    ops, part = body(rng, rng.randint(20, 100)), rng.choice([0.1, 0.3, 0.6])
    by_length = [rng.random() < part for _ in ops]
    start_up(p, rng)
    for _ in range(rng.randint(60, 150)):
        length = rng.randrange(3)
        p.copy(1, 10**5)
        for name, by in zip(ops, by_length):
            p.kernel(f"l{length}_{name}" if by else name, 7, 3000 * (length + 1))
        close(p, rng, "read")
    p.or_none = True


def event(p, name):
    p.call(f"cudaEvent{name}_v", 800)


def tried(p, rng):
    """An autotuner before the first step: candidates of every kernel, each timed between events, for longer than the
    steps take; asked for one by one, or after many; or the collector leaves the asking out."""
    ops, how = body(rng, rng.randint(12, 90)), rng.choice(["one", "many", "silent"])
    start_up(p, rng)

    def ask():
        event(p, "Synchronize")
        if how != "silent":
            event(p, "ElapsedTime")

    for name in ops:
        for candidate in range(rng.randint(2, 8)):
            again = rng.choice([5, 20, 60])
            called = name if rng.random() < 0.5 else f"candidate{candidate}_{name}"
            for _ in range(again):
                p.kernel("flush", 7, 20000)
                event(p, "Record")
                p.kernel(called)
                event(p, "Record")
                if how != "many":
                    ask()
            for _ in range(again if how == "many" else 0):
                ask()
        p.host(rng.choice([10**6, 3 * 10**8]))
        p.kernel(name)
    for _ in range(rng.randint(30, 60)):
        p.copy(1, 10**5)
        run(p, ops)
        close(p, rng, "read")


def timed(p, rng):
    """A program that takes the time of its own steps, and does not of the validation behind them."""
    forth, back = body(rng, rng.randint(4, 30)), body(rng, rng.randint(4, 50), "b")
    start_up(p, rng)
    for _ in range(rng.randint(60, 120)):
        p.copy(1, 10**5)
        event(p, "Record")
        run(p, forth + back)
        event(p, "Record")
        event(p, "Synchronize")
        event(p, "ElapsedTime")
        p.step()
    for _ in range(rng.randint(20, 40)):
        p.copy(1, 10**5)
        run(p, forth)
        p.copy(2, 8)
        p.wait()


def averages(p, rng):
    """An average of the weights every k steps, a statistic every m: periods that have nothing in common."""
    ops, ema, stat = body(rng, rng.randint(20, 90)), body(rng, rng.randint(1, 8), "e"), body(rng, rng.randint(1, 4), "s")
    (k, m), style = rng.choice([(2, 5), (3, 7), (4, 10), (5, 8)]), rng.choice(["read", "ahead"])
    start_up(p, rng)
    p.also = 1
    for i in range(rng.randint(100, 200)):
        p.copy(1, 10**5)
        run(p, ops + (ema if i % k == 0 else []))
        if i % m == 0:
            run(p, stat)
        close(p, rng, style)
    p.others = [p.ends[::k], p.ends[::m], p.ends[:: k * m]]


def two_threads(p, rng):
    """Forward by one thread, backward by another, as PyTorch does it."""
    forth, back, tail = body(rng, rng.randint(10, 60)), body(rng, rng.randint(10, 80), "b"), body(rng, rng.randint(1, 8), "o")
    style = rng.choice(["wait", "read", "ahead"])
    start_up(p, rng)
    for _ in range(rng.randint(40, 90)):
        p.copy(1, 10**5)
        run(p, forth)
        first = len(p.calls)
        run(p, back)
        p.calls[first:] = [c[:3] + (c[3] + 1,) + c[4:] for c in p.calls[first:]]
        run(p, tail)
        close(p, rng, style)


def gathers(p, rng):
    """Weights are gathered layer by layer on a stream of their own, one ahead (FSDP)."""
    n, layer, back = rng.choice([4, 12, 24]), body(rng, rng.randint(4, 10)), body(rng, rng.randint(5, 14), "b")
    tail, style = body(rng, rng.randint(2, 10), "o"), rng.choice(["wait", "read", "ahead"])
    start_up(p, rng)
    for _ in range(rng.randint(22, 40)):
        p.copy(1, 10**5)
        for block in [layer] * n + [back] * n:
            p.kernel("ncclDevKernel_AllGather", 20, 15000)
            run(p, block)
            if block is back:
                p.kernel("ncclDevKernel_ReduceScatter", 21, 15000)
        run(p, tail)
        close(p, rng, style)


def adaptive(p, rng):
    """Runge and Kutta with a step width of their own: an error that is too large, and the step is taken again."""
    stage, norm, n = body(rng, rng.randint(2, 9)), body(rng, rng.randint(1, 4), "norm"), rng.choice([4, 6, 7])
    take, share = body(rng, rng.randint(1, 5), "take"), rng.choice([0.05, 0.2])
    start_up(p, rng)
    p.attempts = []
    for _ in range(rng.randint(60, 200)):
        while True:
            run(p, stage * n + norm)
            p.copy(2, 8)
            p.wait()
            p.attempts.append(p.latest)
            if rng.random() >= share:
                break
        run(p, take)
        p.step()
    p.or_none, p.others = True, [p.attempts]


def checkpoints(p, rng):
    """All weights to the host, tensor by tensor, every so many steps."""
    ops, n, every = body(rng, rng.randint(20, 100)), rng.randint(10, 200), rng.choice([10, 20, 25])
    start_up(p, rng)
    for i in range(rng.randint(60, 100)):
        p.copy(1, 10**5)
        run(p, ops)
        close(p, rng, "read")
        if i % every == every - 1:
            for _ in range(n):
                p.copy(2, 10**5)
                p.wait()
    whole = len(p.ends) // every * every
    p.others = [p.ends[: whole + 1], p.ends[:whole]]  # steps behind the last of them need not be part of it


def ping_pong(p, rng):
    """Two kernels in turns, one for each direction."""
    a, b, k = body(rng, rng.randint(1, 5), "ping"), body(rng, rng.randint(1, 5), "pong"), rng.choice([0, 50, 100])
    start_up(p, rng)
    for i in range(rng.randint(200, 500)):
        run(p, a + b)
        if k and i % k == k - 1:
            p.copy(2, 10**6)
            p.wait()
        p.step()


def sampled(p, rng):
    """A graph's neighbours are sampled on the GPU: sorting takes more or fewer passes, by what was drawn."""
    ops, hops = body(rng, rng.randint(30, 100)), rng.choice([2, 3])
    start_up(p, rng)
    for _ in range(rng.randint(60, 120)):
        p.copy(1, 4096)
        for hop in range(hops):
            run(p, [f"sample{hop}", "histogram"] + ["onesweep"] * rng.randint(2, 4) + ["unique", "compact"])
            if rng.random() < 0.3:
                p.wait()
        run(p, ops)
        close(p, rng, "read")
    p.or_none = True


def eager(p, rng):
    """Graph replays; a batch of another shape now and then, that runs eagerly."""
    ops, around = body(rng, rng.randint(20, 60)), body(rng, rng.randint(2, 8), "x")
    start_up(p, rng)
    for _ in range(rng.randint(60, 150)):
        p.copy(1, 10**5)
        run(p, around[:1])
        if rng.random() < 0.05:
            run(p, ops)
        else:
            p.graph(10, 300000)
        run(p, around[1:])
        close(p, rng, "read")
    p.or_none, p.others = True, [p.ends[1:], p.ends[:-1]]  # an eager one at an end


def resident_layers(p, rng):
    """A language model's tokens that stay on the device: an embedding, layers, a head; no copy in."""
    n, block = rng.choice([2, 4, 6, 12, 24, 48]), body(rng, rng.randint(9, 40))
    head, tail = body(rng, rng.randint(2, 12), "h"), body(rng, rng.randint(4, 14), "o")
    start_up(p, rng)
    for _ in range(rng.randint(30, 60)):
        run(p, head + block * n + tail)
        p.copy(2, 8)
        p.wait()
        p.step()


def restarts(p, rng):
    """k-means a few times, each until nothing moves."""
    ops, init = body(rng, rng.randint(3, 8)), body(rng, rng.randint(2, 6), "init")
    start_up(p, rng)
    for _ in range(rng.randint(4, 10)):
        p.copy(1, 10**6)
        run(p, init)
        for _ in range(rng.randint(10, 40)):
            run(p, ops)
            p.copy(2, 4)
            p.wait()
            p.step()
    p.or_none = True


def curriculum(p, rng):
    """Sequences that grow: a library picks other kernels for each of three lengths."""
    names, k = body(rng, rng.randint(30, 90)), rng.choice([2, 3, 4])
    start_up(p, rng)
    p.others = []
    for stage in range(k):
        ops = [name if rng.random() < 0.5 else f"s{stage}_{name}" for name in names]
        part = []
        for _ in range(rng.randint(20, 50)):
            p.copy(1, 10**5)
            for name in ops:
                p.kernel(name, 7, (2000 + len(name) * 500) * 2**stage)
            close(p, rng, "read")
            part.append(p.latest)
        p.others.append(part)
    p.or_none = True


def arrays(p, rng):
    """Array by array onto the device, a kernel or a few, and the answer, array by array: nearly all ops are copies."""
    copies, ops = rng.choice([rng.randint(1, 6), rng.randint(5, 30), rng.randint(30, 120)]), body(rng, rng.randint(1, 4))
    back = rng.choice([1, 1, rng.randint(2, 2 * copies)])
    start_up(p, rng)
    for _ in range(max(8, min(100, 3000 // copies))):
        for i in range(copies):
            p.copy(1, 4096 * (i % 3 + 1) if rng.random() < 0.9 else rng.choice([64, 10**6]))
        for name in ops:
            p.kernel(name)
        for _ in range(back):
            p.copy(2, 1000)
        p.wait()
        p.step()


MINE = (guidance, cache, critics, prefetch, replays, gradients, neighbours, heuristics, shared, games, buckets,
        tried, timed, averages, two_threads, gathers, adaptive, checkpoints, ping_pong, sampled, eager, resident_layers,
        restarts, curriculum, arrays)
KINDS.update({k.__name__: k for k in MINE})
