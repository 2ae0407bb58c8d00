"""Programs whose steps are the same work in other shapes, as made_loops has programs: a library takes another kernel for
another length, a reduction takes one kernel or two, a step has more or fewer micro-batches, layers or tokens. No two steps
need hold the same names."""
from made_loops import KINDS, body, close, start_up
from made_mixtures import run

TILES = "128x64", "128x128", "256x128", "64x64", "32x128", "64x32", "192x96", "256x64"


class Names:
    """What kernels are called in a shape, as a library's, a compiler's or nobody's: 0 to 7, equal for steady ones."""

    def __init__(self, rng):
        self.style, self.rng, self.memo = rng.choice(["tiles", "template", "opaque"]), rng, {}

    def __call__(self, name, shape):
        if name not in self.memo:
            kind = self.rng.choice(["gemm", "attention", "reduce"])
            self.memo[name] = kind, [f"x{self.rng.randrange(10**9)}_kernel" for _ in range(8)]
        kind, opaque = self.memo[name]
        if self.style == "tiles" and kind == "gemm":
            return f"ampere_sgemm_{TILES[shape]}_tn"
        if self.style == "tiles":
            return f"{name}_{kind}_{2 ** shape}"
        if self.style == "template":
            return f"void {name}_{kind}<{2 ** (4 + shape)}, float, {shape}>(float const*, int)"
        return opaque[shape]


def shaped(p, ops, by, names, shape, scale=1):
    """A body of which those kernels that go by shape (`by`) have its names; some take a second one in some shapes."""
    for i, (name, of_shape) in enumerate(zip(ops, by)):
        p.kernel(names(name, shape) if of_shape else name, 7, (2000 + 300 * len(name)) * scale)
        if of_shape and i % 5 == 1 and shape % 3 == 2:
            p.kernel(names.style == "opaque" and "s1789_kernel" or "splitKreduce_kernel", 7, 3000)


