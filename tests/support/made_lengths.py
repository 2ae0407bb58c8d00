"""More pairs whose truth is known, as made_pairs has them: programs whose steps differ from each other, because of what
they work on, and captures of another part of the same program.

The truth is the ratio of the long-run times: both sides draw what their steps work on from the same distribution, unless
a kind says otherwise.
"""
import made_pairs
from made_pairs import MS, STARTED, Program

LATER = STARTED + 100_000_000_000
EFFECTS = [1, 1, 1, 1.005, 1 / 1.005, 1.02, 1 / 1.02, 1.1, 1 / 1.1, 1.5, 1 / 1.5]


def two(r):
    step = r.choice([1, 2, 4]) * MS // 4
    state = r.getstate()
    a = Program(r, step)
    r.setstate(state)
    b = Program(r, step)
    b.effect = r.choice(EFFECTS)
    return a, b


def long_run(x, mean):
    """Of steps that work on `mean` times as much on average: a step's time is a fixed part and one in proportion."""
    kept = x.load, x.kernel, x.cycle
    x.load, x.kernel, x.cycle = x.load * mean, x.kernel * mean, None
    t = x.long_run(120)
    x.load, x.kernel, x.cycle = kept
    return t


def sides(p, r, a, b, factors, mean, n):
    """factors: of the work of each step, a list a side; n: steps a side."""
    for side, x in enumerate((a, b)):
        x.cycle = [*factors[side], 1.0]  # longer than the run: a cycle never ends
        p.add(side, x.run(n[side], r.random()), LATER if side else STARTED)
    p.truth = long_run(a, mean[0]) / long_run(b, mean[1])
    p.words = f" effect {b.effect:.3f}, {n} steps"


MIXTURES = {  # (factor, weight), and the spread of each
    "sentences": ([(0.3, 0.6), (1, 0.3), (4, 0.1)], 0.3),
    "buckets": ([(0.5, 0.5), (1, 0.3), (2, 0.2)], 0.0),
    "tail": ([(1, 1)], 0.8),
    "experts": ([(0.9, 0.5), (1.2, 0.5)], 0.1),
}


def draw(r, mixture, n):
    parts, spread = MIXTURES[mixture]
    return [r.choices([f for f, _ in parts], [w for _, w in parts])[0] * r.lognormvariate(0, spread) for _ in range(n)]


def mean_of(mixture):
    parts, spread = MIXTURES[mixture]
    return sum(f * w for f, w in parts) * 2.718281828459045 ** (spread**2 / 2)


def lengths(p, r):
    """Variable lengths: each side draws its own."""
    a, b = two(r)
    kind, n = r.choice(list(MIXTURES)), r.choice([60, 100, 200])
    mean = mean_of(kind)
    sides(p, r, a, b, [draw(r, kind, n), draw(r, kind, n)], (mean, mean), (n, n))
    p.words += " " + kind


def shuffled(p, r):
    """The same lengths in another order."""
    a, b = two(r)
    kind, n = r.choice(list(MIXTURES)), r.choice([60, 100, 200])
    one = draw(r, kind, n)
    other = one[:]
    r.shuffle(other)
    mean = sum(one) / n
    sides(p, r, a, b, [one, other], (mean, mean), (n, n))
    p.words += " " + kind


def ordered(p, r):
    """Lengths that grow in the same order on both sides, or fall."""
    a, b = two(r)
    n, top = r.choice([60, 100, 200]), r.choice([1.5, 3])
    one = [1 + (top - 1) * i / n for i in range(n)]
    if r.random() < 0.3:
        one.reverse()
    mean = sum(one) / n
    sides(p, r, a, b, [one, one], (mean, mean), (n, n))


def padded(p, r):
    """The fixed side pads every step to the longest: it is slower by that, whatever else it gained."""
    a, b = two(r)
    n = r.choice([60, 100, 200])
    one = draw(r, "buckets", n)
    sides(p, r, a, b, [one, [2.0] * n], (mean_of("buckets"), 2.0), (n, n))


def every(p, r):
    """Each side does something long every so many steps, and not equally often."""
    a, b = two(r)
    for x in a, b:
        x.every, x.pause = r.choice([10, 20, 50]), x.usual() * r.uniform(0.5, 3)
        x.offset = r.randrange(x.every)
    n = r.choice([150, 200, 300])
    p.add(0, a.run(n, r.random()), STARTED)
    p.add(1, b.run(n, r.random()), LATER)
    p.truth = a.long_run(400) / b.long_run(400)
    p.words = f" every {a.every} and {b.every}, effect {b.effect:.3f}, {n} steps"


