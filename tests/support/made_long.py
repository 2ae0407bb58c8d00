"""Programs of 300 to 3000 steps, as made_loops has them: what long runs do beside their steps. Layers of several kinds, a
library's other kernels for other lengths, validation, output every tenth step, graphs that are captured again, a server's
graph for every batch size, answers that grow, loops of a few operations under one name after the other."""
from made_loops import KINDS, apart, body, close, start_up
from made_mixtures import run

MOST = 60000  # operations of a program


def long(rng, ops, least=300):
    return rng.randint(least, max(least + 1, min(3000, MOST // max(1, ops))))


def network(rng, most=60):
    """Two to four kinds of layers, each so many times, in a fixed order; what comes before and behind them."""
    ops = body(rng, rng.randint(1, 4), "h")
    for kind in range(rng.randint(2, 4)):
        layer = body(rng, rng.randint(2, 7), f"l{kind}")
        ops += layer * rng.randint(1, max(1, most // 3 // len(layer)))
    return ops + body(rng, rng.randint(1, 5), "o")


def style_of(rng):
    return rng.choice(["wait", "read", "ahead"])


def long_layers(p, rng):
    """Layers of several kinds, each repeated; an input or none; a loss that is read every 50th step, or at each."""
    ops, style, input_, every = network(rng), style_of(rng), rng.random() < 0.7, rng.choice([0, 50, 100])
    start_up(p, rng)
    for i in range(long(rng, len(ops))):
        if input_:
            p.copy(1, 10**5)
        run(p, ops)
        if every and i % every == every - 1:
            p.copy(2, 4)
            p.wait()
        close(p, rng, style)


def long_models(p, rng):
    """Two models one after the other: the one of more GPU time is judged."""
    start_up(p, rng)
    p.parts = []
    for _ in range(2):
        ops, style, ends = network(rng, 40), style_of(rng), []
        before = sum(k[1] - k[0] for k in p.kernels)
        for _ in range(long(rng, 2 * len(ops))):
            p.copy(1, 10**5)
            run(p, ops)
            close(p, rng, style)
            ends.append(p.latest)
        p.wait()
        p.host(3 * 10**7)
        p.parts.append((sum(k[1] - k[0] for k in p.kernels) - before, ends))
    p.ends = max(p.parts)[1]


def long_tiles(p, rng):
    """Every step has a length: some kernels have one of several names by it, and take as long as it says."""
    ops, k = network(rng, 40), rng.randint(2, 6)
    by = [rng.random() < rng.choice([0.1, 0.3]) for _ in ops]
    style, some = style_of(rng), rng.random() < 0.5
    start_up(p, rng)
    for _ in range(long(rng, len(ops))):
        shape = rng.randrange(k)
        p.copy(1, 10**4 * (shape + 1))
        for name, of_shape in zip(ops, by):
            if of_shape:
                p.kernel(f"{name}_tile{rng.randrange(k) if some else shape}", 7, 3000 * (shape + 1))
            else:
                p.kernel(name)
        run(p, ["adam_kernel"])
        close(p, rng, style)


def long_accumulation(p, rng):
    """Micro-batches, then the optimizer: the loop is either of them."""
    k, micro, tail = rng.choice([2, 3, 4, 8]), network(rng, 30), body(rng, rng.randint(2, 9), "adam")
    style = style_of(rng)
    start_up(p, rng)
    p.also, p.micro = k, []
    for _ in range(long(rng, k * len(micro), 150)):
        for _ in range(k):
            p.copy(1, 10**5)
            run(p, micro)
            p.micro.append(p.latest)
        run(p, tail)
        close(p, rng, style)


def long_validation(p, rng):
    """Every k steps the forward half a few times. All time counts, or that of the training steps alone."""
    forth, back = network(rng, 20), body(rng, rng.randint(8, 40), "b") + body(rng, rng.randint(2, 8), "adam")
    every, times, style = rng.choice([20, 50, 100]), rng.randint(3, 20), rng.choice(["read", "ahead"])
    metric = body(rng, rng.randint(0, 3), "metric")
    start_up(p, rng)
    n = long(rng, len(forth + back) + times * len(forth) // every) // every * every
    for i in range(n):
        p.copy(1, 10**5)
        run(p, forth + back)
        close(p, rng, style)
        if i % every == every - 1 and i + 1 < n:
            for _ in range(times):
                p.copy(1, 10**5)
                run(p, forth + metric)
                if rng.random() < 0.5 or style == "read":
                    p.copy(2, 8)
                    p.wait()
    p.others = [apart(p.ends, every)]


def long_dropped(p, rng):
    """A few cycles were not recorded, whole or in part."""
    ops, style = network(rng, 50), style_of(rng)
    start_up(p, rng)
    firsts, n = [], long(rng, len(ops))
    for _ in range(n):
        p.copy(1, 10**5)
        firsts.append(len(p.kernels))
        run(p, ops)
        close(p, rng, style)
    lost = set()
    for _ in range(rng.randint(2, 6)):
        k = rng.randrange(10, n - 10)
        part = range(firsts[k], firsts[k] + len(ops))
        lost.update(part if rng.random() < 0.5 else rng.sample(part, len(part) // 3))
    p.kernels = [k for i, k in enumerate(p.kernels) if i not in lost]


def nodes(p, ops):
    """A graph's launch, traced by node."""
    p.call("cudaGraphLaunch_v10000", 9000)
    for name in ops:
        length = p.rng.gauss(2000 + 300 * len(name), 100)
        p.kernels.append(p.place(7, length) + (name, name, 8, 128))


def capture(p, ops):
    """The calls by which a graph is captured: nothing runs."""
    p.call("cudaStreamBeginCapture_v10000", 3000)
    for _ in ops:
        p.call("cudaLaunchKernel_v7000", 2000)
    p.call("cudaStreamEndCapture_v10000", 5000)
    p.call("cudaGraphInstantiate_v12000", 10**5)


def long_recaptured(p, rng):
    """A graph that is captured again every 20th step, and run once without it then, or not; kernels around it, or nothing
    but it; traced whole or by node. By node, with nothing around it, the run without it looks like any other step, and may
    count as one."""
    around, inner = body(rng, rng.randint(0, 5)), network(rng, 30)
    every, eager, style = rng.choice([20, 20, 50]), rng.random() < 0.5, style_of(rng)
    input_, whole = rng.random() < 0.6, rng.random() < 0.5
    start_up(p, rng)
    passes = []
    for i in range(long(rng, len(around) + (4 if whole else len(inner)))):
        if input_:
            p.copy(1, 10**5)
        run(p, around[:2])
        if i % every == 0:
            if eager:
                run(p, inner)
                passes.append(p.latest)
            capture(p, inner)
        if whole:
            p.graph(10 * (i // every + 1), 10000 * (1 + len(inner)))
        else:
            nodes(p, inner)
        run(p, around[2:])
        close(p, rng, style)
    if not whole and not around and not input_:
        p.others = [sorted(p.ends + passes[1:])]


def long_output(p, rng):
    """A solver that writes its state every tenth step: kernels of their own, or only copies, some hundred of them."""
    ops, every = body(rng, rng.randint(2, 30)), rng.choice([10, 10, 25])
    pack, copies = body(rng, rng.randint(0, 4), "pack"), rng.choice([1, 3, 20])
    style = rng.choice(["ahead", "ahead", "read", "wait"])
    start_up(p, rng)
    n = long(rng, len(ops) + copies // every) // every * every
    for i in range(n):
        run(p, ops)
        if style != "ahead":
            close(p, rng, style)
        if i % every == every - 1:
            run(p, pack)
            for _ in range(copies):
                p.copy(2, 10**6 // copies)
            p.wait()
            p.host(10**5)
        if style == "ahead":
            p.step()
    p.others = [p.ends[every - 1 :: every]] if style == "ahead" else []
    p.also = 1


def long_server(p, rng):
    """A batch goes through the graph that was captured for its size, a prompt's pass now and then, which may count as a step
    of its own."""
    before, behind, n = body(rng, rng.randint(1, 4)), body(rng, rng.randint(1, 4), "s"), rng.randint(2, 6)
    prefill, share = network(rng, 40), rng.choice([0.02, 0.1])
    stay, whole, block = rng.choice([1, 1, 15]), rng.random() < 0.5, network(rng, 20)
    by = [rng.random() < 0.3 for _ in block]
    start_up(p, rng)
    size, prompts = 0, []
    for _ in range(long(rng, len(before + behind) + (3 if whole else len(block)))):
        if rng.random() < share:
            p.copy(1, rng.randint(1000, 10000))
            run(p, prefill)
            prompts += [p.latest] if p.ends else []
        if rng.random() < 1 / stay:
            size = rng.randrange(n)
        p.copy(1, 256)
        run(p, before)
        if whole:
            p.graph(10 * (size + 1), 100000 + 40000 * size)
        else:
            nodes(p, [f"{name}_b{size}" if of_size else name for name, of_size in zip(block, by)])
        run(p, behind)
        close(p, rng, "read")
    p.others, p.or_none = [sorted(p.ends + prompts)], True


def long_generate(p, rng):
    """Answers of as many tokens as they take: a prompt's pass, then tokens, the cache grows; each token is read."""
    n, head, tail = rng.choice([2, 4, 6]), body(rng, rng.randint(1, 4), "h"), body(rng, rng.randint(2, 6), "o")
    layer, fill = body(rng, rng.randint(4, 8)), network(rng, 20)
    start_up(p, rng)
    p.tokens, p.or_none = [], True
    left = long(rng, n * len(layer) + 8)
    while left > 0:
        p.copy(1, 4096)
        run(p, fill)
        for i in range(rng.randint(10, 60)):
            run(p, head)
            for _ in range(n):
                for k, name in enumerate(layer):
                    kernel = f"attention_split_{name}" if k == 2 and i > 40 else name
                    p.kernel(kernel, 7, 3000 + 40 * i if k == 2 else 4000)
            run(p, tail)
            p.copy(2, 8)
            p.wait()
            p.tokens.append(p.latest)
            left -= 1
        p.step()
    p.others = [p.tokens]


def long_arrays(p, rng):
    """A cupy-like loop of fewer than eight operations; in the middle of the run an array is another one, of which some
    kernels have other names."""
    ops, n = body(rng, rng.randint(2, 7)), rng.randint(400, 3000)
    which, cut = rng.sample(range(len(ops)), max(1, len(ops) // 4)), rng.uniform(0.3, 0.7) * n
    style = rng.choice(["wait", "ahead", "ahead"])
    start_up(p, rng)
    for i in range(n):
        for k, name in enumerate(ops):
            p.kernel(f"{name}_strided" if k in which and i > cut else name, 7, 4000 + 1000 * k)
        close(p, rng, style)


def long_streams(p, rng):
    """Several streams, launched in an order that is not quite the same each time."""
    lanes = [body(rng, rng.randint(2, 15), f"s{s}") for s in range(rng.randint(2, 4))]
    style, input_ = style_of(rng), rng.random() < 0.6
    start_up(p, rng)
    for _ in range(long(rng, sum(map(len, lanes)))):
        if input_:
            p.copy(1, 10**5)
        left = [(7 + s, list(reversed(lane))) for s, lane in enumerate(lanes)]
        while left:
            stream, lane = left[rng.randrange(len(left)) if rng.random() < 0.2 else 0]
            p.kernel(lane.pop(), stream)
            left = [x for x in left[1:] + left[:1] if x[1]]
        close(p, rng, style)


def long_chance(p, rng):
    """Kernels by chance, in number and kind, among them graphs and copies: no steps."""
    names = [f"solver{i}_kernel" for i in range(rng.randint(6, 40))]
    for _ in range(rng.randint(3000, 12000)):
        x = rng.random()
        if x < 0.03:
            p.graph(10 * rng.randint(1, 4), 100000)
        elif x < 0.06:
            p.copy(rng.choice([1, 2]), 10**4)
        else:
            p.kernel(rng.choice(names), 7, rng.randint(2000, 30000))
        if rng.random() < 0.03:
            p.wait()


MINE = (long_layers, long_models, long_tiles, long_accumulation, long_validation, long_dropped, long_recaptured, long_output,
        long_server, long_generate, long_arrays, long_streams, long_chance)
KINDS.update({k.__name__: k for k in MINE})
