"""The ways in which programs repeat themselves, or do not: one function a kind, which has a made_program.Program take its
steps (rng: what is left to chance). What it sets beside them: `ends` of steps; `also`, so many of the loop found may be a
step; `others`, ends that are as right; `or_none`, to find nothing is right too; `first`, steps to leave out."""
import random

from made_program import PID, Program, write


def body(rng, n, names="k"):
    """A sequence of n kernels; few names or many. The first is there once: otherwise n equal ones might be n steps."""
    pool = [f"{names}{rng.randrange(10**6)}_kernel" for _ in range(rng.randint(n // 8 + 1, n + 1))]
    return [f"{names}{rng.randrange(10**6)}_first" if i == 0 else rng.choice(pool) for i in range(n)]


def length_of(rng):
    return rng.choice([rng.randint(1, 6), rng.randint(5, 40), rng.randint(30, 200)])


def steps_of(rng, ops):
    return rng.randint(30, max(31, min(200, 9000 // max(1, ops))))


def start_up(p, rng):
    for name in body(rng, rng.randint(0, 20), "init"):
        p.kernel(name)
    p.copy(1, rng.randint(10**4, 10**6))
    p.host(rng.choice([10**6, 10**8]))


def close(p, rng, style):
    if style == "wait":
        p.wait()
    elif style == "read":
        p.copy(2, 4)
        p.wait()
    p.step()


STYLES = ("wait", "read", "ahead")


def plain(p, rng):
    ops, style = body(rng, length_of(rng)), rng.choice(STYLES)
    start_up(p, rng)
    for _ in range(steps_of(rng, len(ops))):
        p.host(rng.choice([0, 20000]))
        for name in ops:
            p.kernel(name)
        close(p, rng, style)


def streams(p, rng):
    """Streams that run beside each other; in every other profile the calls are lost, so that only starts tell, whose
    order changes from step to step."""
    n, started = rng.randint(2, 4), rng.random() < 0.5
    style = "wait" if started else rng.choice(STYLES)
    lanes = [body(rng, rng.randint(2, 40)) for _ in range(n)]
    start_up(p, rng)
    for _ in range(steps_of(rng, sum(map(len, lanes)))):
        left = [(7 + s, list(reversed(lane))) for s, lane in enumerate(lanes)]
        while left:
            p.kernel(left[0][1].pop(), left[0][0], rng.randint(2000, 40000))
            left = left[1:] + left[:1]
            left = [x for x in left if x[1]]
        close(p, rng, style)
    if started:
        p.calls = p.calls[-9:]


def layers(p, rng):
    """Embedding, so many equal layers forth and back, an optimizer."""
    n, block, back = rng.randint(2, 24), body(rng, rng.randint(3, 12)), body(rng, rng.randint(4, 16), "b")
    head, tail, style = body(rng, rng.randint(1, 8), "h"), body(rng, rng.randint(1, 20), "o"), rng.choice(STYLES)
    start_up(p, rng)
    for _ in range(steps_of(rng, n * (len(block) + len(back)))):
        p.copy(1, 10**5)
        for name in head + block * n + back * n + tail:
            p.kernel(name)
        close(p, rng, style)


def accumulate(p, rng):
    """k times forth and back, then the optimizer: the loop is either of them."""
    k, micro, tail = rng.choice([2, 4, 8]), body(rng, rng.randint(20, 60)), body(rng, rng.randint(1, 10), "o")
    start_up(p, rng)
    p.also = k
    for _ in range(rng.randint(30, 40)):
        for _ in range(k):
            p.copy(1, 10**5)
            for name in micro:
                p.kernel(name)
        for name in tail:
            p.kernel(name)
        close(p, rng, "read")


def logging(p, rng):
    k, ops, log = rng.choice([5, 7, 10, 25]), body(rng, rng.randint(20, 120)), body(rng, rng.randint(1, 4), "l")
    start_up(p, rng)
    for i in range(rng.randint(60, 120)):
        for name in ops:
            p.kernel(name)
        if i % k == k - 1:
            for name in log:
                p.kernel(name)
            p.copy(2, 4)
            p.wait()
        p.step()


def apart(ends, every):
    """The ends of steps without what is between stretches of `every` of them: it is no step's time, nor is a stretch's first step."""
    out = [0]
    for i in range(1, len(ends)):
        if i % every:
            out.append(out[-1] + ends[i] - ends[i - 1])
    return out


def validation(p, rng):
    """Every so many steps the forward half a few times, which is no step's time."""
    forth, back = body(rng, rng.randint(10, 50)), body(rng, rng.randint(20, 80), "b")
    every, times = rng.randint(15, 25), rng.randint(4, 8)
    start_up(p, rng)
    for i in range(3 * every):
        p.copy(1, 10**5)
        for name in forth + back:
            p.kernel(name)
        close(p, rng, "read")
        if i % every == every - 1 and i + 1 < 3 * every:
            for _ in range(times):
                p.copy(1, 10**5)
                for name in forth:
                    p.kernel(name)
                p.copy(2, 8)
                p.wait()
    p.ends = apart(p.ends, every)


def variable(p, rng):
    """Some steps hold a tenth more (a longer sequence), of kernels that they hold anyway."""
    ops, style = body(rng, rng.randint(20, 150)), rng.choice(STYLES)
    more = ops[1 : 1 + max(1, len(ops) // 10)]
    start_up(p, rng)
    for _ in range(rng.randint(50, 100)):
        for name in ops + (more if rng.random() < 0.15 else []):
            p.kernel(name)
        close(p, rng, style)


def graphs(p, rng):
    n, around, style = rng.randint(1, 3), body(rng, rng.randint(1, 5)), rng.choice(STYLES)
    start_up(p, rng)
    for _ in range(rng.randint(40, 150)):
        for name in around:
            p.kernel(name)
        for g in range(n):
            p.graph(10 * g, 200000 + 50000 * g)
        close(p, rng, style)


def ranks(p, rng, q):
    """Two processes that add up their gradients."""
    ops, tail = body(rng, rng.randint(10, 100)), body(rng, rng.randint(1, 20), "o")
    q.now = p.now
    for x in p, q:
        x.copy(1, 10**6)
    for _ in range(rng.randint(30, 80)):
        for x in p, q:
            for name in ops:
                x.kernel(name)
        meet = max(max(x.free.values()) for x in (p, q)) + 3000
        for x in p, q:
            x.call("cudaLaunchKernel_v7000", 4000)
            start = max(x.free[7] + 800, x.now)
            end = max(meet, start) + 40000
            x.free[7], x.latest = end, end
            x.kernels.append((start, end, x.rank, x.rank + 1, 7, x.correlation, x.rank * PID + PID,
                              "ncclDevKernel_AllReduce", "ncclDevKernel_AllReduce", 8, 128))
            for name in tail:
                x.kernel(name)
            x.wait()
        p.latest = max(p.latest, q.latest)
        p.step()


def pipeline(p, rng):
    """The next step's input is copied on a stream of its own while this one runs."""
    ops = body(rng, rng.randint(10, 100))
    start_up(p, rng)
    p.copy(1, 10**6, 20)
    for _ in range(rng.randint(40, 90)):
        p.copy(1, rng.randint(10**5, 4 * 10**6), 20)
        for name in ops:
            p.kernel(name)
        p.copy(2, 4)
        p.wait()
        p.latest = p.copies[-1][1]  # of the stream that counts
        p.step()


def tuning(p, rng):
    """The first steps try many kernels, as often as each takes."""
    ops = body(rng, rng.randint(10, 100))
    start_up(p, rng)
    for i in range(rng.randint(40, 90)):
        p.copy(1, 10**5)
        for name in ops:
            if i < 2 and rng.random() < 0.3:
                for trial in range(rng.randint(3, 12)):
                    for _ in range(3):
                        p.kernel(f"tried{trial}_{name}")
                    p.wait()
            p.kernel(name)
        close(p, rng, "read")
    del p.ends[:2]
    p.first = 3


def unlaunched(p, rng):
    """The capture began late: launches of the first ops are not in it, and of some others neither."""
    rng.choice([plain, layers, logging])(p, rng)
    from_ = rng.uniform(0.1, 0.7) * len(p.calls)
    p.calls = [c for i, c in enumerate(p.calls) if i > from_ and rng.random() > 0.02]


def lost(p, rng):
    """One op in a hundred was not recorded."""
    ops = body(rng, rng.randint(20, 120))
    start_up(p, rng)
    for _ in range(rng.randint(50, 90)):
        p.copy(1, 10**5)
        for name in ops:
            p.kernel(name)
        close(p, rng, "read")
    p.kernels = [k for k in p.kernels if rng.random() > 0.01]


def chance(p, rng):
    """A solver that does what its data ask for."""
    names = [f"solver{i}_kernel" for i in range(rng.randint(5, 60))]
    for _ in range(rng.randint(500, 4000)):
        p.kernel(rng.choice(names), 7, rng.randint(1000, 50000))
        if rng.random() < 0.05:
            p.copy(2, 4)
            p.wait()


def decoding(p, rng):
    """Prompts of so many tokens: a prefill, then a token at a time, of which there are more or fewer each time."""
    first, token, n = body(rng, rng.randint(20, 80), "p"), body(rng, rng.randint(10, 60), "t"), rng.randint(12, 20)
    start_up(p, rng)
    p.tokens = []
    for _ in range(n):
        p.copy(1, 10**4)
        for name in first:
            p.kernel(name)
        for _ in range(rng.randint(8, 40)):
            for name in token:
                p.kernel(name)
            p.copy(2, 4)
            p.wait()
            p.tokens.append(p.latest)
        p.step()
    p.or_none = True
    p.others = [p.tokens]


def speculative(p, rng):
    """A draft model some tokens at a time, as many as it dares, then the large one checks them."""
    draft, check = body(rng, rng.randint(8, 20), "d"), body(rng, rng.randint(60, 120), "c")
    start_up(p, rng)
    for _ in range(rng.randint(40, 80)):
        for _ in range(rng.randint(1, 8)):
            for name in draft:
                p.kernel(name)
        for name in check:
            p.kernel(name)
        close(p, rng, "read")
    p.or_none = True


def adversarial(p, rng):
    """Two networks with an optimizer each: the critic k times, then the generator."""
    k, critic, generator = rng.choice([1, 2, 5]), body(rng, rng.randint(20, 60), "c"), body(rng, rng.randint(20, 60), "g")
    adam, p.also = body(rng, rng.randint(3, 9), "a"), k
    start_up(p, rng)
    for _ in range(rng.randint(30, 50)):
        for _ in range(k):
            p.copy(1, 10**5)
            for name in generator[: len(generator) // 2] + critic + adam:
                p.kernel(name)
        for name in generator + critic[: len(critic) // 2] + adam:
            p.kernel(name)
        close(p, rng, rng.choice(["read", "ahead"]))


def experts(p, rng):
    """Every layer sends tokens to as many experts as have any."""
    layers, head, expert = rng.randint(2, 8), body(rng, rng.randint(6, 20), "h"), body(rng, rng.randint(2, 4), "e")
    tail = body(rng, rng.randint(4, 20), "o")
    start_up(p, rng)
    for _ in range(rng.randint(40, 80)):
        p.copy(1, 10**5)
        for _ in range(layers):
            for name in head + expert * rng.randint(2, 4):
                p.kernel(name)
        for name in tail:
            p.kernel(name)
        close(p, rng, "read")
    p.or_none = True


def sizes(p, rng):
    """A graph for every batch size: which one is launched depends on the batch."""
    around, n = body(rng, rng.randint(2, 6)), rng.randint(2, 5)
    start_up(p, rng)
    for _ in range(rng.randint(60, 150)):
        p.copy(1, 10**5)
        for name in around:
            p.kernel(name)
        size = rng.randrange(n)
        p.graph(10 * size, 100000 * (size + 1))
        close(p, rng, "read")


def checkpointing(p, rng):
    """Backward computes every layer's forward pass again."""
    n, block, back = rng.randint(2, 24), body(rng, rng.randint(3, 12)), body(rng, rng.randint(4, 16), "b")
    tail, style = body(rng, rng.randint(1, 20), "o"), rng.choice(STYLES)
    start_up(p, rng)
    for _ in range(steps_of(rng, n * (2 * len(block) + len(back)))):
        p.copy(1, 10**5)
        for name in block * n + (block + back) * n + tail:
            p.kernel(name)
        close(p, rng, style)


def evaluation(p, rng):
    """Training, and one evaluation at the end: a loop of its own."""
    forth, back, loss = body(rng, rng.randint(10, 40)), body(rng, rng.randint(20, 60), "b"), body(rng, 2, "l")
    start_up(p, rng)
    for _ in range(rng.randint(40, 90)):
        p.copy(1, 10**5)
        for name in forth + back:
            p.kernel(name)
        close(p, rng, "read")
    for _ in range(rng.randint(6, 30)):
        p.copy(1, 10**5)
        for name in forth + loss:
            p.kernel(name)
        p.wait()


def strangers(p, rng, q):
    """Two processes that do different things, each at its own pace: the one that works more is judged."""
    q.now = p.now
    for x, n, ops in (p, rng.randint(60, 90), body(rng, rng.randint(40, 80))), (q, 40, body(rng, 15, "q")):
        for _ in range(n):
            for name in ops:
                x.kernel(name)
            x.wait()
            x.step()


def shuffled(p, rng):
    """A pool of tasks whose order within a step is a matter of chance."""
    ops = body(rng, rng.randint(10, 80))
    start_up(p, rng)
    for _ in range(rng.randint(50, 90)):
        p.copy(1, 10**5)
        for name in ops[:1] + rng.sample(ops[1:], len(ops) - 1):
            p.kernel(name)
        close(p, rng, "read")


def shrinking(p, rng):
    """A solver whose kernels do less at each iteration."""
    ops, n = body(rng, rng.randint(2, 6)), rng.randint(200, 600)
    start_up(p, rng)
    for i in range(n):
        for name in ops:
            p.kernel(name, 7, 2000 + 200000 * (1 - i / n) ** 2)
        close(p, rng, "ahead")


def deep(p, rng):
    """48 layers forth and back; a wait at the end of a step, or none."""
    block, back, style = body(rng, rng.randint(3, 9)), body(rng, rng.randint(4, 12), "b"), rng.choice(STYLES)
    head, tail = body(rng, rng.randint(1, 6), "h"), body(rng, rng.randint(1, 12), "o")
    start_up(p, rng)
    for _ in range(rng.randint(21, 30)):
        p.copy(1, 10**5)
        for name in head + block * 48 + back * 48 + tail:
            p.kernel(name)
        close(p, rng, style)


def routed(p, rng):
    """Every layer asks the host how many tokens each expert has: the host has to do with layers, too."""
    n, head, tail = rng.choice([4, 12, 24, 48]), body(rng, rng.randint(4, 20), "h"), body(rng, rng.randint(8, 40), "o")
    block, expert = body(rng, rng.randint(3, 9)), body(rng, rng.randint(1, 3), "e")
    start_up(p, rng)
    for _ in range(rng.randint(22, 40)):
        p.copy(1, 10**5)
        for name in head:
            p.kernel(name)
        for _ in range(n):
            for name in block:
                p.kernel(name)
            p.copy(2, 64)
            p.wait()
            for name in expert * rng.randint(1, 3):
                p.kernel(name)
        for name in tail:
            p.kernel(name)
        close(p, rng, "read")
    p.or_none = True


def epochs(p, rng):
    """Accumulation, and a validation after every so many steps, which is no step's time."""
    k, forth, back = rng.choice([2, 4]), body(rng, rng.randint(10, 30)), body(rng, rng.randint(15, 40), "b")
    tail, every, times = body(rng, rng.randint(2, 10), "o"), rng.randint(8, 16), rng.randint(3, 9)
    start_up(p, rng)
    p.also = k
    for i in range(4 * every):
        for _ in range(k):
            p.copy(1, 10**5)
            for name in forth + back:
                p.kernel(name)
        for name in tail:
            p.kernel(name)
        close(p, rng, "read")
        if i % every == every - 1 and i + 1 < 4 * every:
            for _ in range(times):
                p.copy(1, 10**5)
                for name in forth:
                    p.kernel(name)
                p.copy(2, 8)
                p.wait()
    p.others = [p.ends] if times < 5 else []  # so few batches may be no loop
    p.ends = apart(p.ends, every)


def background(p, rng):
    """A loop on one stream, and on another something with a period of its own: compression, a statistic."""
    ops, other = body(rng, rng.randint(20, 60)), body(rng, rng.randint(2, 5), "x")
    (every, together), at = rng.choice([(0.3, 3), (0.7, 7), (1.6, 8), (2.5, 5)]), 0.0
    start_up(p, rng)
    for i in range(rng.randint(60, 100)):
        for j, name in enumerate(ops):
            p.kernel(name)
            while at <= i + j / len(ops):
                for extra in other:
                    p.kernel(extra, 13, 1500)
                at += every
        close(p, rng, "read")
    p.others = [p.ends[::together]]  # so many steps are one repetition of both


def answers(p, rng):
    """Prompts of one length, and as many tokens to each."""
    first, token, n = body(rng, rng.randint(20, 80), "p"), body(rng, rng.randint(10, 60), "t"), rng.randint(10, 16)
    times = rng.randint(8, 32)
    start_up(p, rng)
    p.tokens, p.also = [], 1
    for _ in range(n):
        p.copy(1, 10**4)
        for name in first:
            p.kernel(name)
        for _ in range(times):
            for name in token:
                p.kernel(name)
            p.copy(2, 4)
            p.wait()
            p.tokens.append(p.latest)
        p.step()
    p.others = [p.tokens]


KINDS = {k.__name__: k for k in (plain, streams, layers, accumulate, logging, validation, variable, graphs, ranks,
                                 pipeline, tuning, unlaunched, lost, chance, decoding, speculative, adversarial,
                                 experts, sizes, checkpointing, evaluation, strangers, shuffled, shrinking, deep, routed, epochs, background, answers)}
PAIRS = ("ranks", "strangers", "shared")  # of two processes


def make(kind, seed, path):
    """Writes the profile; returns (time per step in ms or None, what else is right)."""
    rng = random.Random(f"{kind} {seed}")
    programs = [Program(rng, r) for r in range(2 if kind in PAIRS else 1)]
    programs[0].also = 1
    KINDS[kind](programs[0], rng, *programs[1:])
    write(path, programs)
    ends = programs[0].ends
    return ((ends[-1] - ends[0]) / (len(ends) - 1) / 1e6 if ends else None, programs[0])