def checkpoint(p, r):
    """Both write checkpoints so seldom that one side caught one more."""
    a, b = two(r)
    n, pause = r.choice([60, 120]), r.uniform(2, 30)
    for x in a, b:
        x.every, x.pause = n - 10, x.usual() * pause
    a.offset, b.offset = (5, n - 20) if r.random() < 0.5 else (n - 20, 5)
    p.add(0, a.run(n, r.random()), STARTED)
    p.add(1, b.run(n, r.random()), LATER)
    p.truth = a.long_run(n * 4) / b.long_run(n * 4)
    p.words = f" every {n - 10} by {pause:.1f} steps, effect {b.effect:.3f}, {n} steps"


def collections(p, r):
    """Pauses that come when they come, as often on both sides."""
    a, b = two(r)
    n, share, long = r.choice([100, 200]), r.uniform(0.02, 0.1), r.uniform(0.5, 4)
    for side, x in enumerate((a, b)):
        x.odd = {k: long for k in range(n) if r.random() < share}
        p.add(side, x.run(n, r.random()), LATER if side else STARTED)
    p.truth = (a.long_run() + a.usual() * long * share / a.effect) / (b.long_run() + b.usual() * long * share / b.effect)
    p.words = f" {share:.3f} of the steps by {long:.1f}, effect {b.effect:.3f}, {n} steps"


def epoch(p, r):
    """The first pass over the data is slower; one side may have been recorded for more passes."""
    a, b = two(r)
    first, slow = r.randint(20, 40), r.uniform(1.2, 3)
    n = [first * r.choice([3, 3, 5]) for _ in range(2)]
    p.words = ""
    sides(p, r, a, b, [[slow] * first + [1.0] * (k - first) for k in n], (1, 1), n)


def longer(p, r):
    """One side was recorded for ten times as long."""
    a, b = two(r)
    n = [r.choice([40, 100]), r.choice([400, 600])]
    r.shuffle(n)
    kind = r.choice(["buckets", "experts", None])
    mean = mean_of(kind) if kind else 1.0
    sides(p, r, a, b, [draw(r, kind, k) if kind else [1.0] * k for k in n], (mean, mean), n)
    p.words += f" {kind}"


def starts(p, r):
    """Warm-ups of different lengths, or on one side only: the other was recorded from its middle."""
    a, b = two(r)
    for x in a, b:
        x.slow_start, x.decay = r.choice([0, 0.5, 2, 8]), r.choice([1, 3, 6])
    n = r.choice([60, 100, 200])
    p.add(0, a.run(n, r.random()), STARTED)
    p.add(1, b.run(n, r.random()), LATER)
    p.truth = a.long_run() / b.long_run()
    p.words = f" starts {a.slow_start} over {a.decay}, {b.slow_start} over {b.decay}, effect {b.effect:.3f}, {n} steps"


def tuned(p, r):
    """One side tries kernels out in its middle, for a few steps."""
    a, b = two(r)
    n = r.choice([60, 100, 200])
    x, at = r.choice([a, b]), r.randrange(5, n // 2)
    x.odd = {at + i: r.uniform(1, 3) for i in range(r.randint(3, 6))}
    p.add(0, a.run(n, r.random()), STARTED)
    p.add(1, b.run(n, r.random()), LATER)
    x.odd = {}
    p.truth = a.long_run() / b.long_run()
    p.words = f" effect {b.effect:.3f}, {n} steps"


def one_marked(p, r):
    """Ranges on one side only."""
    a, b = two(r)
    n = r.choice([60, 100])
    marked = r.random() < 0.5
    p.add(0, a.run(n, r.random()), STARTED, nvtx=marked)
    p.add(1, b.run(n, r.random()), LATER, nvtx=not marked)
    p.truth = a.long_run() / b.long_run()
    p.words = f" effect {b.effect:.3f}, {n} steps"


KINDS = {f.__name__: f for f in (lengths, shuffled, ordered, padded, every, checkpoint, collections, epoch, longer, starts,
                                 tuned, one_marked)}
made_pairs.KINDS.update(KINDS)
