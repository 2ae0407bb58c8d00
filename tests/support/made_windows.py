"""More pairs whose truth is known, as made_pairs has them: recordings of unequal length, so that one side's runs reach
what the other's never do. A checkpoint, an epoch's start, a step that is tried out, a slow drift over the run; by a fixed
number of steps a side, by windows of equal duration, or because one run broke off.

The truth is the ratio of the programs' times for the same steps.
"""
import made_pairs
from made_pairs import MS, STARTED, Program

MINUTE = 60_000_000_000
EFFECTS = [1, 1, 1, 1, 1.02, 1.1, 1 / 1.1, 1.5]


def two(r):
    """A fast program twice, the second with an effect."""
    load, state = r.choice([1, 2]) * MS // 4, r.getstate()
    a = Program(r, load)
    r.setstate(state)
    b = Program(r, load)
    b.effect = r.choice(EFFECTS)
    return a, b


def runs(p, r, a, b, lengths):
    """In turns; lengths: steps of each run, a list a side. Each run is slower or faster by 0.3 %."""
    for i in range(len(lengths[0])):
        for side in (0, 1) if i % 2 == 0 else (1, 0):
            n, at = lengths[side][i], STARTED + (2 * i + (side != i % 2)) * MINUTE
            p.add(side, (b if side else a).run(n, r.random(), 1 + r.gauss(0, 0.003)), at)
    p.truth = b.effect
    p.words = f" effect {b.effect:.3f}, {lengths[0]} and {lengths[1]} steps"


def unreached(p, r):
    """A one-off beyond the end of the shorter side's runs, at the same step of every run."""
    a, b = two(r)
    count, short = r.choice([1, 2, 3, 5]), r.choice([30, 40, 60])
    many, at = short * r.choice([1.3, 1.5, 2, 4]), short + r.randint(1, 5)
    lengths = [[short] * count, [int(many)] * count]
    r.shuffle(lengths)
    for x in a, b:
        x.odd = {at: r.choice([1, 3, 30])}
    b.odd = a.odd
    runs(p, r, a, b, lengths)
    p.words += f", step {at} +{a.odd[at]}"


def duration(p, r):
    """Windows of equal duration: the faster side has more steps in its own, a save every so many of them or once."""
    a, b = two(r)
    b.effect = r.choice([1.1, 1.3, 1.5, 2, 1 / 1.3])
    count, n = r.choice([1, 3, 5]), r.choice([40, 60])
    other = max(20, int(n * b.effect))
    shorter, longer = sorted((n, other))
    at = r.randint(shorter, longer - 1) if longer > shorter else shorter
    for x in a, b:
        x.odd = {at: r.choice([3, 10, 30])}
    b.odd = a.odd
    runs(p, r, a, b, [[n] * count, [other] * count])
    p.words += f", step {at} +{a.odd[at]}"


def broke_off(p, r):
    """One run of several ended early, before the one-off that all others reach."""
    a, b = two(r)
    count, n = r.choice([2, 3, 5]), r.choice([60, 80])
    at = n - r.randint(3, 20)
    lengths = [[n] * count, [n] * count]
    lengths[r.randrange(2)][r.randrange(count)] = r.randint(15, at - 2)
    for x in a, b:
        x.odd = {at: r.choice([5, 30])}
    b.odd = a.odd
    runs(p, r, a, b, lengths)
    p.words += f", step {at} +{a.odd[at]}"


def rising(p, r):
    """Steps get longer all along (a cache fills, a list grows), and one side ran for longer."""
    a, b = two(r)
    count, n, rise = r.choice([3, 5]), r.choice([40, 60]), r.uniform(0.0005, 0.002)
    lengths = [[n] * count, [n * r.choice([2, 3])] * count]
    r.shuffle(lengths)
    for x in a, b:
        x.odd = {k: rise * k for k in range(max(lengths[0][0], lengths[1][0]))}
    runs(p, r, a, b, lengths)
    p.words += f", {100 * rise:.2f} % longer a step"


def steady(p, r):
    """Nothing happens but the steps: unequal lengths cost no result."""
    a, b = two(r)
    a.noise = b.noise = r.choice([0.001, 0.005])
    b.effect = r.choice([1, 1.1, 1 / 1.1, 1.5])
    lengths = [[r.choice([60, 100])] * 5, [r.choice([58, 80, 160])] * 5]
    runs(p, r, a, b, lengths)


KINDS = {f.__name__: f for f in (unreached, duration, broke_off, rising, steady)}
made_pairs.KINDS.update(KINDS)