def which(rng, ops, share):
    by = [rng.random() < share for _ in ops]
    by[len(by) // 2] = True
    return by


def lengths(p, rng):
    """Training: two to eight buckets of lengths in any order, some kernels of the forward and backward pass go by it."""
    ops, tail = body(rng, rng.randint(20, 150)), body(rng, rng.randint(2, 12), "adam")
    by, n, names = which(rng, ops, rng.choice([0.1, 0.3, 0.6])), rng.randint(2, 8), Names(rng)
    style = rng.choice(["read", "wait", "ahead"])
    start_up(p, rng)
    for _ in range(rng.randint(60, 150)):
        shape = rng.randrange(n)
        p.copy(1, 10**4 * (shape + 1))
        shaped(p, ops, by, names, shape, 1 + shape / 2)
        run(p, tail)
        close(p, rng, style)


def deep_lengths(p, rng):
    """So many equal layers forth and back; a layer's kernels go by the length."""
    n, block, back = rng.randint(4, 24), body(rng, rng.randint(5, 12)), body(rng, rng.randint(6, 16), "b")
    head, tail = body(rng, rng.randint(1, 4), "h"), body(rng, rng.randint(2, 8), "adam")
    share, names, k = rng.choice([0.1, 0.3, 0.5]), Names(rng), rng.randint(2, 8)
    forth, behind = which(rng, block, share), which(rng, back, share)
    style = rng.choice(["read", "wait", "ahead"])
    start_up(p, rng)
    for _ in range(rng.randint(40, 80)):
        shape = rng.randrange(k)
        p.copy(1, 10**4 * (shape + 1))
        run(p, head)
        for _ in range(n):
            shaped(p, block, forth, names, shape, 1 + shape / 2)
        for _ in range(n):
            shaped(p, back, behind, names, shape, 1 + shape / 2)
        run(p, tail)
        close(p, rng, style)


def anew(p, rng):
    """Every kernel that goes by shape has one of its own, drawn for each product and step alone."""
    ops, names = body(rng, rng.randint(30, 150)), Names(rng)
    by, k = which(rng, ops, rng.choice([0.1, 0.2, 0.4])), rng.randint(2, 8)
    start_up(p, rng)
    for _ in range(rng.randint(60, 120)):
        p.copy(1, 10**5)
        for name, of_shape in zip(ops, by):
            p.kernel(names(name, rng.randrange(k)) if of_shape else name)
        close(p, rng, "read")


def layers_differ(p, rng):
    """A library's heuristic takes another kernel in some layers and steps: no layer is quite like the next."""
    n, block, head = rng.randint(4, 16), body(rng, rng.randint(5, 14)), body(rng, rng.randint(1, 4), "h")
    tail, names = body(rng, rng.randint(2, 10), "o"), Names(rng)
    by = which(rng, block, 0.3)
    start_up(p, rng)
    for _ in range(rng.randint(40, 90)):
        p.copy(1, 10**5)
        run(p, head)
        for _ in range(n):
            shape = rng.choice([0, 0, 0, 1, 2])
            shaped(p, block, by, names, shape)
        run(p, tail)
        close(p, rng, "read")


def exits(p, rng):
    """Early exit: as many layers as it takes."""
    most, block = rng.randint(6, 24), body(rng, rng.randint(4, 14))
    head, tail = body(rng, rng.randint(2, 6), "h"), body(rng, rng.randint(2, 8), "o")
    start_up(p, rng)
    for _ in range(rng.randint(60, 150)):
        p.copy(1, 10**4)
        run(p, head)
        for _ in range(rng.randint(most // 3, most)):
            run(p, block)
        run(p, tail)
        close(p, rng, "read")


def growing(p, rng):
    """Decoding beside a cache that grows: attention by its length, split from some length on; a token is read back."""
    n, head, tail = rng.choice([2, 6, 12, 24]), body(rng, rng.randint(2, 8), "h"), body(rng, rng.randint(3, 10), "o")
    layer, names = body(rng, rng.randint(6, 14)), Names(rng)
    parts = sorted(rng.sample(range(10, 200), rng.randint(1, 6)))
    start_up(p, rng)
    p.copy(1, 10**4)
    for i in range(rng.randint(150, 260)):
        shape = sum(i >= x for x in parts)
        run(p, head)
        for _ in range(n):
            for k, name in enumerate(layer):
                p.kernel(names(name, shape) if k == 2 else name, 7, 3000 + 20 * i if k == 2 else 4000)
                if k == 2 and shape > 2:
                    p.kernel("combine_splits_kernel", 7, 2500)
        run(p, tail)
        close(p, rng, "read")


def routes(p, rng):
    """Experts: a layer calls those that got tokens, each in the shape that they ask for; an optimizer."""
    n, head, tail = rng.randint(2, 8), body(rng, rng.randint(6, 16), "h"), body(rng, rng.randint(3, 12), "adam")
    expert, names, some = body(rng, rng.randint(2, 4), "e"), Names(rng), rng.randint(4, 8)
    start_up(p, rng)
    for _ in range(rng.randint(40, 90)):
        p.copy(1, 10**5)
        for _ in range(n):
            run(p, head)
            for _ in range(rng.randint(1, some)):
                shape = rng.randrange(4)
                run(p, [names(name, shape) if i == 0 else name for i, name in enumerate(expert)])
        run(p, tail)
        close(p, rng, "read")
    p.or_none = True  # where experts are most of a step


def micro_batches(p, rng):
    """As many micro-batches as fit a budget of tokens, each copied in, in shapes of their own; then the optimizer."""
    ops, tail, names = body(rng, rng.randint(20, 80)), body(rng, rng.randint(3, 12), "adam"), Names(rng)
    by, most, style = which(rng, ops, rng.choice([0, 0.1, 0.3])), rng.choice([3, 5, 8]), rng.choice(["read", "ahead"])
    p.micro, before = [], []
    start_up(p, rng)
    for _ in range(rng.randint(40, 90)):
        for _ in range(rng.randint(1, most)):
            shape = rng.randrange(4)
            p.copy(1, 10**4 * (shape + 1))
            shaped(p, ops, by, names, shape)
            p.micro.append(p.latest)
        before.append(p.latest)
        run(p, tail)
        close(p, rng, style)
    p.others, p.or_none = [p.micro, before, before[1:], p.ends[1:], p.ends[:-1]], True  # from optimizer to optimizer


def last_batch(p, rng):
    """A few epochs of so many batches, the last of them smaller: other kernels for it. (Of more, the epochs repeat.)"""
    ops, names, epoch = body(rng, rng.randint(20, 120)), Names(rng), rng.randint(8, 30)
    share = rng.choice([0.3, 0.6, 1])
    by, full = which(rng, ops, share), []
    p.others = [full]  # what lies between steps, too, is their time
    start_up(p, rng)
    for i in range(rng.randint(3, 4) * epoch):
        last = i % epoch == epoch - 1
        p.copy(1, 10**4 if last else 10**5)
        shaped(p, ops, by, names, 2 if last else 0, 0.5 if last else 1)
        close(p, rng, "read")
        full += [p.latest] * (not last)


def compiled(p, rng):
    """Every length was compiled by itself: not one kernel's name is another length's. Input in, loss out."""
    n, k = rng.randint(2, 6), rng.randint(15, 60)
    ops = [body(rng, rng.randint(k, k + k // 4), f"triton_{i}_") for i in range(n)]
    start_up(p, rng)
    for _ in range(rng.randint(60, 140)):
        shape = rng.randrange(n)
        p.copy(1, 10**4 * (shape + 1))
        run(p, ops[shape])
        close(p, rng, "read")
    p.or_none = True


def requests(p, rng):
    """Serving: prompts of any length, each so many tokens in one batch of requests: no token is read before the last."""
    n, block = rng.randint(2, 8), body(rng, rng.randint(6, 14))
    head, tail, names = body(rng, rng.randint(2, 6), "h"), body(rng, rng.randint(2, 6), "o"), Names(rng)
    by = which(rng, block, 0.3)
    start_up(p, rng)
    p.tokens = []
    for _ in range(rng.randint(20, 50)):
        p.copy(1, 10**4)
        for i in range(rng.randint(4, 20)):
            run(p, head)
            for _ in range(n):
                shaped(p, block, by, names, rng.randrange(3) if i == 0 else 3)
            run(p, tail)
            if i:
                p.tokens.append(p.latest)
        close(p, rng, "read")
    # the prompt's pass is no token of an answer, and the first answer need not be part of the loop
    p.or_none, p.others = True, [p.tokens, p.ends[1:]]


def games_of_two(p, rng):
    """A GAN on images of several sizes: the critic's step, then the generator's, in kernels of their size."""
    critic, generator = body(rng, rng.randint(20, 60), "c"), body(rng, rng.randint(20, 60), "g")
    adam, names, k = body(rng, rng.randint(3, 9), "adam"), Names(rng), rng.randint(2, 4)
    by, also = which(rng, critic, 0.3), which(rng, generator, 0.3)
    start_up(p, rng)
    for _ in range(rng.randint(40, 100)):
        shape = rng.randrange(k)
        p.copy(1, 10**5 * (shape + 1))
        shaped(p, critic, by, names, shape)
        run(p, adam)
        shaped(p, generator, also, names, shape)
        run(p, adam)
        close(p, rng, rng.choice(["read", "ahead"]))


def searching(p, rng):
    """A solver that does what its data ask for, and reads after each part: no two parts need be alike."""
    parts = [[f"solver{rng.randrange(10**6)}_kernel" for _ in range(rng.randint(1, 6))] for _ in range(rng.randint(4, 12))]
    for _ in range(rng.randint(300, 1500)):
        run(p, rng.choice(parts))
        if rng.random() < 0.3:
            p.copy(2, 4)
            p.wait()


def noise(p, rng):
    """Kernels, copies and waits at random."""
    names = [f"noise{i}_kernel" for i in range(rng.randint(3, 40))]
    for _ in range(rng.randint(1000, 5000)):
        what = rng.random()
        if what < 0.06:
            p.copy(1, 10**4)
        elif what < 0.12:
            p.copy(2, 4)
            p.wait()
        else:
            p.kernel(rng.choice(names), 7, rng.randint(2000, 40000))


def depths(p, rng):
    """An unmarked stack of layers without an input, a read or an optimizer that would tell a step: kernels by shape, and
    ends that hold a few kernels of their own."""
    n, block, ends = rng.randint(6, 24), body(rng, rng.randint(6, 14)), body(rng, rng.randint(2, 6), "e")
    names, by = Names(rng), which(rng, block, 0.3)
    start_up(p, rng)
    for _ in range(rng.randint(30, 70)):
        shape = rng.randrange(3)
        run(p, ends)
        for _ in range(n):
            shaped(p, block, by, names, shape)
        p.step()
    p.or_none = True


MINE = (lengths, deep_lengths, anew, layers_differ, exits, growing, routes, micro_batches, last_batch, compiled, requests,
        games_of_two, searching, noise, depths)
KINDS.update({k.__name__: k for k in MINE})
